"""A user's configuration over the embedded default."""

from collections.abc import Mapping
from typing import Any

# A section that names one of these is about another model, engine or source than the default's, so the default's
# numbers, which are made for a tiny model, must not reach it.
CHOICES = frozenset({"model", "models", "imports", "engine", "corpus", "path"})


def laid_over(merged: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """The default configuration with a user's laid over it.

    Sections are merged key by key, but for two kinds that are taken whole from `overlay`: `dialogues`, because a
    user who names sources wants those and not the example beside them, and every section that chooses its model,
    engine or source.

    Args:
        merged: both as Snakemake merges them, key by key.
        overlay: the user's own.
    """
    return {
        **merged,
        **{
            key: laid_over(merged[key], value) if key != "dialogues" and _merges(merged.get(key), value) else value
            for key, value in overlay.items()
        },
    }


def _merges(section: Any, over: Any) -> bool:
    return isinstance(section, Mapping) and isinstance(over, Mapping) and not CHOICES & over.keys()
