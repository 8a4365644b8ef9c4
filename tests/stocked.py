"""A small cache with a configuration that reads a part of it, for the tests of `devqa.stock`."""

import hashlib
import json
import os
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from devqa.config.models import Model, asked_with
from devqa.llm.cache import Shelf, encode, responses

RECORD = {
    "outcome": "ok",
    "reason": "",
    "text": "an answer",
    "data": None,
    "raw": "",
    "input_tokens": 1_000_000,
    "output_tokens": 1_000_000,
    "reasoning_tokens": 0,
    "cached_tokens": 0,
    "model": "m",
}


def key(name: Any) -> str:
    """The key of the request `name`."""
    return hashlib.sha256(str(name).encode()).hexdigest()


def configuration(folder: Path, **labels: dict[str, Any]) -> dict[str, Any]:
    """A validated configuration: its cache lies in `folder`, its models are `labels` at 1 USD a million tokens."""
    models = {
        label: Model(base_url="http://x/v1", price={"input": 1, "output": 1}, **more).model_dump(mode="json")
        for label, more in labels.items()
    }
    return {"models": models, "cache_dir": str(folder / "cache"), "cache_archive": str(folder / "archive.zip")}


def asked(config: dict[str, Any], label: str) -> dict[str, Any]:
    """How one of the configuration's models is asked."""
    return asked_with(label, Model(**config["models"][label]))


def shelf(config: dict[str, Any], label: str) -> Shelf:
    """The part of the cache that belongs to a model of the configuration."""
    how = asked(config, label)
    return responses(config["cache_dir"]).shelf(how["endpoint"], how["model"])


def fill(config: dict[str, Any], label: str, step: str, *names: Any, days: float = 2, **more: Any) -> Path:
    """Write a segment with a record for each of `names`, `days` old; `more` are values of the records."""
    with shelf(config, label).writer(step) as writer:
        writer.write(key("sets the path"), RECORD)
    path = writer.path
    moment = path.stat().st_mtime - days * 86_400
    record = {**RECORD, "step": step, "time": moment, **more}
    path.write_bytes(b"".join(encode(key(name), {**record, "text": f"answer {name}"}) for name in names))
    os.utime(path, (moment, moment))
    return path


def job(
    config: dict[str, Any], rule: str, roles: dict[str, str | list[str]], basis: str = "exact", *, runs: bool = True
) -> SimpleNamespace:
    """What `devqa.bill.plan.planned` says of a job: `roles` are the labels of its models."""
    models = {
        role: asked(config, names) if isinstance(names, str) else [asked(config, name) for name in names]
        for role, names in roles.items()
    }
    return SimpleNamespace(rule=rule, basis=basis, recipe=json.dumps({"models": models}), runs=runs)


def reading(config: dict[str, Any], label: str, *names: Any, complete: bool = True) -> SimpleNamespace:
    """What `devqa.bill.meter.measured` says of one model in a job that asks the requests `names`."""
    how = asked(config, label)
    keys = tuple(key(name) for name in names)
    return SimpleNamespace(endpoint=how["endpoint"], model=how["model"], keys=keys, complete=complete)


def zipped(config: dict[str, Any], *entries: tuple[str, bytes]) -> None:
    """Write an archive with these entries, whatever they are."""
    with zipfile.ZipFile(config["cache_archive"], "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in entries:
            file.writestr(zipfile.ZipInfo(name), content)
