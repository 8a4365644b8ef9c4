"""pull_checked → pull_answers: the true answer, from the same context in a step of its own (DeepCodeBench).

It rests on the blocks alone: what only the pull request's description says can't be found in the repository.
"""

from collections.abc import Sequence
from typing import Any

from devqa.llm.chat import Answer, Chat
from devqa.prompts import Prompt
from devqa.pull_requests.questions.comparing import says_nothing
from devqa.pull_requests.questions.showing import request_with
from devqa.steps.accounts import asked
from devqa.steps.outcomes import failed, rejected
from devqa.tables import Row, picked

NOT_ANSWERABLE = "not answerable from the context"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "maxLength": 200},
        "answerable": {"type": "boolean"},
        "answer": {"type": "string", "maxLength": 700},
    },
    "required": ["reason", "answerable", "answer"],
    "additionalProperties": False,
}


def answers(checked: Sequence[Row], context: Sequence[Row], chat: Chat, prompt: Prompt) -> list[Row]:
    """Rows of table `pull_answers`, one for each of `checked`, sorted by pull request.

    Args:
        context: rows of table `context` of their pull requests. Blocks that the model's window has no room for are not
            shown; those that the question rests on are the last to go.

    A question that the context does not answer is rejected.
    """
    checked = sorted(checked, key=lambda row: row["pull_id"])
    blocks = {row["pull_id"]: row["blocks"] for row in context}
    given = chat.ask(
        [
            request_with(prompt, {"question": row["question"]}, blocks[row["pull_id"]], chat, SCHEMA, row["nodes"])
            for row in checked
        ]
    )
    return [
        {
            **picked(row, "pull_answers"),
            **asked(chat.label, answer),
            **(_answer(answer) if answer.outcome == "ok" else {}),
        }
        for row, answer in zip(checked, given, strict=True)
    ]


def _answer(answer: Answer) -> Row:
    if not answer.data["answerable"]:
        return rejected(NOT_ANSWERABLE)
    text = answer.data["answer"].strip()
    return {"answer": text} if not says_nothing(text) else failed("the model left the answer empty")
