"""benchmark → answers: one model answers every question, once per repeat (SimpleDevQA, sections 6 and 7).

One function for each setting in which a question is one request: `plain` (6), `rag` (7.2), `confidence` (7.3).
Rows come repeat by repeat, each with all questions in their order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from devqa.llm.chat import Answer, Chat, Request
from devqa.prompts import Message, Prompt
from devqa.steps.accounts import asked
from devqa.steps.confidence import split
from devqa.steps.outcomes import failed, rejected
from devqa.tables import Row
from devqa.tokens import estimate

TOKENS = ("input_tokens", "output_tokens", "reasoning_tokens")
# What a message takes beside its text, rather too much than too little.
MESSAGE_TOKENS = 16


def answers(questions: Sequence[str], chat: Chat, prompt: Prompt, repeats: Sequence[int]) -> list[Answer]:
    """What the model says to each question, with nothing else to go by. Each repeat is a sample of its own."""
    messages = [tuple(prompt.messages({}, {"question": text})) for text in questions]
    return chat.ask([Request(each, repeat=repeat) for repeat, each in product(repeats, messages)])


def plain(questions: Sequence[Row], chat: Chat, prompt: Prompt, repeats: Sequence[int]) -> list[Row]:
    """Rows of table `answers`, one per row of the benchmark and repeat: what the model said, and how the call ended."""
    return [
        {**run(row, "plain", chat, repeat), **said_by(chat, said)}
        for repeat, row, said in _answered(questions, chat, prompt, repeats)
    ]


def confidence(questions: Sequence[Row], chat: Chat, prompt: Prompt, repeats: Sequence[int]) -> list[Row]:
    """The same where the model also states how sure it is, in percent; null where that can't be read (`split`).

    The stated line is no part of the answer. An answer that has nothing else is empty.
    """
    return [
        {**run(row, "confidence", chat, repeat), **_with_confidence(chat, said)}
        for repeat, row, said in _answered(questions, chat, prompt, repeats)
    ]


def rag(
    questions: Sequence[Row], retrieved: Sequence[Row], chat: Chat, prompt: Prompt, repeats: Sequence[int]
) -> list[Row]:
    """The same where the model is shown the passages that the question finds: rows of table `retrieved`, by id.

    The row keeps the passages that were shown: the best ones, as many as fit into the model's context. A question that
    finds nothing is asked without any. One whose search has failed is not asked, and has failed for that reason.
    """
    found = {row["id"]: row for row in retrieved}
    shown = {
        row["id"]: _fitting(row["question"], found[row["id"]]["passages"], chat, prompt)
        for row in questions
        if found[row["id"]]["status"] != "failed"
    }
    wanted = list(product(repeats, shown))
    given = chat.ask([Request(tuple(shown[id][1]), repeat=repeat) for repeat, id in wanted])
    said = dict(zip(wanted, given, strict=True))
    return [
        {
            **run(row, "rag", chat, repeat),
            **(
                {"passages": shown[row["id"]][0], **said_by(chat, said[repeat, row["id"]])}
                if row["id"] in shown
                else _not_asked(found[row["id"]]["reason"])
            ),
        }
        for repeat, row in product(repeats, questions)
    ]


def run(question: Row, setting: str, chat: Chat, repeat: int) -> Row:
    """The columns that say which answer a row of table `answers` is."""
    return {"id": question["id"], "setting": setting, "model": chat.label, "repeat": repeat}


def said_by(chat: Chat, said: Answer) -> Row:
    """The columns of table `answers` that hold one answer of the model, and how the call ended."""
    return {
        "answer": said.text,
        # No prompt has none: without a count there is nothing to average.
        **{name: getattr(said, name) if said.input_tokens else None for name in TOKENS},
        **asked(chat.label, said),
    }


def _answered(
    questions: Sequence[Row], chat: Chat, prompt: Prompt, repeats: Sequence[int]
) -> Iterator[tuple[int, Row, Answer]]:
    given = answers([row["question"] for row in questions], chat, prompt, repeats)
    return ((repeat, row, said) for (repeat, row), said in zip(product(repeats, questions), given, strict=True))


def _with_confidence(chat: Chat, said: Answer) -> dict[str, Any]:
    if said.outcome != "ok":
        return said_by(chat, said)
    text, stated = split(said.text)
    columns = {**said_by(chat, replace(said, text=text)), "confidence": stated}
    if not text:
        # Rejected: asking again would bring the same words from the cache.
        columns |= {"outcome": "empty", "raw": said.text, **rejected("empty: there is a confidence and no answer")}
    return columns


def _not_asked(reason: str) -> Row:
    """The same columns where the search for passages has failed for `reason`."""
    return {"passages": [], "outcome": None, "usage": [], **failed(f"the search for passages was given up: {reason}")}


def _fitting(question: str, passages: Sequence[Row], chat: Chat, prompt: Prompt) -> tuple[Sequence[Row], list[Message]]:
    """The best `passages` that fit into the model's context beside question and answer, and the messages with them."""
    room = chat.context - chat.max_tokens
    for count in range(len(passages), 0, -1):
        messages = prompt.messages({}, {"question": question, "passages": passages[:count]})
        if sum(estimate(message["content"]) + MESSAGE_TOKENS for message in messages) <= room:
            return passages[:count], messages
    return [], prompt.messages({}, {"question": question, "passages": []})
