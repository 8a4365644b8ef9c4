"""The jobs of each step that run for the same causes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from devqa.bill.plan import Due
from devqa.why.changes import Changes, compared

# What of its files makes a job run (`devqa.bill.plan.Due`); `outside`: the content of one of these has changed.
FILES = ("absent", "lost", "incomplete", "unrecorded", "updated", "outside", "added", "removed")


@dataclass
class Group:
    """Jobs of one step with the same causes.

    Attributes:
        changes: how their recipes differ from those that their outputs were made with.
        after: the steps before them that run, the last ones.
        jobs: these jobs.
        files: the files of all of them, by the names in `FILES` that there are any of.
    """

    changes: Changes
    after: tuple[str, ...]
    jobs: list[Due] = field(default_factory=list)
    files: dict[str, list[str]] = field(default_factory=dict)

    @property
    def own(self) -> bool:
        """Have they a cause of their own, beside the steps before them?"""
        return bool(self.changes or self.files)


@dataclass
class Step:
    """A step of which some jobs run: all its jobs, and those that run by their causes."""

    name: str
    jobs: list[Due] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)


def steps(dues: Sequence[Due], config: Mapping[str, Any]) -> list[Step]:
    """The steps of which jobs run, in the order in which data flows.

    Args:
        config: the validated configuration.
    """
    before = _before(dues)
    found: dict[str, Step] = {}
    groups: dict[tuple, Group] = {}
    for due in dues:
        step = found.setdefault(due.step, Step(due.step))
        step.jobs.append(due)
        if not due.runs:
            continue
        changes = compared(due.step, due.earlier, due.recipe, config, due.wildcards)
        kinds = [kind for kind in FILES if getattr(due, kind)]
        if due.updated or not changes.files:
            # Where its time stamp has changed too, it is known which file it is.
            kinds = [kind for kind in kinds if kind != "outside"]
        after = _last(due.after, before)
        key = (due.step, changes, after, *kinds)
        if key not in groups:
            groups[key] = Group(changes, after)
            step.groups.append(groups[key])
        groups[key].jobs.append(due)
        for kind in kinds:
            _add(groups[key].files.setdefault(kind, []), getattr(due, kind))
    running = [step for step in found.values() if step.groups]
    # Some jobs of a step may come early, while others wait for steps that it is to be told after.
    return sorted(running, key=lambda step: len(before[step.name]))


def _before(dues: Sequence[Due]) -> dict[str, set[str]]:
    """For each step that runs all those that run before it, as far as data flows to it."""
    before: dict[str, set[str]] = {}
    for due in dues:
        before.setdefault(due.step, set()).update(due.after)
    # A step's jobs may stand before and behind those of another one, so once is not enough.
    for _ in before:
        for earlier in before.values():
            earlier.update(*(before.get(each, ()) for each in tuple(earlier)))
    return before


def _last(after: Iterable[str], before: Mapping[str, set[str]]) -> tuple[str, ...]:
    """Those of the steps `after` which another one runs that are before none of the others."""
    return tuple(each for each in after if not any(each in before.get(other, ()) for other in after if other != each))


def _add(files: list[str], more: Iterable[str]) -> None:
    files += [file for file in more if file not in files]
