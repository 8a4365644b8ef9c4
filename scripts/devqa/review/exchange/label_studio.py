"""Label Studio's JSON and labelling configuration, as documented for 1.x (https://labelstud.io/guide/task_format.html).

A task is `{"data": {...}}`; an exported one has `annotations` beside it, each with `completed_by`, `result`,
`was_cancelled` (skipped) and times. `result` has an entry per control: `from_name` is the question, and `value` holds
`choices` or `text`, a list of texts.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from devqa.errors import UserError
from devqa.review.exchange.asking import Asking, Question, decided
from devqa.review.exchange.people import People, utc
from devqa.tables import Row

# What tells the thing apart, among the data of a task.
_KEY = "devqa_key"


def tasks(asked: Asking, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The tasks for things, as Label Studio imports them."""
    return [{"data": {_KEY: asked.kind.key(row), **_shown(asked, row)}} for row in rows]


def labelling(asked: Asking) -> str:
    """The labelling configuration that shows such tasks, as XML."""
    view = Element("View")
    # Texts are shown as texts, with their lines; nothing in them is taken for HTML.
    SubElement(view, "Style").text = ".htx-text{ white-space: pre-wrap; }"
    for name in asked.shown:
        SubElement(view, "Header", value=name)
        SubElement(view, "Text", name=f"shown_{name}", value=f"${name}", selectionEnabled="false")
    for question in asked.questions:
        SubElement(view, "Header", value=question.title)
        _control(view, question, f"shown_{asked.shown[0]}")
    indent(view)
    return tostring(view, encoding="unicode") + "\n"


def decisions(asked: Asking, exported: Any, people: People) -> list[Row]:
    """The decisions in an export (in the form "JSON", not "JSON-MIN"), in its order. Skipped tasks have none.

    Raises:
        UserError: it is no such export, or of other tasks.
    """
    if not isinstance(exported, list):
        raise UserError("is no export of Label Studio: it must be a list of tasks (export as JSON)")
    return [row for place, task in enumerate(exported, 1) for row in _of_task(asked, task, people, f"task {place}")]


def _of_task(asked: Asking, task: Any, people: People, where: str) -> Iterator[Row]:
    data = task.get("data") if isinstance(task, Mapping) else None
    key = data.get(_KEY) if isinstance(data, Mapping) else None
    annotations = task.get("annotations") if isinstance(task, Mapping) else None
    if not isinstance(key, str) or not isinstance(annotations, list):
        raise UserError(f"{where} is none that was exported from here and annotated (export as JSON, not JSON-MIN)")
    for annotation in annotations:
        if not isinstance(annotation, Mapping) or not isinstance(annotation.get("result"), list):
            raise UserError(f"{where} has an annotation without a result")
        if annotation.get("was_cancelled"):
            continue
        person = people.name(_account(annotation.get("completed_by")), where)
        at = utc(annotation.get("updated_at") or annotation.get("created_at"), where)
        answers = {each["from_name"]: _value(each) for each in annotation["result"] if _is_answer(each)}
        yield decided(asked, key, person, people.role(person), at, answers)


def _account(completed_by: Any) -> Any:
    """Who has annotated: their number, or where the export says more their e-mail address."""
    if isinstance(completed_by, Mapping):
        return completed_by.get("email") or completed_by.get("id")
    return completed_by


def _is_answer(entry: Any) -> bool:
    return isinstance(entry, Mapping) and "from_name" in entry and isinstance(entry.get("value"), Mapping)


def _value(entry: Mapping[str, Any]) -> Any:
    value = entry["value"]
    return value.get("choices", value.get("text"))


def _shown(asked: Asking, row: Row) -> dict[str, str]:
    texts = asked.show(row)
    # An object without a text is an error there.
    return {name: texts.get(name) or "–" for name in asked.shown}


def _control(view: Element, question: Question, shown: str) -> None:
    required = {"required": "true"} if question.required else {}
    if question.form in ("text", "addresses"):
        # One submission is one text, which can be edited until the task is sent.
        SubElement(
            view,
            "TextArea",
            name=question.name,
            toName=shown,
            rows="3",
            maxSubmissions="1",
            editable="true",
            **required,
        )
        return
    choice = "multiple" if question.form == "several" else "single"
    choices = SubElement(view, "Choices", name=question.name, toName=shown, choice=choice, **required)
    for option in question.options:
        SubElement(choices, "Choice", value=option)
