"""The whole configuration: validation, cross-checks, and messages that name the key."""

import difflib
import os
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from devqa.config.base import Name, Section
from devqa.config.evaluation import Evaluation
from devqa.config.models import Model
from devqa.config.pull_requests import PullRequests
from devqa.config.review import Review
from devqa.config.sources import Clean, Fetch, Ingest, Search, Source
from devqa.config.steps import Steps
from devqa.config.study import Study
from devqa.errors import UserError
from devqa.imports.files import table_files
from devqa.ingest.sources import source_files
from devqa.pull_requests.repositories.pinning import pinned
from devqa.web.corpus_files import corpus_files


class Config(Section):
    """Everything that `config.yaml` may say."""

    dialogues: dict[Name, Source] = Field(min_length=1)
    models: dict[Name, Model] = Field(min_length=1)
    ingest: Ingest = Ingest()
    search: Search
    fetch: Fetch = Fetch()
    clean: Clean = Clean()
    # Search results and pages come from `cache_dir` alone.
    offline: bool = False
    steps: Steps
    evaluation: Evaluation
    review: Review = Review()
    study: Study | None = None
    pull_requests: PullRequests | None = None
    cache_dir: str = Field(".cache/devqa", min_length=1)
    cache_archive: str = "devqa-cache.zip"
    budget_usd: float | None = Field(None, gt=0, allow_inf_nan=False)

    def used_models(self) -> dict[str, list[str]]:
        """The models that are named somewhere: label → the keys that name it."""
        used: dict[str, list[str]] = {}
        for key, label in self._named_models():
            used.setdefault(label, []).append(key)
        return used

    def builds(self) -> bool:
        """Whether a benchmark is built from the dialogues; otherwise one from elsewhere is evaluated."""
        return self.evaluation.benchmark is None

    def dumped(self) -> dict[str, Any]:
        """As plain JSON values, defaults filled in, that are the same configuration when they are read again.

        Of columns only those that were named are in it: to name one makes a difference.
        """
        values = self.model_dump(mode="json")
        given, evaluation = self.evaluation, values["evaluation"]
        sections = [*zip(given.imports, evaluation["imports"], strict=True)]
        sections += [(getattr(given, name), evaluation[name]) for name in ("benchmark", "human_grades")]
        for section, plain in sections:
            if section:
                plain["columns"] = section.columns.model_dump(mode="json", exclude_unset=True)
        return values

    def searches(self) -> bool:
        """Whether a search engine is asked: for references and evidence, or in a setting of a model."""
        settings = {setting for model in self.evaluation.models for setting in self.evaluation.settings_of(model)}
        return self.builds() or bool(settings & {"rag", "agentic"})

    def _named_models(self) -> Iterator[tuple[str, str]]:
        if self.builds():
            yield from self._named_by_steps()
        for number, label in enumerate(self.evaluation.models):
            yield f"evaluation.models.{number}", label
        if self.evaluation.judge:
            yield "evaluation.judge.model", self.evaluation.judge.model
        for number, label in enumerate(self.evaluation.panel):
            yield f"evaluation.panel.{number}", label
        if self.evaluation.domains:
            yield "evaluation.domains.model", self.evaluation.domains.model
        if self.study:
            for name in ("filter", "tasks", "suitability"):
                yield f"study.{name}.model", getattr(self.study, name).model
        if self.pull_requests:
            yield from self._named_by_pull_requests()

    def _named_by_steps(self) -> Iterator[tuple[str, str]]:
        for name in ("queries", "condense", "generate", "check", "verify"):
            yield f"steps.{name}.model", getattr(self.steps, name).model
        for number, label in enumerate(self.steps.difficulty.models):
            yield f"steps.difficulty.models.{number}", label
        yield "steps.difficulty.judge", self.steps.difficulty.judge

    def _named_by_pull_requests(self) -> Iterator[tuple[str, str]]:
        section = self.pull_requests
        for name in ("question", "check", "answer", "facts", "support"):
            yield f"pull_requests.{name}.model", getattr(section, name).model
        for number, label in enumerate(section.evaluation.models):
            yield f"pull_requests.evaluation.models.{number}", label
        yield "pull_requests.evaluation.judge.model", section.evaluation.judge.model


def load(raw: Mapping[str, Any]) -> Config:
    """The validated configuration.

    Raises:
        UserError: one message with every problem, each with its key and, for a misspelt name, the nearest valid one.
    """
    try:
        config = Config.model_validate(dict(raw))
    except ValidationError as error:
        raise _refusal(_describe(problem) for problem in error.errors()) from None
    checks = (_unknown_models, _taken_names, _repeated, _settings, _missing_files, _repositories)
    if problems := [problem for check in checks for problem in check(config)]:
        raise _refusal(problems)
    return config


def preflight(config: Config, asked: Collection[str], searching: bool, listing: bool = False) -> None:
    """Refuse to start while an API key is missing from the environment, or the cache can't be written.

    Args:
        asked: the models that will be asked; the others need no key.
        searching: the search engine will be asked.
        listing: pull requests will be listed.

    Raises:
        UserError: names every variable that is not set, and the models that need it.
    """
    problems = [
        f"models.{label}.api_key_env: the environment variable {variable} is not set (needed by {', '.join(keys)})"
        for label, keys in config.used_models().items()
        if label in asked and (variable := config.models[label].api_key_env) and not os.environ.get(variable)
    ]
    key = config.search.api_key_env if searching and not config.offline else None
    if key and not os.environ.get(key):
        engine = config.search.engine
        problems.append(
            f"search.api_key_env: the environment variable {key} is not set (it holds your key of {engine})"
        )
    if config.pull_requests and listing and not config.offline:
        problems += [
            f"pull_requests.repositories.{name}.token_env: the environment variable {repository.token_env} is not set"
            for name, repository in config.pull_requests.repositories.items()
            if repository.pulls == "github" and repository.token_env and not os.environ.get(repository.token_env)
        ]
    try:
        Path(config.cache_dir).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problems.append(f"cache_dir: {config.cache_dir} can't be made ({error.strerror}): name a folder that can")
    else:
        if not os.access(config.cache_dir, os.W_OK):
            problems.append(f"cache_dir: {config.cache_dir} can't be written: mend its permissions or name another")
    if problems:
        raise _refusal(problems)


def nearest(name: str, valid: Iterable[str]) -> str:
    """A hint for a name that does not exist."""
    valid = sorted(valid)
    close = difflib.get_close_matches(name, valid, n=1, cutoff=0.5)
    return f"did you mean '{close[0]}'?" if close else f"valid here: {', '.join(valid)}"


def _refusal(problems: Iterable[str]) -> UserError:
    problems = list(problems)
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    return UserError(f"The configuration has {count}:\n" + "\n".join(f"  {problem}" for problem in problems))


def _describe(problem: Mapping[str, Any]) -> str:
    location = [part for part in problem["loc"] if part != "[key]"]
    key = ".".join(str(part) for part in location) or "the top level"
    match problem["type"]:
        case "extra_forbidden":
            return f"{key}: unknown key; {nearest(str(location[-1]), _fields_at(location[:-1]))}"
        case "missing":
            return f"{key}: missing"
        case "value_error":
            return f"{key}: {problem['ctx']['error']}"
        case "string_pattern_mismatch":
            return f"{key}: '{problem['input']}' must match {problem['ctx']['pattern']}"
        case _:
            return f"{key}: {problem['msg'][0].lower()}{problem['msg'][1:]}, but it is {problem['input']!r}"


def _fields_at(location: Iterable[Any]) -> list[str]:
    annotation: Any = Config
    for part in location:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            annotation = annotation.model_fields[str(part)].annotation
        else:
            annotation = typing.get_args(annotation)[-1]
        if isinstance(annotation, UnionType):
            annotation = next(option for option in typing.get_args(annotation) if option is not type(None))
    return list(annotation.model_fields)


def _unknown_models(config: Config) -> Iterator[str]:
    for key, label in config._named_models():
        if label not in config.models:
            yield f"{key}: there is no model '{label}' under models; {nearest(label, config.models)}"


def _repeated(config: Config) -> Iterator[str]:
    for key, values in (
        ("steps.difficulty.models", config.steps.difficulty.models),
        ("evaluation.models", config.evaluation.models),
        ("evaluation.settings", config.evaluation.settings),
        *((f"evaluation.model_settings.{label}", each) for label, each in config.evaluation.model_settings.items()),
        (
            "evaluation.panel",
            [*([judge.model] if (judge := config.evaluation.judge) else []), *config.evaluation.panel],
        ),
        ("evaluation.difficulties", config.evaluation.difficulties),
        *_repeatable(config),
    ):
        for value in sorted({value for value in values if values.count(value) > 1}):
            yield f"{key}: '{value}' stands there more than once"


def _repeatable(config: Config) -> Iterator[tuple[str, list[str]]]:
    if config.pull_requests:
        agents = config.pull_requests.evaluation
        yield "pull_requests.evaluation.models", agents.models
        yield "pull_requests.evaluation.settings", agents.settings


def _settings(config: Config) -> Iterator[str]:
    for label in config.evaluation.model_settings.keys() - set(config.evaluation.models):
        yield f"evaluation.model_settings.{label}: '{label}' is not one of evaluation.models"


def _missing_files(config: Config) -> Iterator[str]:
    evaluation = config.evaluation
    if config.builds():
        for name, source in config.dialogues.items():
            yield from _listing(f"dialogues.{name}.path", source_files, source.path)
    else:
        yield from _listing("evaluation.benchmark.path", table_files, evaluation.benchmark.path)
    for number, entry in enumerate(evaluation.imports):
        for file in entry.files:
            yield from _listing(f"evaluation.imports.{number}.files", table_files, file)
    for name, section in (("human_grades", evaluation.human_grades), ("code_generation", evaluation.code_generation)):
        if section:
            yield from _listing(f"evaluation.{name}.path", table_files, section.path)
    for name, source in config.study.sources.items() if config.study else ():
        yield from _listing(f"study.sources.{name}.path", source_files, source.path)
    if config.searches() and config.search.engine == "local":
        yield from _listing("search.corpus", corpus_files, config.search.corpus)
    for label in config.used_models().keys() & config.models.keys():
        weights = config.models[label].weights or ""
        if weights.endswith(".gguf") and not weights.startswith("hf:") and not Path(weights).is_file():
            yield f"models.{label}.weights: there is no file {weights}"


def _repositories(config: Config) -> Iterator[str]:
    known: dict[str, str] = {}
    for name, repository in config.pull_requests.repositories.items() if config.pull_requests else ():
        key = f"pull_requests.repositories.{name}"
        if repository.pulls not in ("history", "github") and not Path(repository.pulls).is_file():
            yield f"{key}.pulls: there is no file {repository.pulls}"
        place = repository.url or str(Path(repository.path).resolve())
        if (other := known.setdefault(place, name)) != name:
            yield f"{key}: it is the same repository as '{other}': its questions would count twice"
        if repository.path and not Path(repository.path).exists():
            yield f"{key}.path: there is no {repository.path}"
        elif repository.path:
            try:
                pinned(name, repository.path, repository.commit)
            except UserError as error:
                yield str(error)


def _taken_names(config: Config) -> Iterator[str]:
    # A model's report is results/reports/<model>.html, and these names have pages or files of their own there.
    named = [(f"models.{label}", label) for label in config.models]
    named += [
        (f"evaluation.imports.{number}.model", each.model) for number, each in enumerate(config.evaluation.imports)
    ]
    for key, label in named:
        if label in ("index", "leaderboard", "comparisons"):
            yield f"{key}: the name '{label}' is taken by the reports' own files: choose another"


def _listing(key: str, files: Callable[[str], list[str]], path: str) -> Iterator[str]:
    """What is wrong with the files that `path` stands for."""
    try:
        for file in files(path):
            if "{" in file or "}" in file:
                yield f"{key}: {file} has braces in its name, which Snakemake takes for wildcards: rename it"
    except UserError as error:
        yield f"{key}: {error}"
