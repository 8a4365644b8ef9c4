"""A made-up repository with pull requests, and a section of the configuration that makes questions of them."""

from pathlib import Path
from typing import Any

import pygit2

PULLS = 5
_ANIMALS = ("zebra", "otter", "heron", "tapir", "lynx", "gecko", "bison", "raven")
# Another one adds a line to it, so that each pull request changes what is there.
_MODULE = '''"""Keeps each {animal}."""


class {title}House:
    """A house for up to {number} animals of the kind."""

    def __init__(self, places):
        self.places = places
        self.animals = []

    def take_in(self, animal):
        """Take in an animal, unless all places are taken."""
        if len(self.animals) >= self.places:
            raise ValueError("the house is full")
        self.animals.append(animal)


def feed_{animal}(house, hours):
    """How many meals the house needs in so many hours."""
    meals = hours // {number}
    return meals * len(house.animals)
'''
_CHANGED = "    meals = max(1, hours // {number})\n    # Never less than one meal.\n"


def repository(folder: Path, pulls: int = PULLS) -> Path:
    """A clone with so many squashed pull requests of people in `folder`, after them one of a bot and one of a text."""
    found = pygit2.init_repository(str(folder), initial_head="main")
    files = {"README.md": "# Zoo\n"}
    files |= {f"zoo/{animal}.py": _module(animal, number) for number, animal in enumerate(_ANIMALS, 2)}
    _commit(found, files, "The zoo opens", 0)
    for number, animal in enumerate(_ANIMALS[:pulls], 2):
        before = f"    meals = hours // {number}\n"
        text = _module(animal, number).replace(before, _CHANGED.format(number=number))
        _commit(
            found, {f"zoo/{animal}.py": text}, f"Feed each {animal} at least once (#{number})\n\nIt was hungry.", number
        )
    _commit(found, {"zoo/raven.py": "RAVENS = 1\n"}, "Bump ravens (#90)", 90, author="dependabot[bot]")
    _commit(found, {"README.md": "# The zoo\n"}, "Say what it is (#91)", 91)
    return folder


def section(path: str, **more: Any) -> dict[str, Any]:
    """`pull_requests` of a configuration with the models of `workflow.conftest.configuration`; its clone is `path`."""
    asking = {name: {"model": "worker"} for name in ("question", "check", "answer", "facts", "support")}
    return {
        "repositories": {"zoo": {"path": path}},
        **asking,
        "evaluation": {
            "models": ["weak"],
            "settings": ["ground_truth", "full_context", "no_context", "retrieval", "agentic"],
            "commands": {"echo": {"command": "echo {question}"}},
            "judge": {"model": "judge"},
        },
        **more,
    }


def _module(animal: str, number: int) -> str:
    return _MODULE.format(animal=animal, title=animal.title(), number=number)


def _commit(found: pygit2.Repository, files: dict[str, str], message: str, hour: int, author: str = "Ann") -> None:
    """A commit on the main branch, made at an hour of its own."""
    for path, text in files.items():
        file = Path(found.workdir, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        found.index.add(path)
    found.index.write()
    person = pygit2.Signature(author, "ann@zoo.example", 1_700_000_000 + 3_600 * hour)
    parents = [] if found.head_is_unborn else [found.head.target]
    found.create_commit("HEAD", person, person, message, found.index.write_tree(), parents)
