"""From what a model wrote to what can be used: visible text, and JSON that follows a schema.

Tolerant about the wrapping (fences, prose around, trailing commas), strict about the content: whatever was
mended must validate against the schema.
"""

import json
import re
from collections.abc import Iterable, Iterator
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
_START = re.compile(r"[{\[]")
# An answer may quote any number of brackets beside its JSON; where they nest and never end, each one is read to the end
# of the text. So many times the text's length is read in vain.
_TIMES_READ = 20
# Mending takes time with the square of the length where braces nest deeply.
_LONGEST_MENDED = 10_000
# In place of a value: None is one.
_NOTHING = object()


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

    Taken as it is where it can be, else from where it begins in the prose, fenced or not, or mended by `json_repair`.
    Of several that follow the schema the last one counts: models reason first and conclude last, and what they reason
    about may hold such a value itself.

    Returns:
        The value and "", or None and the reason: no JSON at all, or what the schema objects to in the first
        JSON value that was found.
    """
    following = _Following(schema)
    values = following.of(_read(text))
    if not values:
        values, end = _embedded(text, following)
        # What comes last may be what has to be mended.
        values = following.of(_repaired(text, end)) or values or following.of(_fenced(text))
    return (values[-1], "") if values else (None, following.objection or "the answer holds no JSON")


class _Following:
    """Which values follow `schema`.

    Attributes:
        objection: what it objects to in the first one that does not; "" as long as there is none.
    """

    def __init__(self, schema: dict[str, Any]):
        self._schema = schema
        self.objection = ""

    def of(self, values: Iterable[Any]) -> list[Any]:
        return [value for value in values if self.holds(value)]

    def holds(self, value: Any) -> bool:
        problem = _problem(value, self._schema)
        self.objection = self.objection or problem
        return not problem


def _read(text: str) -> Iterator[Any]:
    try:
        yield orjson.loads(text)
    except orjson.JSONDecodeError:
        # The standard library also reads lone surrogates and raw control characters.
        text = text.strip()
        value, end = _decoded(text, 0)
        if value is not _NOTHING and end == len(text):
            yield value


def _fenced(text: str) -> Iterator[Any]:
    for fenced in _FENCE.findall(text):
        yield from _read(fenced)


def _embedded(text: str, following: _Following) -> tuple[list[Any], int]:
    """The values between words that follow the schema, none inside of another one, and where the last one ends."""
    values: list[Any] = []
    position = end = 0
    left = _TIMES_READ * len(text)
    while left > 0 and (start := _START.search(text, position)):
        value, stop = _decoded(text, start.start())
        if value is not _NOTHING and following.holds(value):
            values.append(value)
            position = end = stop
        else:
            left -= stop - start.start()
            position = start.end()
    return values, end


def _decoded(text: str, start: int) -> tuple[Any, int]:
    """The value that begins at `start`, `_NOTHING` if there is none, and how far the text was read for it."""
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text, start)
    except json.JSONDecodeError as error:
        return _NOTHING, max(error.pos, start) + 1
    except (ValueError, RecursionError):
        # It nests too deeply, or holds a number of too many digits: nothing says where.
        return _NOTHING, len(text)
    try:
        return plain(value), end
    except (ValueError, RecursionError):
        return _NOTHING, end


def _repaired(text: str, position: int) -> Iterator[Any]:
    start = _START.search(text, position)
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
