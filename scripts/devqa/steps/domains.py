"""benchmark → domains: which domain of knowledge each question belongs to."""

from collections.abc import Mapping, Sequence
from typing import Any

from devqa.llm.chat import Chat, Request
from devqa.prompts import Prompt
from devqa.steps.accounts import asked
from devqa.steps.outcomes import OK
from devqa.tables import Row


def schema(names: Mapping[str, str]) -> dict[str, Any]:
    """The JSON schema of an answer: one of the names."""
    properties = {"domain": {"type": "string", "enum": [*names]}}
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def domains(
    questions: Sequence[Row],
    chat: Chat,
    prompt: Prompt,
    names: Mapping[str, str],
    people: Mapping[str, str] | None = None,
) -> list[Row]:
    """Rows of table `domains`, one per row of the benchmark, in its order.

    `names` are the domains, each with what belongs there. The model is shown the question alone. Where its answer can't
    be used the domain is null, and the row has failed. The domain that `people` have settled (row's id → name) stands
    in place of the model's, and of no answer; the model is asked all the same, so that their labels change no request.
    """
    wanted = schema(names)
    answers = chat.ask(
        [Request(tuple(prompt.messages({"names": names}, {"question": row["question"]})), wanted) for row in questions]
    )
    rows = [
        {
            "id": row["id"],
            "domain": answer.data["domain"] if answer.outcome == "ok" else None,
            **asked(chat.label, answer),
        }
        for row, answer in zip(questions, answers, strict=True)
    ]
    return [_settled(row, (people or {}).get(row["id"])) for row in rows]


def _settled(row: Row, domain: str | None) -> Row:
    return row if domain is None else {**row, "domain": domain, "outcome": "ok", "raw": None, **OK}
