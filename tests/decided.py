"""Made-up pairs and people's decisions about them."""

from collections.abc import Iterable
from typing import Any

AT = "2026-11-30T10:00:00.000Z"
URLS = ["https://docs.example/a", "https://docs.example/b"]


def decided(pair: str, annotator: str = "ann", decision: str = "accept", **more: Any) -> dict[str, Any]:
    """A row of `pair_decisions` that says what it has to."""
    needed: dict[str, Any] = {
        "accept": {"evidence_urls": URLS},
        "correct": {"evidence_urls": URLS, "answer": "another answer"},
        "reject": {"reason": "nobody asks that"},
    }[decision]
    return {
        "pair_id": pair,
        "annotator": annotator,
        "role": "annotator",
        "decision": decision,
        "failed_criteria": [],
        "reason": "",
        "own_answer": "",
        "answer": "",
        "evidence_urls": [],
        "decided_at": AT,
        **needed,
        **more,
    }


def both(pair: str, decision: str = "accept", **more: Any) -> list[dict[str, Any]]:
    """The same decision of two annotators."""
    return [decided(pair, annotator, decision, **more) for annotator in ("ann", "bob")]


def disputed(pair: str, third: str | None = None, **more: Any) -> list[dict[str, Any]]:
    """Two annotators who disagree, and the adjudicator's decision, if there is one."""
    two = [decided(pair, "ann", "accept"), decided(pair, "bob", "reject")]
    return two + ([decided(pair, "eve", third, role="adjudicator", **more)] if third else [])


def verified(pair: str, verdict: str | None = "supported", **more: Any) -> dict[str, Any]:
    """A row of `verified` with that verdict; with none the step has failed."""
    fates = {
        "supported": ("ok", ""),
        "contradicted": ("rejected", "contradicted by the evidence"),
        "not enough evidence": ("rejected", "not enough evidence"),
        None: ("failed", "refused: no"),
    }
    status, reason = fates[verdict]
    return {
        "pair_id": pair,
        "dialogue_id": f"d-{pair}",
        "source": "mine",
        "language": "en",
        "number": 1,
        "question": f"What is {pair}?",
        "answer": f"the answer of {pair}",
        "supports": [{"reference": 1, "span": f"{pair} is so.", "match": "exact"}],
        "references": [{"url": "https://docs.example/r", "title": "R", "text": f"{pair} is so."}],
        "passages": [{"url": "https://docs.example/e", "title": "E", "text": "Something else.", "score": 1.0}],
        "verdict": verdict,
        "evidence_answer": "something else" if verdict else None,
        "explanation": "",
        "cited": [1] if verdict == "supported" else [],
        "outcome": "ok" if verdict else "refused",
        "raw": "",
        "usage": [{"model": "m", "calls": 1}],
        "status": status,
        "reason": reason,
        **more,
    }


def kept(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of `merged` that are kept, for pairs that have gone all the way."""
    names = ("pair_id", "dialogue_id", "source", "language", "number", "question", "answer", "supports", "references")
    carried = [{name: row[name] for name in names} for row in rows]
    return [{**row, "difficulty": "hard", "merged_into": None, "status": "ok", "reason": ""} for row in carried]
