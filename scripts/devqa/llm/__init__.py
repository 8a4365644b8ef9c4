"""Asking language models: `chat` is the one way, everything else serves it."""
