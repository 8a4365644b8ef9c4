"""Jobs that run again in the next run, because some of their requests or searches failed for faults that may pass.

Such a job leaves a token, and the job's recipe holds the token that it finds: Snakemake sees a changed param and
runs the job again. What was answered comes from the cache, so only what was given up is sent.
"""

import json
import uuid
from collections.abc import Mapping
from pathlib import Path

from devqa.files import replacing

FOLDER = Path("results/.again")


def token(rule: str, wildcards: Mapping[str, str]) -> str:
    """The token that the job of `rule` with these `wildcards` has left; "" if none."""
    try:
        return _file(rule, wildcards).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def added(recipe: str, token: str) -> str:
    """The JSON text `recipe` (`devqa.recipe`) with `token` in it; as it is where there is none."""
    return json.dumps({**json.loads(recipe), "again": token}, sort_keys=True, ensure_ascii=False) if token else recipe


def leave(rule: str, wildcards: Mapping[str, str]) -> None:
    """Leave a new token for the job of `rule` with these `wildcards`.

    Raises:
        UserError: the file can't be written.
    """
    with replacing(_file(rule, wildcards)) as temporary:
        temporary.write_text(f"{uuid.uuid4().hex}\n", encoding="utf-8")


def _file(rule: str, wildcards: Mapping[str, str]) -> Path:
    return FOLDER.joinpath(rule, *(wildcards[name] for name in sorted(wildcards)))
