"""What a failed call means: try again, give up this request, ask differently, or stop the job (docs/faults.md)."""

import datetime as dt
import math
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn

import orjson

from devqa.errors import UserError
from devqa.llm.pacing import told_to_wait_s

_AGAIN = {408, 409, 425, 429}
_QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
_NO_MONEY = re.compile(r"credit balance|insufficient (balance|credits?|funds)", re.IGNORECASE)
_KEPT = "What was answered so far is kept in the cache: mend it and run again."
# An endpoint that asks for more patience than this will not recover within this job.
_LONGEST_RETRY_AFTER_S = 300.0
_LONGEST_MESSAGE = 1000

_STRUCTURED = re.compile(r"response_format|json_schema|json_object|structured output|guided|grammar", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context[ _]?(length|size|window)|too (long|large)|maximum[^.]*tokens|exceeds?[^.]*(context|tokens)", re.IGNORECASE
)
_TOO_LARGE = re.compile(r"request too large", re.IGNORECASE)
# vLLM, llama.cpp, Ollama, OpenRouter and OpenAI on tools that the server or the model can't call.
_NO_TOOLS = re.compile(
    r"(?:not|n't|no endpoints found that) support (?:tool|function)"
    r"|(?:tools?|tool (?:use|calls|calling)|function calling)\W{0,2} (?:is|are) not (?:yet )?supported"
    r"|enable-auto-tool-choice|requires --jinja",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content[ _]?(filter|policy|management)|moderation|flagged|safety", re.IGNORECASE)
_REFUSED_PARAMETER = re.compile(
    r"unsupported|not support|unrecognized|unknown|deprecated|extra_forbidden|extra inputs", re.IGNORECASE
)
_UNKNOWN_PARAMETER = re.compile(
    r"(unknown|unrecognized|unsupported)[ _](request )?(argument|parameter|field)|extra_forbidden|extra inputs",
    re.IGNORECASE,
)
# A parameter that some models refuse, and the key of the configuration that keeps it from being sent.
_PARAMETERS = {
    "max_tokens": "max_tokens_key: max_completion_tokens",
    "max_completion_tokens": "max_tokens_key: max_tokens",
    "temperature": "omit: [temperature]",
    "top_p": "omit: [top_p]",
    "seed": "omit: [seed]",
    "reasoning_effort": "omit: [reasoning_effort]",
}


class RowFault(Exception):
    """This request will not be answered, others may be.

    Attributes:
        outcome: how the call ended: `error`, or `refused` where a content filter stopped it.
    """

    def __init__(self, message: str, outcome: str = "error"):
        super().__init__(message)
        self.outcome = outcome


class Passing(Exception):
    """A fault that may be gone at the next attempt.

    Attributes:
        wait_s: seconds that the endpoint asked to wait; None leaves it to the caller.
        unreachable: no connection was made at all.
        limited: by a rate limit: the endpoint is well, there is only too much asked of it.
        heard: the endpoint did answer.
    """

    def __init__(
        self,
        message: str,
        wait_s: float | None = None,
        *,
        unreachable: bool = False,
        limited: bool = False,
        heard: bool = False,
    ):
        super().__init__(message)
        self.wait_s = wait_s
        self.unreachable = unreachable
        self.limited = limited
        self.heard = heard


class NoStructuredOutput(Exception):
    """The endpoint does not know the way in which JSON was asked for."""


def raise_of_status(status: int, headers: Mapping[str, str], body: bytes, label: str, address: str) -> NoReturn:
    """Raise the fault that a response with a status other than 200 stands for.

    Args:
        headers: the response's, with names in lower case or case-insensitive.
        label: the model's name in the configuration.
        address: the endpoint's base URL.

    Raises:
        Passing: it may be gone at the next attempt.
        RowFault: the endpoint does not answer this request.
        NoStructuredOutput: it does not know `response_format`, or not this kind of it.
        UserError: it will answer no request, or none that is asked in this way.
    """
    message, codes, parameter = _error(body)
    said = f"{address} answered {status}" + (f": {message.rstrip('.')}" if message else "")
    words = f"{codes} {message}"
    if status == 402 or not _QUOTA.isdisjoint(codes.split()) or (status < 500 and _NO_MONEY.search(message)):
        raise UserError(f"models.{label}.api_key_env: the account's quota is used up; {said}. {_KEPT}")
    _stop(status, headers, said, words, label)
    if status == 429 and _TOO_LARGE.search(message):
        raise RowFault(f"the request alone is over the endpoint's limit of tokens per minute: {said}")
    if status in _AGAIN or (status >= 500 and status != 501):
        _pass(status, headers, said)
    if status != 413 and _STRUCTURED.search(f"{parameter} {message}"):
        raise NoStructuredOutput(said)
    if status in (400, 422):
        _stop_at_parameter(parameter, said, words, label)
    if status == 403 or _FILTERED.search(words):
        raise RowFault(f"the endpoint's content filter stopped the request: {said}", "refused")
    if status == 413 or "context_length_exceeded" in codes or _TOO_LONG.search(message):
        raise RowFault(f"the prompt is too long for the model (models.{label}.context and the step's budgets): {said}")
    raise RowFault(said)


def _stop_at_parameter(parameter: str, said: str, words: str, label: str) -> None:
    if parameter in _PARAMETERS and _REFUSED_PARAMETER.search(words):
        raise UserError(f"models.{label}: the model refuses {parameter}: set {_PARAMETERS[parameter]}; {said}. {_KEPT}")
    if _UNKNOWN_PARAMETER.search(words):
        raise UserError(f"models.{label}.extra_body: the endpoint does not know what it is sent: {said}. {_KEPT}")


def _stop(status: int, headers: Mapping[str, str], said: str, words: str, label: str) -> None:
    """What no other request would fare better with. `words`: the error's codes and message."""
    if status == 401 or (status == 403 and not _FILTERED.search(words)):
        raise UserError(f"models.{label}.api_key_env: the endpoint refuses the key; {said}. {_KEPT}")
    if _NO_TOOLS.search(words):
        raise UserError(
            f"models.{label}: the endpoint calls no tools, which the setting agentic needs: have the server support "
            f"them, or leave agentic out of the model's settings (evaluation.model_settings); {said}. {_KEPT}"
        )
    if status == 404 and not _STRUCTURED.search(words):
        raise UserError(
            f"models.{label}.model or models.{label}.base_url: no such model or no such path; {said}. {_KEPT}"
        )
    if 300 <= status < 400 or (status in (405, 501) and not _STRUCTURED.search(words)):
        target = headers.get("location")
        hint = f"; it redirects to {target}" if target else ""
        raise UserError(f"models.{label}.base_url is not the address of a chat endpoint; {said}{hint}. {_KEPT}")
    wait_s = retry_after_s(headers, dt.datetime.now(dt.UTC)) if status in _AGAIN or status >= 500 else None
    if wait_s is not None and wait_s > _LONGEST_RETRY_AFTER_S:
        raise UserError(f"models.{label}: {said}, and asks to wait {wait_s:,.0f} s: run again after that. {_KEPT}")


def _pass(status: int, headers: Mapping[str, str], said: str) -> None:
    # https://github.com/openai/openai-python: the server's word on whether to try again goes before the status.
    if headers.get("x-should-retry") == "false":
        raise RowFault(said)
    wait_s = retry_after_s(headers, dt.datetime.now(dt.UTC))
    if wait_s is None and status == 429:
        wait_s = told_to_wait_s(headers, 1) or None
    raise Passing(said, wait_s, limited=status == 429, heard=True)


def retry_after_s(headers: Mapping[str, str], now: dt.datetime) -> float | None:
    """Seconds to wait by `retry-after-ms` or `Retry-After` (RFC 9110, 10.2.3: seconds or a date); None without."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * scale
        except (KeyError, ValueError):
            continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    try:
        until = parsedate_to_datetime(headers["retry-after"])
    except (KeyError, ValueError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=dt.UTC)
    return max(0.0, (until - now).total_seconds())


def _error(body: bytes) -> tuple[str, str, str]:
    """The endpoint's message, its code and type in one string, and the parameter, in whichever shape they come."""
    try:
        parsed: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        return " ".join(body[:300].decode("utf-8", "replace").split()), "", ""
    if isinstance(parsed, list) and parsed:
        parsed = parsed[0]
    error = parsed.get("error") or parsed if isinstance(parsed, dict) else parsed
    if not isinstance(error, dict):
        return str(error)[:_LONGEST_MESSAGE], "", ""
    message = str(error.get("message") or _detail(error.get("detail")) or error)[:_LONGEST_MESSAGE]
    codes = " ".join(str(error[name]) for name in ("code", "type", "status") if error.get(name))
    return message, codes, _parameter(error.get("param"), message)


def _detail(detail: Any) -> Any:
    """What FastAPI says, without the input that it quotes (https://fastapi.tiangolo.com/tutorial/handling-errors)."""
    if not (isinstance(detail, list) and detail and all(isinstance(item, dict) for item in detail)):
        return detail
    return "; ".join(f"{item.get('loc')}: {item.get('msg')} ({item.get('type')})" for item in detail)


def _parameter(named: Any, message: str) -> str:
    """The parameter that is objected to; where it is not named, the first in quotes that is one."""
    if isinstance(named, str) and named:
        return named
    quoted = re.findall(r"['\"`](\w+)['\"`]", message)
    return next((word for word in quoted if word in _PARAMETERS), "")
