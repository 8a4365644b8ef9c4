"""What the message of a commit says of the pull request that it brought, in the words of the forge that merged it."""

import re
from typing import NamedTuple

# The subjects that merges get from GitHub and Gitea, and from bors.
_OF_MERGES = [
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"Merge pull request #(?P<number>\d+) (from|in) \S+.*",
        r"Merge pull request '(?P<title>.*)' \([#!](?P<number>\d+)\) from .*",
        r"(Auto merge of|Merge) #(?P<number>\d+)\b.*",
    )
]
# Those that squash commits get as well: from Bitbucket Server and Cloud; Azure DevOps; GitHub, Gitea and GitLab.
_OF_ALL = [
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"Pull request #(?P<number>\d+): (?P<title>.*)",
        r"Merged in \S+ \(pull request #(?P<number>\d+)\)",
        r"Merged PR (?P<number>\d+): (?P<title>.*)",
        r"((?P<title>.*\S)\s*)?\([#!](?P<number>\d+)\)",
    )
]
# GitLab ends its messages with this line. The subject above it is git's own, or the title.
_GITLAB = re.compile(r"^See merge request \S*!(\d+)\s*$", re.MULTILINE)
_OF_GIT = re.compile(r"Merge (remote-tracking )?branch .*")
# Python takes no text of thousands of digits for a number, and no forge counts so far.
_MOST_DIGITS = 9


class Said(NamedTuple):
    """Number, title and body of a pull request: None and "" where a message does not say."""

    number: int | None
    title: str
    body: str


def said(message: str, merge: bool) -> Said | None:
    """What a forge has written into the message of a merge, or of a commit with one parent; None if none has.

    A number of another kind, such as that of an issue that a subject speaks of, is no pull request's.
    """
    subject, rest = parts(message)
    patterns = [*_OF_MERGES, *_OF_ALL] if merge else _OF_ALL
    found = next((found for pattern in patterns if (found := pattern.fullmatch(subject))), None)
    references = _GITLAB.findall(rest)
    if not found and not references:
        return None
    number = references[-1] if references else found["number"]
    rest = _GITLAB.sub("", rest)
    if found and "title" in found.re.groupindex:
        return Said(_number(number), found["title"] or "", rest)
    if found or _OF_GIT.fullmatch(subject):
        return Said(_number(number), *parts(rest))
    return Said(_number(number), subject, rest)


def parts(message: str) -> tuple[str, str]:
    """The first line of a message, and the others."""
    subject, _, rest = message.strip().partition("\n")
    return subject.strip(), rest


def _number(text: str) -> int | None:
    number = int(text) if len(text) <= _MOST_DIGITS else 0
    return number or None
