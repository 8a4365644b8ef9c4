"""Which of the files that came are files that went, under another name."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence

from devqa.pull_requests import LARGEST_SOURCE
from devqa.pull_requests.repositories.trees import Difference

# git's own bound for a rename: half of the larger file is in both (git diff --find-renames, 50 %).
_SIMILAR = 0.5
# Beyond these only files that are the same to the byte are found: all that came are compared with all that went.
_MOST_FILES = 300
_MOST_BYTES = 30_000_000
# Lines that are looked up, in two or three seconds.
_MOST_LINES = 30_000_000
# The id of a file that holds nothing, which says nothing either.
_EMPTY = bytes.fromhex("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
# Where git looks for a zero byte, by which it knows binary files.
_HEAD = 8_000


def renames(
    differences: Sequence[Difference], size: Callable[[bytes], int], read: Callable[[bytes], bytes]
) -> dict[bytes, Difference]:
    """The path of each file that came under a new name → the difference that says how it went.

    First files that hold the same bytes; then, the most similar ones first, text files with half of the larger one's
    bytes in lines of both. Links and submodules are no files.

    Args:
        size: the number of bytes of a file's content, by its id; -1 where the clone lacks it: then nobody knows what it
            was called before.
        read: the content itself.
    """
    came = [each for each in differences if not each.old and each.new.kind == "file" and each.new.id != _EMPTY]
    went = [each for each in differences if not each.new and each.old.kind == "file" and each.old.id != _EMPTY]
    found: dict[bytes, Difference] = {}
    for matching in (_with_name, _with_content, None):
        if not came or not went:
            break
        found |= _same(came, went, matching) if matching else _similar(came, went, size, read)
        taken = {each.path for each in found.values()}
        came = [each for each in came if each.path not in found]
        went = [each for each in went if each.path not in taken]
    return found


def _with_content(each: Difference) -> Hashable:
    return (each.new or each.old).id


def _with_name(each: Difference) -> Hashable:
    return _with_content(each), _name(each)


def _same(
    came: Iterable[Difference], went: Sequence[Difference], key: Callable[[Difference], Hashable]
) -> dict[bytes, Difference]:
    """Those that are equal by `key`, in their order."""
    left: dict[Hashable, list[Difference]] = {}
    for each in reversed(went):
        left.setdefault(key(each), []).append(each)
    return {each.path: left[key(each)].pop() for each in came if left.get(key(each))}


def _similar(
    came: Iterable[Difference], went: Iterable[Difference], size: Callable[[bytes], int], read: Callable[[bytes], bytes]
) -> dict[bytes, Difference]:
    came, went = ([each for each in side if 0 < size(_with_content(each)) <= LARGEST_SOURCE] for side in (came, went))
    if max(len(came), len(went)) > _MOST_FILES:
        return {}
    if sum(size(_with_content(each)) for each in came + went) > _MOST_BYTES:
        return {}
    lines = {id: _lines(read(id)) for id in {_with_content(each) for each in came + went}}
    if len(went) * sum(len(lines[new.new.id][0]) for new in came) > _MOST_LINES:
        return {}
    pairs = []
    for new in came:
        for old in went:
            score = _score(lines[new.new.id], lines[old.old.id])
            if score >= _SIMILAR:
                pairs.append((-score, _name(new) != _name(old), new.path, old.path, old))
    found: dict[bytes, Difference] = {}
    taken = set()
    for _, _, new_path, old_path, old in sorted(pairs, key=lambda pair: pair[:4]):
        if new_path not in found and old_path not in taken:
            found[new_path] = old
            taken.add(old_path)
    return found


def _lines(content: bytes) -> tuple[Counter[bytes], int]:
    """How often each line is in a file, and the number of its bytes; nothing of a binary file."""
    if b"\0" in content[:_HEAD]:
        return Counter(), 0
    return Counter(content.split(b"\n")), len(content) + 1


def _score(one: tuple[Counter[bytes], int], other: tuple[Counter[bytes], int]) -> float:
    """The share of the larger file's bytes that is in lines of both."""
    (few, small), (many, large) = sorted((one, other), key=lambda each: each[1])
    if small < _SIMILAR * large or not large:
        return 0.0
    common = sum((len(line) + 1) * min(count, many[line]) for line, count in few.items() if line in many)
    return common / large


def _name(each: Difference) -> bytes:
    return each.path.rpartition(b"/")[2]
