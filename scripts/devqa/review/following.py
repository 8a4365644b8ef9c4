"""What follows from people's decisions about pairs: which of them the benchmark has, and with which answer."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from devqa.errors import UserError
from devqa.review.deciding import State, agreeing, state
from devqa.review.tasks import unsupported
from devqa.steps.outcomes import OK, rejected
from devqa.tables import Row, picked

_DECIDED = {"accept": "accepted", "correct": "corrected", "reject": "rejected"}
_TABLE = "pair_decisions"


def reviewed(
    kept: Sequence[Row], verified: Sequence[Row], decisions: Sequence[Row], annotators: int, rejection: str
) -> list[Row]:
    """Rows of table `reviewed`, sorted by pair: what people made of every pair that is up for review.

    What nobody has settled stays as it was without people: supported pairs are `ok`, the others rejected. Decisions
    about other pairs are left alone.

    Args:
        kept: rows of `merged` with status `ok`, among them those that people have brought back.
        verified: all rows, of every status.
        decisions: rows of `pair_decisions`, at most one per pair and person.
        annotators, rejection: as in `devqa.review.deciding.state`.
    """
    in_benchmark = {row["pair_id"] for row in kept}
    reasons = {row["pair_id"]: row["reason"] for row in unsupported(verified)}
    of_pair = _by_pair(decisions)
    rows = []
    for pair in sorted(in_benchmark | reasons.keys()):
        about = of_pair.get(pair, [])
        where = state(about, _TABLE, annotators, rejection)
        fate = _fate(where, pair in in_benchmark, reasons.get(pair))
        rows.append({"pair_id": pair, "supported": pair not in reasons, **_outcome(where, about), **fate})
    return rows


def rescued(verified: Sequence[Row], decisions: Sequence[Row], annotators: int, rejection: str) -> list[Row]:
    """Rows of table `verified` for all pairs that the evidence did not support, sorted by pair.

    Those that people accept, or whose answer they correct, are `ok`; they go the way of any other pair. The verdict and
    the evidence stay; what the verification took is counted in its own table.
    """
    of_pair = _by_pair(decisions)
    rows = []
    for row in sorted(unsupported(verified), key=lambda row: row["pair_id"]):
        where = state(of_pair.get(row["pair_id"], []), _TABLE, annotators, rejection)
        fate = _fate(where, True, row["reason"])
        rows.append({**picked(row, "verified"), **_answer(row, where), "usage": [], **fate})
    return rows


def complete(rows: Iterable[Row]) -> None:
    """Refuse to go on as long as a pair is not settled.

    Args:
        rows: of table `reviewed`.

    Raises:
        UserError: with how many pairs are open, and what they lack.
    """
    open_ = [row for row in rows if not row["decision"]]
    if not open_:
        return
    counts = [
        f"{_lacking(part)} of pairs that {what}"
        for what, supported in (("the evidence supports", True), ("it does not support", False))
        if (part := [row for row in open_ if row["supported"] == supported])
    ]
    raise UserError(
        f"review.required: {len(open_):,} pairs are not decided yet ({'; '.join(counts)}). `make review` shows "
        "them; with required: false the benchmark goes by what is decided so far"
    )


def progress(rows: Iterable[Row]) -> dict[str, int]:
    """How many rows of table `reviewed` are decided, open (decisions are lacking) and disputed (a third is needed)."""
    counts = dict.fromkeys(("decided", "open", "disputed"), 0)
    for row in rows:
        # Two decisions that agree would have settled it.
        counts["decided" if row["decision"] else "disputed" if row["decisions"] > 1 else "open"] += 1
    return counts


def _by_pair(decisions: Iterable[Row]) -> Mapping[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in decisions:
        found[row["pair_id"]].append(row)
    return {pair: sorted(rows, key=lambda row: (row["decided_at"], row["annotator"])) for pair, rows in found.items()}


def _outcome(where: State, about: Sequence[Row]) -> Row:
    """What people decided, with the pages of all who say the same as the decision that holds, its own in front."""
    account = {"decision": "", "answer": None, "evidence_urls": [], "decisions": len(about)}
    if where.final is None:
        return {**account, "adjudicated": False}
    final, decision = where.final, where.final["decision"]
    account |= {"decision": _DECIDED[decision], "adjudicated": where.adjudicated}
    if decision == "reject":
        return account
    same = agreeing(_TABLE)
    urls = [url for row in (final, *(row for row in about if same(row, final))) for url in row["evidence_urls"]]
    answer = final["answer"] if decision == "correct" else None
    return {**account, "answer": answer, "evidence_urls": list(dict.fromkeys(urls))}


def _answer(row: Row, where: State) -> Row:
    """What a correction changes in a pair: the sentences that stated the old answer do not state the new one."""
    if where.final is None or where.final["decision"] != "correct":
        return {}
    return {"answer": where.final["answer"], "supports": []}


def _fate(where: State, arrived: bool, doubt: str | None) -> Row:
    """Status and reason of a pair; `doubt`: why it needs people's word, `arrived`: it has come as far as it can."""
    decision = where.final["decision"] if where.final else None
    if decision == "reject":
        return rejected(": ".join(filter(None, ["rejected in review", _why(where.final)])))
    if doubt and not decision:
        return rejected(f"{doubt}, not decided in review")
    return OK if arrived else rejected("accepted in review, but merged into another pair or without a difficulty")


def _why(decision: Row) -> str:
    missed = [f"not {name.replace('_', ' ')}" for name in decision["failed_criteria"]]
    return ", ".join([*missed, *filter(None, [decision["reason"]])])


def _lacking(rows: Sequence[Row]) -> str:
    none, one = (sum(row["decisions"] == count for row in rows) for count in (0, 1))
    parts = {"without a decision": none, "with one": one, "disputed": len(rows) - none - one}
    return ", ".join(f"{count:,} {what}" for what, count in parts.items() if count)
