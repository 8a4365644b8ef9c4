"""From what a model wrote to what can be used: visible text, and JSON that follows a schema.

Tolerant about the wrapping (fences, prose around, trailing commas), strict about the content: whatever was
mended must validate against the schema.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import orjson

# Tags count at the start of a line only: elsewhere they are part of an answer, such as one about these tags.
_OPENING = re.compile(r"^[ \t]*<think(?:ing)?>", re.MULTILINE | re.IGNORECASE)
_NEXT_OPENING = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)
_CLOSING = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_CLOSING_LINE = re.compile(r"^[ \t]*</think(?:ing)?>", re.MULTILINE | re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)```", re.DOTALL)
# An answer may quote any number of brackets before its JSON; trying them all could take very long.
_STARTS_TRIED = 20
# Mending takes time with the square of the length where braces nest deeply.
_LONGEST_MENDED = 10_000


def whole(text: str) -> str:
    """`text` with each lone surrogate, which no file or request can hold, replaced by U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def visible(text: str) -> str:
    """What a model says to the reader: without its `<think>` blocks, stripped, safe to encode as UTF-8.

    A first block that never ends is all thought: the result is empty.
    """
    text = whole(text)
    if "think" not in text.lower():
        return text.strip()
    kept = []
    position = 0
    while opening := _NEXT_OPENING.match(text, position) or _OPENING.search(text, position):
        closing = _CLOSING.search(text, opening.end())
        if closing is None:
            break
        kept.append(text[position : opening.start()])
        position = closing.end()
    rest = text[position:]
    if _NEXT_OPENING.match(rest):
        rest = ""
    # Some chat templates put the opening tag into the prompt, so that the answer holds the closing one alone.
    elif not kept and (closing := _CLOSING_LINE.search(rest)):
        rest = rest[closing.end() :]
    return "".join([*kept, rest]).strip()


def parse_json(text: str, schema: dict[str, Any]) -> tuple[Any, str]:
    """The JSON value in `text` that follows `schema` (JSON Schema 2020-12).

    Taken as it is where it can be, else from a code fence, from the first place in the prose where a value
    begins, or mended by `json_repair`: the first of these that validates.

    Returns:
        The value and "", or None and the reason: no JSON at all, or what the schema objects to in the first
        JSON value that was found.
    """
    objection = ""
    for value in _candidates(text):
        problem = _problem(value, schema)
        if not problem:
            return value, ""
        objection = objection or problem
    return None, objection or "the answer holds no JSON"


def _candidates(text: str) -> Iterator[Any]:
    """JSON values that `text` may mean, the most literal reading first."""
    yield from _read(text)
    for fenced in _FENCE.findall(text):
        yield from _read(fenced)
    yield from _embedded(text)
    yield from _repaired(text)


def _read(text: str) -> Iterator[Any]:
    try:
        yield orjson.loads(text)
    except orjson.JSONDecodeError:
        # The standard library also reads lone surrogates and raw control characters.
        yield from _decoded(text.strip(), 0, whole_text=True)


def _embedded(text: str) -> Iterator[Any]:
    position = 0
    for _ in range(_STARTS_TRIED):
        start = re.compile(r"[{\[]").search(text, position)
        if start is None:
            return
        position = start.end()
        yield from _decoded(text, start.start())


def _decoded(text: str, start: int, whole_text: bool = False) -> Iterator[Any]:
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text, start)
        if not whole_text or end == len(text):
            yield plain(value)
    except (ValueError, RecursionError):
        return


def _repaired(text: str) -> Iterator[Any]:
    start = re.search(r"[{\[]", text)
    if start is None or len(text) - start.start() > _LONGEST_MENDED:
        return
    import json_repair

    try:
        # Strict: prose with braces in it is no broken JSON, and would take minutes.
        yield plain(json_repair.loads(text[start.start() :], skip_json_loads=True, strict=True))
    except (ValueError, RecursionError):
        return


def plain(value: Any) -> Any:
    """`value` as strict JSON would give it.

    Raises:
        ValueError: it holds NaN or an infinite number.
    """
    return orjson.loads(whole(json.dumps(value, ensure_ascii=False, allow_nan=False)))


def _problem(value: Any, schema: dict[str, Any]) -> str:
    validator = _validator(orjson.dumps(schema, option=orjson.OPT_SORT_KEYS))
    if validator.is_valid(value):
        return ""
    error = next(validator.iter_errors(value))
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.instance_path)
    return f"${place}: {error.message[:300]}"


@lru_cache(maxsize=64)
def _validator(schema: bytes) -> Any:
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator(orjson.loads(schema))
