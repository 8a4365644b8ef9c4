"""Which models are graded on which benchmark, in which settings, and by whom (SimpleDevQA, sections 6 and 7)."""

from typing import Any, Literal

from pydantic import Field, model_validator

from devqa.config.base import Section
from devqa.config.imports import CodeGeneration, HumanGrades, ImportedAnswers, ImportedBenchmark
from devqa.config.models import Sampled, Sampling
from devqa.config.steps import Judge, Step

Setting = Literal["plain", "rag", "confidence", "agentic"]
DifficultyLabel = Literal["easy", "hard"]


class Rag(Section):
    """What a model is shown in the setting `rag`: the best `passages` of the best `pages` that the question finds."""

    pages: int = Field(5, ge=1, le=100)
    passages: int = Field(5, ge=1, le=100)
    passage_tokens: int = Field(300, ge=50)


class Agentic(Section):
    """What a model may do in the setting `agentic`: call tools for up to `rounds` rounds before it has to answer.

    A search gives `results` pages; an opened page is shown `page_tokens` tokens at a time; at most `calls` calls of one
    message are carried out.
    """

    rounds: int = Field(5, ge=1, le=50)
    results: int = Field(5, ge=1, le=50)
    page_tokens: int = Field(1_500, ge=50)
    calls: int = Field(4, ge=1, le=20)


# Table 3, with the kind of knowledge that each belongs to there.
DOMAINS = {
    "APIs & Frameworks": "what functions, classes, options and components of libraries, frameworks and tools do",
    "Programming language syntax": "keywords, operators, types, literals and other rules of a programming language",
    "Algorithms & Data structures": "how an algorithm or a data structure works, complexity, numerics",
    "Software Development & Engineering": "version control, builds, tests, deployment, processes, security",
    "Database Management & SQL": "SQL and other query languages, schemas, indexes, transactions, administration",
    "Computer organization & Architecture": "hardware, memory, processes, operating systems, networks, protocols",
    "System design": "the parts of large systems and how they work together: caches, queues, scaling, patterns",
    "Object-oriented programming": "classes, inheritance, polymorphism and encapsulation as concepts",
    "Compiler design": "lexing, parsing, intermediate code, optimisation, linking",
}
DOMAIN_GROUPS = {"syntactic": list(DOMAINS)[:2], "semantic": list(DOMAINS)[2:]}


class Domains(Step):
    """Which knowledge domain a question belongs to: one of `names` (name → what belongs there), as a model sees it.

    Reports also give the figures of `groups` of them (group → names). Without `names` both are those of the paper's
    Table 3; names of one's own have the groups that are given.
    """

    names: dict[str, str] = Field(DOMAINS, min_length=2)
    groups: dict[str, list[str]] = {}
    sampling: Sampling = Sampling(temperature=0.0, max_tokens=200)

    @model_validator(mode="before")
    @classmethod
    def _groups_of_the_paper(cls, given: Any) -> Any:
        own = not isinstance(given, dict) or {"names", "groups"} & given.keys()
        return given if own else {**given, "groups": DOMAIN_GROUPS}

    @model_validator(mode="after")
    def _groups_hold_names(self):
        grouped = [name for names in self.groups.values() for name in names]
        if unknown := [name for name in grouped if name not in self.names]:
            raise ValueError(f"groups: '{unknown[0]}' is not one of names")
        if twice := [name for name in self.names if grouped.count(name) > 1]:
            raise ValueError(f"groups: '{twice[0]}' stands there more than once")
        return self


class Evaluation(Sampled):
    """The evaluation of every model in every one of its settings, `repeats` times, and of answers from elsewhere.

    `model_settings` are the settings of single models, in place of `settings`. `panel` are further judges, asked as
    `judge` is. `verdict` says whose grades the figures are made of: the judge's, or those that more than half of all
    judges gave.
    """

    models: list[str] = []
    settings: list[Setting] = Field(["plain"], min_length=1)
    model_settings: dict[str, list[Setting]] = {}
    repeats: int = Field(3, ge=1, le=100)
    difficulties: list[DifficultyLabel] = Field(["easy", "hard"], min_length=1)
    sampling: Sampling = Sampling(temperature=0.7, top_p=0.95, max_tokens=1_000)
    rag: Rag = Rag()
    agentic: Agentic = Agentic()
    judge: Judge | None = None
    panel: list[str] = []
    verdict: Literal["judge", "majority"] = "judge"
    domains: Domains | None = None
    benchmark: ImportedBenchmark | None = None
    imports: list[ImportedAnswers] = []
    human_grades: HumanGrades | None = None
    code_generation: CodeGeneration | None = None

    def settings_of(self, model: str) -> list[str]:
        """The settings in which `model` is evaluated, whether it is asked or its answers come from elsewhere."""
        if model in self.models:
            return list(self.model_settings.get(model, self.settings))
        return [each.setting for each in self.imports if each.model == model]

    def all_models(self) -> list[str]:
        """Every model that has a report: those that are asked, then those with answers from elsewhere."""
        return list(dict.fromkeys([*self.models, *(each.model for each in self.imports)]))

    def graded_elsewhere(self) -> list[str]:
        """The models whose answers come with their grades."""
        return list(dict.fromkeys(each.model for each in self.imports if each.columns.grade))

    def judge_sampling(self) -> Sampling:
        """How judges are asked; the difficulty filter's too."""
        return self.judge.sampling if self.judge else Judge.model_fields["sampling"].default

    @model_validator(mode="after")
    def _something_is_evaluated(self):
        if not self.models and not self.imports:
            raise ValueError("models is empty, and there are no imports: there is nothing to evaluate")
        needs_judge = set(self.all_models()) - set(self.graded_elsewhere())
        if self.judge is None and (needs_judge or self.panel):
            raise ValueError("judge is missing: answers without a grade need one")
        if self.verdict == "majority" and not self.panel:
            raise ValueError("verdict: majority needs a panel: the labels of further judges")
        return self

    @model_validator(mode="after")
    def _imports_are_told_apart(self):
        if both := sorted(set(self.models) & {each.model for each in self.imports}):
            raise ValueError(f"imports: {both[0]} is one of `models` too: give the imported answers another name")
        taken = [(each.model, each.setting) for each in self.imports]
        if twice := sorted({each for each in taken if taken.count(each) > 1}):
            raise ValueError("imports: the answers of {} in setting {} are there twice".format(*twice[0]))
        graded = {each.model for each in self.imports if each.columns.grade}
        if half := sorted(graded & {each.model for each in self.imports if not each.columns.grade}):
            raise ValueError(
                f"imports: {half[0]} has grades in one setting and none in another: name a grade column in all"
            )
        return self
