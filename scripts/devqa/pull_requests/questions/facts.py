"""pull_answers → pull_facts: the true answer, cut into facts that the context supports.

Facts are the nuggets of TREC 2003's definition questions: facts of which an assessor can decide whether an answer holds
them; vital if no answer is good without it, else okay (https://trec.nist.gov/pubs/trec12/papers/QA.OVERVIEW.pdf).
"""

import re
from collections.abc import Collection, Sequence
from typing import Any

from devqa.llm.chat import Answer, Chat, Request
from devqa.prompts import Prompt
from devqa.pull_requests.listing.wording import line_of
from devqa.pull_requests.questions.showing import messages_with
from devqa.pull_requests.questions.stopwords import FILLING, STOP_WORDS
from devqa.pull_requests.questions.verdicts import numbered_schema
from devqa.steps.accounts import asked
from devqa.steps.outcomes import OK, rejected
from devqa.tables import Row, picked
from devqa.text import plain
from devqa.usage import usages
from devqa.web.words import words

VITAL, OKAY = "vital", "okay"
NO_FACT = "the answer holds no fact"
NO_VITAL_FACT = "the answer holds no vital fact"
NOT_SUPPORTED = "no vital fact is supported by the context"
RESTATED = "it says what the question says"
TWICE = "it comes twice"
_WORD = re.compile(r"\w+")
# A question that is answered by yes or no, or by one of those that it names: then its own words are the fact.
_CHOICE = re.compile(
    r"^(?:is|are|was|were|do|does|did|can|could|will|would|has|have|had|should|must|may)\b|\bor\b", re.IGNORECASE
)
_LONGEST_REASON = 100


def schema(most: int) -> dict[str, Any]:
    """The JSON schema of an answer cut into at most `most` facts."""
    properties = {
        "fact": {"type": "string", "maxLength": 250},
        "importance": {"type": "string", "enum": [VITAL, OKAY]},
    }
    fact = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
    return {
        "type": "object",
        "properties": {"facts": {"type": "array", "items": fact, "maxItems": most}},
        "required": ["facts"],
        "additionalProperties": False,
    }


def facts(answered: Sequence[Row], chat: Chat, prompt: Prompt, *, most: int) -> list[Row]:
    """Rows of table `pull_facts`, one for each of `answered`, sorted by pull request; what supports them is open.

    A fact that comes twice, or only says what the question says, comes after the others, is not `supported`, and the
    `reason` says why. An answer without another fact, or without a vital one, is rejected.
    """
    answered = sorted(answered, key=lambda row: row["pull_id"])
    given = chat.ask(
        [
            Request(
                tuple(prompt.messages({"most": most}, {key: row[key] for key in ("question", "answer")})), schema(most)
            )
            for row in answered
        ]
    )
    return [
        {
            **picked(row, "pull_facts"),
            "facts": [],
            **asked(chat.label, answer),
            **(_cut(row["question"], answer) if answer.outcome == "ok" else {}),
        }
        for row, answer in zip(answered, given, strict=True)
    ]


def supported(
    rows: Sequence[Row], answered: Sequence[Row], context: Sequence[Row], chat: Chat, prompt: Prompt
) -> list[Row]:
    """`rows` of table `pull_facts` as they are, but with what the context says of each fact.

    Facts that it does not support stay in the table. A row without a vital fact that is supported is rejected; where
    the model's answer can't be used, `supported` is null and the row has failed.

    Args:
        answered: the rows of table `pull_answers` that `rows` were made of: blocks that their questions rest on are the
            last for which the model's window has no room.
        context: rows of table `context` of their pull requests.
    """
    blocks = {row["pull_id"]: row["blocks"] for row in context}
    nodes = {row["pull_id"]: row["nodes"] for row in answered}
    asking = [index for index, row in enumerate(rows) if row["status"] == "ok"]
    names = [rows[index]["pull_id"] for index in asking]
    given = chat.ask(
        [
            _request(rows[index], blocks[name], nodes[name], chat, prompt)
            for index, name in zip(asking, names, strict=True)
        ]
    )
    judged = dict(zip(asking, given, strict=True))
    return [_judged(row, judged[index], chat.label) if index in judged else row for index, row in enumerate(rows)]


def _cut(question: str, answer: Answer) -> Row:
    """The facts of an answer that was cut, and what becomes of the row."""
    kept: dict[str, Row] = {}
    left_out: list[Row] = []
    for given in answer.data["facts"]:
        # One line: where prompts number facts, none may look like two.
        entry = {"fact": line_of(given["fact"]), "importance": given["importance"]}
        name = plain(entry["fact"]).rstrip(".")
        if not name:
            continue
        if _restates(entry["fact"], question):
            left_out.append({**entry, "supported": False, "reason": RESTATED})
        elif name in kept:
            left_out.append({**entry, "supported": False, "reason": TWICE})
        else:
            kept[name] = entry
    entries = [{"number": number, **entry} for number, entry in enumerate([*kept.values(), *left_out], 1)]
    if not kept:
        return {"facts": entries, **rejected(NO_FACT)}
    vital = any(entry["importance"] == VITAL for entry in kept.values())
    return {"facts": entries, **(OK if vital else rejected(NO_VITAL_FACT))}


def _restates(fact: str, question: str) -> bool:
    """Does `fact` say what the question says, and no more? Only where both are about the same, in the same words."""
    return (
        not _CHOICE.search(question)
        and _said(fact, STOP_WORDS) == _said(question, STOP_WORDS)
        and _said(fact, FILLING) <= _said(question, FILLING)
    )


def _said(text: str, without: Collection[str]) -> set[str]:
    """The stems of the words of `text`."""
    return {stem for word in _WORD.findall(text.casefold()) if word not in without for stem in words(word)}


def _open(row: Row) -> list[Row]:
    """The facts of `row` that are to be held against the code: the first ones."""
    return [entry for entry in row["facts"] if "supported" not in entry]


def _request(row: Row, blocks: Sequence[Row], nodes: Sequence[str], chat: Chat, prompt: Prompt) -> Request:
    given = {"question": row["question"], "facts": _open(row)}
    _, messages = messages_with(lambda shown: prompt.messages({}, {**given, "blocks": shown}), blocks, chat, nodes)
    return Request(tuple(messages), numbered_schema("supported", len(given["facts"]), _LONGEST_REASON))


def _judged(row: Row, answer: Answer, label: str) -> Row:
    account = asked(label, answer)
    account["usage"] = usages(row["usage"], account["usage"])
    if answer.outcome != "ok":
        return {**row, **account}
    judged = [{**entry, **answer.data[str(entry["number"])]} for entry in _open(row)]
    entries = judged + row["facts"][len(judged) :]
    good = any(entry["supported"] and entry["importance"] == VITAL for entry in entries)
    return {**row, **account, "facts": entries, **(OK if good else rejected(NOT_SUPPORTED))}
