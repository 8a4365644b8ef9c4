"""How many requests the study sends (`snakemake study`): counted where its tables are there, else as in SimpleDevQA.

The paper, section 3: of a million raw dialogues 376,888 come through the cheap first pass, 103,112 are about software
development, and 39.6 % of the sample ask for knowledge.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from devqa.bill.dialogues import records
from devqa.bill.flow import Group, Line
from devqa.bill.meter import Reading
from devqa.bill.plan import Planned
from devqa.bill.sizes import STUDYING
from devqa.bill.spent import Earlier
from devqa.ingest.sources import source_files
from devqa.recipe import asked_models
from devqa.study.sampling import sample_size

RULES = ("study_filter", "study_classify")
_PASSED, _ABOUT_DEVELOPMENT, _KNOWLEDGE = 0.376888, 0.103112, 0.396


def study_lines(measured: Group, earlier: Earlier, config: Mapping[str, Any]) -> list[Line]:
    """What each model is asked in the study, one line for each part that a model plays.

    Args:
        measured: the jobs that will run, each with its readings (none where its input is not there).

    Raises:
        UserError: a raw file can't be read.
    """
    lines: dict[str, Line] = {}
    missing: list[Planned] = []
    for job, readings in measured:
        if job.rule not in RULES:
            continue
        for asked in asked_models(job.recipe):
            role = asked["role"]
            lines.setdefault(role, Line(role, role, asked["label"], asked, job.recipe))
        for reading in readings:
            _count(lines[reading.role], reading, job)
        if not readings:
            missing.append(job)
    if missing:
        _reckon(lines, missing, earlier, config)
    return [lines[role] for role in STUDYING if role in lines]


def _count(line: Line, reading: Reading, job: Planned) -> None:
    exact = job.basis == "exact"
    (line.sure if exact else line.likely).update(reading.missing)
    line.cached += len(reading.cached)
    line.further += reading.further
    line.most += reading.most
    line.bases.add("exact" if exact and not reading.most else "present")


def _reckon(lines: Mapping[str, Line], missing: Sequence[Planned], earlier: Earlier, config: Mapping[str, Any]) -> None:
    """Add what jobs ask of which no input is there, from the number of raw records."""
    raw = sum(records(file) for source in config["study"]["sources"].values() for file in source_files(source["path"]))
    share = sum(job.rule == "study_filter" for job in missing) / config["study"]["shards"]
    classifying = any(job.rule == "study_classify" for job in missing)
    for role, expected, most in _expected(raw, share, classifying, config["study"]["sample"]):
        line = lines[role]
        cached = min(expected, max(0.0, earlier.kept(line.asked, role) - line.cached))
        line.cached += cached
        line.further += expected - cached
        line.most += most
        line.bases.add("paper")


def _expected(
    raw: int, share: float, classifying: bool, sample: Mapping[str, Any]
) -> Iterator[tuple[str, float, float]]:
    """Each part with the requests that are expected, and how many there are at most."""
    if share:
        yield "study_filter", raw * _PASSED * share, raw * share
    if classifying:
        drawn, most = (
            sample_size(round(count), sample["confidence"], sample["interval"])
            for count in (raw * _ABOUT_DEVELOPMENT, raw)
        )
        yield "study_tasks", drawn, most
        yield "study_suitability", drawn * _KNOWLEDGE, most
