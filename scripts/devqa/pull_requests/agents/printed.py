"""What an agent has printed: the answer in it, what it has cost, and what may be shown of a run that has failed."""

import re
from contextlib import suppress
from typing import Any

import orjson

from devqa.study.scrubbing_secrets import without_secrets

_LAST_WORDS = 300
_LONGEST_RAW = 10_000
# Of one run. More is no cost, and sums of it may be no numbers.
_MOST_USD = 1e6
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def answer_and_cost(stdout: str, answer_key: str, usd_key: str) -> tuple[str | None, float | None]:
    """The answer in what was printed, and what it has cost in USD; None for what is not there."""
    text = stdout.strip()
    value = _json(text) if answer_key or usd_key else None
    usd = _at(value, usd_key) if usd_key else None
    usd = float(usd) if type(usd) in (int, float) and 0 <= usd < _MOST_USD else None
    answer = _at(value, answer_key) if answer_key else text
    return (answer.strip() or None if isinstance(answer, str) else None), usd


def shown(stdout: str) -> str:
    """The beginning of what was printed, without what looks like a secret."""
    return without_secrets(stdout[:_LONGEST_RAW])[:_LONGEST_RAW]


def last_words(stderr: str) -> str:
    """The end of what it has complained of, in one line, without what looks like a secret."""
    return " ".join(without_secrets(_COLOURS.sub("", stderr)).split())[-_LAST_WORDS:]


def _json(text: str) -> Any:
    """The JSON value in `text`, or in its last line, as programs print it that say what they do meanwhile."""
    for part in (text, text.rpartition("\n")[2]):
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(part)
    return None


def _at(value: Any, key: str) -> Any:
    for name in key.split("."):
        if isinstance(value, list) and name.isascii() and name.isdigit() and int(name[:9]) < len(value):
            value = value[int(name[:9])]
        else:
            value = value.get(name) if isinstance(value, dict) else None
    return value
