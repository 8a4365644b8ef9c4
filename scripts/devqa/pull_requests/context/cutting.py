"""Code as it is shown: whole if it is short enough, else its head and what changed, with marks in the gaps."""

from collections.abc import Collection, Iterable, Sequence
from difflib import SequenceMatcher

from devqa import tokens

# Characters of a line that are shown: minified code is one long line.
_LONGEST_LINE = 500
# Lines of which it is found where they are now: in more it would take too long.
_MOST_LINES = 20_000
# The first lines of a definition, which hold its signature, go before what changed.
_HEAD_LINES = 12


def shown(lines: Sequence[str], changed: Collection[int], most_tokens: int, reach: int) -> tuple[str, bool]:
    """Lines of code as text of at most `most_tokens` tokens, and whether any is left out or shortened.

    First come the head, then the lines `changed` (indices into `lines`), then those nearest to them, up to
    `reach` lines away.
    """
    short = [line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} …" for line in lines]
    text = "\n".join(short)
    if tokens.estimate(text) <= most_tokens:
        return text, any(map(_is_longer, lines))
    order = _by_worth(len(short), changed, reach)
    fits, too_many = 0, len(order)
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if tokens.estimate(_marked(short, order[:middle])) <= most_tokens:
            fits = middle
        else:
            too_many = middle
    # Not even one line and its mark may fit.
    return tokens.cut(_marked(short, order[: max(fits, 1)]), most_tokens), True


def placed(old: Sequence[str], new: Sequence[str], changed: Iterable[int]) -> set[int]:
    """Where lines `changed` of an old text (indices) are in a new one; those that are gone are left out."""
    where = {}
    matcher = SequenceMatcher(None, old[:_MOST_LINES], new[:_MOST_LINES])
    for begin, begin_new, size in matcher.get_matching_blocks():
        where.update((begin + offset, begin_new + offset) for offset in range(size))
    return {where[index] for index in changed if index in where}


def _is_longer(line: str) -> bool:
    return len(line) > _LONGEST_LINE


def _by_worth(count: int, changed: Collection[int], reach: int) -> list[int]:
    """The indices of lines that may be shown, those that are shown first in front."""
    near = [count] * count
    for index in range(count):
        near[index] = 0 if index in changed or index < _HEAD_LINES else near[index - 1] + 1
    for index in range(count - 2, -1, -1):
        near[index] = min(near[index], near[index + 1] + 1)
    within = (index for index in range(count) if near[index] <= reach)
    return sorted(within, key=lambda index: (index >= _HEAD_LINES, near[index], index))


def _marked(lines: Sequence[str], chosen: Iterable[int]) -> str:
    """The chosen lines in their order, with a mark in place of each gap."""
    parts, next_index = [], 0
    for index in [*sorted(chosen), len(lines)]:
        if gap := index - next_index:
            parts.append(f"… ({gap} {'line' if gap == 1 else 'lines'} left out)")
        if index < len(lines):
            parts.append(lines[index])
        next_index = index + 1
    return "\n".join(parts)
