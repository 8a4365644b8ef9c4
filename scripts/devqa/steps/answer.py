"""benchmark → answers: one model answers every question, once per repeat (SimpleDevQA, section 6)."""

from collections.abc import Sequence

from devqa.llm.chat import Answer, Chat, Request
from devqa.prompts import Prompt
from devqa.steps.accounts import asked
from devqa.tables import Row

TOKENS = ("input_tokens", "output_tokens", "reasoning_tokens")


def answers(questions: Sequence[str], chat: Chat, prompt: Prompt, repeat: int) -> list[Answer]:
    """What the model says to each question, with nothing else to go by. Each `repeat` is a sample of its own."""
    return chat.ask([Request(tuple(prompt.messages({}, {"question": text})), repeat=repeat) for text in questions])


def answer(questions: Sequence[Row], chat: Chat, prompt: Prompt, setting: str, repeat: int) -> list[Row]:
    """Rows of table `answers`, one per row of the benchmark: what the model said, and how the call ended."""
    given = answers([row["question"] for row in questions], chat, prompt, repeat)
    return [
        {
            "id": row["id"],
            "setting": setting,
            "model": chat.label,
            "repeat": repeat,
            "answer": said.text,
            # No prompt has none: without a count there is nothing to average.
            **{name: getattr(said, name) if said.input_tokens else None for name in TOKENS},
            **asked(chat.label, said),
        }
        for row, said in zip(questions, given, strict=True)
    ]
