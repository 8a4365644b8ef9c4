"""condensed → pairs: question-answer pairs grounded in a dialogue's documents (SimpleDevQA, 4.2)."""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from devqa.language import detect
from devqa.llm.chat import Answer, Chat, Request
from devqa.prompts import Prompt
from devqa.steps.accounts import asked
from devqa.steps.budget import fitted, shown
from devqa.steps.outcomes import OK, failed, rejected
from devqa.steps.sentences import numbered
from devqa.tables import Row, picked
from devqa.text import plain
from devqa.tokens import estimate

# Of the documents' budget, this share shows the model what the developer asked.
DIALOGUE_SHARE = 0.2
# Of what the model's context has left, the share of documents and dialogue; the rest is for titles, tags and what a
# chat template adds.
ROOM_SHARE = 0.9
# However small the model's context: fewer tokens of documents are worth no request.
LEAST_BUDGET = 50
# What the instructions alone are measured with; no list is empty, because a template may look at its first entry.
LEAST_GIVEN = {
    "dialogue": [{"role": "user", "content": "?"}],
    "references": [{"url": "", "title": "", "text": "?"}],
    "language": "en",
}


def schema(pairs: int, sentences: int) -> dict[str, Any]:
    """The JSON schema of the model's answer. The citation comes first, so that the question is built on it."""
    properties = {
        "sentences": {
            "type": "array",
            "items": {"type": "integer", "minimum": 1, "maximum": sentences},
            "minItems": 1,
            "maxItems": 3,
        },
        "question": {"type": "string", "maxLength": 250},
        "answer": {"type": "string", "maxLength": 150},
    }
    pair = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
    return {
        "type": "object",
        "properties": {"pairs": {"type": "array", "items": pair, "minItems": pairs, "maxItems": pairs}},
        "required": ["pairs"],
        "additionalProperties": False,
    }


def generate(
    dialogues: Sequence[Row],
    condensed: Sequence[Row],
    chat: Chat,
    prompt: Prompt,
    *,
    pairs: int,
    reference_tokens: int,
    demonstrations: int,
) -> list[Row]:
    """Rows of table `pairs`: `pairs` rows for each of `dialogues`, whatever becomes of them.

    All documents of a dialogue are joined, each cut to its fair share of `reference_tokens` or of what the model's
    context has room for. Their sentences are numbered and the model cites by number, so the spans that support a
    pair stand in its references to the letter.
    """
    bare = prompt.messages({"pairs": pairs}, LEAST_GIVEN, demonstrations)
    budget = min(reference_tokens, _room(chat, bare))
    documents = {
        dialogue: list(rows)
        for dialogue, rows in groupby(
            sorted(condensed, key=lambda row: (row["dialogue_id"], row["rank"])), key=lambda row: row["dialogue_id"]
        )
    }
    dialogues = sorted(dialogues, key=lambda row: row["dialogue_id"])
    grounds = [_grounds(documents.get(row["dialogue_id"], []), budget) for row in dialogues]
    requests = [
        Request(
            tuple(prompt.messages({"pairs": pairs}, _given(row, references, texts, budget), demonstrations)),
            schema(pairs, len(sentences)),
        )
        for row, (references, texts, sentences) in zip(dialogues, grounds, strict=True)
        if sentences
    ]
    answers = iter(chat.ask(requests))
    return [
        row
        for dialogue, (references, _, sentences) in zip(dialogues, grounds, strict=True)
        for row in _rows(dialogue, references, sentences, next(answers) if sentences else None, chat.label, pairs)
    ]


def _room(chat: Chat, instructions: Sequence[dict[str, str]]) -> int:
    """Tokens for the documents of a dialogue, beside the `instructions`, the dialogue and the answer."""
    left = chat.context - chat.max_tokens - sum(estimate(message["content"]) for message in instructions)
    return max(LEAST_BUDGET, int(left * ROOM_SHARE / (1 + DIALOGUE_SHARE)))


def _grounds(documents: Sequence[Row], budget: int) -> tuple[list[dict], list[str], list[tuple[int, str]]]:
    """A dialogue's references, their texts with numbered sentences, and the sentences, within `budget` tokens."""
    room = budget
    while True:
        texts = fitted([row["text"] for row in documents], room)
        references = [
            {"url": row["url"], "title": row["title"], "text": text}
            for row, text in zip(documents, texts, strict=True)
            if text.strip()
        ]
        shown_texts, sentences = numbered([reference["text"] for reference in references])
        if sum(map(estimate, shown_texts)) <= budget or not room:
            return references, shown_texts, sentences
        # The numbers take room too: more where sentences are short.
        room = room * 9 // 10


def _given(dialogue: Row, references: Sequence[dict], texts: Sequence[str], budget: int) -> dict[str, Any]:
    # Only what the user said: the assistant's answers may be wrong, and pairs must rest on the documents.
    asked_for = [turn for turn in dialogue["messages"] if turn["role"] == "user"]
    return {
        "dialogue": shown(asked_for, int(budget * DIALOGUE_SHARE)),
        "references": [{**reference, "text": text} for reference, text in zip(references, texts, strict=True)],
        "language": dialogue["language"],
    }


def _rows(
    dialogue: Row,
    references: list[dict],
    sentences: Sequence[tuple[int, str]],
    answer: Answer | None,
    label: str,
    pairs: int,
) -> Iterator[Row]:
    given = answer.data["pairs"] if answer and answer.outcome == "ok" else []
    for number in range(1, pairs + 1):
        row = {**picked(dialogue, "pairs"), "number": number, "references": references, "usage": [], **OK}
        # One answer holds all pairs of a dialogue: the first row carries what it cost.
        if answer:
            row |= asked(label, answer) | ({} if number == 1 else {"usage": []})
        if not sentences:
            row |= rejected("no usable reference")
        elif len(given) >= number:
            row |= _pair(given[number - 1], sentences)
            # Models slip into another language than the one asked for; results are told apart by the true one.
            row["language"] = detect(row["question"]) or row["language"]
        elif answer.outcome == "ok":
            row |= failed("the model wrote fewer pairs than asked for")
        yield row | {"pair_id": _identifier(row)}


def _pair(pair: dict[str, Any], sentences: Sequence[tuple[int, str]]) -> Row:
    question, answer = pair["question"].strip(), pair["answer"].strip()
    # JSON has one kind of number, and 1.0 follows the schema too.
    cited = [sentences[int(number) - 1] for number in dict.fromkeys(pair["sentences"])]
    row = {
        "question": question,
        "answer": answer,
        "supports": [{"reference": reference, "span": span} for reference, span in cited],
    }
    if not plain(question) or not answer:
        return row | failed("the model left the question or the answer empty")
    return row


def _identifier(row: Row) -> str:
    """A name that stays while dialogue, question and answer do, so that people's decisions can refer to it."""
    content = "\0".join(str(row.get(key)) for key in ("source", "dialogue_id", "number", "question", "answer"))
    return hashlib.sha256(content.encode()).hexdigest()[:16]
