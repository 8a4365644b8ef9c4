"""One's own figures beside SimpleDevQA's, for the index."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from devqa.reporting import paper
from devqa.tables import Row

KEPT = ("accepted", "corrected")
UNGROUPED = "in no group"


def steps(funnel: Iterable[Row], merged: Iterable[Row], reviewed: Iterable[Row]) -> list[dict[str, Any]]:
    """The steps from dialogues to the benchmark that SimpleDevQA counts (section 4.3), with one's own counts.

    Args:
        funnel: rows of the ledger, as `overview.index_data` takes them; none where nothing is built here.
        merged: rows of table `merged`: `pair_id`, `difficulty`, of all rated pairs.
        reviewed: rows of table `reviewed`: `pair_id`, `decision`.

    Returns for each step `step`, `paper` and `own` (counts), `paper_rate` and `own_rate`, `of` (what the rate is of),
    and `share`: the rate is one, otherwise it is a ratio. None for what can't be given: people have decided nothing.
    Of hard pairs that people kept one's own rate is of those that they have decided about.
    """
    passed = Counter()
    for row in funnel:
        passed[row["stage"]] += row["rows_out"] if row["status"] == "ok" else 0
    if not passed:
        return []
    difficulty = {row["pair_id"]: row["difficulty"] for row in merged}
    rated = Counter(difficulty.values())
    decided = [row for row in reviewed if row["decision"] and difficulty.get(row["pair_id"]) == "hard"]
    kept = sum(row["decision"] in KEPT for row in decided)
    verified = passed["verified"] + passed["rescued"]
    return [
        _step("dialogues", "Dialogues", passed["dialogues"]),
        _step("pairs", "Question–answer pairs", passed["pairs"], "dialogues", passed["dialogues"], share=False),
        _step("checked", "Good ones, by the check", passed["checked"], "pairs", passed["pairs"]),
        _step("verified", "Verified, or corrected by people", verified, "checked", passed["checked"]),
        _step("hard", "Hard", rated["hard"], "verified", rated.total()),
        _step("easy", "Easy", rated["easy"], "verified", rated.total()),
        _step("kept", "Hard, and kept by people", kept if decided else None, "hard", len(decided)),
    ]


# What a rate is of, in words.
_OF = {
    "dialogues": "per dialogue",
    "pairs": "of pairs",
    "checked": "of good ones",
    "verified": "of rated",
    "hard": "of hard",
}


def _step(name: str, title: str, own: int | None, of: str = "", whole: int = 0, share: bool = True) -> dict[str, Any]:
    return {
        "step": title,
        "paper": paper.FUNNEL[name],
        "paper_rate": paper.FUNNEL[name] / paper.FUNNEL[of] if of else None,
        "own": own,
        "own_rate": own / whole if own is not None and whole else None,
        "of": _OF.get(of, ""),
        "share": share,
    }


def knowledge(benchmark: Sequence[Row], groups: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """The benchmark's rows by group of knowledge domains, with SimpleDevQA's (Table 3); nothing without groups.

    Args:
        benchmark: rows with their `domain`.
        groups: group → names.

    Returns for each group, most frequent first, `group`, `rows`, `share`, `paper` (None where the paper has no group of
    that name with just these domains), and `domains`: `domain`, `rows`, `share`, `paper` of each. Domains of rows that
    are in no group come last, as one of the name `UNGROUPED`; rows without a domain count in none.
    """
    counts = Counter(row["domain"] for row in benchmark if row["domain"])
    grouped = {name for each in groups.values() for name in each}
    parts = {group: groups[group] for group in sorted(groups, key=lambda each: _most(counts, groups[each]))}
    if alone := sorted(counts.keys() - grouped):
        parts |= {UNGROUPED: alone}
    return [
        {
            "group": group,
            **_part(sum(counts[name] for name in members), counts.total(), _paper_s_group(group, members)),
            "domains": [
                {"domain": name, **_part(counts[name], counts.total(), paper.DOMAINS.get(name))} for name in members
            ],
        }
        for group, members in parts.items()
        if groups
    ]


def _most(counts: Counter[str], members: Sequence[str]) -> int:
    return -sum(counts[name] for name in members)


def _part(rows: int, total: int, in_paper: int | None) -> dict[str, Any]:
    return {"rows": rows, "share": rows / total if total else None, "paper": in_paper}


def _paper_s_group(group: str, members: Sequence[str]) -> int | None:
    if group not in paper.GROUPS:
        return None
    # Its groups add up to more than their domains do, by one.
    own = sum(paper.DOMAINS.get(name, 0) for name in members)
    return paper.GROUPS[group] if paper.GROUPS[group] - own in (0, 1) else None
