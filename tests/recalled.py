"""Made-up questions from pull requests, predictions and the facts found in them, as rows of their tables."""

import random
from collections.abc import Sequence
from typing import Any

from devqa import tables
from devqa.evaluation.as_json import as_json
from devqa.pull_requests.figures import statistics as figures
from devqa.pull_requests.figures.funnel import funnel
from devqa.pull_requests.figures.runs import runs
from devqa.reporting import recalling
from devqa.schemas import SCHEMAS
from devqa.usage import COUNTS

Row = dict[str, Any]
REPOSITORIES = ("cli", "parser", "server")
PRICES = {"small": {"input": 1.0, "output": 4.0}, "large": {"input": 5.0, "output": 20.0}}
# Each agent with how likely it is to have a fact, seconds of an answer, and repeats.
AGENTS = {
    ("ground_truth", "ground_truth"): (0.99, 0.0, 1),
    ("full_context", "small"): (0.85, 3.0, 2),
    ("no_context", "small"): (0.2, 2.0, 2),
    ("retrieval", "small"): (0.55, 4.0, 2),
    ("agentic", "small"): (0.65, 30.0, 2),
    ("full_context", "large"): (0.92, 6.0, 2),
    ("no_context", "large"): (0.3, 4.0, 2),
    ("agentic", "large"): (0.78, 55.0, 2),
    ("command", "terminal-agent"): (0.72, 80.0, 2),
}


def block(number: int, path: str = "src/parse.py") -> Row:
    """A block of a question's context."""
    node = f"Reader.read_{number} ({path})"
    lines = {"start_line": 10 * number + 1, "end_line": 10 * number + 9}
    text = {"language": "python", "tokens": 40, "cut": False, "text": f"def read_{number}(self): …"}
    return {"node": node, "kind": "method", "path": path, **lines, **text}


def question(place: int, facts: Sequence[str] = ("vital", "okay"), repository: str = "cli", **columns: Any) -> Row:
    """A row of table `repository_benchmark`: q0000, q0001, …, with a fact of each importance."""
    blocks = columns.pop("context", [block(each) for each in range(2)])
    row = {
        "id": f"q{place:04}",
        "pull_id": f"{repository}#{place}",
        "repository": repository,
        "number": place,
        "title": f"Read faster, part {place}",
        "name": f"acme/{repository}",
        "url": f"https://github.com/acme/{repository}.git",
        "commit": "c0ffee" * 6 + "abcd",
        "question": f"How does the reader number {place} know where a record ends?",
        "answer": "It looks for the terminator and falls back to the length in the header.",
        "scope": "deep",
        "core": True,
        "searchable": False,
        "difficulty": "moderate",
        "nodes": [blocks[0]["node"]] if blocks else [],
        "context": blocks,
        "n_context_nodes": len(blocks),
        "n_context_files": len({each["path"] for each in blocks}),
        "n_files_pr": 3,
        "n_found_files": 1,
        "facts": [
            {"number": number, "fact": f"Fact {number} of question {place}.", "importance": importance}
            for number, importance in enumerate(facts, 1)
        ],
        "models": [],
        "prompts": [],
    }
    return row | columns


def prediction(row: Row, setting: str = "retrieval", model: str = "small", repeat: int = 1, **columns: Any) -> Row:
    """A row of table `predictions`: a usable answer to the question of `row`."""
    usage = {"model": model, **dict.fromkeys(COUNTS, 0), "calls": 1, "input_tokens": 1_000, "output_tokens": 100}
    counted = {"input_tokens": 1_000, "output_tokens": 100, "reasoning_tokens": 0}
    key = {"id": row["id"], "setting": setting, "model": model, "repeat": repeat}
    base = {
        **key,
        "answer": "It counts.",
        "shown": [],
        "tool_calls": [],
        "seconds": 2.0,
        "exit_code": None,
        "usd": None,
    }
    return {**base, **counted, "outcome": "ok", "raw": "", "usage": [usage], "status": "ok", "reason": "", **columns}


def recall(row: Row, found: Sequence[bool | None], of: Row | None = None, **columns: Any) -> Row:
    """A row of table `recalled` in which the i-th fact of the question is `found`; None: it is not known.

    Args:
        row: the question.
        of: the prediction; by default one like `prediction` gives.
    """
    of = of or prediction(row)
    facts = [
        {
            "number": fact["number"],
            "importance": fact["importance"],
            "found": each,
            "reason": "It is said so." if each else "",
        }
        for fact, each in zip(row["facts"], found, strict=True)
    ]
    vital = [fact["found"] for fact in facts if fact["importance"] == "vital"]
    known = None not in found
    return {
        **{key: of[key] for key in ("id", "setting", "model", "repeat")},
        "judge": "judge",
        "facts": facts,
        "recall": sum(found) / len(found) if known else None,
        "vital_recall": sum(vital) / len(vital) if known and vital else None,
        "outcome": "ok",
        "raw": "",
        "usage": [],
        **({"status": "ok", "reason": ""} if known else {"status": "rejected", "reason": "the judge: no verdict"}),
        **columns,
    }


def unanswered(of: Row) -> Row:
    """A row of table `recalled` for a prediction that failed."""
    row = dict.fromkeys(SCHEMAS["recalled"].names) | {"usage": [], "status": "failed", "facts": []}
    return row | {key: of[key] for key in ("id", "setting", "model", "repeat")} | {"reason": "there is no answer"}


def benchmark(count: int, repositories: Sequence[str] = REPOSITORIES) -> list[Row]:
    """Questions of every kind, spread over repositories."""
    drawn = random.Random(count)  # noqa: S311 - no secret
    rows = []
    for number in range(count):
        blocks = [
            block(place, f"src/part_{place % 7}.py") for place in range(min(40, 1 + int(drawn.expovariate(0.25))))
        ]
        facts = drawn.choices(("vital", "okay"), (2, 1), k=min(35, 1 + int(drawn.expovariate(0.16))))
        rows.append(
            question(
                number,
                facts,
                repositories[number % len(repositories)],
                context=blocks,
                scope="deep" if len(blocks) <= 2 else "broad",
                core=drawn.random() < 0.4,
                searchable=drawn.random() < 0.3,
                difficulty=drawn.choices(("easy", "moderate", "hard"), (1, 8, 2))[0],
                **(
                    {"number": None, "pull_id": f"{repositories[number % len(repositories)]}@{'ab' * 20}{number}"}
                    if number % 10 == 9
                    else {}
                ),
            )
        )
    return rows


def answered(rows: Sequence[Row], agents: dict[tuple[str, str], tuple[float, float, int]]) -> tuple[list, list]:
    """Predictions and recalled facts of `agents` at random; some answers fail, some of the judge's can't be used."""
    predictions, recalled = [], []
    for (setting, model), (skill, seconds, repeats) in agents.items():
        drawn = random.Random(f"{setting} {model}")  # noqa: S311 - no secret
        for repeat in range(1, repeats + 1):
            for row in rows:
                more: Row = {"seconds": seconds and drawn.lognormvariate(0, 0.5) * seconds}
                if setting == "command":
                    counts = dict.fromkeys(("input_tokens", "output_tokens", "reasoning_tokens"))
                    more |= {**counts, "usage": [], "usd": 0.02 + 0.05 * drawn.random(), "exit_code": 0}
                if setting != "ground_truth" and drawn.random() < 0.02:
                    more |= {"answer": None, "outcome": "error", "status": "failed", "reason": "error: HTTP 500"}
                text = " ".join(drawn.choices(("The reader", "looks for", "a `terminator`", "in the header."), k=60))
                given = prediction(row, setting, model, repeat, **{"answer": text} | more)
                predictions.append(given)
                found: list[bool | None] = [drawn.random() < skill for _ in row["facts"]]
                if drawn.random() < 0.01:
                    found[0] = None
                recalled.append(recall(row, found, given) if given["status"] == "ok" else unanswered(given))
    return predictions, recalled


def stages(folder: Any, rows: Sequence[Row]) -> dict[str, list[str]]:
    """Files of the stages from pulls to facts that end in these questions, in `folder`; each stage loses some."""
    files: dict[str, list[str]] = {name: [] for name in STAGES}
    for repository in sorted({row["repository"] for row in rows}):
        left = [row for row in rows if row["repository"] == repository]
        passed = len(left)
        sizes = []
        for place in range(len(STAGES)):
            passed, given = passed + (len(STAGES) - place) * 3, passed
            sizes.append((given, passed))
        for (name, (table, reasons)), (ok, given) in zip(STAGES.items(), reversed(sizes), strict=True):
            path = f"{folder}/{name}/{repository}.parquet"
            lost = [reasons[number % len(reasons)] for number in range(given - ok)]
            whole = [("ok", "")] * ok + lost
            usage = {"model": "small", **dict.fromkeys(COUNTS, 0), "calls": 1, "input_tokens": 500, "output_tokens": 50}
            columns = {"usage": [usage]} if name in _ASKED else {}
            tables.write(
                [
                    {"pull_id": f"{repository}#{number}", "repository": repository, "status": status, "reason": reason}
                    | columns
                    for number, (status, reason) in enumerate(whole)
                ],
                table,
                path,
            )
            files[name].append(path)
    return files


STAGES = {
    "pulls": ("pulls", [("rejected", "bot: renovate"), ("rejected", "only tests change")]),
    "context": ("context", [("rejected", "nothing of it is left")]),
    "questions": ("pull_questions", [("failed", "error: HTTP 500"), ("failed", "truncated: too long")]),
    "checked": ("pull_checked", [("rejected", "path: a file's name"), ("rejected", "short answer: no")]),
    "answered": ("pull_answers", [("rejected", "not answerable from the context")]),
    "facts": ("pull_facts", [("rejected", "no fact is supported")]),
}
_ASKED = ("questions", "checked", "answered", "facts")


def score(rows: Sequence[Row], predictions: Sequence[Row], recalled: Sequence[Row]) -> dict[str, Any]:
    """What scripts/pr_score.py makes of them, as plain JSON values."""
    counted = [{**row, "n_facts": len(row["facts"])} for row in rows]
    named = list(dict.fromkeys((row["setting"], row["model"]) for row in predictions))
    return as_json(figures.statistics(counted, runs(named, counted, predictions, recalled)))


def report(
    folder: Any,
    rows: Sequence[Row],
    predictions: Sequence[Row],
    recalled: Sequence[Row],
    notes: Sequence[str] = (),
    prices: dict[str, Any] = PRICES,
) -> dict[str, Any]:
    """What `recalling.recalling_data` makes of them; tables are written to `folder`."""
    files = stages(folder, rows) | written(folder, predictions, recalled)
    found = funnel(files, len(rows), prices)
    statistics = score(rows, predictions, recalled)
    return recalling.recalling_data(rows, statistics, predictions, recalled, found, prices, notes)


def written(folder: Any, predictions: Sequence[Row], recalled: Sequence[Row]) -> dict[str, list[str]]:
    """The files of tables `predictions` and `recalled`, one for each agent and repeat, in `folder`."""
    files: dict[str, list[str]] = {}
    for name, rows in (("predictions", predictions), ("recalled", recalled)):
        parts: dict[tuple, list[Row]] = {}
        for row in rows:
            parts.setdefault((row["setting"], row["model"], row["repeat"]), []).append(row)
        files[name] = [f"{folder}/{name}/{'/'.join(map(str, key))}.parquet" for key in parts]
        for path, part in zip(files[name], parts.values(), strict=True):
            tables.write(part, name, path)
    return files
