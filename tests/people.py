"""Made-up decisions of people about pairs, and what became of these."""

from typing import Any

from devqa.tables import SCHEMAS
from reported import HOSTILE


def decided(table: str, person: str, number: int, role: str = "annotator", **labels: Any) -> dict[str, Any]:
    """One decision, taken `number` minutes after midnight."""
    row = dict.fromkeys(SCHEMAS[table].names) | {"annotator": person, "role": role}
    return row | {"decided_at": f"2026-11-01T{number // 60:02}:{number % 60:02}:00Z"} | labels


def pairs(count: int = 60, names: tuple[str, str] = ("ann", "bob"), wrong_from: int = 40) -> list[dict[str, Any]]:
    """Decisions about pairs p0 to p<count>, of whom the second person rejects all from `wrong_from` on."""
    rows = []
    for number in range(count):
        for name in names:
            decision = "reject" if number >= wrong_from and name == names[1] else "accept"
            failed = [HOSTILE[2]] if decision == "reject" else []
            labels = {"pair_id": f"p{number}", "decision": decision, "failed_criteria": failed}
            rows.append(decided("pair_decisions", name, number, **labels))
        if number >= wrong_from:
            labels = {"pair_id": f"p{number}", "decision": "accept", "failed_criteria": []}
            rows.append(decided("pair_decisions", "eve", number, "adjudicator", **labels))
    return rows


def reviewed(count: int, decision: str = "accepted") -> list[dict[str, Any]]:
    """Rows of table `reviewed`."""
    return [{"pair_id": f"p{number}", "decision": decision} for number in range(count)]
