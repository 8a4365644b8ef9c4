"""What is in one version of a file: its definitions, looked up by name, and the lines that say nothing."""

from collections import defaultdict
from collections.abc import Sequence

from devqa.pull_requests.code.definitions import Definition, unnumbered


class Defined:
    """`definitions`, in the order of table `blocks`, and runs of `quiet` lines, as `Read` has them."""

    def __init__(self, definitions: Sequence[Definition], quiet: Sequence[tuple[int, int]] = ()):
        self.definitions = definitions
        self.quiet = quiet
        self._places = {each.name: index for index, each in enumerate(definitions)}
        self._named: defaultdict[str, list[int]] = defaultdict(list)
        for index, each in enumerate(definitions):
            self._named[unnumbered(each.name)].append(index)

    def __len__(self) -> int:
        return len(self.definitions) + len(self.quiet)

    def place(self, name: str) -> int | None:
        """The index of the definition with this name, None where there is none."""
        return self._places.get(name)

    def named(self, name: str) -> Sequence[int]:
        """The indices of all definitions that have the name, each with another number."""
        return self._named.get(unnumbered(name), ())
