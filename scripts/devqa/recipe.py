"""What a rule's result depends on beside its data, as one canonical JSON string.

Snakemake compares params as a set of `repr()`s and tracks neither templates nor imported modules, so each rule has
one param that holds it all: the step's own slice of the validated configuration, how its models are asked, and the
content hashes of its prompts, of its script's import closure and of files from outside. Nothing that changes no result
is in it.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from devqa.prompts import Prompt
from devqa.provenance import closure


def recipe(
    base: str | Path,
    script: str,
    options: Mapping[str, Any],
    models: Mapping[str, Any] | None = None,
    prompts: Sequence[str] = (),
    files: str = "",
) -> str:
    """The recipe of a rule that runs `scripts/<script>`.

    Args:
        base: the project's folder, which holds `scripts/` and `prompts/`.
        options: what the step is told, as plain JSON values.
        models: what each of the step's roles asks (`devqa.config.models.asked_with`).
        prompts: the names of its prompt folders.
        files: the digest of the files from outside that it reads (`devqa.fingerprint`); "" where it reads none.

    Raises:
        UserError: a template is missing or does not parse.
    """
    base = Path(base)
    content = {
        "options": options,
        "models": models or {},
        "prompts": {name: Prompt(base / "prompts", name).files() for name in prompts},
        "code": closure(base / "scripts" / script, base / "scripts"),
    }
    if files:
        content["files"] = files
    return json.dumps(content, sort_keys=True, ensure_ascii=False)


def asked_models(recipe: str) -> list[dict[str, Any]]:
    """How each model that plays a part in a recipe is asked (`devqa.config.models.asked_with`), with its `role`."""
    return [
        {**asked, "role": role}
        for role, parts in json.loads(recipe)["models"].items()
        for asked in (parts if isinstance(parts, list) else [parts])
    ]


def searches(recipe: str) -> bool:
    """Does a rule with this recipe ask the search engine?"""
    return "engine" in json.loads(recipe)["options"]
