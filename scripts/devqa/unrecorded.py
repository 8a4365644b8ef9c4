"""Results without a record of how they were made, such as a `results/` that was copied into another clone.

Snakemake compares recipes with its records in `.snakemake/`. Of a file without one it knows the time stamp alone, takes
it for up to date, and would build a benchmark on tables of other prompts and models. Here every job is made to run that
has such an output; `snakemake --touch` takes the files as they are, and records them.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from snakemake.jobs import Job
    from snakemake.persistence import PersistenceBase
    from snakemake.workflow import Workflow

_SAID = (
    "{count:,} of the files that are wanted are there without a record of how they were made, such as {first}: they "
    "are made again, with the answers that the cache holds. `snakemake why` says what that sends, and "
    "`snakemake --touch` takes them as they are."
)


def remade(workflow: "Workflow") -> None:
    """See to it that `workflow`, whose rules are being read, makes again what it has no record of, and says so.

    Only in the main process: its jobs are told what to make. Snakemake has no hook between the moment at which it knows
    all jobs and the one at which it decides which of them run, so one is put in where it looks for incomplete files.
    """
    if not workflow.is_main_process:
        return
    prepare = workflow._prepare_dag

    def prepared(*arguments: Any, **named: Any) -> None:
        prepare(*arguments, **named)
        check = workflow.dag.check_incomplete

        async def checked() -> None:
            await check()
            _force(workflow)

        workflow.dag.check_incomplete = checked

    workflow._prepare_dag = prepared


def unrecorded(kept: "PersistenceBase", job: "Job") -> list[str]:
    """The outputs of `job` that are there, though how they were made is not recorded, or not in full."""
    outdated = kept.has_outdated_metadata(job)
    return [str(file) for file in job.output if Path(file).exists() and (outdated or kept.metadata(file) is None)]


def _force(workflow: "Workflow") -> None:
    """Make every job run that has outputs without a record; those of a job that was stopped run anyway."""
    from snakemake.logging import logger

    dag = workflow.dag
    found = [file for job in dag.jobs for file in unrecorded(workflow.persistence, job)]
    if new := sorted(set(found) - set(map(str, dag.forcefiles))):
        dag.forcefiles.update(new)
        if not workflow.touch:
            logger.warning(_SAID.format(count=len(new), first=new[0]))
