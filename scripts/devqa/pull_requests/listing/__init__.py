"""Which pull requests there are, and which of them count."""
