"""The schema of verdicts on numbered statements."""

from typing import Any


def numbered_schema(key: str, count: int, longest: int) -> dict[str, Any]:
    """The JSON schema of a yes or no, at `key`, on each of the statements 1 to `count`: one for each and no other.

    A reason of at most `longest` characters comes before each.
    """
    numbers = [str(number) for number in range(1, count + 1)]
    verdict = {
        "type": "object",
        "properties": {"reason": {"type": "string", "maxLength": longest}, key: {"type": "boolean"}},
        "required": ["reason", key],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": dict.fromkeys(numbers, verdict),
        "required": numbers,
        "additionalProperties": False,
    }
