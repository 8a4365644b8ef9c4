"""pull_questions → pull_checked: does a question keep to the rules (DeepCodeBench), does plain search find its code?

What a program can check is checked first; a model is asked about the rest alone.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from devqa import tables
from devqa.llm.chat import Answer, Chat
from devqa.prompts import Prompt
from devqa.pull_requests.questions import rules
from devqa.pull_requests.questions.rules import Known
from devqa.pull_requests.questions.searching import Found, searched
from devqa.pull_requests.questions.showing import request_with
from devqa.pull_requests.repositories.repository import open_repository
from devqa.steps.accounts import asked
from devqa.steps.outcomes import OK, rejected
from devqa.steps.reasons import shortened
from devqa.tables import Row, picked

# What the model is asked about, and what is said of a question that misses it.
CRITERIA = {
    "self_contained": "is not self-contained",
    "answerable": "is not answered by the context",
    "short_answer": "has no short answer",
    "not_obvious": "gives away where to look",
    "not_about_change": "is about the change, not the code",
}
_TYPES = ("class",)
# What tells definitions of one name apart.
_ORDER = re.compile(r"#\d+$")
_COLUMNS = ["node", "kind", "path", "start_line", "blob", "status"]

_LONGEST_REASON = 100
_JUDGED = {
    "type": "object",
    "properties": {"reason": {"type": "string", "maxLength": _LONGEST_REASON}, "passed": {"type": "boolean"}},
    "required": ["reason", "passed"],
    "additionalProperties": False,
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": dict.fromkeys(CRITERIA, _JUDGED),
    "required": [*CRITERIA],
    "additionalProperties": False,
}


def check(
    questions: Sequence[Row], context: Sequence[Row], things: Mapping[str, Known], chat: Chat, prompt: Prompt
) -> list[Row]:
    """Rows of table `pull_checked`, one for each of `questions`, sorted by pull request; searching is open.

    A question that breaks a rule is rejected and no model sees it. Of the others a model must find all `CRITERIA` met.

    Args:
        context: rows of table `context` of their pull requests.
        things: by pull request, what `known` gives.
    """
    questions = sorted(questions, key=lambda row: row["pull_id"])
    blocks = {row["pull_id"]: row["blocks"] for row in context}
    held = [rules.held(row["question"], things[row["pull_id"]]) for row in questions]
    asking = [index for index, criteria in enumerate(held) if not rules.broken(criteria)]
    given = chat.ask(
        [
            request_with(prompt, {"question": row["question"]}, blocks[row["pull_id"]], chat, SCHEMA, row["nodes"])
            for row in (questions[index] for index in asking)
        ]
    )
    judged = dict(zip(asking, given, strict=True))
    return [
        {**picked(row, "pull_checked"), **_row(criteria, judged.get(index), chat.label)}
        for index, (row, criteria) in enumerate(zip(questions, held, strict=True))
    ]


def with_searches(
    rows: Sequence[Row], context: Sequence[Row], files: Iterable[tuple[str, bytes]], rare: int
) -> list[Row]:
    """`rows` of table `pull_checked` as they are, but with what plain search finds where they are ok.

    Args:
        context: rows of table `context` of their pull requests.
        files: path and content of each file of the repository (`read_files`); nothing is read where no row is ok.
        rare: in how many files a word may stand that finds something.
    """
    blocks = {row["pull_id"]: row["blocks"] for row in context}
    ok = {row["pull_id"]: row for row in rows if row["status"] == "ok"}
    paths = {
        name: {block["path"] for block in blocks[name] if block["node"] in row["nodes"]} for name, row in ok.items()
    }
    found = searched({name: row["question"] for name, row in ok.items()}, paths, files, rare)
    return [{**row, **_found(found.get(row["pull_id"]))} for row in rows]


def known(path: str | PathLike, context: Sequence[Row], name: str) -> dict[str, Known]:
    """By pull request, what its question is held against.

    Args:
        path: the file of table `blocks`.
        context: rows of table `context`.
        name: the repository's name.
    """
    shown = {block["path"] for row in context for block in row["blocks"]}
    paths: set[str] = set()
    inside: dict[str, list[Row]] = {}
    for row in _blocks(path):
        paths.add(row["path"])
        if row["path"] in shown and row["kind"] != "file":
            inside.setdefault(row["path"], []).append(row)
    all_paths = rules.joined(sorted(paths))
    return {row["pull_id"]: _known(row["blocks"], inside, all_paths, name) for row in context}


def read_files(
    path: str | PathLike, origin: Mapping[str, str], commit: str, cache: Path, offline: bool
) -> Iterator[tuple[str, bytes]]:
    """Path and content of each file of the repository that table `blocks` at `path` says is read, one at a time.

    The repository (`devqa.pull_requests.repositories.repository`) is opened when the first one is asked for.
    """
    with open_repository(origin, commit, cache, offline) as repository:
        for row in _blocks(path):
            if row["kind"] == "file" and row["status"] == "ok":
                yield row["path"], repository.content(row["blob"])


def _blocks(path: str | PathLike) -> Iterator[Row]:
    for batch in tables.batches(path, "blocks", 10_000, _COLUMNS):
        yield from batch


def _known(blocks: Sequence[Row], inside: Mapping[str, Sequence[Row]], paths: str, name: str) -> Known:
    defined = {
        (_simple(row["node"], row["path"]), row["kind"] in _TYPES)
        for block in blocks
        for row in (block, *inside.get(block["path"], ()))
        if row["kind"] != "file" and block["start_line"] <= row["start_line"] <= block["end_line"]
    }
    return Known(
        paths,
        name,
        "\n".join(block["text"] for block in blocks),
        frozenset(simple for simple, _ in defined),
        frozenset(simple for simple, is_type in defined if is_type),
    )


def _simple(node: str, path: str) -> str:
    """The last part of a node's name: `close` of `File.close#2 (io/file.py)`."""
    return _ORDER.sub("", node.removesuffix(f" ({path})")).rpartition(".")[2].lstrip("#")


def _row(criteria: Sequence[Row], answer: Answer | None, label: str) -> Row:
    if answer is None:
        return {"criteria": criteria, "outcome": None, "raw": None, "usage": [], **rejected(rules.broken(criteria))}
    account = asked(label, answer)
    if answer.outcome != "ok":
        return {"criteria": criteria, **account}
    said = [{"criterion": name, **shortened(answer.data[name], _LONGEST_REASON)} for name in CRITERIA]
    missed = [CRITERIA[entry["criterion"]] for entry in said if not entry["passed"]]
    return {**account, "criteria": [*criteria, *said], **(rejected(", ".join(missed)) if missed else OK)}


def _found(found: Found | None) -> Row:
    if found is None:
        return {"searchable": None, "found_by": None, "n_found_files": None}
    return {"searchable": bool(found.by), "found_by": found.by, "n_found_files": found.files}
