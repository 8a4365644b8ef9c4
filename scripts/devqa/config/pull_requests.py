"""Questions from pull requests: repositories, context, questions with facts, and agents (DeepCodeBench; Qodo, 2025)."""

import os.path
import re
import shlex
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from devqa.config.base import Address, Name, Section, Variable
from devqa.config.models import Sampled, Sampling
from devqa.config.steps import Step
from devqa.pull_requests import GROUND_TRUTH, LANGUAGES

Language = Literal[LANGUAGES]
RepositorySetting = Literal["ground_truth", "full_context", "no_context", "retrieval", "agentic"]
# A change that counts as a pull request in a clone's own history: a merge commit, a commit whose message names its
# pull request as forges do, such as (#123) at the end of the subject, or any commit.
Change = Literal["merge", "squash", "commit"]

# Of commands. Other braces belong to the program, such as those of JSON.
_PLACEHOLDERS = ("{question}", "{checkout}")
_WORD_IN_BRACES = re.compile(r"\{[^\W\d_]+\}")


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"this is no regular expression ({error})") from None
    return text


class Repository(Section):
    """A repository: a clone on this machine (`path`; also bare, or a bundle), or an address that is cloned (`url`).

    `commit` pins the version that questions are about; without it, the tip of the default branch as it is now in the
    clone, or was when the address was cloned. `pulls` says where pull requests come from: `history` (the clone's own,
    with `history` saying which changes count), `github` (its REST API at `api`), or a JSON Lines file. The `latest` of
    them are looked at.
    """

    path: Annotated[str, AfterValidator(os.path.expanduser)] = ""
    url: str = ""
    commit: str = Field("", pattern=r"^([0-9a-f]{40})?$")
    name: str = Field("", pattern=r"^[^\s<>]*$")
    pulls: Annotated[str, AfterValidator(os.path.expanduser)] = "history"
    history: list[Change] = Field(["merge", "squash"], min_length=1)
    api: Address = "https://api.github.com"
    token_env: Variable | None = None
    latest: int = Field(200, ge=1)

    @model_validator(mode="after")
    def _stands_somewhere(self):
        if bool(self.path) == bool(self.url):
            raise ValueError("one of path (a clone on this machine) and url (which is cloned) is needed, not both")
        if self.url.startswith("-") or re.search(r"(?i)^https?://[^/]*@|://[^/]*:[^/]*@|[?#]", self.url):
            raise ValueError("url: an address without a password or token: git finds it by its own credential helpers")
        if self.pulls not in ("history", "github") and not self.pulls.endswith((".jsonl", ".jsonl.gz", ".jsonl.zst")):
            raise ValueError("pulls: history, github, or the path of a .jsonl file (also .gz, .zst)")
        return self


class Select(Section):
    """Which pull requests are taken.

    Authors that match one of `bots` are no people. Paths that match one of `ignore` do not count (glob patterns, in
    which * stands for slashes too; one without a slash also matches a name in any folder), nor do lock, generated,
    vendored, test, documentation and binary files; what is left must be in one of `languages`, and in at most `files`
    files.
    """

    bots: list[Annotated[str, AfterValidator(_pattern)]] = [
        r"\[bot\]$",
        r"(?i)^(dependabot|renovate|greenkeeper|pre-commit-ci|github-actions|mergify|snyk|allcontributors)\b",
        r"(?i)[-_]bot$",
    ]
    ignore: list[str] = []
    languages: list[Language] = Field(list(LANGUAGES), min_length=1)
    files: int = Field(50, ge=1)


class Context(Section):
    """What is shown of a pull request: at most `blocks` blocks and `tokens` tokens, each cut to `block_tokens`."""

    blocks: int = Field(40, ge=1)
    block_tokens: int = Field(2_000, ge=50)
    tokens: int = Field(16_000, ge=100)


class Question(Step):
    """One question for each pull request.

    It is deep if it rests on at most `deep_blocks` blocks of at most `deep_tokens` tokens together, else broad.
    """

    sampling: Sampling = Sampling(max_tokens=1_500)
    deep_blocks: int = Field(2, ge=1)
    deep_tokens: int = Field(1_500, ge=50)


class CheckQuestion(Step):
    """Does the question keep to the rules? A model says what no program can. A question is searchable if a word of it
    stands in at most `rare` files of the repository, and one of them holds a block that it rests on.
    """

    sampling: Sampling = Sampling(temperature=0.0, max_tokens=1_000)
    rare: int = Field(5, ge=1)


class GroundTruth(Step):
    """The answer to the question, from the same context."""

    sampling: Sampling = Sampling(max_tokens=1_500)


class Facts(Step):
    """The answer, cut into at most `most` facts that can be verified (TREC 2003's nuggets)."""

    sampling: Sampling = Sampling(temperature=0.0, max_tokens=3_000)
    most: int = Field(35, ge=1, le=100)


class Support(Step):
    """Does the context support each fact?"""

    sampling: Sampling = Sampling(temperature=0.0, max_tokens=3_000)


class Retrieval(Section):
    """What is shown in the setting `retrieval`: the best `blocks` that BM25 finds, each cut to `block_tokens`."""

    blocks: int = Field(10, ge=1, le=200)
    block_tokens: int = Field(800, ge=50)


class RepositoryTools(Section):
    """What a model may do in the setting `agentic`: call grep, read_file and list_files for up to `rounds` rounds.

    At most `calls` calls of one message are carried out, and each gives at most `result_tokens` tokens.
    """

    rounds: int = Field(12, ge=1, le=100)
    calls: int = Field(6, ge=1, le=20)
    result_tokens: int = Field(2_000, ge=50)


class Command(Section):
    """An external agent: `command`, with `{question}` and `{checkout}` where these go; what it prints is the answer.

    It is split into words as a shell would; no shell runs it. It runs in the checkout, at most `timeout_s` seconds, and
    `jobs` questions have one of their own at the same time. Where it prints JSON, `answer_key` is where the answer
    stands in it, and `usd_key` what it has cost (dotted: `result.text`).
    """

    command: str
    timeout_s: float = Field(900.0, gt=0)
    jobs: int = Field(1, ge=1, le=64)
    answer_key: str = ""
    usd_key: str = ""
    note: str = ""

    @field_validator("command")
    @classmethod
    def _has_a_question(cls, value: str) -> str:
        program, *words = shlex.split(value) or [""]
        if not program:
            raise ValueError("it is empty: its first word is the program")
        if placed := [each for each in _PLACEHOLDERS if each in program]:
            raise ValueError(f"{placed[0]} is never put into the first word, which is the program: name that first")
        found = {each for word in words for each in _WORD_IN_BRACES.findall(word)}
        if unknown := found - set(_PLACEHOLDERS):
            raise ValueError(f"{min(unknown)} means nothing here, only {{question}} and {{checkout}}")
        if "{question}" not in found:
            raise ValueError("the question goes nowhere: write {question} where it belongs")
        return value


class FactJudge(Step):
    """Looks for the facts in an answer, at most `batch` of them in one call."""

    sampling: Sampling = Sampling(temperature=0.0, max_tokens=1_500)
    batch: int = Field(10, ge=1, le=100)


class Agents(Sampled):
    """Who is asked the questions: each of `models` in each of `settings`, and `commands`, `repeats` times each.

    `ground_truth` asks nobody: the true answer is graded, which says how far facts and judge can be trusted.
    """

    models: list[str] = []
    settings: list[RepositorySetting] = ["ground_truth", "full_context", "no_context", "retrieval"]
    commands: dict[Name, Command] = {}
    repeats: int = Field(1, ge=1, le=100)
    sampling: Sampling = Sampling(temperature=0.7, top_p=0.95, max_tokens=2_000)
    retrieval: Retrieval = Retrieval()
    agentic: RepositoryTools = RepositoryTools()
    judge: FactJudge

    def runs(self) -> list[tuple[str, str]]:
        """All pairs of a setting and an agent that answers in it."""
        asked = [(setting, label) for label in self.models for setting in self.settings if setting != GROUND_TRUTH]
        truth = [(GROUND_TRUTH, GROUND_TRUTH)] if GROUND_TRUTH in self.settings else []
        return [*truth, *asked, *(("command", name) for name in self.commands)]

    @model_validator(mode="after")
    def _somebody_answers(self):
        if not self.runs():
            raise ValueError("nobody answers: name models with settings, or commands")
        return self


class PullRequests(Section):
    """From merged pull requests of repositories to questions with facts, and how many of these each agent recalls."""

    repositories: dict[Name, Repository] = Field(min_length=1)
    select: Select = Select()
    context: Context = Context()
    question: Question
    check: CheckQuestion
    answer: GroundTruth
    facts: Facts
    support: Support
    evaluation: Agents
