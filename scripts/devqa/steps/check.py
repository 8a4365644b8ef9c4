"""pairs → checked: is the pair a good question with a good answer (SimpleDevQA, 4.3)?"""

from collections.abc import Sequence
from typing import Any

from devqa.llm.chat import Chat
from devqa.prompts import Prompt
from devqa.steps.accounts import asked
from devqa.steps.outcomes import OK, rejected
from devqa.steps.reasons import LONGEST, request_for, shortened
from devqa.tables import Row, picked

CRITERIA = ("unambiguous", "complex_enough", "verifiable")

_JUDGED = {
    "type": "object",
    "properties": {"reason": {"type": "string", "maxLength": LONGEST}, "passed": {"type": "boolean"}},
    "required": ["reason", "passed"],
    "additionalProperties": False,
}
SCHEMA = {
    "type": "object",
    "properties": dict.fromkeys(CRITERIA, _JUDGED),
    "required": [*CRITERIA],
    "additionalProperties": False,
}


def check(pairs: Sequence[Row], chat: Chat, prompt: Prompt, date: str) -> list[Row]:
    """Rows of table `checked`, one per pair: every criterion's verdict with its reason; all must pass.

    The criteria: exactly one unambiguous answer; enough complexity; verifiable from public information on `date`.
    """
    pairs = sorted(pairs, key=lambda row: row["pair_id"])
    answers = chat.ask(
        [
            request_for(prompt.messages({"date": date}, {key: row[key] for key in ("question", "answer")}), SCHEMA)
            for row in pairs
        ]
    )
    return [
        {**picked(row, "checked"), **asked(chat.label, answer), **(_verdict(answer.data) if answer.data else {})}
        for row, answer in zip(pairs, answers, strict=True)
    ]


def _verdict(judged: dict[str, Any]) -> Row:
    criteria = [{"criterion": name, **shortened(judged[name])} for name in CRITERIA]
    missed = [entry["criterion"].replace("_", " ") for entry in criteria if not entry["passed"]]
    return {"criteria": criteria, **(rejected("not " + ", not ".join(missed)) if missed else OK)}
