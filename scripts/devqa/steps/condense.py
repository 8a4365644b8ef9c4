"""references → condensed: long documents cut to what bears on the dialogue (SimpleDevQA, 4.2)."""

from collections.abc import Mapping, Sequence

from devqa.llm.chat import Answer, Chat, Request
from devqa.prompts import Prompt
from devqa.steps.accounts import asked
from devqa.steps.outcomes import OK, rejected
from devqa.tables import Row, picked
from devqa.text import plain
from devqa.tokens import cut, estimate
from devqa.web.passages import cut_up, rank

# A document is shown to the model in passages of this size, the most relevant ones first to be taken.
PASSAGE_TOKENS = 300
# Room for the instructions beside the document.
PROMPT_TOKENS = 500


def condense(
    references: Sequence[Row], queries: Sequence[Row], chat: Chat, prompt: Prompt, document_tokens: int
) -> list[Row]:
    """Rows of table `condensed`, one per reference, sorted by dialogue and rank.

    A document of at most `document_tokens` is taken whole and costs nothing; of a longer one the model copies
    out what bears on the dialogue's topics and queries. What exceeds the model's context is left out before,
    least relevant passages first.
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
    text = cut(answer.text.strip(), document_tokens)
    nothing = answer.outcome == "ok" and plain(text).strip(" .\"'") == "nothing"
    verdict = rejected("nothing in it bears on the dialogue") if nothing else {}
    return {**picked(row, "condensed"), "method": "model", "text": text, **asked(label, answer), **verdict}


def _request(row: Row, subject: Mapping, chat: Chat, prompt: Prompt, document_tokens: int) -> Request:
    budget = max(chat.context - chat.max_tokens - PROMPT_TOKENS, PASSAGE_TOKENS)
    given = {
        "title": row["title"],
        "document": _relevant(row, " ".join([*subject["topics"], *subject["queries"]]), budget),
        "topics": subject["topics"],
        "queries": subject["queries"],
    }
    return Request(tuple(prompt.messages({"tokens": document_tokens}, given)))


def _relevant(row: Row, wanted: str, budget: int) -> str:
    """The document, or as many of its most relevant passages as fit into `budget` tokens, in their order."""
    if estimate(row["text"]) <= budget:
        return row["text"]
    pieces = cut_up(row["url"], row["title"], row["text"], PASSAGE_TOKENS)
    order = {piece.text: number for number, piece in enumerate(pieces)}
    ranked = rank(wanted, pieces, budget // PASSAGE_TOKENS)
    kept = sorted((passage["text"] for passage in ranked), key=order.__getitem__)
    return "\n\n[…]\n\n".join(kept) or cut(row["text"], budget)
