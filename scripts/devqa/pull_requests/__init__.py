"""Questions from the pull requests of repositories, and how many facts of their answers agents recall.

The method is DeepCodeBench's (Qodo, 2025:
https://www.qodo.ai/blog/deepcodebench-real-world-codebase-understanding-by-qa-benchmarking/); facts are the nuggets of
TREC 2003's question answering track (https://trec.nist.gov/pubs/trec12/papers/QA.OVERVIEW.pdf).
"""

LANGUAGES = ("python", "javascript", "typescript", "java", "go", "rust", "c", "cpp", "csharp")
# Files of more bytes are neither parsed nor compared line by line: nobody has written them by hand.
LARGEST_SOURCE = 1_000_000
# The setting, and the name of whom it asks, in which the true answer is graded.
GROUND_TRUTH = "ground_truth"
