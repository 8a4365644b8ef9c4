"""From what a pull request changed to the blocks that are shown of it."""
