"""DevQA: from conversations between developers and LLMs to a question-answering benchmark.

The modules follow the data: see the README's map. Nothing here imports Snakemake, but for `job`,
which scripts use to unpack what a rule hands them.
"""
