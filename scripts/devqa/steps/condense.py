"""references → condensed: long documents cut to what bears on the dialogue (SimpleDevQA, 4.2)."""

from collections.abc import Mapping, Sequence

from devqa.llm.chat import Answer, Chat, Request
from devqa.prompts import Prompt
from devqa.steps.accounts import asked
from devqa.steps.outcomes import OK, rejected
from devqa.steps.supports import Page, standing
from devqa.tables import Row, picked
from devqa.text import plain
from devqa.tokens import cut, estimate
from devqa.web.passages import PASSAGE_TOKENS, packed

# Room for the instructions beside the document.
PROMPT_TOKENS = 500


def condense(
    references: Sequence[Row], queries: Sequence[Row], chat: Chat, prompt: Prompt, document_tokens: int
) -> list[Row]:
    """Rows of table `condensed`, one per reference, sorted by dialogue and rank.

    A document of at most `document_tokens` is taken whole and costs nothing; of a longer one the model copies
    out what bears on the dialogue's topics and queries. What exceeds the model's context is left out before,
    least relevant passages first. What the model wrote beside whole sentences of the document is taken out; then
    `raw` has all that it wrote.
    """
    subjects = {row["dialogue_id"]: row for row in queries}
    references = sorted(references, key=lambda row: (row["dialogue_id"], row["rank"]))
    long = [number for number, row in enumerate(references) if estimate(row["text"]) > document_tokens]
    requests = [
        _request(references[number], subjects[references[number]["dialogue_id"]], chat, prompt, document_tokens)
        for number in long
    ]
    answers = dict(zip(long, chat.ask(requests), strict=True))
    return [_row(row, answers.get(number), document_tokens, chat.label) for number, row in enumerate(references)]


def _row(row: Row, answer: Answer | None, document_tokens: int, label: str) -> Row:
    """The condensed reference; without an `answer` the document is short enough as it is."""
    if answer is None:
        return {**picked(row, "condensed"), "method": "whole", "text": row["text"], "usage": [], **OK}
    account = asked(label, answer)
    text = cut(answer.text.strip(), document_tokens)
    if answer.outcome == "ok":
        text = standing(text, Page(row["text"]))
        if text != answer.text.strip():
            account["raw"] = answer.text
        if plain(answer.text).strip(" .\"'") == "nothing":
            account |= rejected("nothing in it bears on the dialogue")
        elif not text:
            account |= rejected("nothing that the model copied stands in the document")
    return {**picked(row, "condensed"), "method": "model", "text": text, **account}


def _request(row: Row, subject: Mapping, chat: Chat, prompt: Prompt, document_tokens: int) -> Request:
    budget = max(chat.context - chat.max_tokens - PROMPT_TOKENS, PASSAGE_TOKENS)
    given = {
        "title": row["title"],
        "document": packed([row], " ".join([*subject["topics"], *subject["queries"]]), budget)[0],
        "topics": subject["topics"],
        "queries": subject["queries"],
    }
    return Request(tuple(prompt.messages({"tokens": document_tokens}, given)))
