"""condensed → pairs: question-answer pairs grounded in a dialogue's documents (SimpleDevQA, 4.2)."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from devqa.language import detect
from devqa.llm.chat import Answer, Chat, Request
from devqa.prompts import Prompt
from devqa.steps.accounts import asked
from devqa.steps.budget import shown
from devqa.steps.outcomes import OK, failed, rejected
from devqa.steps.sentences import numbered
from devqa.steps.supports import Page
from devqa.tables import Row, picked
from devqa.text import plain
from devqa.tokens import estimate
from devqa.web.passages import packed

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


class _Ground(NamedTuple):
    """What the pairs of a dialogue rest on.

    Attributes:
        references: `{url, title, text}` of each document of which passages are shown.
        texts: the same texts with numbered sentences, as the model sees them.
        supports: an entry of the column `supports` for each number, in their order.
    """

    references: list[Row]
    texts: list[str]
    supports: list[Row]


def generate(
    dialogues: Sequence[Row],
    condensed: Sequence[Row],
    references: Sequence[Row],
    queries: Sequence[Row],
    chat: Chat,
    prompt: Prompt,
    *,
    pairs: int,
    reference_tokens: int,
    demonstrations: int,
) -> list[Row]:
    """Rows of table `pairs`: `pairs` rows for each of `dialogues`, whatever becomes of them.

    Of a dialogue's documents those passages are shown that fit its topics and queries best, within `reference_tokens`
    or what the model's context has room for. Their sentences are numbered and the model cites by number. Only what
    stands in the page's own text, which `references` has, gets a number: so what supports a pair stands in the pair's
    references to the letter, and in its page as its `match` says.
    """
    bare = prompt.messages({"pairs": pairs}, LEAST_GIVEN, demonstrations)
    budget = min(reference_tokens, _room(chat, bare))
    documents = {
        dialogue: list(rows)
        for dialogue, rows in groupby(
            sorted(condensed, key=lambda row: (row["dialogue_id"], row["rank"])), key=lambda row: row["dialogue_id"]
        )
    }
    pages = {(row["dialogue_id"], row["rank"]): row["text"] for row in references}
    wanted = {row["dialogue_id"]: " ".join([*row["topics"], *row["queries"]]) for row in queries}
    dialogues = sorted(dialogues, key=lambda row: row["dialogue_id"])
    grounds = [
        _ground(documents.get(name, []), pages, wanted.get(name, ""), budget)
        for name in (row["dialogue_id"] for row in dialogues)
    ]
    requests = [
        Request(
            tuple(prompt.messages({"pairs": pairs}, _given(row, ground, budget), demonstrations)),
            schema(pairs, len(ground.supports)),
        )
        for row, ground in zip(dialogues, grounds, strict=True)
        if ground.supports
    ]
    answers = iter(chat.ask(requests))
    return [
        row
        for dialogue, ground in zip(dialogues, grounds, strict=True)
        for row in _rows(dialogue, ground, next(answers) if ground.supports else None, chat.label, pairs)
    ]


def _room(chat: Chat, instructions: Sequence[dict[str, str]]) -> int:
    """Tokens for the documents of a dialogue, beside the `instructions`, the dialogue and the answer."""
    left = chat.context - chat.max_tokens - sum(estimate(message["content"]) for message in instructions)
    return max(LEAST_BUDGET, int(left * ROOM_SHARE / (1 + DIALOGUE_SHARE)))


def _ground(
    documents: Sequence[Row], texts_of_pages: Mapping[tuple[str, int], str], wanted: str, budget: int
) -> _Ground:
    """What is shown of a dialogue's `documents` for what is `wanted`, within `budget` tokens."""
    pages = [Page(texts_of_pages.get((row["dialogue_id"], row["rank"]), "")) for row in documents]
    room = budget
    while True:
        ground = _numbered(documents, pages, packed(documents, wanted, room))
        if sum(map(estimate, ground.texts)) <= budget or not room:
            return ground
        # The numbers take room too: more where sentences are short.
        room = room * 9 // 10


def _numbered(documents: Sequence[Row], pages: Sequence[Page], texts: Sequence[str]) -> _Ground:
    used = [each for each in zip(documents, pages, texts, strict=True) if each[2].strip()]

    def match(number: int, sentence: str) -> str | None:
        return used[number - 1][1].match(sentence)

    with_numbers, sentences = numbered([text for *_, text in used], match)
    return _Ground(
        [{"url": row["url"], "title": row["title"], "text": text} for row, _, text in used],
        with_numbers,
        [{"reference": number, "span": span, "match": match(number, span)} for number, span in sentences],
    )


def _given(dialogue: Row, ground: _Ground, budget: int) -> dict[str, Any]:
    # Only what the user said: the assistant's answers may be wrong, and pairs must rest on the documents.
    asked_for = [turn for turn in dialogue["messages"] if turn["role"] == "user"]
    return {
        "dialogue": shown(asked_for, int(budget * DIALOGUE_SHARE)),
        "references": [
            {**reference, "text": text} for reference, text in zip(ground.references, ground.texts, strict=True)
        ],
        "language": dialogue["language"],
    }


def _rows(dialogue: Row, ground: _Ground, answer: Answer | None, label: str, pairs: int) -> Iterator[Row]:
    given = answer.data["pairs"] if answer and answer.outcome == "ok" else []
    for number in range(1, pairs + 1):
        row = {**picked(dialogue, "pairs"), "number": number, "references": ground.references, "usage": [], **OK}
        # One answer holds all pairs of a dialogue: the first row carries what it cost.
        if answer:
            row |= asked(label, answer) | ({} if number == 1 else {"usage": []})
        if not ground.references:
            row |= rejected("no usable reference")
        elif not ground.supports:
            row |= rejected("no sentence of its references stands in their pages")
        elif len(given) >= number:
            row |= _pair(given[number - 1], ground.supports)
            # Models slip into another language than the one asked for; results are told apart by the true one.
            row["language"] = detect(row["question"]) or row["language"]
        elif answer.outcome == "ok":
            row |= failed("the model wrote fewer pairs than asked for")
        yield row | {"pair_id": _identifier(row)}


def _pair(pair: dict[str, Any], supports: Sequence[Row]) -> Row:
    question, answer = pair["question"].strip(), pair["answer"].strip()
    row = {
        "question": question,
        "answer": answer,
        # JSON has one kind of number, and 1.0 follows the schema too.
        "supports": [supports[int(number) - 1] for number in dict.fromkeys(pair["sentences"])],
    }
    if not plain(question) or not answer:
        return row | failed("the model left the question or the answer empty")
    return row


def _identifier(row: Row) -> str:
    """A name that stays while dialogue, question and answer do, so that people's decisions can refer to it."""
    content = "\0".join(str(row.get(key)) for key in ("source", "dialogue_id", "number", "question", "answer"))
    return hashlib.sha256(content.encode()).hexdigest()[:16]
