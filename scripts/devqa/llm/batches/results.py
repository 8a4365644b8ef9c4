"""The lines of a batch's output and error files (https://platform.openai.com/docs/guides/batch)."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from devqa.errors import UserError
from devqa.llm import outcomes, structured
from devqa.llm.cache import Record
from devqa.llm.faults import NoStructuredOutput, Passing, RowFault, raise_of_status
from devqa.llm.pricing import Price, record_usd
from devqa.llm.requests import Request
from devqa.llm.responses import checked, loads

# The keys of a batch. One whose first answer did not follow its schema has the record of that answer: what was sent is
# the question that shall mend it.
Rows = Mapping[str, Record | None]


@dataclass(frozen=True)
class Result:
    """What became of one request.

    Attributes:
        key: the `custom_id`.
        status: of its response; None when there is none: the request was not executed.
        body: of its response, or the error that is there instead.
    """

    key: str
    status: int | None
    body: Any


def result(line: bytes) -> Result | None:
    """The result in one line of an output or error file; None where there is none in it."""
    try:
        row = loads(line)
    except ValueError:
        return None
    if not isinstance(row, dict) or not isinstance(row.get("custom_id"), str):
        return None
    response = row.get("response")
    if isinstance(response, dict) and type(response.get("status_code")) is int:
        return Result(row["custom_id"], response["status_code"], response.get("body"))
    return Result(row["custom_id"], None, row.get("error"))


def completion(result: Result, label: str, address: str) -> dict[str, Any]:
    """The completion in a result, as in the API reference of `/chat/completions`.

    Args:
        label: the model's name in the configuration.
        address: the endpoint's base URL.

    Raises:
        Passing, RowFault, NoStructuredOutput, UserError: there is none (see `faults.raise_of_status`).
    """
    if result.status is None:
        error = result.body if isinstance(result.body, dict) else {}
        raise Passing(str(error.get("message") or error.get("code") or "the request was not executed")[:1000])
    if result.status != 200:
        # The standard library's encoder bears lone surrogates.
        raise_of_status(result.status, {}, json.dumps(result.body).encode(), label, address)
    return checked(result.body, address)


class Reading:
    """Reads the results of one batch, line by line, in any order and as often as it takes.

    Args:
        rows: the keys whose results are wanted; all others are passed over.
        asks: the request of each of them.
        sent_bytes: the length of the body that was sent for a key and its first answer.
        price: of a token in this mode.
        label: the model's name in the configuration.
        address: the endpoint's base URL.

    Attributes:
        waiting: keys without a result that could be used, with the reason; "" where no line was about them.
        mending: answers that don't follow their schema, and may be asked about once.
        stopped: keys whose result says that no request will fare better, and `fault`, why.
        usd: what the answers cost.
    """

    def __init__(
        self,
        rows: Rows,
        asks: Mapping[str, Request],
        sent_bytes: Callable[[str, Record | None], int],
        price: Price,
        label: str,
        address: str,
    ):
        self.waiting: dict[str, str] = dict.fromkeys(rows, "")
        self.mending: dict[str, Record] = {}
        self.stopped: list[str] = []
        self.fault: UserError | None = None
        self.usd = 0.0
        self._rows = rows
        self._asks = asks
        self._sent_bytes = sent_bytes
        self._price = price
        self._label = label
        self._address = address

    def take(self, line: bytes) -> tuple[str, Record] | None:
        """The key and the record that `line` settles; None where it settles none."""
        found = result(line)
        if found is None or found.key not in self.waiting:
            return None
        key, first, request = found.key, self._rows[found.key], self._asks[found.key]
        try:
            parsed = completion(found, self._label, self._address)
            record = outcomes.read(parsed, request.held_to, request.offers_tools)
        except Passing as fault:
            self.waiting[key] = str(fault)
            return None
        except RowFault as fault:
            del self.waiting[key]
            # The question that was to mend the first answer got none: what the first one took counts all the same.
            return key, first or outcomes.failed(str(fault), fault.outcome)
        except NoStructuredOutput as fault:
            return self._stop(key, UserError(f"models.{self._label}.structured: {fault}: set another way"))
        except UserError as error:
            return self._stop(key, error)
        del self.waiting[key]
        return self._answered(key, {**record, "sent_bytes": self._sent_bytes(key, first)})

    def _answered(self, key: str, record: Record) -> tuple[str, Record] | None:
        self.usd += record_usd(record, self._price)
        if (first := self._rows[key]) is not None:
            return key, structured.repaired(first, record)
        if structured.repair(self._asks[key], record) is None:
            return key, record
        self.mending[key] = record
        return None

    def _stop(self, key: str, fault: UserError) -> None:
        del self.waiting[key]
        self.stopped.append(key)
        self.fault = self.fault or fault
