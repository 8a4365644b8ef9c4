"""Every question from a pull request with the facts that each answer holds, as the browser of questions has them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from devqa.pull_requests.figures.runs import fate
from devqa.pull_requests.figures.statistics import SEGMENTS
from devqa.tables import Row, batches

# What a page can bear of one answer, and of all answers with what the judge says of them, so that a browser opens it
# whatever the number of questions, agents and repeats. The tables hold all of it.
ANSWER_CHARACTERS = 1_500
PAGE_CHARACTERS = 12_000_000

_QUESTION = ("id", "pull_id", "repository", "name", "url", "commit", "number", "title", "question", "answer", "nodes")
_COUNTS = ("n_context_nodes", "n_context_files", "n_files_pr", "n_found_files")
_BLOCK = ("node", "path", "start_line", "end_line")
_TOLD = ("scope", "core", "searchable", "difficulty")
# Of table `repository_benchmark`. Not the texts of the blocks: they are long, and no report shows them.
BENCHMARK = [*_QUESTION, *_COUNTS, *_TOLD, *(f"context.list.element.{name}" for name in _BLOCK), "facts"]
_RUN = ["id", "setting", "model", "repeat"]
_UNKNOWN = {"found": None, "reason": ""}
_TOKENS = ("input_tokens", "output_tokens", "reasoning_tokens")
_PREDICTED = [*_RUN, "answer", "raw", "seconds", "exit_code", *_TOKENS, "status", "reason"]
_RECALLED = [*_RUN, "recall", "status", "reason"]
_RECALLED += [f"facts.list.element.{name}" for name in ("number", "found", "reason")]


def read_benchmark(path: str) -> list[Row]:
    """The rows of table `repository_benchmark` with what is shown of them, sorted by id."""
    return sorted(_rows(path, "repository_benchmark", BENCHMARK), key=lambda row: row["id"])


def read_predictions(paths: str | Iterable[str]) -> Iterator[Row]:
    """The rows of tables `predictions`, with what is shown of them."""
    return _rows(paths, "predictions", _PREDICTED)


def read_recalled(paths: str | Iterable[str]) -> Iterator[Row]:
    """The rows of tables `recalled`, with what is shown of them."""
    return _rows(paths, "recalled", _RECALLED)


def browsed(
    benchmark: Sequence[Row], agents: Sequence[tuple[str, str]], predictions: Iterable[Row], recalled: Iterable[Row]
) -> dict[str, Any]:
    """Every question with all answers to it.

    Args:
        benchmark: as `read_benchmark` gives it.
        agents: (setting, agent) of all, in the order in which they are shown.
        predictions, recalled: rows of these tables, of all agents and repeats; gone through once.

    Returns
        `agents`: `setting`, `agent` of each;
        `rows`: the questions' `id, pull_id, repository, name, url, commit, number, title, question, answer, nodes`,
            counts, `scope, core, searchable, difficulty, blocks, files` (the segments they belong to, as texts),
            `context` (`node, path, start_line, end_line`) and `facts` (`number, fact, importance`), sorted by id;
        `runs`: one entry per answer: `row`, `agent` (indices), `repeat`, `fate` (one of `runs.FATES`), `reason`,
            `recall`, `found` (for each fact of the row true, false, or null where it is not known), `why` (for each
            fact what the judge says; [] where it says nothing), `answer` (cut after `ANSWER_CHARACTERS`; the raw text
            where it could not be used), `left_out` (how many characters the texts have beyond), `seconds`, `exit_code`,
            `input_tokens`, `output_tokens`, `reasoning_tokens`;
        `longest`: to how many characters the texts of an answer (`answer`, `reason` and `why`) are cut together, as all
            of them are more than `PAGE_CHARACTERS`; None where they are not.
    """
    places = {row["id"]: place for place, row in enumerate(benchmark)}
    numbers = [[fact["number"] for fact in row["facts"]] for row in benchmark]
    columns = {run: column for column, run in enumerate(agents)}
    graded = {_key(row): row for row in recalled}
    runs = []
    for prediction in predictions:
        row = places[prediction["id"]]
        run = {"row": row, "agent": columns[prediction["setting"], prediction["model"]]}
        runs.append(run | _answer(prediction, graded.get(_key(prediction)), numbers[row]))
    runs.sort(key=lambda run: (run["row"], run["agent"], run["repeat"]))
    longest = _longest(runs)
    return {
        "agents": [{"setting": setting, "agent": agent} for setting, agent in agents],
        "rows": [_row(row) for row in benchmark],
        "runs": runs if longest is None else [run | _cut(run, longest) for run in runs],
        "longest": longest,
    }


def _longest(runs: Sequence[Row]) -> int | None:
    """To how many characters the texts of each answer have to be cut; None where there is room for all."""
    whole = sum(len(text) for run in runs for text in (run["answer"], run["reason"], *run["why"]))
    return PAGE_CHARACTERS // len(runs) if whole > PAGE_CHARACTERS else None


def _cut(run: Row, longest: int) -> dict[str, Any]:
    """The texts of an answer cut to `longest` characters together; what is said about it has at most half of them."""
    said = [run["reason"], *run["why"]]
    reason, *why = (text[: longest // 2 // len(said)] for text in said)
    answer = run["answer"][: longest - len(reason) - sum(map(len, why))]
    left_out = sum(map(len, (*said, run["answer"]))) - sum(map(len, (reason, *why, answer)))
    return {"answer": answer, "reason": reason, "why": why, "left_out": run["left_out"] + left_out}


def _row(row: Row) -> dict[str, Any]:
    told = {segment: value_of(row) for segment, value_of in SEGMENTS.items()}
    shown = {key: row[key] for key in (*_QUESTION, *_COUNTS)}
    blocks = [{key: block[key] for key in _BLOCK} for block in row["context"] or []]
    return shown | told | {"context": blocks, "facts": row["facts"]}


def _answer(prediction: Row, recall: Row | None, numbers: Sequence[int]) -> dict[str, Any]:
    became, reason = fate(prediction, recall)
    facts = {fact["number"]: fact for fact in (recall or {}).get("facts") or []}
    judged = [facts.get(number, _UNKNOWN) for number in numbers]
    text = prediction["answer"] or prediction["raw"] or ""
    return {
        "repeat": prediction["repeat"],
        "fate": became,
        "reason": reason,
        "recall": recall["recall"] if became == "graded" else None,
        "found": [fact["found"] for fact in judged],
        "why": [fact["reason"] or "" for fact in judged] if any(fact["reason"] for fact in judged) else [],
        "answer": text[:ANSWER_CHARACTERS],
        "left_out": max(0, len(text) - ANSWER_CHARACTERS),
        **{key: prediction[key] for key in ("seconds", "exit_code", *_TOKENS)},
    }


def _key(row: Row) -> tuple[str, str, int, str]:
    return row["setting"], row["model"], row["repeat"], row["id"]


def _rows(paths: str | Iterable[str], name: str, columns: list[str]) -> Iterator[Row]:
    return (row for batch in batches(paths, name, 1_000, columns) for row in batch)
