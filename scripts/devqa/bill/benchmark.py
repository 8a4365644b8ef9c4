"""Tables from elsewhere that a run will read first, and how many rows of the benchmark each model is asked.

Reading them asks no model, so it is done for the bill, and requests that rest on nothing else are known to the letter.
"""

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from devqa import tables
from devqa.bill.meter import flat, moved, run_script
from devqa.bill.plan import Files, Planned, basis
from devqa.steps.questions import asked


def imported(jobs: Sequence[Planned], config: Mapping[str, Any], folder: Path) -> list[Planned]:
    """Those of `jobs` that ask; where they wait for tables from elsewhere alone, on these tables.

    Args:
        jobs: in the order in which data flows.
        folder: where tables are made that Snakemake would make again.

    Raises:
        UserError: a file from elsewhere can't be read.
    """
    made: dict[str, str] = {}
    asking = []
    for number, job in enumerate(jobs):
        ready = _with(job, made)
        if job.asks:
            asking.append(ready)
        elif job.runs and not ready.pending:
            place = folder / str(number)
            place.mkdir(parents=True)
            output = moved(job.output, place)
            run_script(ready, config, output, [])
            made |= zip(flat(job.output), flat(output), strict=True)
    return asking


def asked_rows(jobs: Sequence[Planned], difficulties: Collection[str]) -> int | None:
    """How many rows of the benchmark each model is asked; None while the benchmark is not there or will be made again.

    Args:
        difficulties: of the rows that are asked (`evaluation.difficulties`).

    Raises:
        UserError: the benchmark can't be read.
    """
    for job in jobs:
        file = job.input.get("benchmark")
        if isinstance(file, str) and file not in job.pending:
            rows = tables.batches(file, "benchmark", 10_000, ["difficulty"])
            return sum(len(asked(batch, difficulties)) for batch in rows)
    return None


def _with(job: Planned, made: Mapping[str, str]) -> Planned:
    """`job` with the tables that were `made` in place of those that it would have."""
    pending = tuple(file for file in job.pending if file not in made)
    inputs = {name: _replaced(files, made) for name, files in job.input.items()}
    return dataclasses.replace(job, input=inputs, pending=pending, basis=basis(pending)) if made else job


def _replaced(files: Files, made: Mapping[str, str]) -> Files:
    return made.get(files, files) if isinstance(files, str) else [made.get(file, file) for file in files]
