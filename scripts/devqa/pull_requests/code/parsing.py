"""Reading many source files in processes that may be killed: parsers in C can't be interrupted in any other way."""

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import Any, NamedTuple

from pebble import ProcessExpired, ProcessPool

from devqa.confined import confine
from devqa.pull_requests.code import definitions
from devqa.pull_requests.code.grammars import GRAMMARS

_MEMORY_BYTES = 1_000_000_000
_SECONDS = 20
# What goes to a process at once.
_BATCH_FILES, _BATCH_BYTES = 100, 1_000_000


class Source(NamedTuple):
    """A file's content, and what it is to be parsed with (None: not at all)."""

    content: bytes
    grammar: str | None


class Lost(NamedTuple):
    """A file that could not be read, and why."""

    reason: str


class Parsers:
    """`workers` processes that apply `function` to sources. Use as a context manager; `parsed` counts the sources given
    to it that have a grammar.

    A source that takes longer than 20 s or more than 1 GB of memory, that crashes its process, or of which `function`
    raises an error, comes out as `Lost`; the others go on.
    """

    def __init__(self, function: Callable[[Source], Any], workers: int):
        self.parsed = 0
        self._function = function
        self._workers = workers
        # Loaded before the pool forks its processes, which share them. Forked, because the other ways to start a
        # process run the main script again.
        for grammar in GRAMMARS:
            definitions.definitions(b"", grammar)
        context = multiprocessing.get_context("fork")
        self._pool = ProcessPool(workers, initializer=confine, initargs=[_MEMORY_BYTES], context=context)

    def __enter__(self) -> "Parsers":
        # The first task starts the processes: now, when there is not much in memory that they would share.
        self._begun([])
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.stop()
        self._pool.join()

    def one(self, source: Source) -> Any:
        """What `function` gives for one source, or `Lost`."""
        return next(self.each([(None, source)]))[1]

    def each(self, sources: Iterable[tuple[Any, Source]]) -> Iterator[tuple[Any, Any]]:
        """The same for many, each with a key, in their order; they are taken as processes need them."""
        waiting: deque[tuple[list[tuple[Any, Source]], Future]] = deque()
        for batch in _batches(sources):
            self.parsed += sum(source.grammar is not None for _, source in batch)
            waiting.append((batch, self._begun([source for _, source in batch])))
            if len(waiting) > 2 * self._workers:
                yield from self._done(*waiting.popleft())
        while waiting:
            yield from self._done(*waiting.popleft())

    def _begun(self, sources: list[Source]) -> Future:
        return self._pool.schedule(_work, args=[self._function, sources], timeout=_SECONDS)

    def _done(self, batch: list[tuple[Any, Source]], task: Future) -> Iterator[tuple[Any, Any]]:
        try:
            results = task.result()
        except TimeoutError:
            reason = f"reading took longer than {_SECONDS} s"
        except ProcessExpired as error:
            reason = f"reading ended the process with exit code {error.exitcode}"
        except MemoryError:
            reason = f"reading took more than {_MEMORY_BYTES // 10**9} GB of memory"
        except Exception as error:  # noqa: BLE001 -- whatever a hostile file brings about, the others go on
            reason = f"reading failed ({type(error).__name__})"
        else:
            for (key, _), result in zip(batch, results, strict=True):
                yield key, result
            return
        if len(batch) == 1:
            yield batch[0][0], Lost(reason)
            return
        # One of them is to blame.
        for key, source in batch:
            yield from self._done([(key, source)], self._begun([source]))


def _batches(sources: Iterable[tuple[Any, Source]]) -> Iterator[list[tuple[Any, Source]]]:
    batch, size = [], 0
    for each in sources:
        batch.append(each)
        size += len(each[1].content)
        if len(batch) >= _BATCH_FILES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _work(function: Callable[[Source], Any], sources: list[Source]) -> list[Any]:
    return [function(source) for source in sources]
