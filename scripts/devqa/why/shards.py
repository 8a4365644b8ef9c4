"""Files that come and go because a source is split into another number of shards."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

_SHARD = re.compile(r"results/(?P<table>[^/]+)/(?P<source>[^/]+)/\d+-of-(?P<count>\d+)\.parquet")
# What a job says of files that another sharding makes (`devqa.bill.plan.Due`).
_COMING, _GOING = ("absent", "added"), ("removed",)


def resharded(files: Mapping[str, list[str]]) -> tuple[list[str], dict[str, list[str]]]:
    """What has become of `dialogues.<source>.shards`, and `files` without those that it explains.

    Args:
        files: those that make a job run, by the reason. Which shards a table had before is seen by its inputs, or by
            the files of an earlier sharding, which stay in the current folder.
    """
    said, explained = [], set()
    for source, now in _counts(files, _COMING).items():
        before = _counts(files, _GOING).get(source) or _on_disk(files.get("absent", ()), source)
        if before := before - now:
            said.append(f"dialogues.{source}.shards: {_numbers(before)} → {_numbers(now)}")
            explained.add(source)
    rest = {
        kind: [file for file in some if kind not in _COMING + _GOING or _source(file) not in explained]
        for kind, some in files.items()
    }
    return said, {kind: some for kind, some in rest.items() if some}


def _counts(files: Mapping[str, Iterable[str]], kinds: Iterable[str]) -> dict[str, set[int]]:
    """Into how many shards each source is split, as the names of files tell."""
    found: dict[str, set[int]] = {}
    for kind in kinds:
        for file in files.get(kind, ()):
            if match := _SHARD.fullmatch(file):
                found.setdefault(match["source"], set()).add(int(match["count"]))
    return found


def _on_disk(files: Iterable[str], source: str) -> set[int]:
    """Into how many shards the tables of `files` are split that are there."""
    folders = {Path(file).parent for file in files if _source(file) == source}
    names = {path.as_posix() for folder in folders for path in folder.glob("*-of-*.parquet")}
    return _counts({"there": sorted(names)}, ["there"]).get(source, set())


def _source(file: str) -> str | None:
    match = _SHARD.fullmatch(file)
    return match and match["source"]


def _numbers(counts: Iterable[int]) -> str:
    return " and ".join(map(str, sorted(counts)))
