"""The part of the cache that a configuration reads as one file, so that somebody else can run it without paying.

responses/<model>-<hash of endpoint and model>/answers.seg      lines as in the cache
commands/<program>-<hash of it>/answers.seg                     lines as in the cache
web/<2 digits>/<2 digits>/<64 digits>.zst                       as in the cache
github/<2 digits>/<2 digits>/<64 digits>.zst                    as in the cache
"""

import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from devqa.errors import UserError
from devqa.files import replacing
from devqa.llm import segments
from devqa.llm.cache import Shelf, decode, responses
from devqa.stock.layout import size
from devqa.stock.members import UNREADABLE, belongs
from devqa.stock.records import objection
from devqa.stock.selection import Selection, select
from devqa.stock.wanted import Wanted, kept_files, shelves_of_agents

SEGMENT = "answers.seg"
# Earliest time that a zip file can hold: the same content makes the same file.
_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass
class Exported:
    """What was written.

    Attributes:
        answers: how many, by the shelf's folder.
        unanswered: how many requests of jobs that have yet to run have no answer.
        unusable: how many requests of jobs that have run have none that can be used.
        runs: how many of external agents.
        web_files: files with search results and pages, and with what GitHub has listed.
    """

    archive: Path
    answers: dict[str, int] = field(default_factory=dict)
    unanswered: int = 0
    unusable: int = 0
    runs: int = 0
    web_files: int = 0


def exported(config: Mapping[str, Any], wanted: Wanted) -> Exported:
    """Write what the validated configuration reads of its cache into the file `cache_archive`.

    These are the answers that are asked for, those of steps in which that can't be told yet, all runs of the programs
    that are configured as external agents, all of the web part, and GitHub's answers where it is asked.

    Raises:
        UserError: the archive can't be written, a file that is none of ours has its name, or a part of the cache
            can't be read.
    """
    result = Exported(Path(config["cache_archive"]))
    with _written(result.archive) as archive:
        for shelf in responses(config["cache_dir"]).shelves():
            _add_shelf(archive, shelf, wanted, result)
        for shelf in shelves_of_agents(config):
            _add_runs(archive, shelf, result)
        for path in kept_files(config):
            name = "/".join(path.parts[-4:])
            archive.writestr(_entry(name, zipfile.ZIP_STORED), path.read_bytes())
            result.web_files += 1
    for name in wanted.keys.keys() - result.answers.keys():
        _count_lacking(name, wanted.keys[name], wanted, result)
    return result


@contextmanager
def _written(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        fault = _fault(path)
    except OSError as error:
        fault = f"{path} can't be looked at ({error.strerror}): mend the permissions or name another file"
    if fault:
        raise UserError(f"cache_archive: {fault}")
    with replacing(path) as temporary:
        try:
            archive = zipfile.ZipFile(temporary, "w")
        except FileNotFoundError as error:
            # The folder is there, but takes no files, such as /proc.
            raise UserError(f"cache_archive: {path} can't be written: name a file in another folder") from error
        with archive:
            yield archive


def _fault(path: Path) -> str:
    """Why no archive may be written to `path`; empty if it may."""
    if path.is_dir():
        return f"{path} is a folder: name a file in it"
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}: make it, or name a file in another one"
    if path.exists() and not _is_ours(path):
        return f"{path} is there and is no archive of cache_export: name another file, or remove this one"
    return ""


def _is_ours(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return all(map(belongs, archive.namelist()))
    except UNREADABLE:
        return False


def _add_shelf(archive: zipfile.ZipFile, shelf: Shelf, wanted: Wanted, result: Exported) -> None:
    name = shelf.folder.name
    try:
        chosen = _chosen(shelf, lambda step, key: wanted.may_need(name, step, key))
        if chosen.chosen:
            entry = _entry(f"responses/{name}/{SEGMENT}", zipfile.ZIP_DEFLATED)
            with archive.open(entry, "w", force_zip64=True) as file:
                file.writelines(chosen.lines())
    except segments.Vanished as error:
        raise UserError(f"{shelf.folder} was pruned meanwhile: run cache_export again") from error
    result.answers[name] = len(chosen.chosen)
    _count_lacking(name, wanted.keys.get(name, frozenset()) - chosen.chosen.keys(), wanted, result)


def _add_runs(archive: zipfile.ZipFile, shelf: Shelf, result: Exported) -> None:
    """Add all runs of a program: those that have failed too, since they say what is not to be run again. What was kept
    before runs were told apart by their end stays: nothing reads it.
    """
    lines = sorted(line for _, line in shelf.lines() if not objection(decode(line) or {}, "commands"))
    if lines:
        entry = _entry(f"commands/{shelf.folder.name}/{SEGMENT}", zipfile.ZIP_DEFLATED)
        archive.writestr(entry, b"".join(lines))
    result.runs += len(lines)


def _count_lacking(name: str, lacking: frozenset[str], wanted: Wanted, result: Exported) -> None:
    unusable = len(lacking & wanted.asked.get(name, frozenset()))
    result.unusable += unusable
    result.unanswered += len(lacking) - unusable


def _chosen(shelf: Shelf, keep: Callable[[str, str], bool]) -> Selection:
    for _ in segments.chances(shelf.folder):
        try:
            return select(shelf, segments.listed(shelf.folder), keep, lambda record: None)
        except segments.Vanished:
            continue
    raise AssertionError("chances ends with an error")


def _entry(name: str, compression: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _TIME)
    entry.compress_type = compression
    entry.external_attr = 0o644 << 16
    return entry


def report(result: Exported, wanted: Wanted) -> str:
    """What was written, for people."""
    return "\n".join(_lines(result, wanted)) + "\n"


def _lines(result: Exported, wanted: Wanted) -> Iterator[str]:
    count, models = sum(result.answers.values()), sum(map(bool, result.answers.values()))
    yield f"{result.archive}: {size(result.archive.stat().st_size)}"
    yield f"{count:,} answers of {models:,} models and {result.web_files:,} files (search results, pages, GitHub's)."
    if result.runs:
        yield f"{result.runs:,} runs of external agents, with what they printed."
    if result.unanswered:
        yield f"{result.unanswered:,} requests of the current configuration have no answer in the cache."
    if result.unusable:
        yield f"{result.unusable:,} requests have no usable answer (refused, cut off, off their schema, or gone from"
        yield "the cache); they are asked again whenever their step runs."
    if rules := wanted.rules():
        yield f"What these jobs ask can't be told in full before they have run: {', '.join(rules)}."
        yield "All answers of their steps were taken; for a complete archive run the workflow first."
