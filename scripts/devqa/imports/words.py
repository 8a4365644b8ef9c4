"""What the words of a column with grades mean."""

from collections.abc import Mapping

from devqa.evaluation.grading import Grade, bare_grade

Word = tuple[Grade | None, str]


def grade_of(word: str | None, meanings: Mapping[str, Grade]) -> Word:
    """The grade that a cell of a column with grades stands for, or None and the reason.

    What the configuration says (`meanings`, word → grade) goes first; then CORRECT, INCORRECT, NOT_ATTEMPTED, A, B
    and C are known, in any case. Nothing else is: whether 1 is good is not ours to guess.
    """
    word = (word or "").strip()
    if not word:
        return None, "there is no grade"
    means = meanings.get(word) or {key.casefold(): grade for key, grade in meanings.items()}.get(word.casefold())
    if grade := means or bare_grade(word):
        return grade, ""
    return None, f"unknown grade: {word[:80]!r}; say what it means under `grades`"
