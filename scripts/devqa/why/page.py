"""What would run, why, and what that sends, as text."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from devqa.bill.estimate import Cost
from devqa.bill.plan import Due
from devqa.bill.searches import paid
from devqa.bill.sizes import PULLING
from devqa.recipe import asked_models
from devqa.why.causes import Group, Step
from devqa.why.changes import Template
from devqa.why.shards import resharded

# So many names are written out, the others are counted.
_NAMED = 3
_MODULES = 5
_SEARCHING = ("search", "evidence", "retrieve")
_FETCHING = ("fetch", "evidence", "retrieve")
# Steps of which each part that a model plays has a line of its own in the bill.
_PARTS = {"study_classify": ("study_tasks", "study_suitability"), **PULLING}
_MADE_HERE = ("absent", "lost", "incomplete", "unrecorded")
_WORDS = {
    "absent": "not made yet: {}",
    "lost": "gone: {}",
    "incomplete": "a job was stopped while it made {}",
    "unrecorded": "there is no record of how these were made: {}",
    "updated": "changed: {}",
    "outside": "the content has changed of {}",
    "added": "new among its inputs: {}",
    "removed": "no longer among its inputs: {}",
}


def page(
    steps: Sequence[Step], costs: Sequence[Cost], config: Mapping[str, Any], diffs: Mapping[Template, list]
) -> str:
    """The whole page.

    Args:
        steps: those of which jobs run.
        costs: what they send (`devqa.bill.run.counted`).
        diffs: the lines that show how a template has changed.
    """
    if not steps:
        return "Nothing to be done: every result is what a run would make now."
    lines = ["What a run would do now, and why. Nothing has been sent.", ""]
    for step in steps:
        own = [cost for cost in costs if cost.step.split()[0] in _PARTS.get(step.name, (step.name,))]
        lines += [f"{_counted(step)}: {sending(step, own, config)}"]
        lines += [f"    {line}" for line in _causes(step)]
    for lines_of_one in diffs.values():
        lines += ["", *lines_of_one] if lines_of_one else []
    lines += ["", _sum(costs)]
    if any("unrecorded" in group.files for step in steps for group in step.groups):
        lines += ["`snakemake --touch` takes files without a record as they are, and nothing runs for their sake."]
    return "\n".join(lines)


def _sum(costs: Sequence[Cost]) -> str:
    sent, cached = sum(cost.sent for cost in costs), sum(cost.cached for cost in costs)
    if not round(sent + cached):
        return "No model is asked anything."
    certain = all(cost.bases <= {"exact"} for cost in costs if cost.most)
    return (
        f"In all, {'' if certain else 'probably '}{round(sent):,} of {round(sent + cached):,} requests will be sent. "
        "`snakemake bill` says what they cost."
    )


def sending(step: Step, costs: Sequence[Cost], config: Mapping[str, Any]) -> str:
    """What a step sends, from its lines of the bill."""
    said = [_requests(step, costs)] if costs else []
    asks = any(asked_models(job.recipe) for job in step.jobs if job.recipe)
    online = config["search"]["engine"] != "local" and not config["offline"]
    if asks and not costs:
        said.append("sends no requests of its own")
    if online and step.name in _SEARCHING and not paid(config):
        said.append("searches that are not in the cache are sent (not counted: search.price_per_request is not set)")
    if online and step.name in _FETCHING:
        said.append("pages that are not in the cache are fetched")
    if online and any(cost.step == "answer agentic" for cost in costs):
        said.append("what models search for by themselves is not counted")
    said += _of_pull_requests(step, config)
    return "; ".join(said) or "sends nothing"


def _of_pull_requests(step: Step, config: Mapping[str, Any]) -> Iterator[str]:
    """What a step sends to hosts of repositories, and what its commands send."""
    if step.name == "pr_command":
        yield "runs commands: what they send and cost is not counted"
    repositories = (config.get("pull_requests") or {}).get("repositories", {})
    running = {job.wildcards.get("repository") for group in step.groups for job in group.jobs}
    own = [each for label, each in repositories.items() if label in running and not config["offline"]]
    if step.name == "pr_repository" and any(each["url"] for each in own):
        yield "repositories that are not in the cache are cloned"
    if step.name == "pr_list" and any(each["pulls"] == "github" for each in own):
        yield "GitHub is asked for pull requests that are not in the cache"


def _requests(step: Step, costs: Sequence[Cost]) -> str:
    what = "searches" if step.name in _SEARCHING else "requests"
    sent, cached = sum(cost.sent for cost in costs), sum(cost.cached for cost in costs)
    most = sum(cost.most for cost in costs)
    bases = {basis for cost in costs for basis in cost.bases}
    if not round(most):
        return f"none of its {round(cached):,} {what} will be sent: the cache has all answers"
    of_all = f"{round(sent):,} of {round(sent + cached):,} {what} will be sent{_by_model(costs)}"
    if not round(sent + cached):
        of_all = f"no {what} will be sent"
    if bases <= {"exact"}:
        return of_all
    reckoned = not bases <= {"exact", "present"}
    counted = "reckoned, as its tables are not there" if reckoned else "counted on what there is"
    return f"probably {of_all}, at most {round(most):,} ({counted})"


def _by_model(costs: Sequence[Cost]) -> str:
    sent = {}
    for cost in costs:
        sent[cost.model] = sent.get(cost.model, 0) + cost.sent
    asked = [f"{model} {round(count):,}" for model, count in sent.items() if round(count)]
    return f" ({', '.join(asked)})" if asked and len(sent) > 1 else ""


def _counted(step: Step) -> str:
    """The step's name, and how many of its jobs run."""
    running = sum(len(group.jobs) for group in step.groups)
    if len(step.jobs) == 1:
        return step.name
    return f"{step.name}, {running:,} of {len(step.jobs):,} {_what(step)}"


def _what(step: Step) -> str:
    return "shards" if all("shard" in job.wildcards for job in step.jobs) else "jobs"


def _causes(step: Step) -> Iterator[str]:
    running = sum(len(group.jobs) for group in step.groups)
    for group in step.groups:
        which = "" if len(group.jobs) == running else f"{len(group.jobs):,} of them{_which(group, step)}: "
        for cause in _of_group(group):
            yield which + cause
            which = " " * len(which)


def _which(group: Group, step: Step) -> str:
    """What a group's jobs have in common that others have not, such as their model."""
    for name in ("source", "repository", "model", "agent", "judge", "setting"):
        own, others = _values(group.jobs, name), _values(step.jobs, name)
        if own and own != others and len(own) <= _NAMED:
            return f" ({', '.join(own)})"
    return ""


def _values(jobs: Sequence[Due], name: str) -> list[str]:
    return sorted({job.wildcards[name] for job in jobs if name in job.wildcards})


def _of_group(group: Group) -> Iterator[str]:
    changes = group.changes
    for template in changes.templates:
        yield f"prompts/{template.file} {_happened(template)}"
    yield from changes.values
    if changes.code:
        yield f"code: {_first(changes.code, _MODULES)}"
    if changes.again:
        yield "rows that were given up are asked again"
    if changes.unreadable:
        yield "its tables were made by another version of the workflow"
    said, files = resharded(group.files)
    yield from said
    for kind, some in files.items():
        several = f"one of {len(some):,} files: " if kind == "outside" and len(some) > 1 else ""
        yield _WORDS[kind].format(several + _first(some, 1 if kind in _MADE_HERE else _NAMED))
    if group.after:
        also = "also " if group.own else ""
        runs = "run" if len(group.after) > 1 else "runs"
        yield f"{also}because {_listed(group.after)} {runs} before it"
    if not group.own and not group.after:
        yield f"Snakemake says: {group.jobs[0].reason}"


def _happened(template: Template) -> str:
    if template.before is None:
        return "is new"
    return "has no part in it any more" if template.now is None else "has changed"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), names[-1]])


def _first(names: Sequence[str], most: int) -> str:
    """The first of `names`, and how many there are beside."""
    if len(names) <= most + 1:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most:,} more"
