"""What people call a value of a recipe: the key of the configuration that it comes from, or what it says."""

from collections.abc import Mapping
from typing import Any

from devqa.why import pulls

# What their names begin with that go from pull requests to agents.
_PULLS = "pr_"
# The sections that a script's options are taken from; of a key that several have, the first.
_WEB = ("search", "fetch", "clean")
_SECTIONS = {
    "search": ("search",),
    "corpus": ("clean",),
    "fetch": ("fetch",),
    "clean": ("clean",),
    "evidence": (*_WEB, "steps.verify"),
    "retrieve": (*_WEB, "evaluation.rag"),
    "answer": (*_WEB, "evaluation.agentic"),
    **{name: (f"steps.{name}",) for name in ("queries", "condense", "generate", "check", "verify")},
    "merge": ("steps.benchmark",),
    **dict.fromkeys(("rescued", "benchmark", "review_grades", "index"), ("review",)),
    **dict.fromkeys(("study_scan", "study_unique", "study_filter", "study_seeds"), ("study",)),
    "study_sample": ("study.sample",),
    "study_classify": ("study.tasks", "study"),
    "study_report": ("study.tasks", "study", "review"),
}
# Options that stand elsewhere in the configuration, or nowhere.
_ELSEWHERE = {
    ("ingest", "limits"): "ingest",
    ("ingest", "source"): "dialogues",
    ("corpus", "path"): "search.corpus",
    ("study_scan", "limits"): "ingest",
    ("study_seeds", "limits"): "ingest",
    **dict.fromkeys((("study_scan", "source"), ("study_scan", "label"), ("study_seeds", "files")), "study.sources"),
    ("fetch", "local"): "search.engine",
    ("sources", "local"): "search.engine",
    ("funnel", "pairs"): "steps.generate.pairs",
    ("domains", "names"): "evaluation.domains.names",
    ("domains", "annotators"): "review.annotators",
    ("compare", "models"): "evaluation.models",
    ("import_benchmark", "columns"): "evaluation.benchmark.columns",
    ("import_benchmark", "named"): "evaluation.benchmark.columns",
    ("report", "model"): "models.{name}",
    ("benchmark", "models"): "the models that its rows name",
    ("benchmark", "prompts"): "the prompts that its rows name",
    ("index", "notes"): "the notes about models and search",
}
_OF_ALL = {
    "difficulties": "evaluation.difficulties",
    "judge": "evaluation.judge.model",
    "panel": "evaluation.panel",
    "verdict": "evaluation.verdict",
    "human_grades": "evaluation.human_grades",
    "code_generation": "evaluation.code_generation",
    "groups": "evaluation.domains.groups",
    "families": "the families of models",
}
# Of columns that were named, and of whether grades are decided by them, the recipe holds a list and a mark.
_OF_IMPORTS = {"named": "columns", "grades_decided": "columns"}
# Where a step's model is chosen, by script and the part that it plays; and where its sampling is set.
_JUDGES = "evaluation.judge"
_CHOSEN = {
    ("difficulty", "answer"): "steps.difficulty.models",
    ("difficulty", "judge"): "steps.difficulty.judge",
    ("domains", "domains"): "evaluation.domains.model",
    ("judge", "judge"): f"{_JUDGES}.model",
    ("study_filter", "study_filter"): "study.filter.model",
    ("study_classify", "study_tasks"): "study.tasks.model",
    ("study_classify", "study_suitability"): "study.suitability.model",
}
_SAMPLED = {
    ("difficulty", "answer"): "steps.difficulty.sampling",
    ("difficulty", "judge"): f"{_JUDGES}.sampling",
    ("domains", "domains"): "evaluation.domains.sampling",
    ("judge", "judge"): f"{_JUDGES}.sampling",
    ("study_filter", "study_filter"): "study.filter.sampling",
    ("study_classify", "study_tasks"): "study.tasks.sampling",
    ("study_classify", "study_suitability"): "study.suitability.sampling",
}
# What a recipe calls a model's value otherwise than the configuration does.
_ENDPOINT = {"openai": "base_url", "served": "identity", "llama.cpp": "weights"}


def option_key(
    script: str,
    path: tuple[str, ...],
    options: Mapping[str, Any],
    config: Mapping[str, Any],
    wildcards: Mapping[str, str] = {},
) -> str:
    """The key that an option of `script` comes from.

    Args:
        path: the option's names, from the outermost to its own.
        options: all options of the recipe.
        config: the validated configuration.
        wildcards: of the job.
    """
    name, *inner = path
    known = _ELSEWHERE.get((script, name))
    if script == "import_answers" and name != "difficulties":
        return ".".join([_import(options, config), _OF_IMPORTS.get(name, name), *inner])
    if script == "index" and name == "models":
        # An entry for each model: its name, and what is said of it.
        if len(inner) < 2:
            return " in ".join([*inner, "evaluation.models"])
        return _described(inner[0], inner[1:], config)
    if script == "report" and name == "model":
        return _described(options["model"]["name"], inner, config)
    if script in ("funnel", "pr_report") and name == "prices":
        return _price(inner, config)
    if script.startswith(_PULLS):
        return pulls.option(script, path, options, config, wildcards)
    if known or name in _OF_ALL:
        key = known or _OF_ALL[name]
        # Of what is said in words, the names inside are no keys: the first says of what it is.
        return f"{key} ({inner[0]})" if " " in key and inner else ".".join([key, *inner])
    for section in _SECTIONS.get(script, ()):
        if name in _section(config, section):
            return ".".join([section, *path])
    return ".".join(path)


def model_key(script: str, role: str) -> str:
    """The key that chooses the model or models of a part."""
    if script == "answer":
        return "evaluation.models"
    if script.startswith(_PULLS):
        return pulls.model(script, role)
    return _CHOSEN.get((script, role), f"steps.{script}.model")


def asked_key(script: str, role: str, label: str, path: tuple[str, ...], config: Mapping[str, Any]) -> str:
    """The key, or the two that it may be, that a value of how model `label` is asked comes from."""
    name, *inner = path
    if name == "sampling" and inner:
        own, step = f"models.{label}.{'.'.join(path)}", f"{_sampling(script, role)}.{inner[0]}"
        # What a step sets wins. Where it sets nothing, it may have done so before.
        if _section(config, _sampling(script, role)).get(inner[0]) is not None:
            return step
        return f"{own} or {step}"
    if name == "endpoint":
        model = config["models"].get(label, {})
        name = "identity" if model.get("identity") else _ENDPOINT.get(model.get("runtime", ""), name)
    return ".".join(["models", label, name, *inner])


def _sampling(script: str, role: str) -> str:
    if script == "answer":
        return "evaluation.sampling"
    if script.startswith(_PULLS):
        return f"{pulls.step(script, role)}.sampling"
    return _SAMPLED.get((script, role), f"steps.{script}.sampling")


def _described(label: str, inner: list[str], config: Mapping[str, Any]) -> str:
    """A value of what reports say of a model (`devqa.config.described.model`)."""
    if inner[:1] == ["families"]:
        return f"{_OF_ALL['families']} ({label})"
    if inner[:1] == ["endpoint"]:
        return asked_key("", "", label, tuple(inner), config)
    imported = _numbers(config, label)
    return ".".join([f"evaluation.imports.{imported[0]}" if imported else f"models.{label}", *inner])


def _price(inner: list[str], config: Mapping[str, Any]) -> str:
    if not inner:
        return "prices"
    label, *kind = inner
    if label.startswith("search:"):
        return "search.price_per_request"
    return _described(label, ["price", *kind], config)


def _import(options: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    for number in _numbers(config, options["model"]):
        if config["evaluation"]["imports"][number]["setting"] == options["setting"]:
            return f"evaluation.imports.{number}"
    return "evaluation.imports"


def _numbers(config: Mapping[str, Any], label: str) -> list[int]:
    """The places of the imports that are of this model."""
    return [number for number, each in enumerate(config["evaluation"]["imports"]) if each["model"] == label]


def _section(config: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """The section at a dotted path; nothing where there is none."""
    section: Any = config
    for name in path.split("."):
        section = (section or {}).get(name)
    return section or {}
