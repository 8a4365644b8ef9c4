"""unique → filtered: is a dialogue about software development (SimpleDevQA, section 3)?"""

from collections.abc import Sequence

from devqa.llm.chat import Answer, Chat
from devqa.prompts import Prompt
from devqa.steps.accounts import asked
from devqa.steps.outcomes import rejected
from devqa.steps.reasons import LONGEST, request_for
from devqa.tables import Row, picked
from devqa.tokens import cut

OFF_TOPIC = "not about software development"
SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string", "maxLength": LONGEST}, "about_development": {"type": "boolean"}},
    "required": ["reason", "about_development"],
    "additionalProperties": False,
}


def about_development(dialogues: Sequence[Row], chat: Chat, prompt: Prompt, text_tokens: int) -> list[Row]:
    """Rows of table `filtered`, one for each of `dialogues`, sorted by dialogue.

    The model sees at most about `text_tokens` tokens of what the user said. What it takes for something else is
    rejected; where its answer can't be used the row has failed.
    """
    dialogues = sorted(dialogues, key=lambda row: row["dialogue_id"])
    answers = chat.ask(
        [request_for(prompt.messages({}, {"text": cut(row["text"], text_tokens)}), SCHEMA) for row in dialogues]
    )
    return [
        {**picked(row, "filtered"), **asked(chat.label, answer), **_verdict(answer)}
        for row, answer in zip(dialogues, answers, strict=True)
    ]


def _verdict(answer: Answer) -> Row:
    about = answer.outcome != "ok" or answer.data["about_development"]
    return {} if about else rejected(OFF_TOPIC)
