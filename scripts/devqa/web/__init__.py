"""The web: searching, fetching, cleaning pages, and cutting them into passages."""
