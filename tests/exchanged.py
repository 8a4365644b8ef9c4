"""What Label Studio and Argilla export when people have decided about made-up pairs."""

import json
from collections.abc import Sequence
from typing import Any

from decided import both, decided, disputed, kept, verified
from devqa.review.tasks import pairs_to_review

HOSTILE = '<script>alert(1)</script> & "quotes" \']]>'
PAIRS = ["a", "b", "c"]
ACCOUNTS = {"ann": 3, "bob": 4, "eve": {"id": 5, "email": "eve@example.org"}}
QUESTIONS = ("own_answer", "decision", "failed_criteria", "reason", "answer", "evidence_urls")
DECISIONS = [
    *both("a", own_answer="mine\nof two lines"),
    *disputed("b", "correct", answer="8m"),
    decided("u", decision="reject", failed_criteria=["unambiguous", "verifiable"], reason=HOSTILE),
]


def to_review() -> list[dict[str, Any]]:
    """Rows of `review`: three pairs that the evidence supports, and one that it does not, with a hostile question."""
    every = [verified(pair) for pair in PAIRS] + [verified("u", "contradicted", question=HOSTILE)]
    checked = [
        {
            "pair_id": row["pair_id"],
            "criteria": [{"criterion": "verifiable", "passed": True, "reason": "so it is"}],
        }
        for row in every
    ]
    return pairs_to_review(kept(every[:3]), every, checked)


def annotated(tasks: Sequence[dict[str, Any]], decisions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What Label Studio exports of `tasks` when people have decided so."""
    forms = {"decision": "choices", "failed_criteria": "choices"}

    def result(row):
        for name in QUESTIONS:
            said = row[name] if isinstance(row[name], list) else [row[name]]
            if name == "evidence_urls":
                said = ["\n".join(said)]
            if any(said):
                kind = forms.get(name, "textarea")
                value = {"choices": said} if kind == "choices" else {"text": said}
                yield {"id": name, "from_name": name, "to_name": "shown_question", "type": kind, "value": value}

    by_key = {row["devqa_key"]: row for row in (task["data"] for task in tasks)}
    return [
        {
            "id": number,
            "data": data,
            "annotations": [
                {
                    "id": 100 * number + place,
                    "completed_by": ACCOUNTS[row["annotator"]],
                    "result": list(result(row)),
                    "was_cancelled": False,
                    "created_at": "2026-11-30T09:00:00.123456Z",
                    "updated_at": row["decided_at"],
                }
                for place, row in enumerate(decisions)
                if [row["pair_id"]] == json.loads(key)
            ],
            "drafts": [],
            "predictions": [],
        }
        for number, (key, data) in enumerate(by_key.items(), 1)
    ]


def responded(records: Sequence[dict[str, Any]], decisions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What Argilla exports of `records` when people have decided so."""
    users = {"ann": "3", "bob": "4", "eve": "eve@example.org"}
    exported = json.loads(json.dumps(records))
    for record in exported:
        for row in decisions:
            if [row["pair_id"]] != json.loads(record["id"]):
                continue
            for name in QUESTIONS:
                value = "\n".join(row[name]) if name == "evidence_urls" else row[name]
                if value:
                    record["responses"].setdefault(name, []).append(
                        {"value": value, "user_id": users[row["annotator"]]}
                    )
    return exported
