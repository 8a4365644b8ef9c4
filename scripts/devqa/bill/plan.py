"""Which jobs the configuration has, which of them Snakemake would run now, and what has changed since they ran.

The one module that knows Snakemake's Python API (https://snakemake.readthedocs.io/en/stable/api_reference/snakemake_api.html),
beside `devqa.unrecorded`, which reaches into a run: a dry-run of the whole workflow, of which nothing is printed and
nothing but Snakemake's own folder is touched.
"""

import ast
import json
import logging
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import yaml

from devqa.errors import UserError
from devqa.recipe import asked_models, searches
from devqa.unrecorded import unrecorded

if TYPE_CHECKING:
    from snakemake.dag import DAG
    from snakemake.jobs import Job

Basis = Literal["exact", "present", "missing"]
Files = str | list[str]
# The scripts that read tables from elsewhere or people's decisions, which like the dialogues can be read for the bill
# (`bill.benchmark`).
IMPORTING = ("import_benchmark", "import_answers", "rescued")


@dataclass(frozen=True)
class Planned:
    """One job that asks models, asks the search engine, or reads tables from elsewhere.

    Attributes:
        rule: what it does, by the name of its script: several rules may share one.
        input, output: the files by name, as the rule's script sees them; a list where the rule has one.
        recipe: the rule's param, see `devqa.recipe`.
        runs: Snakemake would run it now.
        basis: what its requests can be counted on. `exact`: its inputs are there and stay as they are. `present`:
            they are there, but a job that will run makes them again. `missing`: one is not there.
        unsettled: a job before it that asks no model will run with other code, options or data, and may make other
            rows although no answer changes. Reading dialogues, or tables from elsewhere, does not count.
        pending: those of its inputs that are not there or will be made again.
    """

    rule: str
    wildcards: dict[str, str]
    input: dict[str, Files]
    output: dict[str, Files]
    recipe: str
    threads: int
    resources: dict[str, Any]
    runs: bool
    basis: Basis
    unsettled: bool
    pending: tuple[str, ...] = ()

    @property
    def asks(self) -> bool:
        """Does it ask models?"""
        return bool(asked_models(self.recipe))

    @property
    def searches(self) -> bool:
        """Does it ask the search engine and no model?"""
        return searches(self.recipe) and not self.asks

    @property
    def opens(self) -> bool:
        """Does it open repositories? A clone that is missing is made by the run, and by nothing before it."""
        return not json.loads(self.recipe)["options"].keys().isdisjoint(("origin", "origins"))


@dataclass(frozen=True)
class Due:
    """One job of the configuration, and what of it is not as it was when it ran.

    Attributes:
        step: what it does, by the name of its script.
        runs: Snakemake would run it now. Of a job that would not, nothing more is said.
        recipe: the rule's param, see `devqa.recipe`.
        earlier: the recipe that its outputs were made with; None where that is not recorded.
        absent: those of its outputs that have never been made; `lost`: those that have been made, and are gone.
        incomplete: outputs of which a job was stopped while it made them.
        unrecorded: outputs that are there without a record of how they were made.
        updated: inputs that have another content; not those that will be made again now.
        outside: inputs that no job makes.
        added, removed: inputs that it has now and had not, and the other way round.
        after: the steps before it that run now, as far as it takes what they make.
        reason: why it runs, as Snakemake calls it.
    """

    step: str
    wildcards: dict[str, str]
    runs: bool
    recipe: str
    earlier: str | None = None
    absent: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    incomplete: tuple[str, ...] = ()
    unrecorded: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    reason: str = ""


def basis(pending: Iterable[str]) -> Basis:
    """What a job's requests can be counted on whose inputs `pending` are not there or will be made again."""
    there = [Path(file).exists() for file in pending]
    if not all(there):
        return "missing"
    return "present" if there else "exact"


def planned(snakefile: Path, config: Mapping[str, Any]) -> list[Planned]:
    """The jobs that ask, search or read tables from elsewhere, in the order in which data flows, run or not.

    They are those of the default target, and of the study and the pull requests where the configuration has them.

    Args:
        snakefile: the workflow's; the profile beside it says when a job runs again. Results are those in the
            current folder.
        config: the validated configuration, as scripts get it.

    Raises:
        UserError: the workflow can't be planned, such as with an input that no rule makes.
    """
    with _dag(snakefile, config) as dag:
        return _all_planned(dag, _in_order(dag))


def planned_and_due(snakefile: Path, config: Mapping[str, Any]) -> tuple[list[Planned], list[Due]]:
    """The same, and what has changed since each job that makes something ran, in the same order.

    Raises:
        UserError: the workflow can't be planned.
    """
    with _dag(snakefile, config) as dag:
        jobs = _in_order(dag)
        return _all_planned(dag, jobs), [_due(dag, job) for job in jobs if _script(job) and job.output]


def _in_order(dag: "DAG") -> list["Job"]:
    """All jobs, in the order in which data flows."""
    return [job for level in dag.toposorted() for job in sorted(level, key=_place)]


def _all_planned(dag: "DAG", jobs: Iterable["Job"]) -> list[Planned]:
    unsettled: dict[Job, bool] = {}
    for job in jobs:
        before = dag.dependencies[job]
        unsettled[job] = any(unsettled[each] or _unsettles(dag, each) for each in before)
    return [_planned(dag, job, unsettled[job]) for job in jobs if _counts(job)]


@contextmanager
def _dag(snakefile: Path, config: Mapping[str, Any]) -> Iterator["DAG"]:
    """The graph of all jobs of the configuration's targets, as a dry-run has it."""
    from snakemake.api import SnakemakeApi
    from snakemake.exceptions import RuleException, WorkflowError
    from snakemake.settings.enums import Quietness
    from snakemake.settings.types import ConfigSettings, ExecutionSettings, OutputSettings, ResourceSettings

    # With both of these, a dry-run ends as soon as it knows which jobs would run.
    quiet = frozenset({Quietness.RULES, Quietness.PROGRESS})
    output = OutputSettings(
        dryrun=True, quiet=quiet, log_level_override=logging.CRITICAL, enable_file_logging=False, nocolor=True
    )
    with tempfile.TemporaryDirectory() as folder, SnakemakeApi(output) as api:
        file = Path(folder) / "config.json"
        file.write_text(json.dumps(config), encoding="utf-8")
        # It holds the defaults of the Snakefile's own file and all that was laid over them.
        settings = ConfigSettings(configfiles=[file], replace_workflow_config=True)
        try:
            workflow = api.workflow(ResourceSettings(cores=1), settings, snakefile=snakefile)
            run = workflow.dag(_dag_settings(snakefile.parent / "profiles/default/config.yaml", _targets(config)))
            run.execute_workflow(executor="dryrun", execution_settings=ExecutionSettings(lock=False))
        except (RuleException, WorkflowError) as error:
            raise UserError(f"the workflow can't be planned: {error}") from error
        yield run.workflow_api._workflow.dag


def _targets(config: Mapping[str, Any]) -> list[str]:
    """The rules that are to be made: what people may give as a target, as far as the configuration has it."""
    return ["all", *(section for section in ("study", "pull_requests") if config.get(section))]


def _dag_settings(profile: Path, targets: Collection[str]) -> Any:
    """When a job runs again, as the default profile says.

    But for the software: a script does not know how it is deployed in this run (`--sdm`), and it changes no request.
    """
    from snakemake.settings.enums import RerunTrigger
    from snakemake.settings.types import DAGSettings

    said = yaml.safe_load(profile.read_text(encoding="utf-8"))
    return DAGSettings(
        targets=frozenset(targets),
        rerun_triggers=RerunTrigger.parse_choices_set(said["rerun-triggers"]) - {RerunTrigger.SOFTWARE_ENV},
        max_checksum_file_size=said["max-checksum-file-size"],
        force_incomplete=said["rerun-incomplete"],
    )


def _planned(dag: "DAG", job: "Job", unsettled: bool) -> Planned:
    pending = _pending(dag, job)
    return Planned(
        rule=_script(job),
        wildcards=dict(job.wildcards_dict),
        input=_named(job.input),
        output=_named(job.output),
        recipe=str(job.params.recipe),
        threads=job.threads,
        resources={name: value for name, value in job.resources.items() if isinstance(value, int | str)},
        runs=dag.needrun(job),
        basis=basis(pending),
        unsettled=unsettled,
        pending=pending,
    )


def _place(job: "Job") -> tuple[str, list[str]]:
    return job.rule.name, list(map(str, job.output))


def _script(job: "Job") -> str:
    """The name of its script; "" for a job without one, such as the target."""
    return Path(str(job.rule.script or "")).stem


def _asks(job: "Job") -> bool:
    recipe = job.params.get("recipe")
    return bool(recipe and asked_models(recipe))


def _counts(job: "Job") -> bool:
    recipe = job.params.get("recipe")
    return _asks(job) or _script(job) in IMPORTING or bool(recipe and searches(recipe))


def _unsettles(dag: "DAG", job: "Job") -> bool:
    """Would its tables come out other than they are, although no table before it and no answer does?

    Dialogues and tables from elsewhere are left out: they can be read for the bill.
    """
    if not dag.needrun(job) or _asks(job) or _script(job) in ("ingest", *IMPORTING):
        return False
    # Not `dag.reason(job)`: of a job that runs because another one does, Snakemake looks no further.
    kept = dag.workflow.persistence
    change = kept.params_changed(job)
    before, now = ({_besides_provenance(text) for text in texts} for texts in (change.only_old, change.only_new))
    changed = before != now or any(kept.input_changed(job)) or bool(dag.reason(job).updated_input)
    # Of tables without a record nobody knows what made them.
    return changed or bool(unrecorded(kept, job))


def _besides_provenance(param: str) -> str:
    """A recipe, as Snakemake keeps it, without what the benchmark only says of the models and prompts before it."""
    try:
        recipe = json.loads(ast.literal_eval(param))
    except (ValueError, SyntaxError):
        # Not of this version.
        return param
    options = {name: value for name, value in recipe["options"].items() if name not in ("models", "prompts")}
    return json.dumps({**recipe, "options": options})


def _pending(dag: "DAG", job: "Job") -> tuple[str, ...]:
    made_again = {str(file) for before, files in dag.dependencies[job].items() if dag.needrun(before) for file in files}
    return tuple(str(file) for file in job.input if str(file) in made_again or not Path(file).exists())


def _named(files: Any) -> dict[str, Files]:
    """Plain texts in place of Snakemake's own kind of them, which hold on to rule and workflow."""
    return {
        name: str(value) if isinstance(value, str) else [str(file) for file in value] for name, value in files.items()
    }


def _due(dag: "DAG", job: "Job") -> Due:
    recipe = str(job.params.get("recipe", ""))
    if not dag.needrun(job):
        return Due(_script(job), dict(job.wildcards_dict), False, recipe)
    kept = dag.workflow.persistence
    there = [file for file in job.output if Path(file).exists()]
    missing = [file for file in job.output if file not in there]
    incomplete = dag.workflow.async_run(kept.incomplete(job))
    before = [each for each in dag.dependencies[job] if dag.needrun(each)]
    had, has = _recorded_inputs(dag, job), {str(file) for file in job.input}
    return Due(
        step=_script(job),
        wildcards=dict(job.wildcards_dict),
        runs=True,
        recipe=recipe,
        earlier=_recorded_recipe(dag, job, recipe),
        absent=_texts(file for file in missing if kept.metadata(file) is None),
        lost=_texts(file for file in missing if kept.metadata(file) is not None),
        incomplete=_texts(incomplete),
        unrecorded=_texts(set(unrecorded(kept, job)) - set(incomplete)),
        updated=_texts(dag.workflow.async_run(_updated(dag, job))),
        outside=_texts(_outside(dag, job)),
        added=_texts(has - had) if had else (),
        removed=_texts(had - has),
        after=_texts({_script(each) for each in before}),
        reason=", ".join(dag.reason(job).get_names()),
    )


def _recorded_recipe(dag: "DAG", job: "Job", now: str) -> str | None:
    """The recipe that Snakemake has kept of the job's outputs; one that is not as `now`, if there is one."""
    kept = {}
    for file in job.output:
        for param in dag.workflow.persistence.params(file) or []:
            try:
                kept[str(ast.literal_eval(param))] = None
            except (ValueError, SyntaxError):
                # Not of this version.
                kept[param] = None
    return next((text for text in kept if text != now), next(iter(kept), None))


def _recorded_inputs(dag: "DAG", job: "Job") -> set[str]:
    """The inputs that the job's outputs were made of; none where that is not recorded."""
    return {str(each) for file in job.output for each in dag.workflow.persistence.input(file) or []}


async def _updated(dag: "DAG", job: "Job") -> set[Any]:
    """The inputs with another content, by the same measure as Snakemake's.

    Of a job that runs because another one does, Snakemake looks no further; files from outside are compared here.
    """
    outside = _outside(dag, job)
    made_again = {file for each, files in dag.dependencies[job].items() if dag.needrun(each) for file in files}
    found = {file for file in dag.reason(job).updated_input if file not in made_again}
    oldest = await job.output_mintime
    if oldest is not None:
        there = [file for file in outside - found if await file.exists()]
        newer = [file for file in there if await file.is_newer(oldest)]
        found.update([file for file in newer if not await _is_same(dag, job, file)])
    return found


def _outside(dag: "DAG", job: "Job") -> set[Any]:
    """The job's inputs that no job makes."""
    produced = {file for files in dag.dependencies[job].values() for file in files}
    return {file for file in job.input if file not in produced}


async def _is_same(dag: "DAG", job: "Job", file: Any) -> bool:
    """Has the input the content that was recorded?"""
    kept = dag.workflow.persistence
    recorded = kept.input_checksums(job, file) - {None}
    return len(recorded) == 1 and await file.is_same_checksum(recorded.pop(), kept.max_checksum_file_size)


def _texts(files: Iterable[Any]) -> tuple[str, ...]:
    return tuple(sorted(map(str, files)))
