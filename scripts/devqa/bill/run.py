"""The bill of a configuration, from planning its jobs to the page."""

import functools
import multiprocessing
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from devqa.bill import searches
from devqa.bill.benchmark import asked_rows, imported
from devqa.bill.dialogues import NONE, Dialogues, ingested
from devqa.bill.estimate import Cost, cost
from devqa.bill.flow import SEARCHING, Line, flow
from devqa.bill.meter import Reading, measured
from devqa.bill.page import page
from devqa.bill.plan import Planned, planned
from devqa.bill.pull_requests import pull_request_lines
from devqa.bill.rates import rates
from devqa.bill.sizes import size
from devqa.bill.spent import Earlier, earlier
from devqa.bill.study import study_lines
from devqa.llm.cache import responses
from devqa.llm.pricing import effective_price


def bill(snakefile: Path, config: Mapping[str, Any], workers: int) -> str:
    """What a run in the current folder would ask and cost, as a page of text. Nothing is sent.

    Args:
        config: the validated configuration, as scripts get it.
        workers: how many jobs are measured at the same time.

    Raises:
        UserError: a source, a table that is up to date, a prompt or the cache can't be read.
    """
    jobs = planned(snakefile, config)
    return page(*counted(jobs, snakefile.parent / "prompts", config, workers), config)


def counted(
    jobs: Sequence[Planned], prompts: Path, config: Mapping[str, Any], workers: int
) -> tuple[list[Cost], Dialogues]:
    """What planned `jobs` would ask: a line for each step and model that has something to ask, and the dialogues.

    Raises:
        UserError: as `bill`.
    """
    with tempfile.TemporaryDirectory(prefix="devqa-bill-") as folder:
        jobs = searches.priced(jobs, config)
        jobs = imported(jobs, config, Path(folder, "imported"))
        builds = config["evaluation"]["benchmark"] is None
        jobs, dialogues = ingested(jobs, config, Path(folder, "dialogues")) if builds else (jobs, NONE)
        read = _readings([job for job in jobs if job.runs], config, workers)
        rows = asked_rows(jobs, config["evaluation"]["difficulties"])
    if not read:
        return [], dialogues
    kept = earlier(responses(config["cache_dir"]))
    lines = study_lines(read, kept, config)
    lines += pull_request_lines(read, kept, config, Path("results"))
    lines += flow(read, dialogues, rates(Path("results"), config), kept, config, rows)
    return _costs(lines, kept, config, prompts), dialogues


def _readings(jobs: Sequence[Planned], config: Mapping[str, Any], workers: int) -> list[tuple[Planned, list[Reading]]]:
    if workers == 1:
        return [(job, _reading(job, config)) for job in jobs]
    with ProcessPoolExecutor(workers, multiprocessing.get_context("fork")) as pool:
        return list(zip(jobs, pool.map(functools.partial(_reading, config=config), jobs), strict=True))


def _reading(job: Planned, config: Mapping[str, Any]) -> list[Reading]:
    return searches.measured(job, config) if job.rule in SEARCHING else measured(job, config)


def _costs(lines: Sequence[Line], kept: Earlier, config: Mapping[str, Any], prompts: Path) -> list[Cost]:
    costs = []
    for line in lines:
        if line.rule in SEARCHING:
            costs.append(searches.cost(line, config["search"]["price_per_request"]))
            continue
        model = config["models"][line.label]
        own, others = kept.of(line.asked, line.role), kept.of_any(line.role)
        request = size(line.role, line.asked, line.recipe, config, prompts)
        costs.append(cost(line, own, others, request, effective_price(model["price"], model["mode"])))
    return [each for each in costs if each.cached or each.most]
