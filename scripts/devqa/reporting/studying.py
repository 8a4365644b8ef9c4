"""What the study's report shows, beside SimpleDevQA's figures, as plain JSON values: the same dict is `report.json`."""

from collections.abc import Mapping, Sequence
from typing import Any

from devqa.reporting import paper
from devqa.reporting.overview import staged
from devqa.tables import Row

# The steps of the study, each with the stage whose rows it lets pass, and what the paper calls it in `paper.STUDY`.
_WAY = (
    ("After the first pass: language, flags, topic", "scanned", "topic"),
    ("Without duplicates", "unique", None),
    ("About software development, as the model says", "filtered", "filtered"),
    ("Drawn", "sampled", "sampled"),
)


def study_data(
    funnel: Sequence[Row],
    sample: Mapping[str, Any],
    population: Mapping[str, Any],
    findings: Mapping[str, Any],
    model: Sequence[Mapping[str, Any]],
    review: Mapping[str, Any],
) -> dict[str, Any]:
    """The report of the study.

    Args:
        funnel: rows of the study's ledger (`devqa.ledger.funnel`), of the stages `scanned`, `unique`, `filtered`,
            `sampled` and `classified`.
        sample: `study.sample` of the configuration.
        population, findings, model: as `devqa.study.figures` gives them.
        review: people's decisions about dialogues, as `reviewing.review` gives them.

    Returns all of these, the funnel as `overview.staged` gives it, the findings with `paper` beside each share, and
    `way`: from raw dialogues to the sample `step`, `own`, `own_rate`, `paper`, `paper_rate` (None for what the paper
    does not say; rates are of the step before).
    """
    centred = {**findings["code_centred"], "paper": paper.CODE_CENTRED}
    return {
        **staged(funnel),
        "way": _way(funnel),
        "sample": dict(sample),
        "population": dict(population),
        "dialogues": findings["dialogues"],
        "tasks": [{**each, "paper": paper.TASKS.get(each["task"])} for each in findings["tasks"]],
        "code_centred": centred,
        "suitable": [
            {**each, "paper": paper.SUITABLE if each["criterion"] == "all" else None} for each in findings["suitable"]
        ],
        "model": list(model),
        "review": dict(review),
    }


def _way(funnel: Sequence[Row]) -> list[dict[str, Any]]:
    raw = sum(row["rows_out"] for row in funnel if row["stage"] == "scanned")
    found = [{"step": "Raw dialogues", "own": raw, "own_rate": None, "paper": paper.STUDY["raw"], "paper_rate": None}]
    in_paper = paper.STUDY["raw"]
    for step, stage, name in _WAY:
        own = sum(row["rows_out"] for row in funnel if row["stage"] == stage and row["status"] == "ok")
        before = found[-1]["own"]
        printed = paper.STUDY[name] if name else None
        found.append(
            {
                "step": step,
                "own": own,
                "own_rate": own / before if before else None,
                "paper": printed,
                "paper_rate": printed / in_paper if printed else None,
            }
        )
        in_paper = printed or in_paper
    return found
