"""What the current configuration reads of the cache."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from devqa.llm.cache import Cache, Shelf, responses
from devqa.llm.pricing import effective_price
from devqa.recipe import asked_models

if TYPE_CHECKING:
    from devqa.bill.meter import Reading
    from devqa.bill.plan import Planned

_Place = TypeVar("_Place")


@dataclass(frozen=True)
class Wanted:
    """The keys that the jobs of a configuration ask for, and where they can't be told yet.

    Attributes:
        keys: by the name of a shelf's folder.
        unsure: steps in which some jobs may ask for more than is known, because inputs or answers that their requests
            are made of are missing: the name of the shelf's folder and the step → the rules of these jobs.
        asked: as `keys`, those of jobs that have run and won't run again: one without an answer has got none that
            could be used, unless the cache has lost it.
        pending: the rules of jobs in `unsure` that have yet to run, or whose inputs are not there or will change.
    """

    keys: Mapping[str, frozenset[str]]
    unsure: Mapping[tuple[str, str], frozenset[str]]
    asked: Mapping[str, frozenset[str]]
    pending: frozenset[str]

    def known(self, shelf: str, key: str) -> bool:
        """Is `key` asked for?"""
        return key in self.keys.get(shelf, ())

    def may_need(self, shelf: str, step: str, key: str) -> bool:
        """Is `key`, which was asked in `step`, asked for, as far as can be told?"""
        return self.known(shelf, key) or (shelf, step) in self.unsure

    def rules(self) -> list[str]:
        """The rules of which some jobs can't tell what they will ask before they have run."""
        return sorted(self.pending)


def current(snakefile: Path, config: Mapping[str, Any]) -> Wanted:
    """What the jobs of the workflow `snakefile` with the validated configuration read.

    Raises:
        UserError: the workflow can't be planned, or one of its inputs can't be read.
    """
    from devqa.bill.meter import measured
    from devqa.bill.plan import planned

    jobs = [job for job in planned(snakefile, config) if job.asks]
    return wanted(responses(config["cache_dir"]), ((job, measured(job, config)) for job in jobs))


def wanted(cache: Cache, jobs: Iterable[tuple["Planned", Iterable["Reading"]]]) -> Wanted:
    """What `jobs`, each with what it was found to ask, read of `cache`."""
    keys: dict[str, set[str]] = {}
    asked_before: dict[str, set[str]] = {}
    unsure: dict[tuple[str, str], set[str]] = {}
    pending: set[str] = set()
    for job, readings in jobs:
        readings = list(readings)
        # A job that could not be read has none, such as one about a repository without its clone.
        complete = job.basis == "exact" and bool(readings)
        for reading in readings:
            shelf = cache.shelf(reading.endpoint, reading.model).folder.name
            for known in (keys,) if job.runs else (keys, asked_before):
                known.setdefault(shelf, set()).update(reading.keys)
            complete = complete and reading.complete
        if complete:
            continue
        if job.runs or job.basis != "exact" or not readings:
            pending.add(job.rule)
        for asked in asked_models(job.recipe):
            shelf = cache.shelf(asked["endpoint"], asked["model"]).folder.name
            # What records call a step is the part that the model plays.
            unsure.setdefault((shelf, asked["role"]), set()).add(job.rule)
    return Wanted(keys=_frozen(keys), unsure=_frozen(unsure), asked=_frozen(asked_before), pending=frozenset(pending))


def _frozen(sets: Mapping[_Place, set[str]]) -> dict[_Place, frozenset[str]]:
    return {place: frozenset(some) for place, some in sets.items()}


def shelves_of_agents(config: Mapping[str, Any]) -> list[Shelf]:
    """Where the runs of the external agents of the validated configuration are kept."""
    from devqa.pull_requests.agents.commands import Command
    from devqa.pull_requests.agents.runs import shelf

    commands = (config.get("pull_requests") or {"evaluation": {"commands": {}}})["evaluation"]["commands"]
    programs = {Command(name, each["command"], each["timeout_s"]).program for name, each in commands.items()}
    return [shelf(Path(config["cache_dir"]), program) for program in sorted(programs)]


def kept_files(config: Mapping[str, Any]) -> Iterator[Path]:
    """The files of the web part, and where the validated configuration lists pull requests by GitHub's API those with
    its answers.
    """
    repositories = (config.get("pull_requests") or {"repositories": {}})["repositories"]
    github = any(each["pulls"] == "github" for each in repositories.values())
    for part in ("github", "web") if github else ("web",):
        yield from sorted((Path(config["cache_dir"]) / part).glob("*/*/*.zst"))


@dataclass(frozen=True)
class Names:
    """What the configuration calls shelves, by the names of their folders: labels of models, and prices."""

    labels: Mapping[str, str]
    prices: Mapping[str, Mapping[str, float]]

    def of(self, shelf: str) -> str:
        """The labels of the models that the shelf belongs to, or its folder where no model is configured for it."""
        return self.labels.get(shelf, shelf)


def names(config: Mapping[str, Any]) -> Names:
    """The names and prices of all models of the validated configuration."""
    from devqa.config.models import Model, asked_with

    cache = responses(config["cache_dir"])
    labels: dict[str, str] = {}
    prices: dict[str, Mapping[str, float]] = {}
    for label, model in config["models"].items():
        asked = asked_with(label, Model.model_validate(model))
        shelf = cache.shelf(asked["endpoint"], asked["model"]).folder.name
        labels[shelf] = f"{labels[shelf]}, {label}" if shelf in labels else label
        prices.setdefault(shelf, effective_price(model["price"], model["mode"]))
    return Names(labels, prices)
