"""Which models answer the benchmark, how often, and who grades them (paper, section 6)."""

from typing import Literal

from pydantic import Field

from devqa.config.models import Sampled, Sampling
from devqa.config.steps import Judge

Setting = Literal["plain"]
DifficultyLabel = Literal["easy", "hard"]


class Evaluation(Sampled):
    """The evaluation of every model in every setting, `repeats` times."""

    models: list[str] = Field(min_length=1)
    settings: list[Setting] = Field(["plain"], min_length=1)
    repeats: int = Field(3, ge=1, le=100)
    difficulties: list[DifficultyLabel] = Field(["easy", "hard"], min_length=1)
    sampling: Sampling = Sampling(temperature=0.7, top_p=0.95, max_tokens=1_000)
    judge: Judge
