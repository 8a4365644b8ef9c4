"""Edits of templates and code while a run is on.

A job's recipe (`devqa.recipe`) is made when the run begins, and the job reads its files later. One that works with
others would leave a table that is recorded as made with those of the recipe, and nothing would notice.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from devqa.errors import UserError


def refuse(recipe: Mapping[str, Any], base: str | Path) -> None:
    """Stop a job whose templates or modules below `base`, the project's folder, are not those of its parsed `recipe`.

    To be called before they are read, and when all is done.

    Raises:
        UserError: names the first such file.
    """
    for file, digest in recipe.get("code", {}).items():
        if _sha256(Path(base, "scripts", file)) != digest:
            raise _edited(f"scripts/{file}")
    for name, files in recipe.get("prompts", {}).items():
        # Not needed by jobs that ask nobody.
        from devqa.prompts import Prompt

        now = Prompt(Path(base, "prompts"), name).files()
        if changed := sorted(file for file in {*files, *now} if files.get(file) != now.get(file)):
            raise _edited(f"prompts/{changed[0]}")


def _edited(file: str) -> UserError:
    return UserError(
        f"{file} was edited while the run was on, and the run had begun without the edit. What was answered is kept: "
        "give the same command again"
    )


def _sha256(file: Path) -> str | None:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return None
