"""Repositories as they are stored: clones, the pinned commit, trees, changes."""
