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
    "pr_question": 150,
    "pr_check": 150,
    "pr_answer": 120,
    "pr_facts": 250,
    "pr_support": 200,
    "pr_full_context": 150,
    "pr_no_context": 150,
    "pr_retrieval": 150,
    "pr_agentic": 150,
    "pr_judge": 120,
}
STUDYING = ("study_filter", "study_tasks", "study_suitability")
# The steps from pull requests that ask models, each with the parts that these play, in the order in which data flows.
PULLING = {
    "pr_question": ("pr_question",),
    "pr_check": ("pr_check",),
    "pr_answer": ("pr_answer",),
    "pr_facts": ("pr_facts", "pr_support"),
    "pr_predict": ("pr_full_context", "pr_no_context", "pr_retrieval", "pr_agentic"),
    "pr_recall": ("pr_judge",),
}
# Facts of a question in DeepCodeBench (https://huggingface.co/datasets/Qodo/deep_code_bench), and what each mostly has.
FACTS, _FACT = 6.58, 25
_ASKED_IN_WORDS = PULLING["pr_predict"]
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
        if name.split("/")[0] == role or name in (f"answer/{role}", role.replace("_", "/"), _of_pull_requests(role))
    ]
    structured = role in ("queries", "generate", "check", "verify", "domains", *STUDYING)
    structured = structured or (role.startswith("pr_") and role not in _ASKED_IN_WORDS)
    limit = asked["sampling"].get("max_tokens", asked["context"])
    given, most = _given(role, content["options"], config, asked["context"] - limit)
    return Size(
        input=min(mean(texts) + given + structured * _SCHEMA, asked["context"]),
        input_most=min(max(texts) + most + structured * _SCHEMA_MOST, asked["context"]),
        output=usual_answer(role, asked),
        output_most=limit,
        structured=structured,
    )


def _of_pull_requests(role: str) -> str:
    """The prompt with which a model plays this part there."""
    return role.replace("pr_", "pull_requests/", 1)


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
        case "pr_question" | "pr_check" | "pr_answer" | "pr_support" | "pr_full_context":
            # Title and description, the question, or the facts stand beside the context.
            context = config["pull_requests"]["context"]["tokens"]
            return min(context * 0.3 + _PAIR, room), min(context * 1.5 + _PAIR_MOST, room)
        case "pr_retrieval":
            return _PAIR + options["blocks"] * options["block_tokens"] * 0.4, min(
                _PAIR_MOST + options["blocks"] * options["block_tokens"], room
            )
        case "pr_agentic":
            return min(_PAIR + options["rounds"] * options["result_tokens"] * 0.5, room), room
        case "pr_judge":
            facts = min(FACTS, options["batch"]) * _FACT
            longest = config["pull_requests"]["evaluation"]["sampling"]["max_tokens"]
            return facts + _PAIR + _ANSWERS["pr_full_context"], options["batch"] * 3 * _FACT + _PAIR_MOST + longest
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
