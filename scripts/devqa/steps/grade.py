"""answers → grades: a judge compares each answer with the benchmark's (SimpleDevQA, section 6)."""

from collections.abc import Sequence

from devqa.evaluation.grading import Verdict, parse_verdict
from devqa.llm.chat import Answer, Chat, Request
from devqa.prompts import Prompt
from devqa.steps.accounts import asked
from devqa.steps.outcomes import OK, failed, rejected
from devqa.tables import Row


def verdicts(
    rows: Sequence[Row], given: Sequence[str | None], judge: Chat, prompt: Prompt
) -> list[tuple[Verdict, Answer | None]]:
    """The judge's verdict on each of the `given` answers to the questions of `rows` (question, answer).

    Where there is nothing to grade (`None`), or nothing to grade it against, no judge is asked, and the same answer to
    the same question is judged once, whichever repeat it comes from. A judge whose words can't be read gives a verdict
    without a grade.
    """
    obstacles = [_obstacle(row, text) for row, text in zip(rows, given, strict=True)]
    requests = [
        Request(tuple(prompt.messages({}, {"question": row["question"], "target": row["answer"], "predicted": text})))
        for row, text, obstacle in zip(rows, given, obstacles, strict=True)
        if not obstacle
    ]
    judged = iter(judge.ask(requests))
    return [(Verdict(None, obstacle), None) if obstacle else _read(next(judged)) for obstacle in obstacles]


def grade(questions: Sequence[Row], answered: Sequence[Row], judge: Chat, prompt: Prompt) -> list[Row]:
    """Rows of table `grades` by this judge, one per answer.

    Rows without a grade are counted apart. Failed: there is no usable answer, or none of the judge's. Rejected: there
    never will be one, the benchmark has none, or the judge's words can't be read; asking again would bring the same
    words from the cache.
    """
    by_id = {row["id"]: row for row in questions}
    texts = [row["answer"] if row["status"] == "ok" else None for row in answered]
    judged = verdicts([by_id[row["id"]] for row in answered], texts, judge, prompt)
    return [
        {
            **{key: row[key] for key in ("id", "setting", "model", "repeat")},
            **(asked(judge.label, words) if words else {"usage": []}),
            "judge": judge.label,
            "grade": verdict.grade,
            "judge_text": words.text if words else None,
            **(OK if verdict.grade else _without_grade(row, words, verdict.reason)),
        }
        for row, (verdict, words) in zip(answered, judged, strict=True)
    ]


def _without_grade(answer: Row, words: Answer | None, reason: str) -> dict[str, str]:
    passing = answer["status"] == "failed" or (words is not None and words.outcome != "ok")
    return failed(reason) if passing else rejected(reason)


def _obstacle(row: Row, text: str | None) -> str:
    """Why this can't be graded; "" where it can."""
    if text is None:
        return "there is no answer to grade"
    # Rows of a benchmark from elsewhere may lack one.
    return "" if (row["answer"] or "").strip() else "the benchmark has no answer to grade against"


def _read(answer: Answer) -> tuple[Verdict, Answer]:
    if answer.outcome != "ok":
        return Verdict(None, f"the judge's answer is {answer.outcome}: {answer.reason}"), answer
    return parse_verdict(answer.text), answer
