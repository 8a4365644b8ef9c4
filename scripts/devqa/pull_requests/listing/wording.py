"""What people have written about a pull request, as it stands in tables."""

import re
import unicodedata
from datetime import UTC, datetime

from devqa.text import whole

_LONGEST_LINE = 500
_LONGEST_BODY = 20_000
# Lines that are for git and for review tools, wherever they stand: squash commits have them after each commit's part.
_TRAILER = re.compile(
    r"[A-Z][A-Za-z]*(-[A-Za-z]+)*-[Bb]y: .*|Change-Id: \S+|Reviewed-on: .*|Differential Revision: .*|git-svn-id: .*"
    r"|\(cherry picked from commit \S+\)|Cc: .*@.*|-{5,}"
)
_BLANK_LINES = re.compile(r"\n{3,}")


def line_of(text: str) -> str:
    """One line: white space is single blanks, what can't be shown is left out; cut to 500 characters."""
    return " ".join(_shown(text).split())[:_LONGEST_LINE].rstrip()


def body_of(text: str) -> str:
    """The text below a title, without HTML comments, trailers such as Signed-off-by, and what can't be shown; cut to
    20,000 characters.
    """
    lines = _without_comments(_shown(text.replace("\r\n", "\n")[: 10 * _LONGEST_BODY])).split("\n")
    kept = [line.rstrip() for line in lines if not _TRAILER.fullmatch(line.strip())]
    return _BLANK_LINES.sub("\n\n", "\n".join(kept)).strip()[:_LONGEST_BODY].rstrip()


def dated(seconds: int) -> str:
    """Seconds since 1970 as ISO 8601 in UTC; "" for 0, which stands for an unknown time, and for a time that no
    calendar has.
    """
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if seconds else ""
    except (ValueError, OverflowError, OSError):
        return ""


def _without_comments(text: str) -> str:
    """`text` without HTML comments, of which templates of pull requests are full. One that nothing closes stays: a
    pattern would look for its end again from each further one.
    """
    kept, at = [], 0
    while (begin := text.find("<!--", at)) >= 0 and (end := text.find("-->", begin + 4)) >= 0:
        kept.append(text[at:begin])
        at = end + 3
    return "".join([*kept, text[at:]])


def _shown(text: str) -> str:
    """`text` without control characters and such as change the direction of others; lines and tabs stay."""
    kept = (
        text
        if text.isprintable()
        else "".join(letter for letter in text if letter in "\n\t" or unicodedata.category(letter) not in ("Cc", "Cf"))
    )
    return whole(kept)
