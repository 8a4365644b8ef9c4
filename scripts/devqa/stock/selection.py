"""Choosing records of a shelf, and copying them without having them all in memory."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from devqa.llm import segments
from devqa.llm.cache import Record, Shelf, decode

# Of a record: its step and its key, that is all that decides.
Keep = Callable[[str, str], bool]


class Place(NamedTuple):
    """Where a record is; of two good ones of a key, the lesser is served."""

    time: float
    segment: str
    offset: int


@dataclass
class Selection:
    """What was chosen of some segments of a shelf.

    Attributes:
        chosen: for each key that is kept, the place of the record that is served.
        repeats: how many further records these keys have.
        damaged: how many lines could not be read.
    """

    shelf: Shelf
    chosen: dict[str, Place]
    repeats: int = 0
    damaged: int = 0

    def lines(self) -> Iterator[bytes]:
        """The lines of the chosen records.

        Raises:
            Vanished: a segment has gone.
            UserError: a segment can't be read.
        """
        places = sorted((place.segment, place.offset) for place in self.chosen.values())
        for segment, group in groupby(places, lambda place: place[0]):
            with segments.opened(self.shelf.folder / segment) as file:
                for _, offset in group:
                    file.seek(offset)
                    line = file.readline()
                    if not segments.intact(line):
                        # Another file under the same name.
                        raise segments.Vanished(segment)
                    yield line


def select(shelf: Shelf, names: Iterable[str], keep: Keep, passed_over: Callable[[Record], None]) -> Selection:
    """Choose from the segments `names` of `shelf` the records that are served for the keys that `keep` wants.

    Args:
        keep: is asked with a record's step and key.
        passed_over: gets each record that is not kept: unwanted ones, and those whose outcome is not `ok`.

    Raises:
        Vanished: a segment has gone.
        UserError: a segment can't be read.
    """
    selection = Selection(shelf, {})
    for name in names:
        for offset, line, good in segments.read(shelf.folder / name):
            record = decode(line) if good else None
            if record is None:
                selection.damaged += 1
                continue
            key = line[: segments.KEY].decode()
            if record["outcome"] != "ok" or not keep(record["step"], key):
                passed_over(record)
            else:
                _choose(selection, key, Place(record["time"], name, offset))
    return selection


def _choose(selection: Selection, key: str, place: Place) -> None:
    selection.repeats += key in selection.chosen
    selection.chosen[key] = min(selection.chosen.get(key, place), place)
