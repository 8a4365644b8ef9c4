"""What people call a value of a recipe of the rules that go from pull requests to agents (rules/pull_requests.smk)."""

from collections.abc import Mapping, Sequence
from typing import Any

_SECTION = "pull_requests"
_SELECT = ("languages", "ignore")
_SAID = {
    ("pr_benchmark", "models"): "the models that its rows name",
    ("pr_benchmark", "prompts"): "the prompts that its rows name",
    ("pr_score", "runs"): "who is asked in which setting",
    ("pr_report", "notes"): "the notes about models and commands",
}


def option(
    script: str,
    path: Sequence[str],
    options: Mapping[str, Any],
    config: Mapping[str, Any],
    wildcards: Mapping[str, str],
) -> str:
    """The key that an option of `script` comes from, or what it says; `path` has its names from the outermost."""
    name, *inner = path
    if said := _SAID.get((script, name)):
        return f"{said} ({inner[0]})" if inner else said
    if name == "origins":
        return _key("repositories", *inner)
    if name == "origin":
        return _key("repositories", options["origin"]["label"], *inner)
    if name == "select":
        return _key(*path)
    match script:
        case "pr_repository" | "pr_list":
            # Its label is no value of it, but what it is called.
            return _key("repositories", options["label"], *(path if name != "label" else ()))
        case "pr_blocks":
            return _key("select", *path)
        case "pr_context":
            return _key("select" if name in _SELECT else "context", *path)
        case "pr_predict":
            return _key("evaluation", "agentic" if "rounds" in options else "retrieval", *path)
        case "pr_command":
            # A command that the configuration does not have any more is no part of a key.
            named = [name for name in config[_SECTION]["evaluation"]["commands"] if name == wildcards.get("agent")]
            return _key("evaluation", "commands", *named, *path)
        case _:
            return f"{step(script, script)}.{'.'.join(path)}"


def step(script: str, role: str) -> str:
    """The section of the part that a model plays: it has its sampling and, but for agents, its name."""
    if script == "pr_predict":
        return _key("evaluation")
    if script == "pr_recall":
        return _key("evaluation", "judge")
    return _key(role.removeprefix("pr_"))


def model(script: str, role: str) -> str:
    """The key that chooses the model of a part."""
    return f"{step(script, role)}.{'models' if script == 'pr_predict' else 'model'}"


def _key(*names: str) -> str:
    return ".".join([_SECTION, *names])
