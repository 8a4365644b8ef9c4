"""The schema of every table, and reading and writing them so that the same rows give the same bytes.

A table keeps every row that a step was given: `status` is `ok`, `rejected` (the data's fault: the row is
not what we want) or `failed` (a fault on the way: the row may succeed another time), and `reason` says why.
Rows travel through the steps as plain dicts, one per row, with the schema's column names as keys.
"""

import importlib.abc
import os
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from devqa.errors import UserError
from devqa.files import replacing
from devqa.usage import COUNTS

Row = dict[str, Any]


class _NoPandas(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: object, target: object = None) -> None:
        """Called by the import system for each module that is not loaded yet."""
        if name == "pandas":
            raise ModuleNotFoundError(name, name=name)


def _tell_pyarrow_that_there_is_no_pandas() -> None:
    """Spare each job the import of pandas, which takes longer than that of all else.

    pyarrow imports it at the first list that it gets, only to know whether the list is one of pandas' own, and it looks
    no second time. All else imports pandas as ever.
    """
    sys.meta_path.insert(0, finder := _NoPandas())
    pa.array([])
    sys.meta_path.remove(finder)


if "pandas" not in sys.modules:
    _tell_pyarrow_that_there_is_no_pandas()

_TEXTS = pa.list_(pa.string())
_STATUS = [("status", pa.string()), ("reason", pa.string())]
_USAGE = pa.list_(pa.struct([("model", pa.string()), *((count, pa.int64()) for count in COUNTS)]))
# What a model's answer leaves in a row: how the call ended, the raw text where it could not be used, and
# what was spent, one entry per model. Prices are applied later: they change no result.
_ASKED = [("outcome", pa.string()), ("raw", pa.string()), ("usage", _USAGE)]
_REFERENCES = pa.list_(pa.struct([("url", pa.string()), ("title", pa.string()), ("text", pa.string())]))
_PASSAGES = pa.list_(
    pa.struct([("url", pa.string()), ("title", pa.string()), ("text", pa.string()), ("score", pa.float64())])
)
# Where a pair's answer stands: the number of a reference, the sentence, and how it is found in the page's own text
# (exact, near).
_SUPPORTS = pa.list_(pa.struct([("reference", pa.int32()), ("span", pa.string()), ("match", pa.string())]))
_DIALOGUE = [("dialogue_id", pa.string()), ("source", pa.string()), ("language", pa.string())]
_PAGE = [("dialogue_id", pa.string()), ("rank", pa.int32()), ("url", pa.string()), ("title", pa.string())]
_PAIR = [
    ("pair_id", pa.string()),
    *_DIALOGUE,
    ("number", pa.int32()),
    ("question", pa.string()),
    ("answer", pa.string()),
    ("supports", _SUPPORTS),
    ("references", _REFERENCES),
]
_CRITERIA = pa.list_(pa.struct([("criterion", pa.string()), ("passed", pa.bool_()), ("reason", pa.string())]))
_ATTEMPTS = pa.list_(
    pa.struct(
        [
            ("model", pa.string()),
            ("answer", pa.string()),
            ("outcome", pa.string()),
            ("grade", pa.string()),
            ("judge_outcome", pa.string()),
            ("judge_text", pa.string()),
        ]
    )
)
# One entry for each call of a tool: `outcome` is ok, or why it gave nothing; `result` is what the model got to read.
_TOOL_CALLS = pa.list_(
    pa.struct(
        [
            ("round", pa.int32()),
            ("tool", pa.string()),
            ("arguments", pa.string()),
            ("outcome", pa.string()),
            ("result", pa.string()),
        ]
    )
)
_RUN = [("id", pa.string()), ("setting", pa.string()), ("model", pa.string()), ("repeat", pa.int32())]

SCHEMAS: dict[str, pa.Schema] = {
    name: pa.schema(fields)
    for name, fields in {
        # Local corpus: one row per page, with the words that the search engine indexes.
        "corpus": [
            ("url", pa.string()),
            ("title", pa.string()),
            ("language", pa.string()),
            ("text", pa.string()),
            ("words", pa.string()),
            ("content", pa.binary()),
            ("content_type", pa.string()),
            *_STATUS,
        ],
        "dialogues": [
            *_DIALOGUE,
            ("model", pa.string()),
            ("origin", pa.string()),
            ("messages", pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))),
            *_STATUS,
        ],
        "queries": [*_DIALOGUE, ("topics", _TEXTS), ("queries", _TEXTS), *_ASKED, *_STATUS],
        "search": [
            *_DIALOGUE,
            ("queries", _TEXTS),
            (
                "results",
                pa.list_(
                    pa.struct(
                        [("rank", pa.int32()), ("url", pa.string()), ("title", pa.string()), ("snippet", pa.string())]
                    )
                ),
            ),
            # Requests to the engine, as calls of `search:<engine>`.
            ("usage", _USAGE),
            *_STATUS,
        ],
        "pages": [
            *_PAGE,
            ("final_url", pa.string()),
            ("http_status", pa.int32()),
            ("content_type", pa.string()),
            # Of the raw content, which the cache holds under it; null where there is none.
            ("sha256", pa.string()),
            ("bytes", pa.int64()),
            # When the content came, in ISO 8601 and UTC; "" for pages of a local corpus.
            ("fetched", pa.string()),
            *_STATUS,
        ],
        "references": [
            *_PAGE,
            ("language", pa.string()),
            ("extractor", pa.string()),
            # The address or name of the licence that the page states, "" where it states none.
            ("license", pa.string()),
            ("text", pa.string()),
            *_STATUS,
        ],
        "condensed": [*_PAGE, ("method", pa.string()), ("text", pa.string()), *_ASKED, *_STATUS],
        "pairs": [*_PAIR, *_ASKED, *_STATUS],
        "checked": [*_PAIR, ("criteria", _CRITERIA), *_ASKED, *_STATUS],
        "evidence": [*_PAIR, ("passages", _PASSAGES), ("usage", _USAGE), *_STATUS],
        "verified": [
            *_PAIR,
            ("passages", _PASSAGES),
            ("verdict", pa.string()),
            ("evidence_answer", pa.string()),
            ("explanation", pa.string()),
            ("cited", pa.list_(pa.int32())),
            *_ASKED,
            *_STATUS,
        ],
        "rated": [*_PAIR, ("difficulty", pa.string()), ("attempts", _ATTEMPTS), ("usage", _USAGE), *_STATUS],
        # Every rated pair with the row of the benchmark that it became or was merged into.
        "merged": [*_PAIR, ("difficulty", pa.string()), ("merged_into", pa.string()), *_STATUS],
        "benchmark": [
            ("id", pa.string()),
            ("question", pa.string()),
            ("answer", pa.string()),
            ("language", pa.string()),
            ("difficulty", pa.string()),
            ("dialogue_id", pa.string()),
            ("source", pa.string()),
            ("references", _REFERENCES),
            ("supports", _SUPPORTS),
            ("evidence_urls", _TEXTS),
            # The knowledge domain, where the benchmark comes with one.
            ("domain", pa.string()),
            # What the difficulty filter's models made of the question.
            ("filtered", pa.list_(pa.struct([("model", pa.string()), ("grade", pa.string())]))),
            ("models", pa.list_(pa.struct([("step", pa.string()), ("model", pa.string()), ("endpoint", pa.string())]))),
            ("prompts", pa.list_(pa.struct([("step", pa.string()), ("sha256", pa.string())]))),
        ],
        # The frozen evidence: every page that a row of the benchmark cites, as reference or as evidence (ids of rows).
        "sources": [
            ("url", pa.string()),
            ("final_url", pa.string()),
            ("fetched", pa.string()),
            ("http_status", pa.int32()),
            ("content_type", pa.string()),
            ("license", pa.string()),
            ("sha256", pa.string()),
            ("bytes", pa.int64()),
            ("referenced_by", _TEXTS),
            ("evidence_of", _TEXTS),
            *_STATUS,
        ],
        # Which knowledge domain a question of the benchmark belongs to.
        "domains": [("id", pa.string()), ("domain", pa.string()), *_ASKED, *_STATUS],
        # What the setting `rag` shows with each question.
        "retrieved": [("id", pa.string()), ("passages", _PASSAGES), ("usage", _USAGE), *_STATUS],
        "answers": [
            *_RUN,
            ("answer", pa.string()),
            # From 0 to 100, where the setting asks for it and the model stated it in the form that was asked for.
            ("confidence", pa.float64()),
            # What the model was shown (rag), or has found itself (agentic).
            ("passages", _PASSAGES),
            ("tool_calls", _TOOL_CALLS),
            # Null where none were counted.
            ("input_tokens", pa.int64()),
            ("output_tokens", pa.int64()),
            ("reasoning_tokens", pa.int64()),
            *_ASKED,
            *_STATUS,
        ],
        # `grade` is CORRECT, INCORRECT, NOT_ATTEMPTED, or null where there is none (`reason` says why).
        # `judge` is the judge's name in the configuration; null where the grade came with the answer.
        "grades": [
            *_RUN,
            ("judge", pa.string()),
            ("grade", pa.string()),
            ("judge_text", pa.string()),
            *_ASKED,
            *_STATUS,
        ],
        "scores": [
            ("model", pa.string()),
            ("setting", pa.string()),
            ("slice", pa.string()),
            ("value", pa.string()),
            ("metric", pa.string()),
            ("mean", pa.float64()),
            ("spread", pa.float64()),
            # 95 % interval, and worst and best case over rows without a grade; null for what has none.
            ("low", pa.float64()),
            ("high", pa.float64()),
            ("worst", pa.float64()),
            ("best", pa.float64()),
            ("repeats", pa.int32()),
            ("rows", pa.int64()),
        ],
    }.items()
}


def read(paths: str | os.PathLike | Iterable[str | os.PathLike], name: str) -> list[Row]:
    """All rows of one table that lies in one file or in several, in the files' order.

    Raises:
        UserError: a file is unreadable or does not have the schema of table `name`.
    """
    return [row for batch in batches(paths, name, 10_000) for row in batch]


def read_ok(paths: str | os.PathLike | Iterable[str | os.PathLike], name: str) -> list[Row]:
    """The rows that a next step takes: those with status `ok`."""
    return [row for row in read(paths, name) if row["status"] == "ok"]


def batches(
    paths: str | os.PathLike | Iterable[str | os.PathLike], name: str, size: int, columns: list[str] | None = None
) -> Iterator[list[Row]]:
    """The rows of one table, at most `size` at a time, optionally only some `columns`.

    Raises:
        UserError: a file is unreadable or does not have the schema of table `name`.
    """
    for path in [paths] if isinstance(paths, str | os.PathLike) else paths:
        try:
            with pq.ParquetFile(path) as file:
                if not file.schema_arrow.equals(SCHEMAS[name]):
                    raise UserError(f"{path} is not a table '{name}' of this version: delete it and run again")
                for batch in file.iter_batches(batch_size=size, columns=columns):
                    yield batch.to_pylist()
        except (pa.ArrowInvalid, OSError) as error:
            raise UserError(f"{path} can't be read as Parquet ({error}): delete it and run again") from error


def write(rows: Iterable[Row], name: str, path: str | os.PathLike, at_a_time: int = 100_000) -> None:
    """Write `rows` as table `name`, whole or not at all (temporary file, then rename).

    A key that a row lacks becomes null; a key that the schema lacks raises `ValueError`, because it would
    be lost silently. Of rows that are made as they are written, `at_a_time` are in memory.
    """
    rows, schema = iter(rows), SCHEMAS[name]
    known = set(schema.names)
    with replacing(path) as temporary, writer(temporary, name) as file:
        while portion := list(islice(rows, at_a_time)):
            for row in portion:
                if unknown := row.keys() - known:
                    raise ValueError(f"table '{name}' has no column {', '.join(sorted(unknown))}")
            file.write_table(pa.Table.from_pylist(portion, schema=schema))


def writer(path: str | os.PathLike, name: str) -> pq.ParquetWriter:
    """A Parquet writer with the options that make the same rows the same bytes."""
    return pq.ParquetWriter(path, SCHEMAS[name], compression="zstd", version="2.6", write_statistics=True)


def picked(row: Row, name: str) -> Row:
    """What table `name` carries on of a `row` of the table before it: the columns of both but the step's account."""
    own = {"status", "reason", "outcome", "raw", "usage"}
    return {key: value for key, value in row.items() if key in SCHEMAS[name].names and key not in own}
