"""How long requests are whose text is not known yet, as far as the configuration and the prompts tell."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from devqa.tokens import estimate

# What a pair's question and answer have at most (`devqa.steps.generate`), and what they mostly have.
_PAIR_MOST, _PAIR = 400, 60
# A schema counts as input where the endpoint puts it into the prompt.
_SCHEMA_MOST, _SCHEMA = 400, 100
# Answers as current models mostly give them, in tokens.
_ANSWERS = {
    "queries": 80,
    "condense": 600,
    "generate": 350,
    "check": 150,
    "verify": 80,
    "answer": 200,
    "rag": 200,
    "confidence": 210,
    "agentic": 200,
    "judge": 5,
    "domains": 20,
    "study_filter": 25,
    "study_tasks": 30,
    "study_suitability": 80,
}
STUDYING = ("study_filter", "study_tasks", "study_suitability")
# Of the longest answer that is allowed, what a model takes that thinks before it answers.
_THINKING = 0.5


@dataclass(frozen=True)
class Size:
    """Tokens of one request: what it mostly has, and at most."""

    input: float
    input_most: int
    output: float
    output_most: int
    structured: bool


def size(role: str, asked: Mapping[str, Any], recipe: str, config: Mapping[str, Any], prompts: Path) -> Size:
    """How long a request is in which the model that is `asked` plays `role`.

    Args:
        asked: how it is asked (`devqa.config.models.asked_with`).
        recipe: the recipe of its job.
        prompts: the folder that the recipe's prompts are in.
    """
    content = json.loads(recipe)
    texts = [
        sum(estimate((prompts / file).read_text(encoding="utf-8")) for file in files)
        for name, files in content["prompts"].items()
        if name.split("/")[0] == role or name in (f"answer/{role}", role.replace("_", "/"))
    ]
    structured = role in ("queries", "generate", "check", "verify", "domains", *STUDYING)
    limit = asked["sampling"].get("max_tokens", asked["context"])
    given, most = _given(role, content["options"], config, asked["context"] - limit)
    return Size(
        input=min(mean(texts) + given + structured * _SCHEMA, asked["context"]),
        input_most=min(max(texts) + most + structured * _SCHEMA_MOST, asked["context"]),
        output=usual_answer(role, asked),
        output_most=limit,
        structured=structured,
    )


def usual_answer(role: str, asked: Mapping[str, Any]) -> float:
    """The tokens of an answer of which nothing is known but who is asked for it."""
    limit = asked["sampling"].get("max_tokens", asked["context"])
    if asked["sampling"].get("reasoning_effort", "none") != "none":
        return limit * _THINKING
    return min(_ANSWERS[role], limit)


def _given(role: str, options: Mapping[str, Any], config: Mapping[str, Any], room: int) -> tuple[float, int]:
    """What stands in a request beside its instructions: mostly, and at most; in tokens."""
    match role:
        case "queries":
            return options["dialogue_tokens"] * 0.4, options["dialogue_tokens"]
        case "condense":
            return min(options["document_tokens"] * 2, room), room
        case "generate":
            # The dialogue is shown beside the documents, with a fifth of their budget.
            return options["reference_tokens"] * 0.6, int(options["reference_tokens"] * 1.2)
        case "verify":
            return _with_passages(config["steps"]["verify"], room)
        case "rag":
            return _with_passages(config["evaluation"]["rag"], room)
        case "agentic":
            # Beside the question stands what the calls before have given: a page or the results of a search each.
            return min(_PAIR + options["rounds"] * options["page_tokens"] * 0.5, room), room
        case "domains":
            names = sum(estimate(text) for pair in options["names"].items() for text in pair)
            return names + _PAIR, names + _PAIR_MOST
        case "study_filter" | "study_tasks" | "study_suitability":
            names = sum(estimate(text) for pair in options.get("categories", {}).items() for text in pair)
            return names + options["text_tokens"] * 0.5, names + options["text_tokens"]
        case "judge":
            return 2 * _PAIR + _ANSWERS["answer"], _PAIR_MOST + _longest_answer(config)
        case _:
            return _PAIR, _PAIR_MOST


def _with_passages(budget: Mapping[str, Any], room: int) -> tuple[float, int]:
    """A question with passages of at most `passage_tokens` each."""
    passages = budget["passages"] * budget["passage_tokens"]
    return min(_PAIR + passages * 0.6, room), min(_PAIR_MOST + passages, room)


def _longest_answer(config: Mapping[str, Any]) -> int:
    """The longest answer that a judge may have to read."""
    samplings = (config["steps"]["difficulty"]["sampling"], config["evaluation"]["sampling"])
    return max(sampling["max_tokens"] for sampling in samplings)
