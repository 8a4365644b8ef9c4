"""A benchmark that was made elsewhere → table `benchmark`.

Rows stay in the order of the files, because answers to questions that are equal may be told apart by order alone. None
is left out: a row that can't be asked is for the user to mend, or else figures would be of another benchmark.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from devqa import language
from devqa.errors import UserError
from devqa.imports.reading import Columns, Record, records, stripped, text
from devqa.tables import Row

_NEEDED = (("question",), ("answer",))
_DIFFICULTIES = ("easy", "hard", None)
# What only a benchmark that was built here has.
_UNKNOWN = ("references", "supports", "evidence_urls", "filtered", "models", "prompts")
_NAMED = 10  # rows that a message names


def benchmark(files: Iterable[str], columns: Mapping[str, str | None], named: Iterable[str]) -> list[Row]:
    """Rows of table `benchmark`, one per row of the files.

    A missing gold answer becomes "". Without an id column, the id is made of question and gold answer (and of a number
    where both repeat), so that it stays when other rows come and go. The language is a code, as for dialogues: what is
    given, or else that of the question. A row may have no difficulty: it is always asked.

    Args:
        columns: role → column, as `config.imports.BenchmarkColumns` has it.
        named: the roles whose column must be there.

    Raises:
        UserError: a file can't be read or lacks a column; or rows have no question, no id, another row's id, or a
            difficulty other than easy or hard. It names them.
    """
    given = list(records(files, Columns(columns, tuple(named), _NEEDED)))
    _refuse(given, lambda record: not stripped(record, "question"), "no question")
    _refuse(given, lambda record: _difficulty(record) not in _DIFFICULTIES, "a difficulty that is not easy or hard")
    return [_row(record, identifier) for record, identifier in zip(given, _identifiers(given), strict=True)]


def _row(record: Record, identifier: str) -> Row:
    question = text(record, "question") or ""
    return {
        "id": identifier,
        "question": question,
        "answer": text(record, "answer") or "",
        "language": language.code(stripped(record, "language")) or language.detect(question),
        "difficulty": _difficulty(record),
        **{role: stripped(record, role) or None for role in ("domain", "source", "dialogue_id")},
        "reviewed": "",
        **{column: [] for column in _UNKNOWN},
    }


def _identifiers(given: Sequence[Record]) -> list[str]:
    if not any("id" in record.values for record in given):
        return _made(given)
    found = [stripped(record, "id") for record in given]
    counts = Counter(found)
    _refuse(given, lambda record: not stripped(record, "id"), "no id")
    _refuse(given, lambda record: counts[stripped(record, "id")] > 1, "an id that comes twice")
    return found


def _made(given: Iterable[Record]) -> list[str]:
    seen: Counter[str] = Counter()
    found = []
    for record in given:
        parts = f"{text(record, 'question') or ''}\0{text(record, 'answer') or ''}"
        identifier = hashlib.sha256(parts.encode()).hexdigest()[:16]
        seen[identifier] += 1
        found.append(identifier if seen[identifier] == 1 else f"{identifier}-{seen[identifier]}")
    return found


def _difficulty(record: Record) -> str | None:
    return stripped(record, "difficulty").lower() or None


def _refuse(given: Sequence[Record], bad: Callable[[Record], Any], what: str) -> None:
    rows = [str(record) for record in given if bad(record)]
    if rows:
        more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
        raise UserError(
            f"{len(rows)} of {len(given)} rows of evaluation.benchmark have {what}: {'; '.join(rows[:_NAMED])}{more}. "
            "Mend the file, or name another column under evaluation.benchmark.columns (null for none)"
        )
