"""What differs between two recipes (`devqa.recipe`) of the same job, in words that people use."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from devqa.why.keys import asked_key, model_key, option_key

# Longer values are cut.
_WIDTH = 60
_UNSET = object()
# What may hold a secret that somebody has put where none belongs: a parameter of a request, or of an address.
_SECRET = re.compile(r"key|token|secret|password|credential|auth", re.IGNORECASE)
_COUNTED = re.compile(r"tokens(_key)?$")
_QUERY = re.compile(r"\?.*")
_KNOWN = {"options", "models", "prompts", "code", "files", "again"}


class Template(NamedTuple):
    """A file of a prompt, by its path below `prompts/`, with the hashes of its contents; None where it had no part."""

    file: str
    before: str | None
    now: str | None


@dataclass(frozen=True)
class Changes:
    """How a recipe differs from an earlier one.

    Attributes:
        templates: files of its prompts.
        values: keys of the configuration, each with its earlier and its present value.
        code: files below `scripts/`; those that came to it or went are marked.
        files: the content of files from outside differs.
        again: rows were given up, and are asked about again.
        unreadable: the earlier recipe is of another version of the workflow.
    """

    templates: tuple[Template, ...] = ()
    values: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    files: bool = False
    again: bool = False
    unreadable: bool = False

    def __bool__(self) -> bool:
        return self != Changes()


def compared(
    script: str, earlier: str | None, now: str, config: Mapping[str, Any], wildcards: Mapping[str, str] = {}
) -> Changes:
    """How the recipe `now` of a job with this script differs from `earlier`; no change where that is not known.

    Args:
        config: the validated configuration, which says what the keys are called.
        wildcards: of the job.
    """
    if earlier is None or earlier == now:
        return Changes()
    before, after = _read(earlier), _read(now)
    if before is None or after is None:
        return Changes(unreadable=True)
    values = [*_options(script, before, after, config, wildcards), *_models(script, before, after, config)]
    changes = Changes(
        templates=tuple(_templates(before["prompts"], after["prompts"])),
        values=tuple(dict.fromkeys(values)),
        code=tuple(_code(before["code"], after["code"])),
        files=before.get("files") != after.get("files"),
        again=before.get("again") != after.get("again"),
    )
    return changes or Changes(values=("the order of what it is told",))


def _read(recipe: str) -> dict[str, Any] | None:
    try:
        content = json.loads(recipe)
    except ValueError:
        return None
    needed = ("options", "models", "prompts", "code")
    good = isinstance(content, dict) and all(isinstance(content.get(name), dict) for name in needed)
    return content if good and content.keys() <= _KNOWN else None


def _templates(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Template]:
    """The files of all prompts, each once: several prompts may include the same one."""
    earlier = {file: content for files in before.values() for file, content in files.items()}
    present = {file: content for files in now.values() for file, content in files.items()}
    for file in sorted(earlier.keys() | present.keys()):
        if earlier.get(file) != present.get(file):
            yield Template(file, earlier.get(file), present.get(file))


def _code(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    for file in sorted(before.keys() | now.keys()):
        if before.get(file) != now.get(file):
            mark = "" if file in before and file in now else " (new)" if file in now else " (gone)"
            yield f"scripts/{file}{mark}"


def _options(
    script: str,
    before: Mapping[str, Any],
    now: Mapping[str, Any],
    config: Mapping[str, Any],
    wildcards: Mapping[str, str],
) -> Iterator[str]:
    for path, old, new in _differing(_by_name(before["options"]), _by_name(now["options"])):
        yield _said(option_key(script, path, now["options"], config, wildcards), path, old, new)


def _models(script: str, before: Mapping[str, Any], now: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[str]:
    for role in sorted(before["models"].keys() | now["models"].keys()):
        earlier, present = (_labelled(content["models"].get(role, [])) for content in (before, now))
        if list(earlier) != list(present):
            several = max(len(earlier), len(present)) > 1
            old, new = (list(each) if several else next(iter(each), None) for each in (earlier, present))
            yield _said(model_key(script, role), (), old, new)
        for label in earlier.keys() & present.keys():
            for path, old, new in _differing(earlier[label], present[label]):
                yield _said(asked_key(script, role, label, path, config), path, old, new)


def _labelled(asked: Any) -> dict[str, Any]:
    """How the models of a part are asked, by their labels."""
    return {each["label"]: each for each in (asked if isinstance(asked, list) else [asked])}


def _differing(before: Any, now: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Every path at which values differ, with both; what is missing on one side is told by `_UNSET`."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for name in dict.fromkeys([*now, *before]):
            yield from _differing(before.get(name, _UNSET), now.get(name, _UNSET), (*path, name))
    elif _text(before) != _text(now):
        yield path, before, now


def _text(value: Any) -> str:
    """A value as it stands in a recipe, where 1 and 1.0 are not the same."""
    return "" if value is _UNSET else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _by_name(value: Any) -> Any:
    """`value` with lists of entries that have a name of their own as mappings from these names."""
    if isinstance(value, Mapping):
        return {name: _by_name(inner) for name, inner in value.items()}
    if isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
        naming = next((name for name in ("name", "step", "model") if all(name in each for each in value)), None)
        names = [str(each[naming]) for each in value] if naming else []
        if naming and len({*names}) == len(names):
            inner = ({key: _by_name(entry) for key, entry in each.items() if key != naming} for each in value)
            return dict(zip(names, inner, strict=True))
    return value


def _said(key: str, path: tuple[str, ...], old: Any, new: Any) -> str:
    for value, other, word in ((old, new, "new"), (new, old, "gone")):
        if value is _UNSET and isinstance(other, Mapping):
            return f"{key} is {word}"
    # What is no key is told by its name alone.
    named = " " in key and " or " not in key
    return key if named else f"{key}: {_value(path, old)} → {_value(path, new)}"


def _value(path: tuple[str, ...], value: Any) -> str:
    if value is _UNSET or value is None:
        return "not set"
    text = json.dumps(_without_secrets(value, path[-1] if path else ""), ensure_ascii=False)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def _without_secrets(value: Any, name: str) -> Any:
    """`value` without what may be a key, by its name, and without what stands behind ? in an address."""
    if isinstance(value, Mapping):
        return {inner: _without_secrets(each, inner) for inner, each in value.items()}
    if isinstance(value, list):
        return [_without_secrets(each, name) for each in value]
    if not isinstance(value, str):
        return value
    if _SECRET.search(name) and not _COUNTED.search(name):
        return "(hidden)"
    return _QUERY.sub("?(hidden)", value) if "://" in value else value
