"""What one job may take of a model's limits, which hold for all jobs of a run together.

Snakemake divides them: a model has a resource of its own, and every job that asks the model holds a share of it while
it runs (rules/models.smk, docs/limits.md).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any


def resource_names(models: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Snakemake's resource for each model whose limits are divided: label → `requests_gpt_4o_mini`.

    Models that run in the job's own process bear what they bear in each job, and the Batch API has no limit on what is
    under way: they have none. A resource's name is an identifier; labels that would have the same one are told apart
    by underscores at its end.

    Args:
        models: the configuration's `models`, as plain values.
    """
    names: dict[str, str] = {}
    for label in sorted(_divided(models)):
        name = "requests_" + re.sub(r"\W", "_", label, flags=re.ASCII)
        while name in names.values():
            name += "_"
        names[label] = name
    return names


def at_a_time(limits: Mapping[str, Any]) -> int:
    """How many requests all jobs of a run together may have under way.

    Not more than may be sent in a minute: a job's share of that is at least one.
    """
    return min(limits["concurrency"], limits["requests_per_minute"] or limits["concurrency"])


def share(limits: Mapping[str, Any], part: int) -> dict[str, Any]:
    """The limits of a job that holds `part` of the model's resource; shares together never exceed the whole.

    Args:
        limits: the model's, for the whole run (`devqa.config.models.Limits`).
        part: requests that the job may have under way; the rates per minute go with it.
    """
    whole = at_a_time(limits)
    part = min(max(part, 1), whole)
    return {
        **limits,
        "concurrency": part,
        "requests_per_minute": _part_of(limits["requests_per_minute"], part, whole),
        "tokens_per_minute": _part_of(limits["tokens_per_minute"], part, whole),
    }


def _divided(models: Mapping[str, Mapping[str, Any]]) -> Iterable[str]:
    return (label for label, model in models.items() if model["runtime"] != "llama.cpp" and model["mode"] == "online")


def _part_of(per_minute: int | None, part: int, whole: int) -> int | None:
    return per_minute and max(1, per_minute * part // whole)
