"""sampled → classified: what developers want done, and which questions suit a benchmark (SimpleDevQA, 3.1 to 3.3).

Each dialogue gets one task of Table 2. Of those that ask for knowledge the model also says whether the question centres
on code (3.2), and holds them against the three criteria of 3.3.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from devqa.llm.chat import Answer, Chat
from devqa.prompts import Prompt
from devqa.steps.accounts import asked
from devqa.steps.outcomes import rejected
from devqa.steps.reasons import LONGEST, request_for
from devqa.study import UNRELATED
from devqa.tables import Row, picked
from devqa.tokens import cut
from devqa.usage import usages

# What the model says in place of a task of a dialogue that has come through the filter by mistake.
UNRELATED_REASON = "unrelated to software development"
CRITERIA = ("single_answer", "timeless", "evidenced")

_HELD = {
    "type": "object",
    "properties": {"reason": {"type": "string", "maxLength": LONGEST}, "met": {"type": "boolean"}},
    "required": ["reason", "met"],
    "additionalProperties": False,
}
SUITABILITY_SCHEMA = {
    "type": "object",
    "properties": dict.fromkeys(CRITERIA, _HELD),
    "required": [*CRITERIA],
    "additionalProperties": False,
}


def task_schema(categories: Mapping[str, str]) -> dict[str, Any]:
    """The JSON schema of an answer: one of the categories or `UNRELATED`, and whether the question centres on code."""
    properties = {
        "reason": {"type": "string", "maxLength": LONGEST},
        "task": {"type": "string", "enum": [*dict.fromkeys([*categories, UNRELATED])]},
        "code_centred": {"type": "boolean"},
    }
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def tasks(
    dialogues: Sequence[Row],
    chat: Chat,
    prompt: Prompt,
    categories: Mapping[str, str],
    knowledge: str,
    text_tokens: int,
) -> list[Row]:
    """Rows of table `classified` with the task of each of `dialogues`, sorted by dialogue; suitability is open.

    `categories` are the tasks, each with what belongs there. `code_centred` is null where the task is not `knowledge`.
    A dialogue that is about something else is rejected; where the model's answer can't be used the row has failed.
    """
    dialogues = sorted(dialogues, key=lambda row: row["dialogue_id"])
    settings = {"categories": dict(categories), "knowledge": knowledge, "unrelated": UNRELATED}
    schema = task_schema(categories)
    answers = chat.ask(
        [request_for(prompt.messages(settings, {"text": cut(row["text"], text_tokens)}), schema) for row in dialogues]
    )
    return [
        {**picked(row, "classified"), **asked(chat.label, answer), **_task(answer, knowledge)}
        for row, answer in zip(dialogues, answers, strict=True)
    ]


def suitability(rows: Sequence[Row], chat: Chat, prompt: Prompt, knowledge: str, text_tokens: int) -> list[Row]:
    """`rows` of table `classified` as they are, but with the three criteria where the task is `knowledge`.

    Where the model's answer about the criteria can't be used, the row has failed and keeps its task.
    """
    asking = [index for index, row in enumerate(rows) if row["status"] == "ok" and row["task"] == knowledge]
    answers = chat.ask(
        [
            request_for(prompt.messages({}, {"text": cut(rows[index]["text"], text_tokens)}), SUITABILITY_SCHEMA)
            for index in asking
        ]
    )
    held = dict(zip(asking, answers, strict=True))
    return [_held(row, held[index], chat.label) if index in held else row for index, row in enumerate(rows)]


def _task(answer: Answer, knowledge: str) -> Row:
    if answer.outcome != "ok":
        return {}
    task = answer.data["task"]
    if task == UNRELATED:
        return rejected(UNRELATED_REASON)
    return {"task": task, "code_centred": answer.data["code_centred"] if task == knowledge else None}


def _held(row: Row, answer: Answer, label: str) -> Row:
    account = asked(label, answer)
    account["usage"] = usages(row["usage"], account["usage"])
    met = {name: answer.data[name]["met"] for name in CRITERIA} if answer.outcome == "ok" else {}
    return {**row, **account, **met}
