"""Which jobs the configuration has that ask, search or read tables from elsewhere, and which Snakemake would run now.

The one module that knows Snakemake's Python API (https://snakemake.readthedocs.io/en/stable/api_reference/snakemake_api.html):
a dry-run of the whole workflow, of which nothing is printed and nothing but Snakemake's own folder is touched.
"""

import ast
import json
import logging
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import yaml

from devqa.errors import UserError
from devqa.recipe import asked_models, searches

if TYPE_CHECKING:
    from snakemake.dag import DAG
    from snakemake.jobs import Job

Basis = Literal["exact", "present", "missing"]
Files = str | list[str]
# The scripts that read tables from elsewhere, which like the dialogues can be read for the bill (`bill.benchmark`).
IMPORTING = ("import_benchmark", "import_answers")


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


def basis(pending: Iterable[str]) -> Basis:
    """What a job's requests can be counted on whose inputs `pending` are not there or will be made again."""
    there = [Path(file).exists() for file in pending]
    if not all(there):
        return "missing"
    return "present" if there else "exact"


def planned(snakefile: Path, config: Mapping[str, Any]) -> list[Planned]:
    """The jobs that ask, search or read tables from elsewhere, in the order in which data flows, run or not.

    Args:
        snakefile: the workflow's; the profile beside it says when a job runs again. Results are those in the
            current folder.
        config: the validated configuration, as scripts get it.

    Raises:
        UserError: the workflow can't be planned, such as with an input that no rule makes.
    """
    with _dag(snakefile, config) as dag:
        jobs = [job for level in dag.toposorted() for job in sorted(level, key=_place)]
        unsettled: dict[Job, bool] = {}
        for job in jobs:
            before = dag.dependencies[job]
            unsettled[job] = any(unsettled[each] or _unsettles(dag, each) for each in before)
        return [_planned(dag, job, unsettled[job]) for job in jobs if _counts(job)]


@contextmanager
def _dag(snakefile: Path, config: Mapping[str, Any]) -> Iterator["DAG"]:
    """The graph of all jobs of the default target, as a dry-run has it."""
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
            run = workflow.dag(_dag_settings(snakefile.parent / "profiles/default/config.yaml"))
            run.execute_workflow(executor="dryrun", execution_settings=ExecutionSettings(lock=False))
        except (RuleException, WorkflowError) as error:
            raise UserError(f"the workflow can't be planned: {error}") from error
        yield run.workflow_api._workflow.dag


def _dag_settings(profile: Path) -> Any:
    """When a job runs again, as the default profile says.

    But for the software: a script does not know how it is deployed in this run (`--sdm`), and it changes no request.
    """
    from snakemake.settings.enums import RerunTrigger
    from snakemake.settings.types import DAGSettings

    said = yaml.safe_load(profile.read_text(encoding="utf-8"))
    return DAGSettings(
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
    return before != now or any(kept.input_changed(job)) or bool(dag.reason(job).updated_input)


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
