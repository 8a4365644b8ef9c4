"""The configuration as pydantic models, one file per section; `root` holds the whole."""
