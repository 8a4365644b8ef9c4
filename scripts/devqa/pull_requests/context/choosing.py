"""The blocks that are shown of a pull request: nested ones merged, long ones cut, and not too many."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from devqa import tokens
from devqa.pull_requests.code.definitions import node_id
from devqa.pull_requests.context.cutting import placed, shown
from devqa.pull_requests.context.pinned import PinnedFile
from devqa.pull_requests.context.timeline import File
from devqa.pull_requests.context.tracking import Now, Past
from devqa.pull_requests.context.versions import Versions
from devqa.tables import Row

_SEEN = str.maketrans({code: "\ufffd" for code in range(32) if chr(code) not in "\t\n"} | {13: None, 0xFEFF: None})
# Of what is too long to be shown whole, lines around a change that may be shown. Functions are one piece, others many.
_REACH = {"file": 15, "class": 15}


class Part(NamedTuple):
    """Changed lines `first` to `last` of file `path` in a pull request's own version, all in one definition: what that
    was called, what has become of it, and what it was.
    """

    path: str
    first: int
    last: int
    was: str
    now: Now
    past: Past | None = None


class _Target:
    """A definition of the pinned version (index None: a file as a whole), and the parts that led to it."""

    def __init__(self, file: PinnedFile, index: int | None):
        self.file = file
        self.definition = None if index is None else file.definitions[index]
        self.tokens = file.all_tokens if index is None else file.tokens[index]
        self.first, self.last = self.definition[2:4] if self.definition else (1, file.lines)
        self.node = node_id(self.definition.name if self.definition else "", file.path)
        self.parts: list[Part] = []


def chosen(parts: Sequence[Part], versions: Versions, options: Mapping[str, Any]) -> tuple[list[Row], list[Row]]:
    """The blocks of a pull request and what became of its hunks: columns `blocks` and `hunks` of table `context`.

    A block that stands in another one is merged into that, unless the outer one is too long to be shown as a whole. The
    blocks in which most lines changed are kept, at most `blocks` of `block_tokens` each and of `tokens` together.
    """
    targets: dict[tuple[str, int | None], _Target] = {}
    for part in parts:
        if part.now.file:
            key = (part.now.file.path, part.now.index)
            targets.setdefault(key, _Target(part.now.file, part.now.index)).parts.append(part)
    merged = _merged(targets.values(), options["block_tokens"])
    kept, left = [], options["tokens"]
    for target in sorted(merged, key=lambda each: (-_changed(each.parts), each.file.path, each.first, -each.last)):
        if len(kept) == options["blocks"] or left <= 0:
            break
        block = _block(target, versions, options["block_tokens"])
        if block["tokens"] <= left:
            kept.append((target, block))
            left -= block["tokens"]
    kept.sort(key=lambda each: (each[0].file.path, each[0].first, -each[0].last))
    shown_as = {id(part): target.node for target, _ in kept for part in target.parts}
    return [block for _, block in kept], [_hunk(part, shown_as.get(id(part), "")) for part in parts]


def _merged(targets: Iterable[_Target], most_tokens: int) -> list[_Target]:
    """Those that stand in no other one that is shown whole; they take over the parts of the others."""
    merged: list[_Target] = []
    # By path: those that are shown whole. None stands in another one, so that both ends of their lines ascend.
    whole: defaultdict[str, list[_Target]] = defaultdict(list)
    # Of two with the same lines the first is the outer one: it comes first in the table.
    for target in sorted(
        targets, key=lambda each: (each.file.path, each.first, -each.last, each.definition is not None)
    ):
        beside = whole[target.file.path]
        place = bisect_left(beside, target.last, key=lambda each: each.last)
        if place < len(beside):
            beside[place].parts += target.parts
            continue
        merged.append(target)
        if target.tokens <= most_tokens:
            beside.append(target)
    return merged


def _changed(parts: Iterable[Part]) -> int:
    return sum(part.last - part.first + 1 for part in parts)


def _block(target: _Target, versions: Versions, most_tokens: int) -> Row:
    lines = _lines(versions, File(target.file.path, target.file.blob, 0), target.first, target.last)
    changed = set(_lines_now(target, lines, versions)) if target.tokens > most_tokens else set()
    kind = target.definition.kind if target.definition else "file"
    text, cut = shown(lines, changed, most_tokens, _REACH.get(kind, len(lines)))
    return {
        "node": target.node,
        "kind": kind,
        "path": target.file.path,
        "language": target.file.language,
        "start_line": target.first,
        "end_line": target.last,
        "tokens": tokens.estimate(text),
        "cut": cut,
        "text": text,
    }


def _lines(versions: Versions, file: File, first: int, last: int) -> list[str]:
    """Lines of a file, from 1, as text without control characters."""
    lines = versions.lines(file)[first - 1 : last]
    return b"\n".join(lines).decode("utf-8", "replace").translate(_SEEN).split("\n")


def _lines_now(target: _Target, lines: Sequence[str], versions: Versions) -> Iterator[int]:
    """The indices of a target's lines that were changed, as far as they are still there."""
    those_of: defaultdict[Past, list[Part]] = defaultdict(list)
    for part in target.parts:
        those_of[part.past].append(part)
    for past, those in those_of.items():
        first, last = past.definition[2:4] if past.definition else (1, None)
        before = _lines(versions, past.file, first, last)
        yield from placed(before, lines, (line - first for part in those for line in range(part.first, part.last + 1)))


def _hunk(part: Part, node: str) -> Row:
    outcome = part.now.outcome
    if part.now.file and not node:
        outcome = "left out"
    elif part.now.file and part.now.index is None:
        outcome = "whole file"
    return {
        "path": part.path,
        "start_line": part.first,
        "end_line": part.last,
        "was": part.was,
        "outcome": outcome,
        "node": node,
    }
