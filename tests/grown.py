"""Made-up repositories, for tests: commits by what they write, move and delete."""

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import pygit2

_WHO = pygit2.Signature("Ann", "ann@example.org", 1_600_000_000, 0)


class Grown:
    """A bare repository in `folder` that grows by commits on its one branch. Use as a context manager."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._git = pygit2.init_repository(str(folder), bare=True, initial_head="main")
        self.commits: list[str] = []

    def __enter__(self) -> "Grown":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._git.free()

    @property
    def origin(self) -> dict[str, str]:
        """The repository as it is configured."""
        return {"label": "grown", "path": str(self.folder), "url": "", "name": "grown/up"}

    def commit(
        self, files: Mapping[str, str | bytes | None], *, parents: list[str] | None = None, message: str = "Change"
    ) -> str:
        """A commit on top of the last one (or of `parents`, the first of which it changes), with `files` written; None
        deletes one. Returns its id.
        """
        parents = self.commits[-1:] if parents is None else parents
        index = pygit2.Index()
        if parents:
            index.read_tree(self._git[parents[0]].tree)
        for path, content in files.items():
            if content is None:
                index.remove(path)
                continue
            blob = self._git.create_blob(content.encode() if isinstance(content, str) else content)
            index.add(pygit2.IndexEntry(path, blob, pygit2.enums.FileMode.BLOB))
        made = self._git.create_commit(None, _WHO, _WHO, message, index.write_tree(self._git), parents)
        return str(made)

    def grow(self, files: Mapping[str, str | bytes | None], *, parents: list[str] | None = None) -> str:
        """The same, on the branch."""
        self.commits.append(self.commit(files, parents=parents))
        self._git.references.create("refs/heads/main", self.commits[-1], force=True)
        return self.commits[-1]
