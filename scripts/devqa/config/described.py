"""What results and reports say about the configuration that made them."""

from typing import Any

from devqa.config.root import Config

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
    """What the report of a model says of it beside its figures."""
    described = config.models[label]
    return {
        "name": label,
        "endpoint": described.endpoint(),
        "model": described.model or label,
        "note": described.note,
        "price": described.price.model_dump(),
    }


def notes(config: Config) -> list[str]:
    """What the configuration says about models that take part in making the benchmark or in grading."""
    return [f"{label}: {config.models[label].note}" for label in config.used_models() if config.models[label].note]
