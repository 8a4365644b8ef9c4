"""Copies of a repository's pinned version, in each of which one agent at a time does what it likes.

They lie outside the project, so that no answer of the benchmark is above them, and are no git repositories.
"""

import queue
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from devqa.pull_requests.agents.checkout import export, remove, state
from devqa.pull_requests.repositories.repository import Repository


class Copies:
    """At most `count` copies of a repository, below the folder `above`, each lent to one run at a time."""

    def __init__(self, repository: Repository, above: Path, label: str, count: int):
        self._repository = repository
        self._above, self._label = above, label
        self._lock = threading.Lock()
        self._made = 0
        # Each with the state in which it was made; None where it has still to be made.
        self._free: queue.SimpleQueue[tuple[Path, str] | None] = queue.SimpleQueue()
        for _ in range(count):
            self._free.put(None)

    @contextmanager
    def one(self) -> Iterator[Path]:
        """A copy as it was made: where the run before has changed one, another one is made."""
        lent = self._free.get()
        try:
            if lent and state(lent[0]) != lent[1]:
                remove(lent[0].parent)
                lent = None
            lent = lent or self._make()
            yield lent[0]
        finally:
            self._free.put(lent)

    def _make(self) -> tuple[Path, str]:
        # A repository is read by one thread at a time.
        with self._lock:
            self._made += 1
            # Never a name of before: what a run has left there may not go away.
            folder = self._above / str(self._made) / self._label
            export(self._repository, folder)
        return folder, state(folder)


@contextmanager
def copies(repository: Repository, label: str, count: int) -> Iterator[Copies]:
    """At most `count` copies in a temporary folder, which goes with them; each is called `label`."""
    above = Path(tempfile.mkdtemp(prefix="devqa-"))
    try:
        yield Copies(repository, above, label, count)
    finally:
        # An agent may have left what nobody may enter.
        remove(above)
