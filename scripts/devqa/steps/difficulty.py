"""verified → rated: a pair that every filter model answers correctly is easy, all others are hard (4.3)."""

from collections.abc import Sequence

from devqa.llm.chat import Chat, usage
from devqa.prompts import Prompt
from devqa.steps.answer import answers
from devqa.steps.grade import verdicts
from devqa.steps.outcomes import OK, failed
from devqa.tables import Row, picked
from devqa.usage import usages

# The evaluation's repeats count from 1: a model is not graded on the very answers that chose its questions.
REPEAT = 0


def difficulty(
    pairs: Sequence[Row], models: Sequence[Chat], judge: Chat, answer_prompt: Prompt, judge_prompt: Prompt
) -> list[Row]:
    """Rows of table `rated`, one per pair, with every model's answer and its grade.

    A pair is hard as soon as one model's answer is graded INCORRECT or NOT_ATTEMPTED. One that is not, but lacks
    a grade, has failed: it can't be called easy.
    """
    pairs = sorted(pairs, key=lambda row: row["pair_id"])
    attempts: list[list[Row]] = [[] for _ in pairs]
    spent: list[list[Row]] = [[] for _ in pairs]
    for model in models:
        given = answers([row["question"] for row in pairs], model, answer_prompt, [REPEAT])
        texts = [answer.text if answer.outcome == "ok" else None for answer in given]
        judged = verdicts(pairs, texts, judge, judge_prompt)
        for index, (answer, (verdict, words)) in enumerate(zip(given, judged, strict=True)):
            attempts[index].append(
                {
                    "model": model.label,
                    "answer": answer.text,
                    "outcome": answer.outcome,
                    "grade": verdict.grade,
                    "judge_outcome": words.outcome if words else None,
                    "judge_text": words.text if words else None,
                }
            )
            spent[index] += [*usage(model.label, [answer]), *(usage(judge.label, [words]) if words else [])]
    return [
        {**picked(row, "rated"), "attempts": tried, "usage": usages(cost), **rating(tried)}
        for row, tried, cost in zip(pairs, attempts, spent, strict=True)
    ]


def rating(attempts: Sequence[Row]) -> Row:
    """Difficulty, status and reason for the graded attempts at one pair."""
    if any(attempt["grade"] in ("INCORRECT", "NOT_ATTEMPTED") for attempt in attempts):
        return {"difficulty": "hard", **OK}
    if ungraded := [attempt["model"] for attempt in attempts if attempt["grade"] is None]:
        return {"difficulty": None, **failed(f"no grade for the answer of {', '.join(ungraded)}")}
    return {"difficulty": "easy", **OK}
