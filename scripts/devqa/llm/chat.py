"""The one way to ask a model: cache, limits, retries, structured output, usage, budget and progress.

A step says what to ask; the answers come back in the order of the requests. What was ever answered well is
not sent again.
"""

import asyncio
import gc
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any

from devqa import stopping
from devqa.errors import UserError
from devqa.llm import outcomes
from devqa.llm.budget import Budget, BudgetReached
from devqa.llm.cache import Cache, Record, Writer
from devqa.llm.channel import Answered, Channel
from devqa.llm.outcomes import Answer
from devqa.llm.pricing import record_usd
from devqa.llm.requests import Request, key
from devqa.progress import Progress

__all__ = ["Answer", "Chat", "Request", "usage"]


class Chat:
    """One model, ready to be asked. Use as a context manager.

    Args:
        asked: what decides the answers, from `config.models.asked_with`.
        runtime: how the model is reached, from `config.models.Model.model_dump()`.
        cache: where answers are kept.
        step: the step's name, for progress and the records.
        budget: what the run may still spend; None without a limit.

    Attributes:
        unanswered: how many requests were given up for faults that may pass.
        unusable: how many got no answer that can be used, those included.
    """

    def __init__(
        self,
        asked: dict[str, Any],
        runtime: dict[str, Any],
        cache: Cache,
        step: str,
        budget: Budget | None = None,
    ):
        self.label: str = asked["label"]
        self.context: int = asked["context"]
        self.max_tokens: int = asked["sampling"].get("max_tokens", 0)
        self._asked = asked
        self._runtime = runtime
        self._shelf = cache.shelf(asked["endpoint"], asked["model"])
        self._step = step
        self._budget = budget
        self.unanswered = 0
        self.unusable = 0
        self._open = ExitStack()
        self._base_url: str | None = None

    def __enter__(self) -> "Chat":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._open.close()
        self._base_url = None

    def ask(self, requests: Sequence[Request]) -> list[Answer]:
        """The answers to `requests`, in their order. Equal requests are sent once.

        Raises:
            UserError: the endpoint can't be used (key, address, model, quota), is down, the budget is reached, or the
                disk is full. What was answered until then is in the cache.
            devqa.stopping.Stopped: the process was told to stop; likewise.
        """
        if not requests:
            return []
        keys = [key(self._asked, request) for request in requests]
        answers = {key: outcomes.answer(record, True) for key, record in self._shelf.lookup(keys).items()}
        missing = {key: request for key, request in zip(keys, requests, strict=True) if key not in answers}
        with Progress(f"{self._step} with {self.label}", len(answers) + len(missing)) as progress:
            progress.advance(len(answers), cached=len(answers))
            if missing:
                answers |= self._send(missing, progress)
        return [answers[key] for key in keys]

    def _send(self, missing: Mapping[str, Request], progress: Progress) -> dict[str, Answer]:
        answers: dict[str, Answer] = {}
        unkept: dict[str, Record] = {}
        price = self._runtime["price"]
        with self._shelf.writer(self._step) as writer, _rarely_collecting():

            def answered(key: str, record: Record) -> None:
                try:
                    writer.write(key, record)
                except UserError:
                    unkept[key] = record
                    raise
                answers[key] = outcomes.answer(record, False)
                self.unanswered += record.get("passing", False)
                self.unusable += record["outcome"] != "ok"
                progress.advance(failed=record["outcome"] != "ok", usd=record_usd(record, price))

            try:
                asyncio.run(_stoppable(self._sender()(missing, self._channel(missing), answered)))
            except* UserError as errors:
                # The first one has ended all others.
                first = errors.exceptions[0]
                if isinstance(first, BudgetReached):
                    first = first.leaving(progress.total - progress.done, len(missing), self._step, self.label)
                raise _once_more(writer, unkept, first) from None
        stopping.check()
        # Another job may have answered the same meanwhile: what is returned is what any later look-up returns.
        others = self._shelf.lookup(missing, beyond=writer)
        return answers | {key: outcomes.answer(record, False) for key, record in others.items()}

    def _sender(self) -> Callable[[Mapping[str, Request], Channel, Answered], Coroutine[Any, Any, None]]:
        if self._runtime["mode"] == "batch":
            from devqa.llm.batches import sending

            return sending.send
        from devqa.llm import online

        return online.send

    def _channel(self, missing: Iterable[str]) -> Channel:
        retrying = self._shelf.asked(missing)
        return Channel(
            self._asked, self._runtime, self._address(), self._shelf.folder, self._step, self._budget, retrying
        )

    def _address(self) -> str:
        """The endpoint's base URL; a model of our own is started, or waited for, at the first request that needs it."""
        if self._runtime["runtime"] == "openai":
            return self._runtime["base_url"]
        if self._base_url is None:
            try:
                self._base_url = self._own_server()
            except UserError as error:
                raise UserError(f"models.{self.label}.{error}") from error
        return self._base_url

    def _own_server(self) -> str:
        if self._runtime["runtime"] == "served":
            from devqa.serving.address import wait_for

            return wait_for(self._runtime["address_file"], self._runtime["serve"]["ready_s"])
        from devqa.llm.local import serve

        return self._open.enter_context(serve(self._runtime))


def _once_more(writer: Writer, unkept: Mapping[str, Record], first: UserError) -> UserError:
    """Try again to keep what could not be kept when it came. `first`, with how much of it is lost."""
    lost = 0
    for asked, record in unkept.items():
        try:
            writer.write(asked, record)
        except UserError:
            lost += 1
    if not lost:
        return first
    return UserError(f"{first}. {lost} answers that came then are lost: they will be asked for again")


async def _stoppable(sending: Coroutine[Any, Any, None]) -> None:
    """`sending`, which is broken off when the process is told to stop and it has no other way of doing that."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    told: list[bool] = []

    def stop(hurry: bool) -> None:
        told.append(hurry)
        loop.call_soon_threadsafe(task.cancel)

    with stopping.gently(stop):
        try:
            await sending
        except asyncio.CancelledError:
            if not told:
                raise


@contextmanager
def _rarely_collecting() -> Iterator[None]:
    """Has the garbage collector look for cycles every 50,000 new objects instead of 700.

    Thousands of requests are alive at a time, and it walked them again and again: a quarter of a request's CPU time.
    """
    before = gc.get_threshold()
    gc.set_threshold(50_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def usage(label: str, answers: Iterable[Answer]) -> list[dict[str, Any]]:
    """What `answers` took, in the shape of the tables' `usage` column: one entry, or none without answers.

    From the cache or not makes no difference: it is what these answers cost whoever paid for them.
    """
    answers = list(answers)
    if not answers:
        return []
    return [
        {
            "model": label,
            "calls": sum(answer.calls for answer in answers),
            "uncounted": sum(not answer.counted for answer in answers),
            "input_tokens": sum(answer.input_tokens for answer in answers),
            "cached_tokens": sum(answer.cached_tokens for answer in answers),
            "output_tokens": sum(answer.output_tokens for answer in answers),
            "reasoning_tokens": sum(answer.reasoning_tokens for answer in answers),
        }
    ]
