"""The steps from dialogues to a benchmark: each a pure function from rows to rows.

A step is given its models, prompts and search engine as arguments and keeps every row that it was given,
with a status and a reason (see `devqa.tables`).
"""
