"""Pull requests → context: what they changed, as it stands in the pinned version."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from devqa import tables
from devqa.pull_requests import LARGEST_SOURCE
from devqa.pull_requests.code.definitions import language_of_grammar, node_id
from devqa.pull_requests.context import choosing
from devqa.pull_requests.context.choosing import Part
from devqa.pull_requests.context.defined import Defined
from devqa.pull_requests.context.timeline import File, Place, Timeline
from devqa.pull_requests.context.touching import Outline
from devqa.pull_requests.context.tracking import Now, Past, Tracker, not_read
from devqa.pull_requests.context.versions import NotRead, Versions
from devqa.pull_requests.listing import filters
from devqa.pull_requests.repositories.repository import Entry, FileChange, Hunk, Repository
from devqa.steps.outcomes import OK, failed, rejected
from devqa.tables import Row

# What a pull request itself took out.
_TAKEN_OUT = Now("deleted: by the pull request")
_NOTHING_TOLD = Now("comments or imports")
# Of the definitions that a pull request touched, those that have left their name or file and are looked for.
_MOST_GONE = 500
_NOT_LOOKED_FOR = Now(f"not looked for: more than {_MOST_GONE} others of the pull request have gone too")


class Contexts:
    """Finds what pull requests changed.

    Args:
        options: of the rule's recipe: `languages`, and `blocks`, `block_tokens`, `tokens` (section `context`).
    """

    def __init__(
        self,
        repository: Repository,
        timeline: Timeline,
        versions: Versions,
        tracker: Tracker,
        options: Mapping[str, Any],
    ):
        self._repository = repository
        self._timeline = timeline
        self._versions = versions
        self._tracker = tracker
        self._options = options
        self._standing_now = lru_cache(10_000)(tracker.standing)
        self._found_now = lru_cache(10_000)(tracker.now)
        # Of the pull request at hand.
        self._gone: set[Past] = set()

    def rows(self, pulls: Iterable[Row]) -> Iterator[Row]:
        """Rows of table `context`, one per pull request, as they are needed."""
        for pull in pulls:
            yield tables.picked(pull, "context") | {"n_files_pr": len(pull["files"])} | self._of(pull)

    def _of(self, pull: Row) -> Row:
        place = self._timeline.place(pull["head"])
        if place is None:
            return rejected("it is not on the way to the pinned commit")
        parts = self._parts(pull, place)
        blocks, hunks = choosing.chosen(parts, self._versions, self._options)
        if blocks:
            return {"blocks": blocks, "hunks": hunks, **OK}
        ended = failed if any(part.now.lost for part in parts) else rejected
        return {"blocks": [], "hunks": hunks, **ended(_reason(hunks))}

    def _parts(self, pull: Row, place: Place) -> list[Part]:
        """What the hunks of a pull request touch, and what has become of it."""
        counted = {file["path"]: file["counts_as"] for file in pull["files"]}
        parts: list[Part] = []
        self._gone.clear()
        for change in self._repository.changes(pull["base"], pull["head"]):
            entry = change.new or change.old
            if counted.get(entry.path) != filters.CODE:
                continue
            try:
                parts += self._of_file(self._repository.compared(change), place)
            except NotRead as error:
                parts.append(Part(entry.path, 0, 0, entry.path, not_read(error)))
        return parts

    def _of_file(self, change: FileChange, place: Place) -> list[Part]:
        """What a change touches.

        Raises:
            NotRead: one of its sides can't be parsed.
        """
        entry, sides = change.new or change.old, [each for each in (change.old, change.new) if each]
        if any(each.kind != "file" for each in sides):
            return [Part(entry.path, 0, 0, entry.path, Now(f"not read: {entry.kind}"))]
        if change.binary or any(each.size > LARGEST_SOURCE for each in sides):
            return [Part(entry.path, 0, 0, entry.path, Now("not read: too large or binary"))]
        grammar = self._versions.grammar(_file(entry))
        if grammar is None or language_of_grammar(grammar) not in self._options["languages"]:
            return []
        old, new = _Version.of(change.old, self._versions), _Version.of(change.new, self._versions)
        parts: list[Part] = []
        for hunk in change.hunks:
            if new and hunk.new_lines:
                parts += self._standing(hunk, new, place)
            elif old and old.grammar:
                parts += self._taken_out(hunk, old, new, place)
        return parts

    def _standing(self, hunk: Hunk, new: "_Version", place: Place) -> Iterator[Part]:
        """What the new lines of a hunk stand in."""
        last = hunk.new_start + hunk.new_lines - 1
        touched = new.outline.touched(hunk.new_start, last)
        if not touched:
            yield Part(new.file.path, hunk.new_start, last, new.file.path, _NOTHING_TOLD)
        for each in touched:
            definition = None if each.index is None else new.defined.definitions[each.index]
            past = Past(new.file, place, definition)
            yield Part(new.file.path, each.first, each.last, _node(past), self._now(past), past)

    def _now(self, past: Past) -> Now:
        """What has become of a definition; of those that must be looked for the first ones only."""
        if standing := self._standing_now(past):
            return standing
        if past not in self._gone:
            if len(self._gone) == _MOST_GONE:
                return _NOT_LOOKED_FOR
            self._gone.add(past)
        return self._found_now(past)

    def _taken_out(self, hunk: Hunk, old: "_Version", new: "_Version | None", place: Place) -> Iterator[Part]:
        """What the lines stood in that a hunk took out without putting others in their place."""
        touched = old.outline.touched(hunk.old_start, hunk.old_start + hunk.old_lines - 1)
        path, line = (new or old).file.path, hunk.new_start
        if not touched:
            yield Part(path, line, line, path, _NOTHING_TOLD)
        for each in touched:
            before = Past(old.file, place, None if each.index is None else old.defined.definitions[each.index])
            past = self._left(before, new)
            now = self._now(past) if past else _TAKEN_OUT
            yield Part(path, line, line, _node(before), now, past)

    def _left(self, before: Past, new: "_Version | None") -> Past | None:
        """What is left of a definition in the pull request's own version."""
        if new is None or before.definition is None:
            return new and Past(new.file, before.place, None)
        index = self._tracker.namesake(before.file, before.definition, new.file, new.defined)
        return None if index is None else Past(new.file, before.place, new.defined.definitions[index])


class _Version(NamedTuple):
    """One side of a change, read."""

    file: File
    grammar: str | None
    defined: Defined
    outline: Outline | None

    @classmethod
    def of(cls, entry: Entry | None, versions: Versions) -> "_Version | None":
        """The side of a change that `entry` is.

        Raises:
            NotRead: it can't be parsed.
        """
        if entry is None:
            return None
        file = _file(entry)
        grammar = versions.grammar(file)
        found = versions.defined(file)
        return cls(file, grammar, found, Outline(versions.lines(file), found) if grammar else None)


def _file(entry: Entry) -> File:
    return File(entry.path, entry.blob, entry.size)


def _node(past: Past) -> str:
    return node_id(past.definition.name if past.definition else "", past.file.path)


def _reason(hunks: Sequence[Row]) -> str:
    """Why nothing is left of a pull request: how many hunks met which end."""
    ends = Counter(hunk["outcome"].partition(":")[0] for hunk in hunks)
    if not ends:
        return "it has no lines of code"
    if ends.keys() == {_NOTHING_TOLD.outcome}:
        return f"only {_NOTHING_TOLD.outcome}"
    told = ", ".join(f"{count} {end}" for end, count in sorted(ends.items(), key=lambda each: (-each[1], each[0])))
    return f"nothing of it is in the pinned version: {told}"
