"""The reports' figures for spreadsheets (CSV), for papers (LaTeX) and for GitHub (Markdown)."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

from devqa.llm.pricing import money
from devqa.tables import Row

_SHARES = (("f_score", "F-score"), ("co", "CO"), ("in", "IN"), ("na", "NA"), ("cga", "CGA"))
_HEAD = ["Rank", "Model", *(name for _, name in _SHARES), "Tokens", "USD", "Graded"]
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|~])")


def csv_text(rows: Iterable[Row], columns: Sequence[str]) -> str:
    """`rows` as CSV with a head of `columns`; null is an empty cell."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([row[column] for column in columns] for row in rows)
    return file.getvalue()


def markdown(settings: Sequence[dict[str, Any]]) -> str:
    """The leaderboard as GitHub's tables, one for each setting: F-score with its 95 % interval, shares ± spread.

    Args:
        settings: `setting` and `leaderboard` of each, as `overview.index_data` gives them.
    """
    parts = []
    for each in settings:
        lines = [_HEAD, ["---:", "---", *["---:"] * (len(_HEAD) - 2)]]
        for row in each["leaderboard"]:
            name = _MARKDOWN.sub(r"\\\1", row["model"])
            lines.append(_cells(row, name, dash="–", plus_minus=" ± ", interval="{} [{:.3f}, {:.3f}]"))
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        parts.append(f"## {each['setting']}\n\n{table}\n")
    board = [row for each in settings for row in each["leaderboard"]]
    return "\n".join([*parts, f"{_note(board)}\n"]) if board else "No model was graded.\n"


def latex(settings: Sequence[dict[str, Any]], rows: int) -> str:
    """The leaderboard as LaTeX tables in booktabs' style, one for each setting; cells as in `markdown`.

    Args:
        settings: as of `markdown`.
        rows: how many the benchmark has.
    """
    tables = [_latex_table(each["leaderboard"], each["setting"], rows) for each in settings]
    return "\n".join(["% Needs \\usepackage{booktabs}.", *tables])


def _latex_table(board: Sequence[Row], setting: str, rows: int) -> str:
    repeats = max(row["repeats"] for row in board)
    over = f", means over {repeats} repeats" if repeats > 1 else ""
    interval = r"{} {{\scriptsize[{:.3f}, {:.3f}]}}"
    lines = [
        _cells(row, _escaped(row["model"]), dash="--", plus_minus=r"\,$\pm$\,", interval=interval) for row in board
    ]
    note = _note(board).replace(" %", r"\,\%")
    return "\n".join(
        [
            r"\begin{table}",
            r"  \centering",
            rf"  \caption{{Models on {rows} questions, setting \texttt{{{_escaped(setting)}}}{over}. {note}}}",
            rf"  \label{{tab:devqa-{setting}}}",
            r"  \begin{tabular}{rlrrrrrrrr}",
            r"    \toprule",
            f"    {' & '.join(_HEAD)} \\\\",
            r"    \midrule",
            *(f"    {' & '.join(cells)} \\\\" for cells in lines),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _note(board: Sequence[Row]) -> str:
    repeated = any(row["repeats"] > 1 for row in board)
    spread = ", the others with their standard deviation over the repeats" if repeated else ""
    return (
        f"Shares of the graded answers: the F-score with its 95 % interval{spread}. "
        "A model's rank is 1 plus the number of models that the corrected paired test finds better."
    )


def _cells(row: Row, name: str, dash: str, plus_minus: str, interval: str) -> list[str]:
    """One model's line, in the order of `_HEAD`."""
    score, low, high = (row["f_score" + part] for part in ("", "_low", "_high"))
    first = dash if score is None else f"{score:.3f}" if low is None else interval.format(f"{score:.3f}", low, high)
    shares = []
    for share, _ in _SHARES[1:]:
        spread = row[f"{share}_spread"]
        with_spread = "" if spread is None else f"{plus_minus}{spread:.3f}"
        shares.append(dash if row[share] is None else f"{row[share]:.3f}{with_spread}")
    tokens = dash if row["tokens"] is None else f"{row['tokens']:.0f}"
    usd = dash if row["usd"] is None else money(row["usd"])
    rank = "" if row["rank"] is None else str(row["rank"])
    return [rank, name, first, *shares, tokens, usd, _graded(row)]


def _graded(row: Row) -> str:
    """How many rows have a grade, and of how many where that is not all."""
    graded, rows = f"{row['graded']:.0f}", f"{row['rows']:.0f}"
    return graded if graded == rows else f"{graded} of {rows}"


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)
