"""What is defined in source files."""
