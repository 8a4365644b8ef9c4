"""The steps that ask a model, from dialogues to a benchmark (SimpleDevQA, section 4)."""

import datetime

from pydantic import Field

from devqa.config.base import Section
from devqa.config.models import Sampled, Sampling


class Step(Sampled):
    """A step that asks one model. `sampling` is laid over the model's own."""

    model: str


class Queries(Step):
    """Topics and search queries of a dialogue (4.1); long turns are cut so that all fit into `dialogue_tokens`."""

    sampling: Sampling = Sampling(max_tokens=1_000)
    dialogue_tokens: int = Field(3_000, ge=50)


class Condense(Step):
    """Documents longer than `document_tokens` are cut to what is relevant (4.2)."""

    sampling: Sampling = Sampling(max_tokens=2_500)
    document_tokens: int = Field(2_000, ge=50)


class Generate(Step):
    """Question-answer pairs from a dialogue's documents (4.2)."""

    sampling: Sampling = Sampling(max_tokens=4_000)
    pairs: int = Field(3, ge=1, le=20)
    reference_tokens: int = Field(16_000, ge=50)
    demonstrations: int = Field(10, ge=0, le=10)


class Check(Step):
    """Is the pair a good one (4.3)? `date` is the day for which answers must hold."""

    sampling: Sampling = Sampling(max_tokens=1_500)
    date: datetime.date


class Verify(Step):
    """Does retrieved evidence support the pair's answer (4.3)?"""

    sampling: Sampling = Sampling(max_tokens=1_500)
    pages: int = Field(5, ge=1, le=100)
    passages: int = Field(5, ge=1, le=100)
    passage_tokens: int = Field(300, ge=50)


class Judge(Step):
    """Grades answers as CORRECT, INCORRECT or NOT_ATTEMPTED."""

    sampling: Sampling = Sampling(temperature=0.5, top_p=1.0, max_tokens=1_000)


class Difficulty(Sampled):
    """A pair that all of `models` answer correctly is easy (4.3)."""

    models: list[str] = Field(min_length=1)
    judge: str
    sampling: Sampling = Sampling(temperature=0.7, top_p=0.95, max_tokens=1_000)


class Benchmark(Section):
    """Pairs whose questions are this similar (Jaccard of character shingles) are merged into one."""

    duplicate_similarity: float = Field(0.8, ge=0.5, le=1)


class Steps(Section):
    """All steps."""

    queries: Queries
    condense: Condense
    generate: Generate
    check: Check
    verify: Verify
    difficulty: Difficulty
    benchmark: Benchmark = Benchmark()
