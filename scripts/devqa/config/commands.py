"""The configuration of a command that runs beside Snakemake."""

import copy
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from snakemake.utils import update_config

from devqa.config import root
from devqa.config.layers import laid_over
from devqa.config.root import Config
from devqa.errors import UserError

DEFAULT = Path(__file__).resolve().parents[3] / "config.yaml"


def configuration(files: Iterable[str]) -> Config:
    """What a run with `--configfile` and these files has as its configuration.

    Raises:
        UserError: a file can't be read, or the configuration is not valid.
    """
    overlay: dict[str, Any] = {}
    for file in files:
        update_config(overlay, _read(Path(file)))
    merged = copy.deepcopy(_read(DEFAULT))
    update_config(merged, overlay)
    return root.load(laid_over(merged, overlay))


def _read(file: Path) -> dict[str, Any]:
    try:
        found = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{file} can't be read ({error.strerror}): name the file that snakemake gets") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{file} is no YAML ({error}): mend it") from error
    if not isinstance(found or {}, dict):
        raise UserError(f"{file} is no configuration: it must have keys and values")
    return found or {}
