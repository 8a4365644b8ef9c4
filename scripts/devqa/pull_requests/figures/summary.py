"""What is said when questions from pull requests were made and answered."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from devqa import tables
from devqa.ledger import OUTCOMES, account_lines, stage
from devqa.pull_requests.agents.runs import told_in

# In the order in which data flows: each table by the name of its files, and of its schema.
TABLES = {
    "pulls": "pulls",
    "blocks": "blocks",
    "context": "context",
    "questions": "pull_questions",
    "checked": "pull_checked",
    "answered": "pull_answers",
    "facts": "pull_facts",
    "predictions": "predictions",
    "recalled": "recalled",
}
# Which rule asks again for failed rows that do not come back by themselves.
_RULES = {
    "questions": "pr_question",
    "checked": "pr_check",
    "answered": "pr_answer",
    "facts": "pr_facts",
    "predictions": "pr_predict",
    "recalled": "pr_recall",
}


def summary(files: Mapping[str, Sequence[str]]) -> list[str]:
    """Lines about what was made: rows of each table by status, what failed, and where report and dataset are.

    Args:
        files: of each of TABLES, and of `benchmark`, in lists; `html` and `dataset`.

    Raises:
        UserError: a table can't be read.
    """
    lines = [
        line
        for name, table in TABLES.items()
        for line in account_lines(name, stage(table, files[name]), partial(_way_back, name))
    ]
    lines += [
        f"NOTE  no pull requests were found in {Path(file).stem}: where they come from is `pulls` and `history` of "
        f"pull_requests.repositories.{Path(file).stem} (history: [commit] takes any commit)"
        for file in files["pulls"]
        if not stage("pulls", [file]).rows
    ]
    batches = tables.batches(files["benchmark"], "repository_benchmark", 10_000, ["id"])
    questions = sum(len(batch) for batch in batches)
    return [*lines, f"Report: {files['html']}   Dataset: {files['dataset']} ({questions:,} questions)"]


def _way_back(name: str, reason: str) -> str:
    """How failed rows with this reason come back."""
    # What models say of themselves begins with an outcome; what is left of `predictions` are commands.
    if name == "predictions" and reason.partition(":")[0] not in OUTCOMES:
        return f" ({told_in(reason).way_back})"
    if "given up" in reason:
        return " (asked again by the next run: give the same command)"
    if reason.startswith("there is no answer") or name not in _RULES:
        return ""
    return f" (asked again with --forcerun {_RULES[name]}, or when something changes)"
