"""The study of raw dialogues: what developers ask, and the seed dialogues of a benchmark (SimpleDevQA, section 3)."""

# The task of a dialogue that is none of the categories, as a model or a person says it.
UNRELATED = "unrelated"
