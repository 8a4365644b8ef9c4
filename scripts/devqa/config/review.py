"""People's decisions about pairs, grades and dialogues (SimpleDevQA, sections 3 and 4.3)."""

from typing import Literal

from pydantic import Field

from devqa.config.base import Section


class Review(Section):
    """How pairs are reviewed. Decisions are files in `folder`, which is kept with the project: they are people's work.

    Each pair is decided by `annotators` people, who don't see each other's decisions; where two disagree, a third
    settles it. With `rejection: final` a pair that one of the two rejects is out without a third, as in the paper.
    With `required`, there is no benchmark as long as a pair is open. `grades` is the size of the sample of graded
    answers that people grade too, for the judge's reliability, drawn with `seed`.
    """

    folder: str = Field("review", min_length=1)
    required: bool = False
    annotators: int = Field(2, ge=1, le=2)
    rejection: Literal["adjudicated", "final"] = "adjudicated"
    grades: int = Field(200, ge=0)
    seed: int = 1
