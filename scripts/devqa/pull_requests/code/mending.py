"""What parsers stumble over in C, C++ and C#, taken out: conditionals that cut a statement in two, and macros.

What is taken out becomes spaces, so that all else stays where it is.
"""

import re
from itertools import pairwise

_DIRECTIVE = re.compile(rb"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b\s*(0\s*(?:$|/))?")
_NAME = rb"\b[A-Z][A-Z0-9_]{2,}(?:\((?:[^()\n]|\([^()\n]*\))*\))?"
# A macro is told by its capitals, and by where it stands: on a line of its own, before a name or type, behind the
# parameters of a function, or in `if CONSTEXPR (`.
_ALONE = re.compile(rb"\s*(?:" + _NAME + rb"\s*)+")
_MACROS = re.compile(
    rb"(?:" + _NAME + rb"[ \t]+)+(?=[a-z_~]|[A-Z]\w*[a-z])"
    rb"|(?<=\))[ \t]+" + _NAME + rb"(?=[ \t]*(?:[{;:]|->|$))"
    rb"|(?<=\bif )[A-Z][A-Z0-9_]{2,}(?=[ \t]*\()"
    rb"|\bextern(?=\s+template\b)"
)
# A macro that is the head of a function: `SYSCALL_DEFINE3(read, unsigned int, fd, …) {`. Its first word is its name.
_HEAD = re.compile(
    rb"^(?P<kept>[A-Z][A-Z0-9_]{2,}\(\s*+\w*+)(?P<rest>(?:[^(){};#]|\([^(){};#]*+\))*+)\)(?=\s*+\{)", re.MULTILINE
)
_COMMENT = re.compile(rb"/\*.*?\*/")
# Longer lines are left as they are: looking for macros in them would take long.
_LONGEST_LINE = 2_000
_VISIBLE = re.compile(rb"\S")


def mended(content: bytes, language: str) -> bytes | None:
    """The same lines without what parsers stumble over; None where the language has nothing of the kind.

    Of `#if … #else …` the first branch is left, unless it is `#if 0`.
    """
    if language == "csharp":
        return b"\n".join(_first_branches(content.split(b"\n")))
    if language in ("c", "cpp"):
        lines = b"\n".join(_first_branches(content.split(b"\n")))
        return b"\n".join(_without_macros(_HEAD.sub(_first_word, lines).split(b"\n")))
    return None


def _first_branches(lines: list[bytes]) -> list[bytes]:
    """The lines with blank ones for conditionals and the branches that do not count."""
    left = []
    # For each conditional around: is one of its branches left already, and is it the one at hand?
    around: list[tuple[bool, bool]] = []
    goes_on = False
    for line in lines:
        found = None if goes_on else _DIRECTIVE.match(line)
        word = found[1] if found else b""
        if word in (b"if", b"ifdef", b"ifndef"):
            around.append((not found[2],) * 2)
        elif word in (b"elif", b"else") and around:
            taken, _ = around.pop()
            around.append((True, not taken))
        elif word == b"endif" and around:
            around.pop()
        hidden = found or goes_on or not all(at_hand for _, at_hand in around)
        goes_on = bool(found or goes_on) and line.rstrip().endswith(b"\\")
        left.append(_blank(line) if hidden else line)
    return left


def _without_macros(lines: list[bytes]) -> list[bytes]:
    """The lines without macros; what defines one is left, but without comments, which would end it."""
    left, goes_on = [], False
    for line, below in pairwise([*lines, b""]):
        if goes_on or line.lstrip().startswith(b"#"):
            goes_on = line.rstrip().endswith(b"\\")
            left.append(_COMMENT.sub(lambda comment: _blank(comment[0]), line))
        elif len(line) > _LONGEST_LINE:
            left.append(line)
        elif _ALONE.fullmatch(line) and not below.lstrip().startswith(b"{"):
            left.append(_blank(line))
        else:
            left.append(_MACROS.sub(lambda macro: _blank(macro[0]), line))
    return left


def _first_word(head: re.Match[bytes]) -> bytes:
    return head["kept"] + _blank(head["rest"]) + b")"


def _blank(text: bytes) -> bytes:
    return _VISIBLE.sub(b" ", text)
