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
from devqa.llm.cache import Cache, Shelf, decode, responses
from devqa.stock.members import SEGMENT, UNREADABLE, belongs
from devqa.stock.records import objection
from devqa.web.engines.answers import parsed

_LONGEST_LINE = 16_000_000
_LARGEST_FILE = 64_000_000
_BUFFER = 1 << 20


@dataclass
class Arrived:
    """What came: what was added and what was there already."""

    answers: int = 0
    known_answers: int = 0
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
                _add_answers(archive, entry, responses(config["cache_dir"]), match[1], result)
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
        fault = _lines_fault(archive, entry) if SEGMENT.fullmatch(entry.filename) else _web_fault(archive, entry)
        if fault:
            raise _refused(archive, f"{entry.filename}: {fault}")


def _refused(archive: zipfile.ZipFile, why: str) -> UserError:
    return UserError(f"cache_archive: {archive.filename} is refused, nothing was added: {why}")


def _lines(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    with archive.open(entry) as packed, io.BufferedReader(packed, _BUFFER) as file:
        while line := file.readline(_LONGEST_LINE + 1):
            yield line


def _lines_fault(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> str:
    for number, line in enumerate(_lines(archive, entry), 1):
        if len(line) > _LONGEST_LINE:
            return f"line {number:,} is longer than {_LONGEST_LINE:,} bytes"
        record = decode(line)
        if record is None:
            return f"line {number:,} is damaged"
        if fault := objection(record):
            return f"line {number:,} holds no answer: {fault}"
    return ""


def _web_fault(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> str:
    """A file of the web part is a page under its own hash, or JSON: a search result, what an address has given."""
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
    return (
        ""
        if _is_page(content, Path(entry.filename).stem) or _is_json(content)
        else "neither a page nor a search result"
    )


def _is_page(content: bytes, name: str) -> bool:
    key = f"page:{hashlib.sha256(content).hexdigest()}"
    return hashlib.sha256(key.encode()).hexdigest() == name


def _is_json(content: bytes) -> bool:
    """Is it an object (a search's answer, an outcome, a text), or two texts (what a model was told of a failure)?"""
    try:
        value = parsed(content)
    except ValueError:
        return False
    return isinstance(value, dict) or (
        isinstance(value, list) and len(value) == 2 and all(isinstance(text, str) for text in value)
    )


def _add_answers(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, cache: Cache, name: str, result: Arrived) -> None:
    shelf = Shelf(cache.folder / name)
    known = {key for key, record in shelf.records() if record["outcome"] == "ok"}
    with shelf.writer("import") as writer:
        for line in _lines(archive, entry):
            key = line[: segments.KEY].decode()
            if key in known:
                result.known_answers += 1
                continue
            known.add(key)
            writer.keep(line)
            result.answers += 1
            result.shelves.add(name)


def _add_file(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, result: Arrived) -> None:
    if path.exists():
        result.known_web_files += 1
        return
    with replacing(path) as temporary:
        temporary.write_bytes(archive.read(entry))
    result.web_files += 1


def report(config: Mapping[str, Any], result: Arrived) -> str:
    """What was added, for people."""
    return (
        f"{config['cache_archive']} into {config['cache_dir']}\n"
        f"added: {result.answers:,} answers of {len(result.shelves):,} models, {result.web_files:,} files of the web\n"
        f"already there: {result.known_answers:,} answers, {result.known_web_files:,} files\n"
    )
