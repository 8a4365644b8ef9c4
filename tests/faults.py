"""All that an endpoint may do instead of answering well, and what must come of it.

One catalogue for the tests of the client, for the soak, and for the table in docs/faults.md, whose rows are these.
"""

from dataclasses import dataclass
from typing import Literal

from scripted import Reply

# What is done at once. `again`: the request is tried again. `row`: it is given up, the others go on. `stop`: the job
# ends. `reask`: it is asked about once more, or in another form. `taken`: it is an answer like any other.
Then = Literal["again", "row", "stop", "reask", "taken"]

GRADE = {
    "type": "object",
    "properties": {"grade": {"type": "string", "enum": ["A", "B"]}},
    "required": ["grade"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Fault:
    """One row of the table.

    Attributes:
        reply: what the endpoint answers; None where there is none that answers.
        then: what is done at once.
        outcome: how the request ends if the endpoint goes on like this.
        says: what stands in the row's reason, or in the message that ends the job.
        schema: it is met by requests for JSON, with the schema `GRADE`.
    """

    reply: Reply | None
    then: Then
    outcome: Literal["ok", "refused", "truncated", "empty", "error"] = "error"
    says: str = ""
    schema: bool = False


def _error(status: int, message: str, **more: str) -> Reply:
    return Reply(status=status, error={"message": message, **more})


_TOO_LONG = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
_TOO_MUCH = "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 43000."
_MAX_TOKENS = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'."
_TEMPERATURE = "Unsupported value: 'temperature' does not support 0.2 with this model."
_FILTERED = "The response was filtered due to the prompt triggering the content management policy."
_NO_TOOLS = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
_NO_FORMAT = "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."

PASSING = {
    "408, request time-out": Fault(Reply(status=408), "again", says="answered 408"),
    "409, conflict": Fault(Reply(status=409), "again", says="answered 409"),
    "429 with `Retry-After`": Fault(Reply(status=429, headers={"Retry-After": "0.01"}), "again", says="answered 429"),
    "429 without `Retry-After`": Fault(Reply(status=429, error="Slow down"), "again", says="answered 429: Slow down"),
    "500, server error": Fault(Reply(status=500), "again", says="answered 500"),
    "502, bad gateway": Fault(Reply(status=502, body=b"<h1>Bad Gateway</h1>"), "again", says="answered 502"),
    "503, unavailable": Fault(Reply(status=503), "again", says="answered 503"),
    "504, gateway time-out": Fault(Reply(status=504), "again", says="answered 504"),
    "529, overloaded": Fault(Reply(status=529), "again", says="answered 529"),
    "reset before the answer": Fault(Reply(fault="close"), "again", says="Server disconnected"),
    "reset in the headers": Fault(Reply(fault="head"), "again", says="ServerDisconnectedError"),
    "reset in mid-body": Fault(Reply("x" * 1000, fault="half"), "again", says="payload is not completed"),
    "no HTTP at all": Fault(Reply(fault="garbage"), "again", says="Bad status line"),
    "no answer in time": Fault(Reply(fault="hang"), "again", says="no answer within"),
    "an answer that only drips": Fault(Reply(fault="drip"), "again", says="no answer within"),
    "a body that can't be unpacked": Fault(
        Reply(body=b"no gzip", headers={"Content-Encoding": "gzip"}), "again", says="Can not decode"
    ),
    "invalid JSON": Fault(Reply(body=b'{"choices": ['), "again", says="a body that is no JSON"),
    "an empty body": Fault(Reply(body=b""), "again", says="a body that is no JSON"),
    "HTML with status 200": Fault(
        Reply(body=b"<html>Please wait</html>", headers={"Content-Type": "text/html"}),
        "again",
        says="a body that is no JSON",
    ),
    "an error with status 200": Fault(
        Reply(body=b'{"error": {"message": "upstream is down", "code": 502}}'), "again", says="upstream is down"
    ),
    "empty `choices`": Fault(Reply(choices=False), "again", says="the response holds no choices"),
}

ROW = {
    "400, bad request": Fault(Reply(status=400, error="Invalid 'messages'"), "row", says="answered 400: Invalid"),
    "413, too large": Fault(Reply(status=413, body=b"Payload Too Large"), "row", says="the prompt is too long"),
    "context length exceeded": Fault(
        _error(400, _TOO_LONG, code="context_length_exceeded"), "row", says="the prompt is too long for the model"
    ),
    "422, unprocessable": Fault(
        Reply(status=422, body=b'{"detail": [{"loc": ["body", "messages"], "msg": "Field required", "input": "x"}]}'),
        "row",
        says="Field required",
    ),
    "429, the request alone is over the tokens per minute": Fault(
        _error(429, _TOO_MUCH, type="tokens", code="rate_limit_exceeded"), "row", says="the request alone is over"
    ),
    "500 with `x-should-retry: false`": Fault(
        Reply(status=500, headers={"x-should-retry": "false"}), "row", says="answered 500"
    ),
    "400 by a content filter": Fault(
        _error(400, _FILTERED, code="content_filter"), "row", outcome="refused", says="content filter"
    ),
    "JSON that is no object": Fault(Reply(body=b"[]"), "row", says="JSON that is no object"),
}

STOP = {
    "401, the key is refused": Fault(_error(401, "Incorrect API key"), "stop", says="the endpoint refuses the key"),
    "403, forbidden": Fault(_error(403, "No access to this model"), "stop", says="the endpoint refuses the key"),
    "404, no such model": Fault(
        _error(404, "The model `m` does not exist", code="model_not_found"), "stop", says="no such model"
    ),
    "405 or a redirect": Fault(
        Reply(status=307, headers={"Location": "https://elsewhere.example/v1"}),
        "stop",
        says="is not the address of a chat endpoint",
    ),
    "402, payment required": Fault(_error(402, "Insufficient Balance"), "stop", says="the account's quota is used up"),
    "429, quota exhausted": Fault(
        _error(429, "You exceeded your current quota", type="insufficient_quota", code="insufficient_quota"),
        "stop",
        says="the account's quota is used up",
    ),
    "429 with a `Retry-After` of an hour": Fault(
        Reply(status=429, headers={"Retry-After": "3600"}), "stop", says="asks to wait 3,600 s"
    ),
    "a refused parameter: `max_tokens`": Fault(
        _error(400, _MAX_TOKENS, param="max_tokens", code="unsupported_parameter"),
        "stop",
        says="set max_tokens_key: max_completion_tokens",
    ),
    "a refused parameter: `temperature`": Fault(
        _error(400, _TEMPERATURE, param="temperature", code="unsupported_value"),
        "stop",
        says="set omit: [temperature]",
    ),
    "an unknown parameter": Fault(
        _error(400, "Unrecognized request argument supplied: top_k"), "stop", says="extra_body"
    ),
    "tools that it can't call": Fault(_error(400, _NO_TOOLS), "stop", says="calls no tools"),
}

# No single answer shows these; the tests bring them about.
UNREACHABLE = {
    "connection refused": Fault(None, "stop", says="nothing answers at"),
    "unknown host": Fault(None, "stop", says="nothing answers at"),
    "an untrusted certificate": Fault(None, "stop", says="the certificate of"),
    "a server that never answers": Fault(None, "stop", says="nothing answers at"),
    "a server that only fails": Fault(None, "stop", says="no request succeeds at"),
    "a server that only limits": Fault(None, "stop", says="lets no request through"),
}

ANSWERS = {
    "`content: null`": Fault(Reply(None), "taken", outcome="empty", says="the answer is empty"),
    "only thoughts": Fault(Reply(None, reasoning="hm"), "taken", outcome="empty", says="the model has only thought"),
    "`finish_reason: length`": Fault(
        Reply('{"grade": "A"', finish_reason="length"),
        "taken",
        outcome="truncated",
        says="cut off at the token limit",
        schema=True,
    ),
    "`finish_reason: content_filter`": Fault(
        Reply("As I", finish_reason="content_filter"), "taken", outcome="refused", says="content filter stopped"
    ),
    "a `refusal`": Fault(Reply(None, refusal="I can't help"), "taken", outcome="refused", says="the model refused"),
    "a tool call instead of content": Fault(
        Reply(tool_call=True, finish_reason="tool_calls"), "taken", says="called a tool"
    ),
    "JSON in a fence": Fault(Reply('```json\n{"grade": "A"}\n```'), "taken", outcome="ok", schema=True),
    "a trailing comma": Fault(Reply('Sure! {"grade": "A",}'), "taken", outcome="ok", schema=True),
    "`<think>` in the answer": Fault(Reply('<think>B?</think>{"grade": "A"}'), "taken", outcome="ok", schema=True),
    "`reasoning_content` beside it": Fault(Reply('{"grade": "A"}', reasoning="B?"), "taken", outcome="ok", schema=True),
    "lone surrogates": Fault(Reply("half a \ud83d pair"), "taken", outcome="ok"),
    "no `usage`": Fault(Reply('{"grade": "A"}', usage=None), "taken", outcome="ok"),
}

REASKED = {
    "JSON off the schema": Fault(
        Reply('{"grade": "Z"}'), "reask", says="no answer that follows the schema", schema=True
    ),
    "`response_format` is not supported": Fault(
        _error(400, _NO_FORMAT, param="response_format"), "reask", says="answered 400: Invalid parameter", schema=True
    ),
    "`response_format` is ignored": Fault(
        Reply("The grade is A."), "reask", says="no answer that follows the schema", schema=True
    ),
}

ALL = {**PASSING, **ROW, **STOP, **UNREACHABLE, **ANSWERS, **REASKED}
