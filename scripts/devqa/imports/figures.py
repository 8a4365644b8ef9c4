"""Figures of other benchmarks, one per model (SimpleDevQA, 7.4)."""

from collections.abc import Iterable
from typing import Any

from devqa.errors import UserError
from devqa.imports.reading import Columns, number, records, stripped, text


def outside_figures(files: Iterable[str], section: dict[str, Any]) -> dict[str, float]:
    """Model → figure, in the order of the files.

    Args:
        section: `evaluation.code_generation` of the configuration as plain values.

    Raises:
        UserError: a file can't be read or lacks a column; a row has no model or no number, or a model comes twice; or
            shares stand beside percent.
    """
    names = {"model": section["model_column"], "figure": section["score_column"]}
    figures: dict[str, float] = {}
    for record in list(records(files, Columns(names, named=tuple(names)))):
        model = stripped(record, "model")
        figure = _figure(record.values.get("figure"))
        if not model:
            raise UserError(f"{record} has no model in column '{names['model']}'")
        if figure is None:
            said = text(record, "figure") or ""
            raise UserError(f"{record}: {names['figure']} of {model} is {said!r}: write a number such as 67.5 or 0.675")
        if model in figures:
            raise UserError(f"{record}: {model} has a figure in an earlier row: keep one")
        figures[model] = figure
    shares = [model for model, figure in figures.items() if 0 < figure < 1]
    others = [model for model, figure in figures.items() if figure > 1]
    if shares and others:
        raise UserError(
            f"{section['path']}: {figures[shares[0]]:g} of {shares[0]} is a share and {figures[others[0]]:g} of "
            f"{others[0]} is not: write all figures on one scale"
        )
    return figures


def _figure(value: Any) -> float | None:
    """A number; a percent sign says nothing that the other rows don't."""
    return number(value.strip().removesuffix("%") if isinstance(value, str) else value)
