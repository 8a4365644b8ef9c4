"""Servers that a run starts for its models, and stops at its end (docs/serving.md)."""
