"""predictions → recalled: a judge looks for each fact of the true answer in what was answered (DeepCodeBench).

Fact recall is the share of facts that it finds. A fact about which the judge said nothing that can be read is neither
found nor missing, and the answer has no recall then.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from devqa.llm.chat import Answer, Chat, Request
from devqa.prompts import Message, Prompt
from devqa.pull_requests.questions.verdicts import numbered_schema
from devqa.steps.accounts import asked
from devqa.steps.answer import MESSAGE_TOKENS
from devqa.steps.outcomes import OK, failed, rejected
from devqa.steps.reasons import request_for, shortened
from devqa.tables import Row
from devqa.tokens import estimate

_RUN = ("id", "setting", "model", "repeat")
_LONGEST_REASON = 200


def recalled(facts: Sequence[Row], predictions: Sequence[Row], judge: Chat, prompt: Prompt, batch: int) -> list[Row]:
    """Rows of table `recalled` by this judge, one for each of `predictions`, in their order.

    The same answer to the same question is judged once, whoever gave it. Rows without a recall: where there is no
    usable answer, or none of the judge's, they have failed; they are rejected where there never will be one.

    Args:
        facts: rows of table `repository_facts`.
        batch: the most facts that are looked for in one call; each call numbers its own from 1 on.
    """
    by_id = {row["id"]: row for row in facts}
    jobs = [_Judging(row, by_id[row["id"]], judge, prompt, batch) for row in predictions]
    answers = iter(judge.ask([request for job in jobs for request in job.requests]))
    return [job.row(judge.label, [next(answers) for _ in job.requests]) for job in jobs]


class _Judging:
    """What is asked about one prediction: `requests`, none where an `obstacle` stands in the way."""

    def __init__(self, prediction: Row, facts: Row, judge: Chat, prompt: Prompt, batch: int):
        self._prediction = prediction
        self._facts: list[Row] = facts["facts"]
        self._batches = [self._facts[start : start + batch] for start in range(0, len(self._facts), batch)]
        self._obstacle = _obstacle(prediction, self._facts)
        self.requests: list[Request] = []
        if not self._obstacle:
            given = {"question": facts["question"], "predicted": prediction["answer"]}
            messages = [
                prompt.messages({}, {**given, "facts": [fact["fact"] for fact in part]}) for part in self._batches
            ]
            if max(map(_tokens, messages)) > judge.context - judge.max_tokens:
                self._obstacle = rejected("the answer is too long for the judge's context")
            else:
                self.requests = [
                    request_for(each, numbered_schema("found", len(part), _LONGEST_REASON))
                    for each, part in zip(messages, self._batches, strict=True)
                ]

    def row(self, label: str, answers: Sequence[Answer]) -> Row:
        """The row of table `recalled`, of the judge's answers to all requests."""
        verdicts = [
            verdict for part, answer in zip(self._batches, answers, strict=False) for verdict in _read(part, answer)
        ]
        if self._obstacle:
            verdicts = [_verdict(fact, None, "") for fact in self._facts]
        unread = [answer for answer in answers if answer.outcome != "ok"]
        account = (
            asked(label, *sorted(answers, key=lambda answer: answer.outcome != "ok")) if answers else {"usage": []}
        )
        graded = not self._obstacle and not unread
        return {
            **{key: self._prediction[key] for key in _RUN},
            **account,
            "judge": label,
            "facts": verdicts,
            "recall": share(verdicts) if graded else None,
            "vital_recall": share([each for each in verdicts if each["importance"] == "vital"]) if graded else None,
            **(self._obstacle or (_unread(unread[0]) if unread else OK)),
        }


def share(verdicts: Sequence[Mapping[str, Any]]) -> float | None:
    """The share of facts that were found; None where there are none."""
    return sum(each["found"] for each in verdicts) / len(verdicts) if verdicts else None


def _obstacle(prediction: Row, facts: Sequence[Row]) -> dict[str, str]:
    """Why a prediction is not judged; empty where it is."""
    if prediction["status"] != "ok":
        lost = failed if prediction["status"] == "failed" else rejected
        return lost("there is no answer to look into")
    if not (prediction["answer"] or "").strip():
        return rejected("the answer is empty")
    return {} if facts else rejected("the benchmark has no facts to look for")


def _read(facts: Sequence[Row], answer: Answer) -> list[Row]:
    if answer.outcome != "ok":
        return [_verdict(fact, None, _unread(answer)["reason"]) for fact in facts]
    said = (shortened(answer.data[str(number)], _LONGEST_REASON) for number in range(1, len(facts) + 1))
    return [_verdict(fact, each["found"], each["reason"]) for fact, each in zip(facts, said, strict=True)]


def _verdict(fact: Row, found: bool | None, reason: str) -> Row:
    return {"number": fact["number"], "importance": fact["importance"], "found": found, "reason": reason}


def _unread(answer: Answer) -> dict[str, str]:
    return failed(f"the judge's answer is {answer.outcome}: {answer.reason}")


def _tokens(messages: Sequence[Message]) -> int:
    return sum(estimate(message["content"]) + MESSAGE_TOKENS for message in messages)
