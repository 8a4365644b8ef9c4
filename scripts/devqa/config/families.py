"""Which evaluated models are of the family of a model that had a part in the benchmark or in the grading.

A model may do well on questions that its own kind wrote or let through, and judges tend to favour their own kind
(Panickssery et al., "LLM Evaluators Recognize and Favor Their Own Generations", arXiv 2404.13076). So a report says
where the two meet. Families are read off the models' names; `family` in the configuration says what names don't.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from devqa.config.root import Config

# Beginnings of names, and the family that they stand for; the first that fits counts.
_KNOWN = (
    ("gpt", r"gpt|chatgpt|o\d|davinci|text-davinci|codex"),
    ("llama", r"(?:meta-?)?llama|codellama|code-llama|vicuna|alpaca"),
    ("qwen", r"qwen|qwq|qvq|codeqwen"),
    ("mistral", r"mistral|mixtral|codestral|ministral|devstral|magistral|pixtral|mathstral|open-mi[sx]tral"),
    ("gemma", r"gemma|codegemma"),
    ("glm", r"glm|chatglm|codegeex"),
    ("command", r"command|c4ai-command"),
    ("kimi", r"kimi|moonshot"),
    ("smollm", r"smollm"),
)
# What providers put before a model's own name: "us.anthropic.claude-…", "ft:gpt-…".
_PREFIX = re.compile(r"^(?:ft:|(?:[a-z-]+\.)+(?=[a-z]))")


def family_of(name: str) -> str:
    """The family that a model's name tells: its first letters, in lower case, without an owner.

    `Qwen/QwQ-32B` is of `qwen`, `o3-mini` of `gpt`, `codellama-7b` of `llama`; a name without letters at its
    beginning is a family of its own.
    """
    own = known_name(name)
    for family, beginnings in _KNOWN:
        if re.match(beginnings, own):
            return family
    letters = re.match(r"[^\W\d_]+", own)
    return letters.group() if letters else own


def known_name(name: str) -> str:
    """A model's own name: without its owner or its provider's prefixes, in lower case."""
    return _PREFIX.sub("", name.strip().rstrip("/").rsplit("/", 1)[-1].lower())


def families(config: Config) -> list[dict[str, Any]]:
    """For each evaluated model that meets its own family in another role: `model`, `family` and `roles`.

    A role has `role` (`queries`, `condense`, `generate`, `check`, `verify`, `filter`, `filter judge`, `judge`, `panel`
    or `domains`), the `model` that has it, its `family`, and `same_model`: whether it is the evaluated one itself.
    Where the benchmark comes from elsewhere, the steps that would build it are none of its roles.
    """
    found = []
    for label in config.evaluation.all_models():
        family, name = _evaluated(config, label)
        same = [
            {"role": role, "model": each, "family": other, "same_model": each == label or name == other_name}
            for role, each in _roles(config)
            for other, other_name in [_described(config, each)]
            if other == family
        ]
        if same:
            found.append({"model": label, "family": family, "roles": same})
    return found


def _evaluated(config: Config, label: str) -> tuple[str, str]:
    """Family and own name of a model that is evaluated."""
    if label in config.evaluation.models:
        return _described(config, label)
    said = next((each.family for each in config.evaluation.imports if each.model == label and each.family), "")
    return said.strip().lower() or family_of(label), known_name(label)


def _described(config: Config, label: str) -> tuple[str, str]:
    """Family and own name of a model of `models`."""
    model = config.models[label]
    weights = model.weights or ""
    # A file of weights is called after the model; a package of weights, or a label, as people like.
    name = model.model or (PurePosixPath(weights).stem if weights.endswith(".gguf") else label)
    return model.family.strip().lower() or family_of(name), known_name(name)


def _roles(config: Config) -> Iterator[tuple[str, str]]:
    """(role, model) of every part in the benchmark, if it is built here, and in the grading."""
    steps, evaluation = config.steps, config.evaluation
    if config.builds():
        for role in ("queries", "condense", "generate", "check", "verify"):
            yield role, getattr(steps, role).model
        yield from (("filter", label) for label in steps.difficulty.models)
        yield "filter judge", steps.difficulty.judge
    if evaluation.judge:
        yield "judge", evaluation.judge.model
    yield from (("panel", label) for label in evaluation.panel)
    if evaluation.domains:
        yield "domains", evaluation.domains.model
