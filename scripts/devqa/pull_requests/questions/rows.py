"""context, checked, facts → the benchmark of questions from pull requests."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from devqa.tables import SCHEMAS, Row

_FACT = ("number", "fact", "importance")


def benchmark(
    repositories: Mapping[str, Mapping[str, Any]],
    context: Iterable[Row],
    checked: Iterable[Row],
    facts: Iterable[Row],
    models: Sequence[Row],
    prompts: Sequence[Row],
) -> list[Row]:
    """Rows of table `repository_benchmark`, sorted by id: one for each ok row of `facts`, with its supported facts.

    Args:
        repositories: by label, what results/pull_requests/repositories/<label>.json holds.
        context: ok rows of table `context`.
        checked: ok rows of `pull_checked`.
        facts: ok rows of `pull_facts`.
        models: which model each step asked; the same for all rows, as are `prompts`, the hashes of what it was asked.
    """
    contexts = {row["pull_id"]: row for row in context}
    questions = {row["pull_id"]: row for row in checked}
    rows = {}
    for row in facts:
        whole = _question(repositories, contexts[row["pull_id"]], questions[row["pull_id"]], row)
        kept = [{key: fact[key] for key in _FACT} for fact in row["facts"] if fact["supported"]]
        rows[whole["id"]] = {**whole, "facts": kept, "models": list(models), "prompts": list(prompts)}
    return [rows[id] for id in sorted(rows)]


def parts(benchmark: Iterable[Row], name: str) -> list[Row]:
    """The columns of table `name` (`repository_questions`, `repository_facts`) of the rows of the benchmark."""
    return [{key: row[key] for key in SCHEMAS[name].names} for row in benchmark]


def identifier(name: str, commit: str, pull_id: str, question: str) -> str:
    """A name of the question that stays while the repository, its commit, the pull request and the words do."""
    return hashlib.sha256("\0".join((name, commit, pull_id, question)).encode()).hexdigest()[:16]


def _question(repositories: Mapping[str, Mapping[str, Any]], context: Row, checked: Row, facts: Row) -> Row:
    repository = repositories[context["repository"]]
    nodes = set(checked["nodes"])
    return {
        "id": identifier(repository["name"], repository["commit"], context["pull_id"], checked["question"]),
        **{key: context[key] for key in ("pull_id", "repository", "number", "title", "n_files_pr")},
        **{key: repository[key] for key in ("name", "url", "commit")},
        **{
            key: checked[key]
            for key in ("question", "scope", "core", "searchable", "difficulty", "nodes", "n_found_files")
        },
        "answer": facts["answer"],
        "context": context["blocks"],
        "n_context_nodes": len(nodes),
        "n_context_files": len({block["path"] for block in context["blocks"] if block["node"] in nodes}),
    }
