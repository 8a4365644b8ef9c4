"""What a run would do now and why, from planning its jobs to the page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from devqa.bill.plan import planned_and_due
from devqa.bill.run import counted
from devqa.why import templates
from devqa.why.causes import Step, steps
from devqa.why.changes import Template
from devqa.why.page import page


def why(snakefile: Path, config: Mapping[str, Any], workers: int) -> str:
    """What a run in the current folder would do now, step by step, as a page of text. Nothing is sent.

    Args:
        config: the validated configuration, as scripts get it.
        workers: how many jobs are measured at the same time.

    Raises:
        UserError: a source, a table that is up to date, a prompt or the cache can't be read.
    """
    jobs, dues = planned_and_due(snakefile, config)
    running = steps(dues, config)
    if not running:
        return page([], [], config, {})
    prompts = snakefile.parent / "prompts"
    costs, _ = counted(jobs, prompts, config, workers)
    diffs = {each: templates.compared(each, config["cache_dir"], prompts) for each in _changed(running)}
    return page(running, costs, config, diffs)


def _changed(running: Sequence[Step]) -> list[Template]:
    """The templates that have changed, each once."""
    return list(dict.fromkeys(each for step in running for group in step.groups for each in group.changes.templates))
