"""The raw files of a source, and what the tables are called that are made of them."""

from collections.abc import Sequence
from typing import NamedTuple

from devqa.ingest.sources import labels


class Raw(NamedTuple):
    """A raw file, and what a row's origin calls it."""

    file: str
    label: str


def raw_files(files: Sequence[str]) -> dict[str, Raw]:
    """Each of a source's `files` by the name of its table, which is the file's label without slashes.

    So a file that comes to them leaves the names of the others' tables as they are.
    """
    return {
        label.replace("%", "%25").replace("/", "%2F"): Raw(file, label) for file, label in labels(list(files)).items()
    }
