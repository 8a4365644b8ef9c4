"""From a record of any known form to a row of the table `dialogues`.

Decisions that the formats leave open:

* Empty turns (nothing but white space) are left out, whoever's they are; a dialogue without any other user turn
  is rejected. Turns are otherwise kept as they are, also two of the same role in a row.
* A NUL character rejects the dialogue: it is binary data pasted as text, and C code cuts the text there. The
  replacement character U+FFFD is kept: it is common in real dialogues and harms nothing.
* Of a message in parts the texts are joined by line ends; images and other parts are left out.
* A wrong type rejects the dialogue only where the value is used. Flags such as `toxic` and `redacted` are not.
* A rejected row has no messages: its origin says where they are, and they may be huge.

A reason is a kind, or `kind: detail`; the number of kinds is fixed.
"""

import hashlib
import math
from typing import Any

import orjson

from devqa import language
from devqa.ingest import fields
from devqa.ingest.record import Record
from devqa.tables import Row

_FIELD_LIMIT = 200  # characters of an id, a language, or the name of a model


class _Rejection(ValueError):
    """The reason why a record is no usable dialogue."""


def normalise(record: Record, label: str, source: str, limits: dict[str, int]) -> Row:
    """The row of one record, with status `ok` or `rejected`. Never raises on a record's content.

    `label` names the file; `limits` are `max_message_characters` and `max_dialogue_characters`. The id is the
    record's own; without one, a hash of the messages; without those, `label:number`, as in `origin`.
    """
    origin = f"{label}:{record.number}"
    row = {"dialogue_id": "", "source": source, "language": "", "model": "", "origin": origin, "messages": []}
    try:
        if record.problem:
            raise _Rejection(record.problem)
        if not isinstance(record.value, dict):
            raise _Rejection(f"not an object: {_kind(record.value)}")
        row["dialogue_id"] = _identifier(record.value)
        row["model"] = _text(record.value, fields.MODEL)
        row["language"] = language.code(_text(record.value, fields.LANGUAGE))
        messages = _messages(record.value, limits)
    except _Rejection as rejection:
        return {**row, "dialogue_id": row["dialogue_id"] or origin, "status": "rejected", "reason": str(rejection)}
    row["dialogue_id"] = row["dialogue_id"] or _content_hash(messages)
    row["language"] = row["language"] or language.detect(_said_by_user(messages))
    return {**row, "messages": messages, "status": "ok", "reason": ""}


def kind(reason: str) -> str:
    """The kind of a reason, without its detail."""
    return reason.partition(": ")[0]


def _identifier(value: dict[str, Any]) -> str:
    """The record's own id, "" without one."""
    for name in fields.ID:
        number = value.get(name)
        if isinstance(number, int) and not isinstance(number, bool):
            return str(number)
        if identifier := _text(value, name).strip():
            return identifier
    return ""


def _text(value: dict[str, Any], name: str) -> str:
    """A text field; "" where it is missing, null, or NaN, which is what pandas makes of null."""
    text = value.get(name)
    if text is None or (isinstance(text, float) and math.isnan(text)):
        return ""
    if not isinstance(text, str):
        raise _Rejection(f"wrong type: '{name}' is {_kind(text)}, not text")
    if len(text) > _FIELD_LIMIT:
        raise _Rejection(f"field too long: '{name}' has more than {_FIELD_LIMIT} characters")
    return _clean(text, f"'{name}'")


def _messages(value: dict[str, Any], limits: dict[str, int]) -> list[dict[str, str]]:
    """The turns that are not empty, as role and content."""
    name = next((name for name in fields.CONVERSATION if value.get(name) is not None), None)
    if name is None:
        raise _Rejection(f"no conversation: none of the fields {', '.join(fields.CONVERSATION)}")
    if not isinstance(value[name], list):
        raise _Rejection(f"wrong type: '{name}' is {_kind(value[name])}, not a list")
    turns = [_turn(turn, number) for number, turn in enumerate(value[name], start=1)]
    if not any(turn["role"] == "user" for turn in turns):
        raise _Rejection("no user turn")
    if any(len(turn["content"]) > limits["max_message_characters"] for turn in turns):
        raise _Rejection(f"message too long: more than {limits['max_message_characters']} characters")
    if sum(len(turn["content"]) for turn in turns) > limits["max_dialogue_characters"]:
        raise _Rejection(f"dialogue too long: more than {limits['max_dialogue_characters']} characters")
    messages = [turn for turn in turns if turn["content"].strip()]
    if not any(turn["role"] == "user" for turn in messages):
        raise _Rejection("empty user turns")
    return messages


def _turn(turn: Any, number: int) -> dict[str, str]:
    if not isinstance(turn, dict):
        raise _Rejection(f"wrong type: turn {number} is {_kind(turn)}, not an object")
    name = _first(turn, fields.TURN_ROLE)
    if not isinstance(name, str):
        raise _Rejection(f"wrong type: role of turn {number} is {_kind(name)}, not text")
    role = fields.ROLES.get(name.strip().lower())
    if role is None:
        raise _Rejection(f"unknown role: {ascii(name[:40])} in turn {number}")
    content = _content(_first(turn, fields.TURN_CONTENT), number)
    return {"role": role, "content": _clean(content, f"turn {number}")}


def _content(content: Any, number: int) -> str:
    """The text of a turn: a text, a list of parts, or null, as in a turn that only calls a tool."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise _Rejection(f"wrong type: content of turn {number} is {_kind(content)}, not text")
    return "\n".join(text for part in content if (text := _part(part, number)))


def _part(part: Any, number: int) -> str:
    text = part.get("text") if isinstance(part, dict) else part
    if text is None and isinstance(part, dict):
        return ""
    if not isinstance(text, str):
        raise _Rejection(f"wrong type: a part of turn {number} is {_kind(text)}, not text")
    return text


def _first(value: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


def _clean(text: str, where: str) -> str:
    """`text` itself, if a table and a request can hold it."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise _Rejection(f"lone surrogate: half a character in {where}") from None
    if "\0" in text:
        raise _Rejection(f"NUL character: in {where}")
    return text


def _content_hash(messages: list[dict[str, str]]) -> str:
    return hashlib.sha256(orjson.dumps(messages, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]


def _said_by_user(messages: list[dict[str, str]]) -> str:
    return "\n".join(message["content"] for message in messages if message["role"] == "user")


def _kind(value: Any) -> str:
    """What people call the type of a JSON value."""
    names = {type(None): "null", bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list"}
    return names.get(type(value), "an object" if isinstance(value, dict) else f"of type {type(value).__name__}")
