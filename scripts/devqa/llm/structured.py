"""How JSON is asked for: what the endpoint can do is found out once per model, and a bad answer is asked about once."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from devqa.files import replacing
from devqa.llm.cache import Record
from devqa.llm.outcomes import OFF_SCHEMA
from devqa.llm.requests import Request

# The best first: a schema that is enforced, any JSON that is enforced, the prompt's word alone.
MODES = ("json_schema", "json_object", "prompt")
_LONGEST_QUOTE = 8_000


class Structured:
    """The mode in which one model is asked for JSON.

    Args:
        setting: `models.<name>.structured`; with `auto` the first requests, one at a time, find out the best mode that
            works; it is kept in `folder` for all later jobs.
        folder: the model's part of the cache.

    Attributes:
        mode: the one to ask in now.
    """

    def __init__(self, setting: str, folder: Path):
        self._auto = setting == "auto"
        self._file = folder / "structured"
        known = not self._auto or known_mode(folder) is not None
        self.mode = mode_for(setting, folder)
        # The endpoint takes the mode: requests need not wait for each other any more.
        self._taken = known
        # It has also been seen to do what it says.
        self._settled = known
        # To be held while a request is under way for which the mode is not `known`.
        self.finding_out = asyncio.Lock()

    def known(self, request: Request) -> bool:
        """Is it known that the endpoint takes the mode, or is none needed?"""
        return self._taken or request.schema is None

    def learn(self, request: Request, mode: str, record: Record) -> bool:
        """Take note of an answer; False: the endpoint has not kept to `mode`, ask again in the one that is set now.

        An answer that was cut off, refused or empty tells nothing about the mode.
        """
        if self._settled or request.schema is None:
            return True
        if _ignored(request.schema, mode, record) and self.step_down(mode):
            return False
        self._taken = True
        if record["outcome"] == "ok" and mode == self.mode:
            self._settled = True
            with replacing(self._file) as temporary:
                temporary.write_text(mode, encoding="utf-8")
        return True

    def step_down(self, mode: str) -> bool:
        """The endpoint does not take `mode`; True if there is another one to try."""
        if not self._auto or mode == MODES[-1]:
            return False
        if mode == self.mode:
            self.mode = MODES[MODES.index(mode) + 1]
            self._taken = self._settled = False
        return True


def mode_for(setting: str, folder: Path) -> str:
    """The mode to begin with: `setting`, or with `auto` the one that was found out, else the best."""
    return known_mode(folder) or MODES[0] if setting == "auto" else setting


def known_mode(folder: Path) -> str | None:
    """What was found out about the model whose part of the cache is `folder`; None if nothing was."""
    try:
        mode = (folder / "structured").read_text(encoding="utf-8").strip()
    except OSError:
        return None
    return mode if mode in MODES else None


def repair(request: Request, record: Record) -> Request | None:
    """The one question that may mend an answer: what was said, and what is wrong with it; None where it can't."""
    if request.schema is None or not _off_schema(record):
        return None
    objection = (
        f"This answer can't be used: {record['reason']}.\n"
        "Give the whole answer again: one JSON value that follows the schema, and nothing else."
    )
    said = {"role": "assistant", "content": record["text"][:_LONGEST_QUOTE]}
    messages = (*request.messages, said, {"role": "user", "content": objection})
    return replace(request, messages=messages)


def repaired(first: Record, second: Record) -> Record:
    """The record of an answer that was asked for twice: the second answer, and what both took."""
    counts = ("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens", "sent_bytes")
    return {
        **second,
        **{name: first.get(name, 0) + second.get(name, 0) for name in counts},
        "counted": first["counted"] and second["counted"],
        "calls": first.get("calls", 1) + second.get("calls", 1),
        "repaired": True,
    }


def _off_schema(record: Record) -> bool:
    return record["outcome"] == "error" and record["reason"].startswith(OFF_SCHEMA)


def _ignored(schema: dict[str, Any], mode: str, record: Record) -> bool:
    """Does the answer show that the endpoint does not enforce what `mode` has it enforce?"""
    if mode == MODES[-1] or not _off_schema(record):
        return False
    from devqa.llm.parsing import parse_json

    # With `json_object` any JSON will do. Of a schema's finer points an endpoint that enforces it may miss some.
    kept = ("type", "required") if mode == "json_schema" else ()
    return bool(parse_json(record["text"], {name: schema[name] for name in kept if name in schema})[1])
