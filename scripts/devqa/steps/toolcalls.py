"""What a model's calls ask for, and how they stand in the conversation afterwards."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import orjson

from devqa.llm import attached
from devqa.llm.outcomes import Answer
from devqa.llm.toolcalls import ToolCall
from devqa.tokens import estimate
from devqa.web.tools import Open, Result, Search, nothing

TOOLS = ("search", "open")
# A longer query is no query; engines refuse it.
_LONGEST_QUERY = 400
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def understood(call: ToolCall, known: Collection[str], language: str) -> Search | Open | Result:
    """What `call` asks for; a result that says what is wrong with it where it can't be carried out.

    Only the addresses in `known` are opened: those that a search has found or that stand in an opened page, all in this
    conversation. A page may tell the model to send what it knows elsewhere, in an address that the model makes up: such
    an address is never asked for. (Whether a known one is public the fetcher sees to, redirects included.)

    Args:
        language: of the question, ISO 639-1 or "".
    """
    if call.name not in TOOLS:
        return nothing(f"there is no tool {call.name[:64]!r}, only {' and '.join(TOOLS)}")
    arguments = arguments_of(call)
    if arguments is None:
        return nothing("the arguments are no JSON object")
    return _search(arguments, language) if call.name == "search" else _open(arguments, known)


def _search(arguments: dict[str, Any], language: str) -> Search | Result:
    query = arguments.get("query")
    if not isinstance(query, str) or not query.strip():
        return nothing("the query is missing")
    query = " ".join(query.split())
    if len(query) > _LONGEST_QUERY:
        return nothing(f"the query is longer than {_LONGEST_QUERY} characters")
    return Search(query, language)


def _open(arguments: dict[str, Any], known: Collection[str]) -> Open | Result:
    url, part = arguments.get("url"), whole_number(arguments.get("page"))
    if not isinstance(url, str) or not url.strip():
        return nothing("the url is missing")
    if part is None:
        return nothing("page must be a number from 1 on")
    url = url.strip().partition("#")[0]
    if url not in known:
        return nothing("no search has found this address and it stands in no page that was opened")
    return Open(url, part)


def whole_number(value: Any, default: int = 1) -> int | None:
    """The number from 1 on that a model wrote as 2, 2.0 or "2", `default` where it wrote none; None if it is wrong."""
    if value is None:
        return default
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        # So many digits are enough for any page or line, and Python refuses to read thousands.
        value = int(value.strip()[:9])
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1 or value < 1:
        return None
    return int(value)


def message(answer: Answer, ids: Sequence[str]) -> dict[str, Any]:
    """The assistant's message with the calls of `answer` under `ids`, as endpoints take it back.

    They refuse names that no tool can have and some of them arguments that are no JSON object: then what stands there
    is harmless, and the call's result says what was wrong. What they attached
    themselves goes back as it came.
    """
    entries = [
        {
            **(call.attached or {}),
            "id": id,
            "type": "function",
            "function": {
                "name": call.name if _NAME.fullmatch(call.name) else "unknown",
                "arguments": call.arguments if call.arguments.strip() and arguments_of(call) is not None else "{}",
            },
        }
        for call, id in zip(answer.tool_calls, ids, strict=True)
    ]
    beside = answer.attached or {}
    return {**beside, "role": "assistant", "content": answer.text or None, "tool_calls": entries}


def thoughts(message: Mapping[str, Any]) -> int:
    """About how many tokens the fields take that an endpoint attached to the message and its calls, and gets back.

    Beside the message several may hold the same thoughts in other forms: the longest counts.
    """
    beside = max((_size(message[name]) for name in attached.IN_MESSAGE if name in message), default=0)
    calls = message.get("tool_calls", ())
    return beside + sum(_size(call[name]) for call in calls for name in attached.IN_CALL if name in call)


def _size(value: Any) -> int:
    return estimate(value if isinstance(value, str) else orjson.dumps(value).decode())


def identifiers(calls: Iterable[ToolCall], taken: set[str]) -> list[str]:
    """An id for each of `calls` that is not in `taken`, nor given twice: its own where it has such a one.

    Those that are made have nine letters and digits, because some endpoints take no others. `taken` gets them all.
    """
    ids = []
    for call in calls:
        id, number = call.id, len(taken)
        while not id or id in taken:
            number += 1
            id = f"call{number:05}"
        taken.add(id)
        ids.append(id)
    return ids


def arguments_of(call: ToolCall) -> dict[str, Any] | None:
    """The arguments of `call`; None where they are no JSON object. No arguments are an empty one."""
    if not call.arguments.strip():
        return {}
    try:
        arguments = orjson.loads(call.arguments)
    except orjson.JSONDecodeError:
        return None
    return arguments if isinstance(arguments, dict) else None
