"""Figures as JSON: the same figures, the same bytes."""

import dataclasses
import json
import os
from typing import Any

import numpy as np

from devqa.evaluation.bootstrap import Estimate
from devqa.files import replacing


def as_json(value: Any) -> Any:
    """`value` as JSON values: an `Estimate` as {value, low, high}, a dataclass as its fields."""
    if isinstance(value, Estimate):
        return {name: as_json(figure) for name, figure in value._asdict().items()}
    if dataclasses.is_dataclass(value):
        return {field.name: as_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {key: as_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def write(value: Any, path: str | os.PathLike) -> None:
    """Write `value` as JSON with sorted keys, whole or not at all.

    Raises:
        ValueError: a figure is NaN or infinite, for which JSON has no word.
    """
    text = json.dumps(as_json(value), ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False)
    with replacing(path) as temporary:
        temporary.write_text(f"{text}\n", encoding="utf-8")
