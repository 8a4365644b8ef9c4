"""Where a definition of an older version is in the pinned one: under its name, renamed, moved, or nowhere."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import chain, islice
from pathlib import PurePosixPath
from typing import NamedTuple

from devqa.pull_requests.code.definitions import Definition, language_of, unnumbered
from devqa.pull_requests.code.likeness import in_any_order, likeness, words
from devqa.pull_requests.context.defined import Defined
from devqa.pull_requests.context.pinned import Pinned, PinnedFile
from devqa.pull_requests.context.timeline import Change, File, Place, Timeline
from devqa.pull_requests.context.versions import Kept, NotRead, Versions

# How alike two bodies must be: with another name, and with the same name in another place.
RENAMED, MOVED = 0.6, 0.3
# How much likeness of the qualified names counts among those that are alike enough.
_NAME_COUNTS = 0.2
_FEWEST_WORDS = 8
# Files of a commit that are read for a definition that vanished with it; so many are parsed that lack its name.
_MOST_FILES, _MOST_WITHOUT_NAME = 300, 40
# Definitions that a commit added, and that are compared with each that vanished with it.
_MOST_ADDED = 2_000
# So many are kept in memory.
_KEPT_ADDED = 1_000_000
# Bodies that are compared word by word.
_MOST_COMPARED = 50
# The end of a qualified name that is compared.
_LONGEST_NAME = 200
# Languages between which code is moved.
_FAMILIES = {"c": "c", "cpp": "c", "javascript": "script", "typescript": "script"}


class Past(NamedTuple):
    """A definition (None: the whole file) in an older version of a file, at a place."""

    file: File
    place: Place
    definition: Definition | None


class Now(NamedTuple):
    """What became of it. `outcome` is same, renamed (another name in its file), moved (to another file), or, where it
    is nowhere, deleted, not read or not looked for, with the reason behind a colon. `index` is its place among the
    definitions of `file`, None for the whole file. `lost`: a version could not be parsed, which may succeed another
    time.
    """

    outcome: str
    file: PinnedFile | None = None
    index: int | None = None
    lost: bool = False


def not_read(error: NotRead) -> Now:
    """What is said of a definition if a version could not be parsed on the way to it."""
    return Now(f"not read: {error}", lost=True)


class Tracker:
    """Follows definitions to the pinned version."""

    def __init__(self, timeline: Timeline, versions: Versions, pinned: Pinned):
        self._timeline = timeline
        self._versions = versions
        self._pinned = pinned
        self._words = lru_cache(5_000)(self._words_of)
        # Many definitions have these in common: those of a file, and those that vanished with a commit.
        self._later = lru_cache(100)(lambda file, place: list(timeline.versions(file, place)))
        self._nearest = lru_cache(100)(self._nearest_of)
        self._kept_added = Kept(_KEPT_ADDED)

    def standing(self, past: Past) -> Now | None:
        """What became of a definition that has its name in its file; renames of that are followed.

        None is for one that has not, and that `now` must look for.
        """
        try:
            return self._standing(past, past)
        except NotRead as error:
            return not_read(error)

    def now(self, past: Past) -> Now:
        """What became of a definition.

        It is looked for by its qualified name in its file, whose renames are followed. If it is not there any more, the
        commit with which it vanished is found by bisection; among what that commit added, the definition of the same
        simple name is taken if the bodies are alike at all, else the one whose body is alike enough. That one is
        followed on.
        """
        try:
            return self._followed(past)
        except NotRead as error:
            return not_read(error)

    def _followed(self, first: Past) -> Now:
        past = first
        while True:
            # One that has gone may have come back.
            if standing := self._standing(past, first):
                return standing
            before, place = self._vanished(past, self._later(past.file, past.place))
            found = self._elsewhere(before, place)
            if isinstance(found, Now):
                return found
            past = Past(found[0], Place("", place.step), found[1])

    def _commit(self, place: Place) -> str:
        return self._timeline.commit(place)[:12]

    def _standing(self, past: Past, first: Past) -> Now | None:
        """It, if it has the same name in the pinned version of its file, or if it is a file that has gone."""
        place, last = self._later(past.file, past.place)[-1]
        path = (last or past.file).path
        file = self._pinned.file(path)
        if file is None:
            return None if past.definition else Now(f"deleted: by {self._commit(place)}")
        if file.unread:
            return Now(f"not read: {file.unread}")
        moved = path != first.file.path
        if past.definition is None:
            return Now("moved" if moved else "same", file)
        index = self.namesake(past.file, past.definition, File(path, file.blob, 0), file.defined)
        if index is None:
            return None
        renamed = unnumbered(file.definitions[index].name) != unnumbered(first.definition.name)
        return Now("moved" if moved else "renamed" if renamed else "same", file, index)

    def namesake(self, file: File, definition: Definition, other: File, candidates: Defined) -> int | None:
        """The index of the definition with the same qualified name in another version, None where there is none.

        Of several with this name (overloads) it is the one with the most similar body; where one of them has gone, that
        may have been it.

        Raises:
            NotRead: `file` can't be parsed.
        """
        named = candidates.named(definition.name)
        before = len(self._versions.defined(file).named(definition.name))
        if len(named) <= 1 and before <= 1:
            return named[0] if named else None
        body, own = self._words(file, definition), candidates.place(definition.name)
        if own is not None and self._words(other, candidates.definitions[own]) == body:
            return own
        if len(named) > _MOST_COMPARED:
            named = named[:_MOST_COMPARED] if own is None else [own]
        likest = [
            (likeness(body, self._words(other, candidates.definitions[index])), index == own, -index) for index in named
        ]
        if not likest or (len(named) < before and max(likest)[0] < MOVED):
            return None
        return -max(likest)[2]

    def _vanished(self, past: Past, versions: Sequence[tuple[Place, File | None]]) -> tuple[Past, Place]:
        """What it was before it vanished, and the place of the change with which it did."""
        there, gone = 0, len(versions) - 1
        before = past
        while gone - there > 1:
            middle = (there + gone) // 2
            place, file = versions[middle]
            found = self._versions.defined(file)
            index = self.namesake(past.file, past.definition, file, found)
            if index is None:
                gone = middle
            else:
                there, before = middle, Past(file, place, found.definitions[index])
        return before, versions[gone][0]

    def _elsewhere(self, before: Past, place: Place) -> tuple[File, Definition] | Now:
        """What a vanished definition has become, among what the changes at a place added; else what is said of it.

        Raises:
            NotRead: it may be in a file that can't be parsed.
        """
        name, body = _simple(before.definition.name), self._words(before.file, before.definition)
        added, lost, without_name = [], None, 0
        for change in self._nearest(before.file.path, place):
            if name.encode() not in self._versions.content(change.new):
                without_name += 1
                if without_name > _MOST_WITHOUT_NAME:
                    continue
            try:
                added.append(self._added(change, before.definition.kind == "class"))
            except NotRead as error:
                lost = error
        named = chain.from_iterable(each.named(name) for each in added)
        if found := self._likest(before, body, islice(named, _MOST_ADDED), MOVED):
            return found
        # A body with fewer words is like many others.
        if len(body) >= _FEWEST_WORDS:
            others = chain.from_iterable(each.all for each in added)
            if found := self._likest(before, body, islice(others, _MOST_ADDED), RENAMED):
                return found
            if sum(map(len, added)) > _MOST_ADDED:
                commit = self._commit(place)
                return Now(f"not looked for: among more than {_MOST_ADDED} definitions that {commit} added")
        if lost:
            raise lost
        return Now(f"deleted: by {self._commit(place)}")

    def _likest(
        self, before: Past, body: Sequence[bytes], candidates: Iterable[tuple[File, Definition]], least: float
    ) -> tuple[File, Definition] | None:
        """The candidate with the body, and among much alike ones the name, that is most like that of `before`."""
        near = []
        for file, each in candidates:
            alike = in_any_order(body, self._words(file, each))
            if alike >= least:
                near.append((alike, file, each))
        near.sort(key=lambda each: each[0], reverse=True)
        best, best_score = None, 0.0
        for _, file, each in near[:_MOST_COMPARED]:
            alike = likeness(body, self._words(file, each))
            score = alike + _NAME_COUNTS * _likeness_of_names(before.definition.name, each.name)
            if alike >= least and score > best_score:
                best, best_score = (file, each), score
        return best

    def _nearest_of(self, path: str, place: Place) -> list[Change]:
        """The changes at a place to files in the language of that at `path`, the nearest ones first."""
        family, folder = _family(path), PurePosixPath(path).parent
        changed = [each for each in self._timeline.changes(place) if each.new and _family(each.new.path) == family]
        changed.sort(
            key=lambda each: (
                each.old is None or each.old.path != path,
                PurePosixPath(each.new.path).parent != folder,
                each.new.path,
            )
        )
        return changed[:_MOST_FILES]

    def _added(self, change: Change, classes: bool) -> "_Added":
        """The classes, or all other definitions, that a change added to its file."""
        added = self._kept_added.get((change, classes))
        if added is None:
            old = self._versions.defined(change.old) if change.old else Defined(())
            every = self._versions.defined(change.new).definitions
            fresh = [each for each in every if (each.kind == "class") == classes and not old.named(each.name)]
            added = _Added([(change.new, each) for each in fresh])
            self._kept_added.put((change, classes), added)
        return added

    def _words_of(self, file: File, definition: Definition) -> list[bytes]:
        return words(self._versions.lines(file), definition.start_line, definition.end_line)


class _Added:
    """Definitions that a change added, looked up by their simple names."""

    def __init__(self, all_: Sequence[tuple[File, Definition]]):
        self.all = all_
        self._named: defaultdict[str, list[tuple[File, Definition]]] = defaultdict(list)
        for file, each in all_:
            self._named[_simple(each.name)].append((file, each))

    def __len__(self) -> int:
        return len(self.all)

    def named(self, name: str) -> Sequence[tuple[File, Definition]]:
        """Those with this simple name."""
        return self._named.get(name, ())


def _likeness_of_names(one: str, other: str) -> float:
    ends = (name.lower()[-_LONGEST_NAME:] for name in (one, other))
    return SequenceMatcher(None, *ends, autojunk=False).ratio()


def _simple(name: str) -> str:
    return unnumbered(name).rsplit(".", 1)[-1]


def _family(path: str) -> str | None:
    language = language_of(path)
    return _FAMILIES.get(language, language)
