"""The calls of tools in a model's message (https://platform.openai.com/docs/guides/function-calling)."""

import json
from typing import Any, NamedTuple

from devqa.llm import attached
from devqa.llm.parsing import whole


class ToolCall(NamedTuple):
    """One call, as the model wrote it.

    `id` may be empty or come twice, `name` be that of no tool, and `arguments` no JSON: nothing is checked here.
    `attached` is what the endpoint wants back with it (`devqa.llm.attached`), None where that is nothing.
    """

    id: str
    name: str
    arguments: str
    attached: dict[str, Any] | None = None

    @property
    def written(self) -> list[str]:
        """What the model wrote: id, name and arguments."""
        return [self.id, self.name, self.arguments]

    def recorded(self) -> list[Any]:
        """As it stands in a record of the cache, from which `ToolCall(*recorded)` makes it again."""
        return [*self.written, self.attached] if self.attached else self.written


def tool_calls(value: Any) -> list[ToolCall]:
    """Every call in a message's `tool_calls`; what can't be read as one is a call without a name."""
    if not value:
        return []
    return [_call(entry) for entry in (value if isinstance(value, list) else [value])]


def _call(entry: Any) -> ToolCall:
    call = entry if isinstance(entry, dict) else {}
    function = call.get("function") if isinstance(call.get("function"), dict) else {}
    written = (_text(each) for each in (call.get("id"), function.get("name"), function.get("arguments")))
    return ToolCall(*written, attached.to_call(call) or None)


def _text(value: Any) -> str:
    """`value` as text: some endpoints send arguments as an object and not as the JSON of one."""
    if value is None:
        return ""
    return whole(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
