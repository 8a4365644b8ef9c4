"""How a step that asks a model accounts for each row: outcome, raw text, and what was spent."""

from typing import Any

from devqa.llm.chat import Answer, usage
from devqa.steps.outcomes import OK, failed


def asked(label: str, *answers: Answer) -> dict[str, Any]:
    """The columns that every table of a model's answers has, for the answers that went into one row.

    `outcome` and `raw` are the last answer's. The status is `failed` unless that answer is usable; a step
    lays its own verdict over it.
    """
    last = answers[-1]
    account = OK if last.outcome == "ok" else failed(f"{last.outcome}: {last.reason}")
    return {"outcome": last.outcome, "raw": last.raw, "usage": usage(label, answers), **account}
