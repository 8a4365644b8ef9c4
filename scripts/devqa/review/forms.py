"""What people send: filled-in forms as the columns of a decision, and what is wrong with them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from werkzeug.datastructures import MultiDict

from devqa.review.decisions import CRITERIA, DECISIONS, PAGES, is_page
from devqa.review.items import KINDS
from devqa.tables import Row
from devqa.web.urls import canonical

# What 3.2 and 3.3 ask of a knowledge question.
ASPECTS = ("code_centred", "single_answer", "timeless", "evidenced")
_TRUTH = {"yes": True, "no": False}


def filled_in(kind: str, form: MultiDict) -> Row:
    """A form as the columns that a decision of `kind` has, complete or not.

    Evidence is what is ticked (`pick`) and what is typed, one address on a line (`urls`).
    """
    if kind == "pairs":
        ticked = form.getlist("failed_criteria")
        return {
            "decision": form.get("decision", ""),
            "failed_criteria": [criterion for criterion in CRITERIA if criterion in ticked],
            "reason": form.get("reason", "").strip(),
            "own_answer": form.get("own_answer", "").strip(),
            "answer": form.get("answer", "").strip(),
            "evidence_urls": list(dict.fromkeys([*form.getlist("pick"), *form.get("urls", "").split()])),
        }
    if kind == "dialogues":
        aspects = {name: _TRUTH.get(form.get(name, "")) for name in ASPECTS}
        return {"task": form.get("task", ""), **aspects}
    return {label: form.get(label, "") for label in KINDS[kind].labels}


def decision(kind: str, content: Mapping[str, Any], knowledge: str | None = None) -> Row:
    """`content` without what does not belong to the decision that it is: the answer of a pair that is accepted.

    Args:
        knowledge: the task of a dialogue that has aspects.
    """
    row = {label: content[label] for label in KINDS[kind].labels}
    if kind == "pairs":
        if row["decision"] != "correct":
            row["answer"] = ""
        if row["decision"] != "reject":
            row |= {"failed_criteria": [], "reason": ""}
    if kind == "dialogues" and row["task"] != knowledge:
        row |= dict.fromkeys(ASPECTS)
    return row


def problems_of_answer(content: Mapping[str, Any]) -> list[str]:
    """Why an annotator's own answer to a pair's question can't be taken; nothing where it can."""
    found = []
    if content["failed_criteria"]:
        found.append("A pair that fails a criterion is rejected: reject it, or take the mark away.")
    if not content["own_answer"]:
        found.append("Your own answer is missing.")
    return found + _problems_of_urls(content["evidence_urls"])


def problems_of_pair(content: Mapping[str, Any], answered: bool) -> list[str]:
    """Why a decision about a pair can't be taken; nothing where it can.

    Args:
        answered: the person has given an answer of their own, or settles others' decisions.
    """
    if content["decision"] not in DECISIONS:
        return ["Choose: accept, correct or reject."]
    if content["decision"] == "reject":
        told = content["failed_criteria"] or content["reason"]
        return [] if told else ["To reject, mark a criterion that fails, or give a reason."]
    if not answered:
        return ["Answer the question yourself first."]
    missing = content["decision"] == "correct" and not content["answer"]
    return ["The correct answer is missing."] * missing + _problems_of_urls(content["evidence_urls"])


def problems_of_label(
    kind: str, content: Mapping[str, Any], names: Collection[str], knowledge: str | None
) -> list[str]:
    """Why labels of `kind` (grades, dialogues, domains) can't be taken; nothing where they can.

    Args:
        names: the labels that there are.
        knowledge: the task of a dialogue that has aspects.
    """
    chosen = content[KINDS[kind].labels[0]]
    if chosen not in names:
        return ["Choose one."]
    if kind == "dialogues" and chosen == knowledge and any(content[name] is None for name in ASPECTS):
        return ["Answer all four questions about it with yes or no."]
    return []


def _problems_of_urls(urls: Sequence[str]) -> list[str]:
    if wrong := [url for url in urls if not is_page(url)]:
        return [f"This is no address on the web: {wrong[0]}. Addresses begin with https:// or http://, one on a line."]
    if len({canonical(url) for url in urls}) < PAGES:
        return [f"At least {PAGES} addresses of different pages that show the answer are needed."]
    return []
