"""DeepCodeBench's own figures, as published, to stand beside one's own.

From Qodo's blog of 2025
(https://www.qodo.ai/blog/deepcodebench-real-world-codebase-understanding-by-qa-benchmarking/) and the data set
(https://huggingface.co/datasets/Qodo/deep_code_bench). Recall is read off the blog's text and charts, to two decimals.
"""

REPOSITORIES = 8
QUESTIONS = 1_144
SCOPE = {"deep": 598, "broad": 546}
CORE = 462
# Of the data set's questions. Here a question with a path or a line number is rejected.
LOCATION_HINTS = 542
DIFFICULTY = {"easy": 47, "moderate": 938, "hard": 159}
FACTS = {"mean": 6.58, "least": 1, "most": 35}

# Fact recall of agents over all questions.
RECALL = {
    "Qodo Aware, deep research": 0.76,
    "Codex CLI": 0.74,
    "Claude Code": 0.64,
    "Gemini CLI": 0.45,
}
RECALL_NOTE = "Of Qodo’s deep research the blog also has a run at 0.80."
