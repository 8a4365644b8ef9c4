"""Reading everything that the cache holds, to find what is damaged."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zstandard

from devqa.llm import segments
from devqa.llm.cache import Cache, decode
from devqa.llm.index import SETTLED_S


@dataclass(frozen=True)
class Damage:
    """Where something is damaged: a line of a segment by its number from 1 and its byte offset, or a whole file (0)."""

    path: Path
    number: int
    offset: int
    what: str


@dataclass
class Verified:
    """What was read, and what is wrong with it.

    Attributes:
        cut_off: how many segments are empty, or end in half a line and may still be growing: that is no damage.
    """

    records: int
    web_files: int
    damages: list[Damage]
    cut_off: int = 0


def verified(config: Mapping[str, Any]) -> Verified:
    """Every line of every segment is read and its checksum and JSON are checked, and every file of search results,
    pages and GitHub's answers.

    The last line of a segment that may still be growing is allowed to be half there, but such segments are counted.

    Raises:
        UserError: a file can't be read.
    """
    result, folder = Verified(0, 0, []), Path(config["cache_dir"])
    for shelf in (shelf for part in ("responses", "commands") for shelf in Cache(folder / part).shelves()):
        for name in segments.listed(shelf.folder):
            try:
                _read_segment(shelf.folder / name, result)
            except segments.Vanished:
                # Pruned a moment ago.
                continue
    for path in (path for part in ("web", "github") for path in sorted((folder / part).glob("*/*/*.zst"))):
        result.web_files += 1
        if fault := _fault(path):
            result.damages.append(Damage(path, 0, 0, fault))
    return result


def _read_segment(path: Path, result: Verified) -> None:
    size, changed = segments.state(path)
    growing = time.time() - changed / 1e9 < SETTLED_S
    result.cut_off += not size
    number = end = 0
    for offset, line, good in segments.read(path):
        # A record that is found inside a damaged line is no line of its own.
        number += offset >= end
        end = max(end, offset + len(line))
        if good and decode(line) is not None:
            result.records += 1
        elif growing and not line.endswith(b"\n"):
            result.cut_off += 1
        else:
            result.damages.append(Damage(path, number, offset, _what(line, good)))


def _what(line: bytes, good: bool) -> str:
    if good:
        return "no record"
    return "the checksum is wrong" if line.endswith(b"\n") else "the end is missing"


def _fault(path: Path) -> str:
    try:
        zstandard.ZstdDecompressor().decompress(path.read_bytes())
    except zstandard.ZstdError as error:
        return f"can't be unpacked ({error})"
    except OSError as error:
        return f"can't be read ({error.strerror})"
    return ""


def report(config: Mapping[str, Any], result: Verified) -> str:
    """`result` for people."""
    return "\n".join(_lines(Path(config["cache_dir"]), result)) + "\n"


def _lines(folder: Path, result: Verified) -> Iterator[str]:
    yield f"Cache {folder}: {result.records:,} records and {result.web_files:,} files are sound."
    if result.cut_off:
        yield f"{result.cut_off:,} segments are empty or end in a half-written line: cut off by a kill, or being"
        yield "written at this moment. The request that is not there in full is asked again."
    by_file: dict[Path, list[Damage]] = {}
    for damage in result.damages:
        by_file.setdefault(damage.path, []).append(damage)
    for path, damages in by_file.items():
        yield f"{path.relative_to(folder)}"
        for damage in damages:
            place = f"line {damage.number:,}, byte {damage.offset:,}: " if damage.number else ""
            yield f"  {place}{damage.what}"
    if by_file:
        yield "This is harmless: what stood there is asked for or fetched again. cache_prune_apply drops damaged lines."
