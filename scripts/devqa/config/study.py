"""The study of the dialogues themselves, from raw conversations to seed dialogues (SimpleDevQA, section 3)."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from devqa import language
from devqa.config.base import Name, Section
from devqa.config.models import Sampling
from devqa.config.steps import Step
from devqa.study import UNRELATED

Stratum = Literal["language", "length", "model"]


def _language(name: str) -> str:
    if not (code := language.code(name)):
        raise ValueError(f"{name!r} is no language: write its ISO 639-1 code, such as en")
    return code


# Table 2.
TASKS = {
    "Dev Knowledge QA": "questions about knowledge that one needs during development",
    "Code Generation": "writing code for stated requirements",
    "Code Debugging": "finding the errors in existing code",
    "Program Repair": "fixing code that is defective",
    "Code Translation": "turning code of one language into another",
    "Code Editing": "changing or extending what existing code does",
    "Comment Generation": "writing comments or documentation that explain code",
    "Test Generation": "writing test cases for code",
}


class StudySource(Section):
    """Raw conversations, in any form that `dialogues` may have."""

    path: str


class Topic(Section):
    """The cheap first pass: is a dialogue about software development? Those that score `threshold` or more go on.

    `words` weighs the words of prompts and needs nothing else. `command` starts a program of yours, which reads a JSON
    object with `text` on each line of its input, and writes one with `score` (0 to 1) for each, in the same order.
    """

    engine: Literal["words", "command"] = "words"
    command: str = ""
    threshold: float = Field(0.5, ge=0, le=1)

    @model_validator(mode="after")
    def _a_command_is_given(self):
        if (self.engine == "command") != bool(self.command):
            raise ValueError("command belongs to engine: command, which needs one")
        return self


class Sample(Section):
    """A stratified sample by `strata`, as large as an estimate of a share to ± `interval` at `confidence` needs."""

    confidence: float = Field(0.95, gt=0.5, lt=1)
    interval: float = Field(0.01, gt=0, lt=0.5)
    strata: list[Stratum] = ["language", "length", "model"]
    seed: int = 1


class Filter(Step):
    """A model says whether a dialogue is about software development."""

    sampling: Sampling = Sampling(temperature=0.0, max_tokens=300)


class Tasks(Step):
    """A model sorts each dialogue of the sample into one of `categories` (name → what belongs there; Table 2).

    Of `knowledge`, which is one of them, it also says whether the question centres on code (3.2).
    """

    categories: dict[str, str] = Field(TASKS, min_length=2)
    knowledge: str = "Dev Knowledge QA"
    sampling: Sampling = Sampling(temperature=0.0, max_tokens=300)

    @model_validator(mode="after")
    def _knowledge_is_one(self):
        if self.knowledge not in self.categories:
            raise ValueError(f"knowledge: '{self.knowledge}' is not one of categories")
        if UNRELATED in self.categories:
            raise ValueError(f"categories: '{UNRELATED}' is said of all other dialogues: choose another name")
        return self


class Suitability(Step):
    """A model holds knowledge questions against the three criteria of 3.3."""

    sampling: Sampling = Sampling(temperature=0.0, max_tokens=600)


class Study(Section):
    """The whole study. What models see of a dialogue is what the user said, cut to `text_tokens`, without secrets.

    Dialogues flagged `toxic` are left out, and those flagged `redacted` taken, unless the keys of that name say
    otherwise. `languages` are ISO 639-1 codes, or English names; none means all.
    """

    sources: dict[Name, StudySource] = Field(min_length=1)
    shards: int = Field(4, ge=1, le=10_000)
    languages: list[Annotated[str, AfterValidator(_language)]] = []
    toxic: bool = False
    redacted: bool = True
    duplicate_similarity: float = Field(0.8, ge=0.5, le=1)
    text_tokens: int = Field(600, ge=50)
    topic: Topic = Topic()
    filter: Filter
    sample: Sample = Sample()
    tasks: Tasks
    suitability: Suitability
    seeds: int = Field(3_000, ge=1)
    seed: int = 1
