"""pull_answers → pull_facts: the true answer, cut into facts that the context supports.

Facts are the nuggets of TREC 2003's definition questions: facts of which an assessor can decide whether an answer holds
them; vital if no answer is good without it, else okay (https://trec.nist.gov/pubs/trec12/papers/QA.OVERVIEW.pdf).
"""

from collections.abc import Sequence
from typing import Any

from devqa.llm.chat import Answer, Chat, Request
from devqa.prompts import Prompt
from devqa.pull_requests.listing.wording import line_of
from devqa.pull_requests.questions.comparing import likeness, restates, says_nothing
from devqa.pull_requests.questions.showing import request_with
from devqa.pull_requests.questions.verdicts import numbered_schema
from devqa.steps.accounts import asked
from devqa.steps.outcomes import OK, rejected
from devqa.steps.reasons import shortened
from devqa.tables import Row, picked
from devqa.usage import usages

VITAL, OKAY = "vital", "okay"
NO_FACT = "the answer holds no fact"
NO_VITAL_FACT = "the answer holds no vital fact"
NOT_SUPPORTED = "no vital fact is supported by the context"
RESTATED = "it says what the question says"
TWICE = "it comes twice"
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
    `reason` says why. Of equal ones a vital one is kept, at the place of the first. An answer without another fact, or
    without a vital one, is rejected.
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

    def request(row: Row) -> Request:
        shown = {"question": row["question"], "facts": _open(row)}
        schema = numbered_schema("supported", len(shown["facts"]), _LONGEST_REASON)
        return request_with(prompt, shown, blocks[row["pull_id"]], chat, schema, nodes[row["pull_id"]])

    asking = [index for index, row in enumerate(rows) if row["status"] == "ok"]
    given = chat.ask([request(rows[index]) for index in asking])
    judged = dict(zip(asking, given, strict=True))
    return [_judged(row, judged[index], chat.label) if index in judged else row for index, row in enumerate(rows)]


def _cut(question: str, answer: Answer) -> Row:
    """The facts of an answer that was cut, and what becomes of the row."""
    kept: dict[str, Row] = {}
    left_out: list[Row] = []
    for given in answer.data["facts"]:
        # One line: where prompts number facts, none may look like two.
        entry = {"fact": line_of(given["fact"]), "importance": given["importance"]}
        if says_nothing(entry["fact"].strip(".")):
            continue
        name = likeness(entry["fact"])
        if restates(entry["fact"], question):
            left_out.append({**entry, "supported": False, "reason": RESTATED})
        elif name not in kept:
            kept[name] = entry
        else:
            # A vital one does not give way to one that is not.
            kept[name], other = sorted((kept[name], entry), key=lambda each: each["importance"] != VITAL)
            left_out.append({**other, "supported": False, "reason": TWICE})
    entries = [{"number": number, **entry} for number, entry in enumerate([*kept.values(), *left_out], 1)]
    if not kept:
        return {"facts": entries, **rejected(NO_FACT)}
    vital = any(entry["importance"] == VITAL for entry in kept.values())
    return {"facts": entries, **(OK if vital else rejected(NO_VITAL_FACT))}


def _open(row: Row) -> list[Row]:
    """The facts of `row` that are to be held against the code: the first ones."""
    return [entry for entry in row["facts"] if "supported" not in entry]


def _judged(row: Row, answer: Answer, label: str) -> Row:
    account = asked(label, answer)
    account["usage"] = usages(row["usage"], account["usage"])
    if answer.outcome != "ok":
        return {**row, **account}
    judged = [{**entry, **shortened(answer.data[str(entry["number"])], _LONGEST_REASON)} for entry in _open(row)]
    entries = judged + row["facts"][len(judged) :]
    good = any(entry["supported"] and entry["importance"] == VITAL for entry in entries)
    return {**row, **account, "facts": entries, **(OK if good else rejected(NOT_SUPPORTED))}
