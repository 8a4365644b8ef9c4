"""Stand-ins for what a step is given: a model whose answers a test writes, and what must hold of every step's rows."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from devqa.llm.chat import Answer, Request
from devqa.prompts import Prompt
from devqa.tables import SCHEMAS, Row

PROMPTS = Path(__file__).resolve().parents[1] / "prompts"
NOT_OK = ("refused", "truncated", "empty", "error")


class Model:
    """Answers like a `Chat`, without a server: `reply` gets each request and returns the answer."""

    def __init__(self, reply: Callable[[Request], Answer], label: str = "stand-in", context: int = 8192):
        self.label = label
        self.context = context
        self.max_tokens = 100
        self.requests: list[Request] = []
        self._reply = reply

    def ask(self, requests: Sequence[Request]) -> list[Answer]:
        self.requests += requests
        return [self._reply(request) for request in requests]

    @classmethod
    def saying(cls, answers: Iterable[Answer], **more: Any) -> "Model":
        """A model that gives `answers` one after the other."""
        answers = iter(answers)
        return cls(lambda request: next(answers), **more)


def answered(data: Any = None, text: str = "an answer", outcome: str = "ok") -> Answer:
    """An answer of 10 tokens to a prompt of 100; one that is not `ok` has a reason and no data."""
    ok = outcome == "ok"
    return Answer(outcome, text, data if ok else None, "" if ok else "scripted", "" if ok else text, 100, 10, False)


def unusable() -> st.SearchStrategy[Answer]:
    """Answers of every outcome but `ok`, some with words in them."""
    return st.builds(answered, text=st.sampled_from(["", "A", "NOTHING", '{"a": 1}']), outcome=st.sampled_from(NOT_OK))


def prompt(name: str) -> Prompt:
    """One of the project's own prompts."""
    return Prompt(PROMPTS, name)


def broken_prompt(folder: Path) -> Prompt:
    """A prompt that uses a variable which no step gives."""
    (folder / "broken").mkdir()
    (folder / "broken" / "system.j2").write_text("fine")
    (folder / "broken" / "user.j2").write_text("{{ misspelt }}")
    return Prompt(folder, "broken")


def assert_sound(rows: Sequence[Row], table: str) -> None:
    """Rows that a step returned: they fit their table, and each one says what became of it."""
    for row in rows:
        assert row.keys() <= set(SCHEMAS[table].names)
        assert row["status"] in ("ok", "rejected", "failed")
        assert bool(row["reason"]) == (row["status"] != "ok"), row
        assert row.get("outcome") in (None, "ok") or row["status"] != "ok", row
    pa.Table.from_pylist(list(rows), schema=SCHEMAS[table])


def reference_row(dialogue: str, rank: int, text: str) -> dict[str, Any]:
    """What a step needs of a row of `references` or `condensed`."""
    return {
        "dialogue_id": dialogue,
        "rank": rank,
        "url": f"https://e/{rank}",
        "title": "Core",
        "text": text,
        "status": "ok",
    }
