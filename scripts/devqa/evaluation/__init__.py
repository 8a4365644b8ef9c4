"""Grading answers and turning grades into scores."""
