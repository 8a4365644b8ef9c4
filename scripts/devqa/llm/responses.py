"""From a response to the completion in it, or to the fault that it stands for."""

from typing import Any

import orjson

from devqa.llm.faults import Passing, RowFault, raise_of_status
from devqa.llm.outcomes import broken
from devqa.llm.transport import Response


def completion(response: Response, label: str, address: str) -> dict[str, Any]:
    """The completion in a response, as in the API reference of `/chat/completions`.

    Raises:
        Passing, RowFault, NoStructuredOutput, UserError: there is none (see `faults.raise_of_status`).
    """
    if response.status != 200:
        raise_of_status(response.status, response.headers, response.body, label, address)
    try:
        parsed = loads(response.body)
    except ValueError:
        raise Passing(f"{address} answered with a body that is no JSON: {response.body[:80]!r}", heard=True) from None
    return checked(parsed, address)


def checked(parsed: Any, address: str) -> dict[str, Any]:
    """The body of a response with status 200, if it is a completion.

    Raises:
        RowFault: it is no object.
        Passing: it is something else, such as an upstream's error.
    """
    if not isinstance(parsed, dict):
        raise RowFault(f"{address} answered with JSON that is no object")
    if problem := broken(parsed):
        raise Passing(problem, heard=True)
    return parsed


def loads(body: bytes) -> Any:
    """The JSON value in `body`; lone surrogates, which orjson refuses, are let through: they are mended later.

    Raises:
        ValueError: it holds none.
    """
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        import json

        try:
            return json.loads(body)
        except RecursionError:
            raise ValueError("nested too deeply") from None
