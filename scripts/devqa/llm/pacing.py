"""Requests and tokens per minute."""

from typing import Any

from aiolimiter import AsyncLimiter

from devqa.tokens import estimate

_MINUTE_S = 60


class Pace:
    """What an endpoint's rate limits allow one job: at most so many requests, and so many tokens, in any minute.

    Args:
        requests: per minute; None for no limit.
        tokens: per minute, of prompts and of the longest answers that they allow, which is how providers count.
    """

    def __init__(self, requests: int | None, tokens: int | None):
        self._requests = AsyncLimiter(requests, _MINUTE_S) if requests else None
        self._tokens = AsyncLimiter(tokens, _MINUTE_S) if tokens else None

    async def wait(self, body: dict[str, Any], content: bytes) -> None:
        """Return when the request `body`, which is sent as `content`, may go out."""
        if self._requests:
            await self._requests.acquire()
        if self._tokens:
            answer = body.get("max_tokens") or body.get("max_completion_tokens") or 0
            # A request larger than a minute's tokens waits for a whole minute's; the endpoint has the last word.
            await self._tokens.acquire(min(estimate(content.decode()) + answer, self._tokens.max_rate))
