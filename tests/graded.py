"""Made-up answers and grades, as rows of their tables."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from devqa.evaluation.grading import GRADES
from devqa.evaluation.runs import Run

Row = dict[str, Any]
FATES = [*GRADES, "ungraded", "refused", "truncated", "empty", "error", "missing"]


def question(number: int, **columns: Any) -> Row:
    """A row of the benchmark: q0000, q0001, … of a dialogue of its own."""
    row = {"id": f"q{number:04}", "language": "en", "difficulty": "hard", "dialogue_id": f"d{number:04}"}
    return row | {"source": None, "domain": None, "filtered": None} | columns


def answers(
    fates: Sequence[str], model: str = "m", setting: str = "plain", repeat: int = 1, **columns: Any
) -> list[Row]:
    """Answers in which row i has the i-th of `fates`; a missing one has no row."""
    uncounted = dict.fromkeys(("input_tokens", "output_tokens", "reasoning_tokens"))
    rows = []
    for number, fate in enumerate(fates):
        if fate != "missing":
            usable = fate in FATES[:4]
            key = {"id": f"q{number:04}", "setting": setting, "model": model, "repeat": repeat}
            outcome = {"outcome": "ok" if usable else fate, "status": "ok" if usable else "failed"}
            rows.append({**key, "confidence": None, **uncounted, **outcome, **columns})
    return rows


def grades(
    fates: Sequence[str], model: str = "m", setting: str = "plain", repeat: int = 1, judge: str | None = "j"
) -> list[Row]:
    """The grades of such answers by one judge; what can't be used has a row without a grade."""
    return [
        {
            "id": f"q{number:04}",
            "setting": setting,
            "model": model,
            "repeat": repeat,
            "judge": judge,
            "grade": fate if fate in GRADES else None,
        }
        for number, fate in enumerate(fates)
        if fate != "missing"
    ]


def run(codes: np.ndarray, model: str = "m", setting: str = "plain", **judges: np.ndarray) -> Run:
    """A run whose judge `j` gave `codes` (repeats, rows), and other `judges` theirs."""
    codes = np.asarray(codes, dtype=np.int8)
    return Run(
        model=model,
        setting=setting,
        repeats=tuple(range(1, len(codes) + 1)),
        verdict="j",
        judges={"j": codes, **judges},
        confidence=np.full(codes.shape, np.nan),
    )
