"""What results and reports say about the configuration that made them."""

from collections.abc import Collection
from typing import Any

from devqa.config.families import families
from devqa.config.root import Config
from devqa.llm.pricing import effective_price

_EXAMPLE, _EXAMPLE_PAGES = "examples/dialogues.jsonl", "examples/web"

# The prompts that had a part in the benchmark, by step.
STEP_PROMPTS = {
    "queries": ["queries"],
    "condense": ["condense"],
    "generate": ["generate"],
    "check": ["check"],
    "verify": ["verify/answer", "verify/compare"],
    "difficulty": ["answer/plain", "judge"],
}


def step_models(config: Config) -> list[dict[str, str]]:
    """Which model each step asked, and where: the provenance that all rows of a benchmark share."""
    named = [(name, getattr(config.steps, name).model) for name in STEP_PROMPTS if name != "difficulty"]
    named += [("difficulty", label) for label in config.steps.difficulty.models]
    named += [("difficulty judge", config.steps.difficulty.judge)]
    return [
        {"step": step, "model": config.models[label].model or label, "endpoint": config.models[label].endpoint()}
        for step, label in named
    ]


def model(config: Config, label: str) -> dict[str, Any]:
    """What the report of a model says of it beside its figures; `endpoint` is "" for answers from elsewhere."""
    described = config.models.get(label) if label in config.evaluation.models else None
    imported = next((each for each in config.evaluation.imports if each.model == label), None)
    return {
        "name": label,
        "endpoint": described.endpoint() if described else "",
        "model": described.model or label if described else label,
        "note": (described or imported).note,
        "price": prices(config)[label],
        "families": [each for each in families(config) if each["model"] == label],
    }


def prices(config: Config) -> dict[str, dict[str, float]]:
    """What each model's tokens cost: label → `input`, `output` and `cached_input` in USD per million tokens.

    A search engine that takes money is among them as `search:<engine>` (`devqa.usage.searched`), with `request` in USD.
    """
    imported = {each.model: effective_price(each.price.model_dump(), "online") for each in config.evaluation.imports}
    asked = {label: effective_price(model.price.model_dump(), model.mode) for label, model in config.models.items()}
    return asked | imported | _of_searches(config)


def _of_searches(config: Config) -> dict[str, dict[str, float]]:
    engine, price = config.search.engine, config.search.price_per_request
    return {f"search:{engine}": {"request": price}} if price and engine != "local" and config.searches() else {}


def notes(config: Config, besides: Collection[str] = ()) -> list[str]:
    """What has to be said of the models that take part, leaving out those in `besides`, and of the search."""
    used = [label for label in config.used_models() if label not in besides]
    said = [f"{label}: {config.models[label].note}" for label in used if config.models[label].note]
    return [*said, *_made_up_pages(config)]


def _made_up_pages(config: Config) -> list[str]:
    """The example's pages, searched for somebody's own questions because no search was configured."""
    own = not config.builds() or any(source.path != _EXAMPLE for source in config.dialogues.values())
    if config.searches() and own and config.search.engine == "local" and config.search.corpus == _EXAMPLE_PAGES:
        return [f"search: pages come from {_EXAMPLE_PAGES}, which is made up: name an engine or a corpus of your own"]
    return []
