"""The study of raw dialogues: what developers ask, and the seed dialogues of a benchmark (SimpleDevQA, section 3)."""
