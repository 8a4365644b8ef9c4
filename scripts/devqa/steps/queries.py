"""dialogues → queries: what is the dialogue about, and what would one search for (SimpleDevQA, 4.1)."""

from collections.abc import Sequence
from typing import Any

from devqa.llm.chat import Answer, Chat, Request
from devqa.prompts import Prompt
from devqa.steps.accounts import asked
from devqa.steps.budget import shown
from devqa.steps.outcomes import failed, rejected
from devqa.tables import Row, picked

SCHEMA = {
    "type": "object",
    "properties": {
        "topics": {"type": "array", "items": {"type": "string", "maxLength": 60}, "minItems": 1, "maxItems": 3},
        "queries": {"type": "array", "items": {"type": "string", "maxLength": 100}, "minItems": 2, "maxItems": 4},
        "about_software_development": {"type": "boolean"},
    },
    "required": ["topics", "queries", "about_software_development"],
    "additionalProperties": False,
}


def queries(dialogues: Sequence[Row], chat: Chat, prompt: Prompt, dialogue_tokens: int) -> list[Row]:
    """Rows of table `queries`, one for each of `dialogues`, sorted by dialogue.

    A dialogue that is not about software development is rejected; one for which the model gives fewer than
    two different queries has failed. The model sees at most about `dialogue_tokens` tokens of a dialogue.
    """
    dialogues = sorted(dialogues, key=lambda row: row["dialogue_id"])
    requests = [
        Request(tuple(prompt.messages({}, {"dialogue": shown(row["messages"], dialogue_tokens)})), SCHEMA)
        for row in dialogues
    ]
    answers = chat.ask(requests)
    return [
        {**picked(row, "queries"), **asked(chat.label, answer), **_content(answer)}
        for row, answer in zip(dialogues, answers, strict=True)
    ]


def _content(answer: Answer) -> dict[str, Any]:
    if answer.outcome != "ok":
        return {}
    found = {"topics": _distinct(answer.data["topics"]), "queries": _distinct(answer.data["queries"])}
    if not answer.data["about_software_development"]:
        return {**found, **rejected("not about software development")}
    if len(found["queries"]) < 2:
        return {**found, **failed("fewer than two different search queries")}
    return found


def _distinct(texts: Sequence[str]) -> list[str]:
    """The texts that are not empty, in their order, each once whatever its case and white space."""
    found: dict[str, str] = {}
    for text in (" ".join(text.split()) for text in texts):
        if text:
            found.setdefault(text.casefold(), text)
    return list(found.values())
