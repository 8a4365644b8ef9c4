"""evidence → verified: does what was found support the pair's answer (SimpleDevQA, 4.3)?

The question is answered from the passages without sight of the pair's answer; then both answers are compared.
"""

from collections.abc import Sequence
from typing import Any

from devqa.llm.chat import Answer, Chat, Request
from devqa.prompts import Prompt
from devqa.steps.accounts import asked
from devqa.steps.outcomes import OK, rejected
from devqa.steps.reasons import LONGEST, request_for, shortened
from devqa.tables import Row, picked
from devqa.text import literal

SUPPORTED, CONTRADICTED, NOT_ENOUGH = "supported", "contradicted", "not enough evidence"


def answer_schema(passages: int) -> dict[str, Any]:
    """The JSON schema of an answer from passages: which ones it rests on, whether they suffice, the answer."""
    properties = {
        "passages": {
            "type": "array",
            "items": {"type": "integer", "enum": list(range(1, passages + 1))},
            "maxItems": passages,
        },
        "enough_evidence": {"type": "boolean"},
        "answer": {"type": "string", "maxLength": 300},
    }
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


COMPARE_SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string", "maxLength": LONGEST}, "same": {"type": "boolean"}},
    "required": ["reason", "same"],
    "additionalProperties": False,
}


def verify(evidence: Sequence[Row], chat: Chat, answer_prompt: Prompt, compare_prompt: Prompt) -> list[Row]:
    """Rows of table `verified`, one per pair, with verdict, the evidence's own answer and the passages cited.

    Only supported pairs are `ok`; the others are rejected and meant for people to look at.
    """
    evidence = sorted(evidence, key=lambda row: row["pair_id"])
    answers = chat.ask([_answer_request(row, answer_prompt) for row in evidence])
    open_ = [index for index, answer in enumerate(answers) if _differs(answer, evidence[index])]
    compared = dict(
        zip(
            open_,
            chat.ask([_compare_request(evidence[i], answers[i], compare_prompt) for i in open_]),
            strict=True,
        )
    )
    return [
        _row(row, answer, compared.get(index), chat.label)
        for index, (row, answer) in enumerate(zip(evidence, answers, strict=True))
    ]


def _has_evidence(answer: Answer) -> bool:
    """Is there an answer that rests on a passage?"""
    data = answer.data
    return answer.outcome == "ok" and bool(data["enough_evidence"] and data["passages"] and data["answer"].strip())


def _differs(answer: Answer, row: Row) -> bool:
    """Is a comparison worth a request? Not where there is no answer, nor where both answers are the same."""
    return _has_evidence(answer) and literal(answer.data["answer"]) != literal(row["answer"])


def _answer_request(row: Row, prompt: Prompt) -> Request:
    given = {"question": row["question"], "passages": row["passages"]}
    return Request(tuple(prompt.messages({}, given)), answer_schema(len(row["passages"])))


def _compare_request(row: Row, answer: Answer, prompt: Prompt) -> Request:
    given = {"question": row["question"], "answer": row["answer"], "other_answer": answer.data["answer"]}
    return request_for(prompt.messages({}, given), COMPARE_SCHEMA)


def _row(row: Row, answer: Answer, compared: Answer | None, label: str) -> Row:
    answers = [answer] if compared is None else [answer, compared]
    account = asked(label, *answers)
    if answer.outcome == "ok":
        found = answer.data["answer"].strip()
        account |= {"evidence_answer": found, "cited": sorted({int(number) for number in answer.data["passages"]})}
        if not _has_evidence(answer):
            account |= {"verdict": NOT_ENOUGH, "explanation": "", **rejected(NOT_ENOUGH)}
        elif compared is None:
            account |= {"verdict": SUPPORTED, "explanation": "the same answer", **OK}
        elif compared.outcome == "ok":
            verdict = SUPPORTED if compared.data["same"] else CONTRADICTED
            account |= {"verdict": verdict, "explanation": shortened(compared.data)["reason"]}
            account |= OK if verdict == SUPPORTED else rejected(f"{CONTRADICTED} by the evidence")
    return {**picked(row, "verified"), **account}
