"""What a failed call means: try again, give up this row, or stop the job.

| what happens | what is done |
| --- | --- |
| 408, 409, 425, 429, 5xx, time-out, reset, broken or half body, a 200 whose body is no JSON | tried again |
| 400, 413, 422 and other 4xx | the row fails with the endpoint's message |
| 401, 403; 404, 405, redirect; 402 or an exhausted quota | the job stops: no other request would fare better |
"""

import datetime as dt
import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import orjson

from devqa.errors import UserError

_AGAIN = {408, 409, 425, 429}
_QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
_KEPT = "What was answered so far is kept in the cache: mend it and run again."
# An endpoint that asks for more patience than this will not recover within this job.
_LONGEST_RETRY_AFTER_S = 300.0


class RowFault(Exception):
    """This request will not be answered, others may be."""


class Passing(Exception):
    """A fault that may be gone at the next attempt.

    Attributes:
        wait_s: seconds that the endpoint asked to wait; None leaves it to the caller.
        unreachable: no connection was made at all.
    """

    def __init__(self, message: str, wait_s: float | None = None, unreachable: bool = False):
        super().__init__(message)
        self.wait_s = wait_s
        self.unreachable = unreachable


def of_status(
    status: int, headers: Mapping[str, str], body: bytes, label: str, address: str
) -> RowFault | Passing | UserError:
    """The fault that a response with a status other than 200 stands for.

    Args:
        headers: the response's, with names in lower case or case-insensitive.
        label: the model's name in the configuration.
        address: the endpoint's base URL.
    """
    message, code = _message(body)
    said = f"{address} answered {status}" + (f": {message}" if message else "")
    if code in _QUOTA or status == 402:
        return UserError(f"models.{label}.api_key_env: the account's quota is used up; {said}. {_KEPT}")
    if status in (401, 403):
        return UserError(f"models.{label}.api_key_env: the endpoint refuses the key; {said}. {_KEPT}")
    if status == 404:
        return UserError(
            f"models.{label}.model or models.{label}.base_url: no such model or no such path; {said}. {_KEPT}"
        )
    if 300 <= status < 400 or status == 405:
        target = headers.get("location")
        hint = f"; it redirects to {target}" if target else ""
        return UserError(f"models.{label}.base_url is not the address of a chat endpoint; {said}{hint}. {_KEPT}")
    if status in _AGAIN or status >= 500:
        wait_s = retry_after_s(headers, dt.datetime.now(dt.UTC))
        if wait_s is not None and wait_s > _LONGEST_RETRY_AFTER_S:
            return RowFault(f"{said} (asks to wait {wait_s:,.0f} s)")
        return Passing(said, wait_s)
    return RowFault(said)


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


def _message(body: bytes) -> tuple[str, str]:
    """The endpoint's message and error code, in whichever of the usual shapes they come."""
    try:
        parsed: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        return " ".join(body[:300].decode("utf-8", "replace").split()), ""
    error = parsed.get("error", parsed) if isinstance(parsed, dict) else parsed
    if not isinstance(error, dict):
        return str(error)[:1000], ""
    message = error.get("message") or error.get("detail") or error
    return str(message)[:1000], str(error.get("code") or error.get("type") or "")
