"""Argilla's JSON, as its Python client 2.x reads and writes it (https://docs.argilla.io/latest/how_to_guides/import_export).

Records are what `dataset.records.from_json` takes and `dataset.records.to_json` gives: `{"id", "fields", "metadata",
"suggestions", "responses", "vectors"}`. `responses` has by question a list of `{"value", "user_id"}`, in some
versions with a `status`. Settings are what `rg.Settings.from_json` takes.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from devqa.errors import UserError
from devqa.review.exchange.asking import Asking, Question, decided
from devqa.review.exchange.people import People
from devqa.tables import Row

# Responses that somebody has only begun, or thrown away.
_NOT_SENT = ("draft", "discarded")


def records(asked: Asking, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The records for things, as `dataset.records.from_json` takes them."""
    return [
        {
            "id": asked.kind.key(row),
            "fields": {name: text for name in asked.shown if (text := asked.show(row).get(name))},
            "metadata": {},
            "suggestions": {},
            "responses": {},
            "vectors": {},
        }
        for row in rows
    ]


def settings(asked: Asking, annotators: int) -> dict[str, Any]:
    """The settings of a dataset with such records, as `rg.Settings.from_json` takes them.

    Args:
        annotators: how many people are to respond to each record.
    """
    fields = [
        {
            "name": name,
            "title": name.capitalize(),
            # The first is in every record; others may be empty.
            "required": place == 0,
            "settings": {"type": "text", "use_markdown": False},
        }
        for place, name in enumerate(asked.shown)
    ]
    return {
        "guidelines": None,
        "fields": fields,
        "questions": [_question(question) for question in asked.questions],
        "vectors": [],
        "metadata": [],
        "allow_extra_metadata": False,
        "distribution": {"strategy": "overlap", "min_submitted": annotators},
    }


def decisions(asked: Asking, exported: Any, people: People, at: str) -> list[Row]:
    """The decisions in exported records, in their order. Drafts and discarded responses are none.

    Args:
        at: when they were taken, which such records do not say.

    Raises:
        UserError: these are no such records.
    """
    if not isinstance(exported, list):
        raise UserError("is no export of Argilla: it must be a list of records (dataset.records.to_json)")
    return [
        row
        for place, record in enumerate(exported, 1)
        for row in _of_record(asked, record, people, at, f"record {place}")
    ]


def _of_record(asked: Asking, record: Any, people: People, at: str, where: str) -> Iterator[Row]:
    responses = record.get("responses") if isinstance(record, Mapping) else None
    if not isinstance(responses, Mapping) or not isinstance(record.get("id"), str):
        raise UserError(f"{where} has no id or no responses (export with dataset.records.to_json)")
    answers: dict[str, dict[str, Any]] = defaultdict(dict)
    for question, given in responses.items():
        for response in given if isinstance(given, list) else [None]:
            if not isinstance(response, Mapping) or "value" not in response:
                raise UserError(f"{where}: the responses to '{question}' are no list of value and user_id")
            if response.get("status") not in _NOT_SENT:
                answers[people.name(response.get("user_id"), where)][question] = response["value"]
    for person, said in answers.items():
        yield decided(asked, record["id"], person, people.role(person), at, said)


def _question(question: Question) -> dict[str, Any]:
    told = {"name": question.name, "title": question.title, "description": None, "required": question.required}
    if question.form in ("text", "addresses"):
        return {**told, "settings": {"type": "text", "use_markdown": False}}
    options = [{"value": option, "text": option, "description": None} for option in question.options]
    kind = "multi_label_selection" if question.form == "several" else "label_selection"
    return {**told, "settings": {"type": kind, "options": options, "visible_options": None}}
