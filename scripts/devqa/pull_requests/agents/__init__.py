"""Who answers, with what; and how many of the facts are in it."""
