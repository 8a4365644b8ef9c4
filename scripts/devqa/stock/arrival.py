"""Adding an archive of somebody else to the cache.

An archive may come from anywhere: before anything is written, every name, size, line and page in it is checked, and
one that is not as `cache_export` writes it is refused as a whole. Nothing that is there already is replaced.
"""

import hashlib
import io
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zstandard

from devqa.errors import UserError
from devqa.files import replacing
from devqa.llm import segments
from devqa.llm.cache import Shelf, decode
from devqa.stock.members import SEGMENT, UNREADABLE, belongs
from devqa.stock.records import objection
from devqa.web.engines.answers import parsed

# Ten million characters that an agent has printed may take six times as many in JSON.
_LONGEST_LINE = 64_000_000
_LARGEST_FILE = 64_000_000
_BUFFER = 1 << 20


@dataclass
class Arrived:
    """What came: what was added and what was there already."""

    answers: int = 0
    known_answers: int = 0
    runs: int = 0
    known_runs: int = 0
    web_files: int = 0
    known_web_files: int = 0
    shelves: set[str] = field(default_factory=set)


def imported(config: Mapping[str, Any]) -> Arrived:
    """Add the content of the file `cache_archive` to the cache of the validated configuration.

    Raises:
        UserError: there is no such file, it is no archive of `cache_export`, or the cache can't be written.
    """
    path, folder = Path(config["cache_archive"]), Path(config["cache_dir"])
    result = Arrived()
    with _opened(path) as archive:
        _check(archive, folder)
        for entry in archive.infolist():
            if match := SEGMENT.fullmatch(entry.filename):
                added, known = _add_records(archive, entry, Shelf(folder / match[1] / match[2]))
                if match[1] == "commands":
                    result.runs, result.known_runs = result.runs + added, result.known_runs + known
                else:
                    result.answers, result.known_answers = result.answers + added, result.known_answers + known
                    result.shelves |= {match[2]} if added else set()
            else:
                _add_file(archive, entry, folder / entry.filename, result)
    return result


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except FileNotFoundError as error:
        raise UserError(
            f"cache_archive: there is no file {path}: name the one that cache_export has written"
        ) from error
    except UNREADABLE as error:
        raise UserError(f"cache_archive: {path} is damaged or no archive of cache_export ({error})") from error
    except OSError as error:
        raise UserError(f"cache_archive: {path} can't be read: {error.strerror}") from error


def _check(archive: zipfile.ZipFile, folder: Path) -> None:
    """Refuse an archive with anything in it that should not be there."""
    entries = archive.infolist()
    if len({entry.filename for entry in entries}) < len(entries):
        raise _refused(archive, "two entries have the same name")
    for entry in entries:
        if not belongs(entry.filename):
            raise _refused(archive, f"{entry.filename!r} is no name of a part of the cache")
    room = shutil.disk_usage(next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists()))
    if (wanted := sum(entry.file_size for entry in entries)) > room.free:
        raise _refused(archive, f"unpacked it takes {wanted:,} bytes, and the disk has {room.free:,}")
    for entry in entries:
        match = SEGMENT.fullmatch(entry.filename)
        if fault := _lines_fault(archive, entry, match[1]) if match else _file_fault(archive, entry):
            raise _refused(archive, f"{entry.filename}: {fault}")


def _refused(archive: zipfile.ZipFile, why: str) -> UserError:
    return UserError(f"cache_archive: {archive.filename} is refused, nothing was added: {why}")


def _lines(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    with archive.open(entry) as packed, io.BufferedReader(packed, _BUFFER) as file:
        while line := file.readline(_LONGEST_LINE + 1):
            yield line


def _lines_fault(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, part: str) -> str:
    for number, line in enumerate(_lines(archive, entry), 1):
        if len(line) > _LONGEST_LINE:
            return f"line {number:,} is longer than {_LONGEST_LINE:,} bytes"
        record = decode(line)
        if record is None:
            return f"line {number:,} is damaged"
        if fault := objection(record, part):
            return f"line {number:,} holds no answer: {fault}"
    return ""


def _file_fault(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> str:
    """A file of the web part is a page under its own hash, or JSON: a search result, what an address has given.

    One with an answer of GitHub's has a line of two texts before it.
    """
    if entry.file_size > _LARGEST_FILE:
        return f"larger than {_LARGEST_FILE:,} bytes"
    packed = archive.read(entry)
    try:
        unpacked = zstandard.get_frame_parameters(packed).content_size
        if not 0 <= unpacked <= _LARGEST_FILE:
            return f"larger than {_LARGEST_FILE:,} bytes when it is unpacked"
        content = zstandard.ZstdDecompressor().decompress(packed)
    except zstandard.ZstdError as error:
        return f"can't be unpacked ({error})"
    if entry.filename.startswith("github/"):
        return "" if _is_of_github(content) else "no answer of GitHub's"
    return (
        ""
        if _is_page(content, Path(entry.filename).stem) or _is_json(content)
        else "neither a page nor a search result"
    )


def _is_of_github(content: bytes) -> bool:
    """Is it an answer as `devqa.pull_requests.listing.github.kept` keeps it?"""
    head, _, body = content.partition(b"\n")
    try:
        parsed(body)
        return _are_two_texts(parsed(head))
    except ValueError:
        return False


def _is_page(content: bytes, name: str) -> bool:
    key = f"page:{hashlib.sha256(content).hexdigest()}"
    return hashlib.sha256(key.encode()).hexdigest() == name


def _is_json(content: bytes) -> bool:
    """Is it an object (a search's answer, an outcome, a text), or two texts (what a model was told of a failure)?"""
    try:
        value = parsed(content)
    except ValueError:
        return False
    return isinstance(value, dict) or _are_two_texts(value)


def _are_two_texts(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(text, str) for text in value)


def _add_records(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, shelf: Shelf) -> tuple[int, int]:
    """Add the lines of a segment that are not there yet, nor about a key that has a good record of our own; returns how
    many were added, and how many not.
    """
    there: set[bytes] = set()
    good: set[bytes] = set()
    for _, line in shelf.lines():
        there.add(line[: segments.MARK])
        if (record := decode(line)) and record["outcome"] == "ok":
            good.add(line[: segments.KEY])
    added = known = 0
    with shelf.writer("import") as writer:
        for line in _lines(archive, entry):
            if line[: segments.KEY] in good or line[: segments.MARK] in there:
                known += 1
                continue
            there.add(line[: segments.MARK])
            writer.keep(line)
            added += 1
    return added, known


def _add_file(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, result: Arrived) -> None:
    if path.exists():
        result.known_web_files += 1
        return
    with replacing(path) as temporary:
        temporary.write_bytes(archive.read(entry))
    result.web_files += 1


def report(config: Mapping[str, Any], result: Arrived) -> str:
    """What was added, for people."""
    runs = f", {result.runs:,} runs of external agents" if result.runs else ""
    known_runs = f", {result.known_runs:,} runs" if result.known_runs else ""
    return (
        f"{config['cache_archive']} into {config['cache_dir']}\n"
        f"added: {result.answers:,} answers of {len(result.shelves):,} models, {result.web_files:,} files of the web"
        f"{runs}\n"
        f"already there: {result.known_answers:,} answers, {result.known_web_files:,} files{known_runs}\n"
    )
