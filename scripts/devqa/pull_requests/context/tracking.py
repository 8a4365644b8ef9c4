"""Where a definition of an older version is in the pinned one: under its name, renamed, moved, or nowhere."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from itertools import chain, islice
from pathlib import PurePosixPath
from typing import NamedTuple

from devqa.pull_requests.code.definitions import Definition, language_of, unnumbered
from devqa.pull_requests.code.likeness import in_any_order, likeness, without, words
from devqa.pull_requests.context.defined import Defined
from devqa.pull_requests.context.naming import around, is_common, likeness_of_names, simple
from devqa.pull_requests.context.pinned import Pinned, PinnedFile
from devqa.pull_requests.context.timeline import Change, File, Place, Timeline
from devqa.pull_requests.context.versions import Kept, NotRead, Versions

# How alike two bodies must be: with another name or in another class, and with the same name in another place.
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
# Classes of which it is kept in memory where they are now.
_KEPT_CLASSES = 1_000
# Bodies that are compared word by word.
_MOST_COMPARED = 50
# Languages between which code is moved.
_FAMILIES = {"c": "c", "cpp": "c", "javascript": "script", "typescript": "script"}


class Past(NamedTuple):
    """A definition (None: the whole file) in an older version of a file, at a place."""

    file: File
    place: Place
    definition: Definition | None


class Now(NamedTuple):
    """What became of it. `outcome` is same, renamed (another name in its file), moved (to another file), or, where it
    is nowhere, deleted, in another language, not read or not looked for, with more behind a colon. `index` is its
    place among the definitions of `file`, None for the whole file. `lost`: a version could not be parsed, which may
    succeed another time.
    """

    outcome: str
    file: PinnedFile | None = None
    index: int | None = None
    lost: bool = False


def not_read(error: NotRead) -> Now:
    """What is said of a definition if a version could not be parsed on the way to it."""
    return Now(f"not read: {error}", lost=True)


class Tracker:
    """Follows definitions to the pinned version, of which table `blocks` has the definitions in `languages`."""

    def __init__(self, timeline: Timeline, versions: Versions, pinned: Pinned, languages: Collection[str]):
        self._timeline = timeline
        self._versions = versions
        self._pinned = pinned
        self._languages = languages
        self._words = lru_cache(5_000)(self._words_of)
        self._bare = lru_cache(5_000)(self._bare_of)
        # Many definitions have these in common: those of a file, and those that vanished with a commit.
        self._later = lru_cache(100)(lambda file, place: list(timeline.versions(file, place)))
        self._nearest = lru_cache(100)(self._nearest_of)
        self._class_now = lru_cache(_KEPT_CLASSES)(self._class_now_of)
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
        name in the same class, or in what that has become, is taken if the bodies are alike at all, else the one whose
        body is alike enough. That one is followed on.
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
            versions = self._later(past.file, past.place)
            if len(versions) == 1:
                # Each other round goes on in time.
                return Now("not read: it is in the pinned version, but not in table blocks")
            before, place = self._vanished(past, versions)
            found = self._elsewhere(before, place)
            if isinstance(found, Now):
                return found
            past = Past(found[0], Place("", place.step), found[1])

    def _commit(self, place: Place) -> str:
        return self._timeline.commit(place)[:12]

    def _standing(self, past: Past, first: Past) -> Now | None:
        """It, if it has the same name in the pinned version of its file, or if it is a file that has gone."""
        versions = self._later(past.file, past.place)
        # A path that was left may be used again for something else: the last one counts.
        place, path = versions[-1][0], [version.path for _, version in versions if version][-1]
        file = self._pinned.file(path)
        if file is None:
            return None if past.definition else Now(f"deleted: by {self._commit(place)}")
        if file.unread:
            return Now(f"not read: {file.unread}")
        if file.language not in self._languages:
            return Now(f"in another language: {file.language}")
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
        name = simple(before.definition.name)
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
        namesakes = islice(chain.from_iterable(each.named(name) for each in added), _MOST_ADDED)
        own = self._of_its_name(before, list(namesakes), place)
        if found := self._likest(before, own, MOVED, self._words):
            return found
        # A body with fewer words is like many others.
        if len(self._bare(before.file, before.definition)) >= _FEWEST_WORDS:
            every = islice(chain.from_iterable(each.all for each in added), _MOST_ADDED)
            others = (each for each in every if _may_be(before.definition.name, each[1].name))
            if found := self._likest(before, others, RENAMED, self._bare):
                return found
            if sum(map(len, added)) > _MOST_ADDED:
                commit = self._commit(place)
                return Now(f"not looked for: among more than {_MOST_ADDED} definitions that {commit} added")
        if lost:
            raise lost
        return Now(f"deleted: by {self._commit(place)}")

    def _of_its_name(
        self, before: Past, namesakes: Sequence[tuple[File, Definition]], place: Place
    ) -> list[tuple[File, Definition]]:
        """Of candidates with the simple name of `before`, those with its whole one or in what its class has become."""
        name = unnumbered(before.definition.name)
        same = [each for each in namesakes if unnumbered(each[1].name) == name]
        # At the top of a file a common name tells nothing.
        own = same if around(name) or not is_common(name) else []
        if len(same) < len(namesakes) and (outer := self._outer(before)):
            now = self._class_now(outer, place)
            own = own + [each for each in namesakes if (each[0], around(each[1].name)) == now]
        return own

    def _outer(self, past: Past) -> Past | None:
        """The class in which a definition stands, if it is in the same file."""
        defined = self._versions.defined(past.file)
        named = [defined.definitions[index] for index in defined.named(around(past.definition.name))]
        first, last = past.definition.start_line, past.definition.end_line
        holding = [each for each in named if each.start_line <= first and last <= each.end_line]
        # Methods of Go stand beside their type.
        return next((Past(past.file, past.place, each) for each in (*holding, *named)), None)

    def _class_now_of(self, outer: Past, place: Place) -> tuple[File, str] | None:
        """The file and name of what a class has become that vanished at a place, as far as it is known."""
        try:
            found = self._elsewhere(outer, place)
        except NotRead:
            return None
        return None if isinstance(found, Now) else (found[0], unnumbered(found[1].name))

    def _likest(
        self,
        before: Past,
        candidates: Iterable[tuple[File, Definition]],
        least: float,
        words_of: Callable[[File, Definition], Sequence[bytes]],
    ) -> tuple[File, Definition] | None:
        """The candidate with the body, and among much alike ones the name, that is most like that of `before`."""
        body, near = words_of(before.file, before.definition), []
        for file, each in candidates:
            alike = in_any_order(body, words_of(file, each))
            if alike >= least:
                near.append((alike, file, each))
        near.sort(key=lambda each: each[0], reverse=True)
        best, best_score = None, 0.0
        for _, file, each in near[:_MOST_COMPARED]:
            alike = likeness(body, words_of(file, each))
            score = alike + _NAME_COUNTS * likeness_of_names(before.definition.name, each.name)
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

    def _bare_of(self, file: File, definition: Definition) -> list[bytes]:
        """The same without the words of its own name and of what it stands in."""
        return without(unnumbered(definition.name), self._words(file, definition))


class _Added:
    """Definitions that a change added, looked up by their simple names."""

    def __init__(self, all_: Sequence[tuple[File, Definition]]):
        self.all = all_
        self._named: defaultdict[str, list[tuple[File, Definition]]] = defaultdict(list)
        for file, each in all_:
            self._named[simple(each.name)].append((file, each))

    def __len__(self) -> int:
        return len(self.all)

    def named(self, name: str) -> Sequence[tuple[File, Definition]]:
        """Those with this simple name."""
        return self._named.get(name, ())


def _may_be(name: str, other: str) -> bool:
    """May what has another qualified name be the same definition? What has a common one goes with its class alone."""
    return around(name) == around(other) or simple(name) != simple(other) or not is_common(simple(name))


def _family(path: str) -> str | None:
    language = language_of(path)
    return _FAMILIES.get(language, language)
