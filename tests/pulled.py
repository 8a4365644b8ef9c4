"""Rows of the tables from pull requests to a benchmark with facts, as their steps give them."""

from typing import Any

from devqa.pull_requests.questions.rows import identifier
from devqa.steps.outcomes import OK
from devqa.tables import SCHEMAS
from devqa.tokens import estimate

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = {
    "repository": "shop",
    "name": "acme/shop",
    "url": "https://code.example/acme/shop",
    "commit": COMMIT,
    "branch": "main",
}
QUESTION = "How does the basket decide which discount a customer gets?"
ANSWER = "It takes the largest discount of all that apply, and none below ten items."


def pull(number: int = 1, repository: str = "shop", title: str = "Take the best discount") -> dict[str, Any]:
    """The columns that say which pull request a row is about."""
    return {"pull_id": f"{repository}#{number}", "repository": repository, "number": number, "title": title}


def block(name: str = "Basket.discount", path: str = "shop/basket.py", text: str = "", **more: Any) -> dict[str, Any]:
    """An entry of `blocks`: the definition `name` of `path`, or all of the file where `name` is ""."""
    text = text or f"def {name.rpartition('.')[2]}(self, items):\n    return max(items)\n"
    return {
        "node": f"{name} ({path})" if name else path,
        "kind": "method" if "." in name else "function" if name else "file",
        "path": path,
        "language": "python",
        "start_line": 1,
        "end_line": len(text.splitlines()),
        "tokens": estimate(text),
        "cut": False,
        "text": text,
        **more,
    }


def definition(name: str = "Basket.discount", path: str = "shop/basket.py", **more: Any) -> dict[str, Any]:
    """A row of table `blocks`; of a whole file where `name` is ""."""
    row = {key: value for key, value in block(name, path).items() if key not in ("cut", "text")}
    return {**row, "blob": "b" * 40, "quiet": [] if row["kind"] == "file" else None, **OK, **more}


def context(number: int = 1, blocks: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    """A row of table `context`."""
    blocks = [block(), block("total", "shop/till.py")] if blocks is None else blocks
    hunks = [
        {
            "path": each["path"],
            "start_line": 1,
            "end_line": 2,
            "was": each["node"],
            "outcome": "same",
            "node": each["node"],
        }
        for each in blocks
    ]
    return {
        **pull(number),
        "body": "Customers complained about small discounts.",
        "blocks": blocks,
        "hunks": hunks,
        "n_files_pr": len({each["path"] for each in blocks}),
        **OK,
        **more,
    }


def question(number: int = 1, **more: Any) -> dict[str, Any]:
    """A row of table `pull_questions`."""
    return {
        **pull(number),
        "question": QUESTION,
        "scope": "deep",
        "core": True,
        "difficulty": "moderate",
        "nodes": [block()["node"]],
        "outcome": "ok",
        "raw": "",
        "usage": [],
        **OK,
        **more,
    }


def checked(number: int = 1, **more: Any) -> dict[str, Any]:
    """A row of table `pull_checked`."""
    found = {"searchable": True, "found_by": ["discount"], "n_found_files": 1}
    criteria = [{"criterion": "no_paths", "passed": True, "reason": ""}]
    return {**question(number), "criteria": criteria, **found, **more}


def answer(number: int = 1, **more: Any) -> dict[str, Any]:
    """A row of table `pull_answers`."""
    return {**_columns(question(number), "pull_answers"), "answer": ANSWER, **more}


def fact(number: int = 1, text: str = "The largest discount is taken.", **more: Any) -> dict[str, Any]:
    """An entry of `facts` in table `pull_facts`."""
    return {"number": number, "fact": text, "importance": "vital", "supported": True, "reason": "it says so", **more}


def facts(number: int = 1, entries: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    """A row of table `pull_facts`."""
    second = fact(2, "Below ten items there is no discount.", importance="okay")
    entries = [fact(), second] if entries is None else entries
    return {**_columns(answer(number), "pull_facts"), "facts": entries, **more}


def benchmark_question(number: int = 1, **more: Any) -> dict[str, Any]:
    """A row of table `repository_questions`."""
    whole = {**context(number), **checked(number)}
    row = {
        **pull(number),
        **{key: REPOSITORY[key] for key in ("name", "url", "commit")},
        "answer": ANSWER,
        **{key: whole[key] for key in ("question", "scope", "core", "searchable", "difficulty", "nodes")},
        "context": whole["blocks"],
        "n_context_nodes": 1,
        "n_context_files": 1,
        "n_files_pr": whole["n_files_pr"],
        "n_found_files": 1,
        **more,
    }
    return {"id": identifier(row["name"], row["commit"], row["pull_id"], row["question"]), **row}


def benchmark_facts(number: int = 1, **more: Any) -> dict[str, Any]:
    """A row of table `repository_facts`, of the same question."""
    kept = [{key: each[key] for key in ("number", "fact", "importance")} for each in facts()["facts"]]
    row = benchmark_question(number)
    return {"id": row["id"], "question": row["question"], "facts": kept, **more}


def _columns(row: dict[str, Any], table: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key in SCHEMAS[table].names}
