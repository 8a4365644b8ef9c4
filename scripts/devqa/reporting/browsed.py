"""The single answers of one model, as the browser of rows and the `.json` report have them."""

from collections.abc import Iterable, Sequence
from typing import Any

from devqa.evaluation.metrics import fate
from devqa.tables import Row

# What a page can bear of one passage, and of one call's arguments or result. The tables hold all of it.
PASSAGE_CHARACTERS = 2_000
CALL_CHARACTERS = 600

SETTINGS = ("plain", "rag", "confidence", "agentic")
_QUESTION = ("id", "question", "answer", "language", "domain", "knowledge", "difficulty", "source")
_TOKENS = ("input_tokens", "output_tokens", "reasoning_tokens")


def browsed(
    benchmark: Sequence[Row],
    answers: Iterable[Row],
    grades: Iterable[Row],
    panel: Iterable[Row] = (),
    deciding: Iterable[Row] | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """Every answer of one model with all that belongs to it.

    Args:
        benchmark: the rows that were asked, with their domain.
        answers, grades, panel: the model's, of all settings and repeats; `panel` by the further judges.
        deciding: the grades that figures are made of, where those are not `grades`.

    Returns
        `rows`: the benchmark's `id, question, answer, language, domain, knowledge, difficulty, source`, and
            `references` (`url, title`), sorted by id;
        `passages`: `url, title, text` of everything that a model was shown or has found, each once, and `left_out`: how
            many characters the text has beyond `PASSAGE_CHARACTERS`;
        `runs`: one entry per row, setting and repeat: `row` (index in `rows`), `setting`, `repeat`, `prediction` (the
            raw text where the answer could not be used), `fate` (a grade, `ungraded`, or why there is no usable
            answer), `reason`, `judge`, `judge_text`, `confidence`, `input_tokens`, `output_tokens`,
            `reasoning_tokens` (null where they were not counted), `passages` (indices), `tool_calls` (`round, tool,
            arguments, outcome, result`, cut after `CALL_CHARACTERS`, and `left_out`), and `grades`: what each judge
            said (`judge, grade, judge_text`), where there are several.
    """
    rows = sorted(benchmark, key=lambda row: row["id"])
    passages = _Passages()
    # Row by row, so that no more than one of the long texts that answers share is held.
    answered = {_key(row): _answer(row, passages) for row in answers}
    graded = {_key(row): row for row in grades}
    decided = graded if deciding is None else {_key(row): row for row in deciding}
    others: dict[tuple, list[Row]] = {}
    for row in panel:
        others.setdefault(_key(row), []).append(row)
    given = sorted({key[:2] for key in (*answered, *graded)}, key=lambda key: (setting_order(key[0]), key[1]))
    runs = []
    for index, row in enumerate(rows):
        for key in ((*run, row["id"]) for run in given):
            answer, shown = answered.get(key) or _answer({}, passages)
            judges = [graded.get(key), *others[key]] if key in others else []
            run = {"row": index, "setting": key[0], "repeat": key[1]}
            run |= _fate(answer or None, graded.get(key), decided.get(key)) | shown
            runs.append(run | {"grades": [_grade(each) for each in judges if each]})
    return {"rows": [_row(row) for row in rows], "passages": passages.entries, "runs": runs}


def setting_order(setting: str) -> tuple[int, str]:
    """A key that sorts settings: as in `SETTINGS`, what stands there not at the end."""
    return SETTINGS.index(setting) if setting in SETTINGS else len(SETTINGS), setting


class _Passages:
    """Passages, each once: those of a question are the same in all repeats."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []
        self._places: dict[tuple[str, str], int] = {}

    def place(self, passage: Row) -> int:
        """The index of a passage among the entries."""
        url, text = passage["url"] or "", passage["text"] or ""
        if (url, text) not in self._places:
            self._places[url, text] = len(self.entries)
            cut, left_out = _cut(text, PASSAGE_CHARACTERS)
            self.entries.append({"url": url, "title": passage["title"] or "", "text": cut, "left_out": left_out})
        return self._places[url, text]


def _row(row: Row) -> dict[str, Any]:
    shown = {key: row.get(key) for key in _QUESTION}
    return shown | {"references": [{"url": ref["url"], "title": ref["title"]} for ref in row["references"] or []]}


def _fate(answer: Row | None, grade: Row | None, decided: Row | None) -> dict[str, Any]:
    became = fate(answer, decided)
    grade, answer = grade or {}, answer or {}
    reason = grade.get("reason") if became == "ungraded" else answer.get("reason")
    if became == "ungraded" and grade.get("grade"):
        # The judge gave one, but it is not the one that decides.
        reason = "no grade was given by more than half of the judges"
    return {
        "fate": became,
        "reason": reason or "",
        "judge": grade.get("judge"),
        "judge_text": grade.get("judge_text") or grade.get("raw") or "",
    }


def _answer(answer: Row, passages: _Passages) -> tuple[Row, dict[str, Any]]:
    """Of a row of table `answers` what its fate depends on, and what is shown; {} stands for no row."""
    shown = {
        "prediction": answer.get("answer") or answer.get("raw") or "",
        "confidence": answer.get("confidence"),
        **{key: answer.get(key) for key in _TOKENS},
        "passages": [passages.place(each) for each in answer.get("passages") or []],
        "tool_calls": [_call(each) for each in answer.get("tool_calls") or []],
    }
    return {key: answer[key] for key in ("outcome", "status", "reason") if key in answer}, shown


def _grade(row: Row) -> dict[str, Any]:
    return {key: row.get(key) for key in ("judge", "grade")} | {
        "judge_text": row.get("judge_text") or row.get("raw") or ""
    }


def _call(call: Row) -> dict[str, Any]:
    arguments, more = _cut(call["arguments"] or "", CALL_CHARACTERS)
    result, left_out = _cut(call["result"] or "", CALL_CHARACTERS)
    shown = {key: call[key] for key in ("round", "tool", "outcome")}
    return shown | {"arguments": arguments, "result": result, "left_out": more + left_out}


def _cut(text: str, most: int) -> tuple[str, int]:
    return text[:most], max(0, len(text) - most)


def _key(row: Row) -> tuple[str, int, str]:
    return row["setting"], row["repeat"], row["id"]
