"""How a call ended: what an endpoint returned becomes a record of the cache, and a record an `Answer`."""

from dataclasses import dataclass, field
from typing import Any, Literal

from devqa.llm import attached
from devqa.llm.cache import Record
from devqa.llm.parsing import parse_json, visible, whole
from devqa.llm.toolcalls import ToolCall, tool_calls

Outcome = Literal["ok", "refused", "truncated", "empty", "error"]


# The reason of an answer that does not follow its schema begins so; what the schema objects to comes next.
OFF_SCHEMA = "no answer that follows the schema"
# What is kept of an answer that can't be used: enough to see what was wrong with it.
_LONGEST_RAW = 100_000
_MOST_TOKENS = 10**12


@dataclass(frozen=True)
class Answer:
    """One model's answer to one request.

    Attributes:
        outcome: never mix them: a refusal is no wrong answer, a truncated one no short one.
        text: what the model says, without its thoughts.
        data: the JSON value that follows the schema, where one was asked for and the outcome is `ok`.
        reason: why the outcome is not `ok`, for people; "" otherwise.
        raw: the text as it came, thoughts included, where the outcome is not `ok`; "" otherwise.
        input_tokens, output_tokens: as the endpoint counted them (output includes thoughts), 0 where it did not.
        cached: nothing was sent for it.
        reasoning_tokens: those of the output that were thoughts.
        cached_tokens: those of the input that the endpoint had in its own prompt cache.
        calls: how many requests it took; two where the first answer did not follow its schema.
        counted: the endpoint counted the tokens, or none were spent; otherwise what the answer cost is unknown.
        tool_calls: what the model calls, where tools were offered, instead of answering: then `text` is what it says
            beside that, and may be empty though the outcome is `ok`.
        attached: beside such calls, the fields of the message that the endpoint wants back in the next request
            (`devqa.llm.attached`); None where there are none.
        seconds: from sending the request until its answer was read, those of both where it took two; waiting for a
            place, a limit or another attempt does not count. None where it is not known: batches, records of earlier
            versions. Answers that differ in nothing else are equal.
    """

    outcome: Outcome
    text: str
    data: Any
    reason: str
    raw: str
    input_tokens: int
    output_tokens: int
    cached: bool
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    calls: int = 1
    counted: bool = True
    tool_calls: tuple[ToolCall, ...] = ()
    attached: dict[str, Any] | None = None
    seconds: float | None = field(default=None, compare=False)


def answer(record: Record, cached: bool) -> Answer:
    """The answer that a record of the cache stands for."""
    return Answer(
        outcome=record["outcome"],
        text=record["text"],
        data=record["data"],
        reason=record["reason"],
        raw=record["raw"],
        input_tokens=record["input_tokens"],
        output_tokens=record["output_tokens"],
        cached=cached,
        calls=record.get("calls", 1),
        reasoning_tokens=record.get("reasoning_tokens", 0),
        cached_tokens=min(record.get("cached_tokens", 0), record["input_tokens"]),
        # Records of earlier versions don't say: a prompt without tokens was not counted.
        counted=record.get("counted", record["input_tokens"] > 0),
        tool_calls=tuple(ToolCall(*call) for call in record.get("tool_calls", ())),
        attached=record.get("attached"),
        seconds=record.get("seconds"),
    )


def failed(reason: str, outcome: Outcome = "error", passing: bool = False) -> Record:
    """The record of a request that got no usable response; `passing`: another time it may get one."""
    return {**_record(outcome, reason, None, {}), "counted": True, "passing": passing}


def broken(completion: dict[str, Any]) -> str:
    """Why a response with status 200 is no completion at all, such as an upstream's error; "" if it is one."""
    choices = completion.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return _without_choices(completion)
    if error := choices[0].get("error"):
        return f"the endpoint answered with an error: {_message(error)}"
    return ""


def read(completion: Any, schema: dict[str, Any] | None, offered: bool = False) -> Record:
    """The record of a chat completion (https://platform.openai.com/docs/api-reference/chat/object).

    Args:
        completion: the parsed body of a response with status 200.
        schema: what the answer had to follow, if anything.
        offered: the model might call tools instead of answering.
    """
    if problem := broken(completion):
        return _record("error", problem, None, completion)
    choices = completion["choices"]
    message = _dict(choices[0].get("message"))
    content = _content(message)
    text = visible(content)
    refusal = message.get("refusal")
    finish = choices[0].get("finish_reason")
    if refusal:
        return _record("refused", "the model refused", f"{content}{refusal}", completion, visible(str(refusal)))
    if finish == "content_filter":
        return _record("refused", "the endpoint's content filter stopped the answer", content, completion, text)
    if finish == "length":
        reason = "the answer was cut off at the token limit: raise sampling.max_tokens"
        return _record("truncated", reason, content, completion, text)
    if offered and (called := tool_calls(message.get("tool_calls"))):
        record = {**_record("ok", "", content, completion, text), "tool_calls": [call.recorded() for call in called]}
        beside = attached.to_message(message)
        return record | ({"attached": beside} if beside else {})
    if message.get("tool_calls") and not text:
        return _record("error", "the model called a tool instead of answering", content, completion)
    if not text:
        thoughts = message.get("reasoning_content") or message.get("reasoning")
        reason = "the answer is empty" + (", the model has only thought: raise sampling.max_tokens" if thoughts else "")
        return _record("empty", reason, content, completion)
    if schema is None:
        return _record("ok", "", content, completion, text)
    data, problem = parse_json(text, schema)
    if problem:
        return _record("error", f"{OFF_SCHEMA}: {problem}", content, completion, text)
    return _record("ok", "", content, completion, text, data)


def _record(
    outcome: Outcome, reason: str, raw: str | None, completion: dict[str, Any], text: str = "", data: Any = None
) -> Record:
    usage = _dict(completion.get("usage"))
    return {
        "outcome": outcome,
        "reason": whole(reason),
        "text": text,
        "data": data,
        "raw": "" if outcome == "ok" or raw is None else whole(raw[:_LONGEST_RAW]),
        "input_tokens": _count(usage, "prompt_tokens"),
        "output_tokens": _count(usage, "completion_tokens"),
        "reasoning_tokens": _count(_dict(usage.get("completion_tokens_details")), "reasoning_tokens"),
        "cached_tokens": _count(_dict(usage.get("prompt_tokens_details")), "cached_tokens"),
        "counted": all(type(usage.get(name)) is int for name in ("prompt_tokens", "completion_tokens")),
        "model": whole(str(completion.get("model") or "")),
    }


def _dict(value: Any) -> dict[str, Any]:
    """An object of the response; anything else counts as absent: endpoints send all sorts of things."""
    return value if isinstance(value, dict) else {}


def _count(usage: dict[str, Any], key: str) -> int:
    """A number of tokens; 0 where there is none that makes sense."""
    value = usage.get(key)
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else 0


def _content(message: dict[str, Any]) -> str:
    """A message's text; some endpoints send it in parts, thoughts among them."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(str(part.get("text") or "") for part in parts)
    return content if isinstance(content, str) else ""


def _without_choices(completion: dict[str, Any]) -> str:
    """Some gateways send an upstream's error with status 200."""
    error = completion.get("error")
    return f"the endpoint answered with an error: {_message(error)}" if error else "the response holds no choices"


def _message(error: Any) -> str:
    return str(error.get("message") or error if isinstance(error, dict) else error)[:1000]
