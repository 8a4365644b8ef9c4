"""People's agreement, against `krippendorff` and scikit-learn on random tables; accuracy against what was settled."""

import json

import krippendorff
import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from devqa.review import agreement
from devqa.review.settling import settled
from devqa.tables import SCHEMAS

PEOPLE = ("ann", "bob", "cid")


def made(table, thing, person, label, number=0, role="annotator", **more):
    """One decision; `label` is that of the table's first criterion."""
    key = {
        "pair_decisions": {"pair_id": thing, "decision": label, "failed_criteria": [], "answer": None},
        "grade_decisions": {"id": thing, "setting": "plain", "model": "m", "repeat": 1, "grade": label},
        "dialogue_decisions": {"dialogue_id": thing, "task": label, "code_centred": None},
        "domain_decisions": {"id": thing, "domain": label},
    }[table]
    at = f"2026-11-{1 + number // 1440:02}T{number // 60 % 24:02}:{number % 60:02}:00Z"
    row = dict.fromkeys(SCHEMAS[table].names) | key
    return row | {"annotator": person, "role": role, "decided_at": at} | more


def labelled(rows, table="domain_decisions"):
    """Decisions from rows of labels, one column per person; None: no decision."""
    return [
        made(table, f"t{number:04}", person, label, number)
        for number, labels in enumerate(rows)
        for person, label in zip(PEOPLE, labels, strict=False)
        if label is not None
    ]


def only(found, criterion):
    (one,) = [each for each in found if each["criterion"] == criterion]
    return one


WORDS = ["sql", "web", "git"]
LABELS = st.sampled_from([*WORDS, None])


@given(st.lists(st.tuples(LABELS, LABELS, LABELS), min_size=1, max_size=30))
def test_figures_are_those_of_reference_implementations(rows):
    found = only(agreement.summary("domain_decisions", labelled(rows), 2), "domain")
    codes = np.array([[np.nan if label is None else WORDS.index(label) for label in row] for row in rows])
    paired = codes[(~np.isnan(codes)).sum(axis=1) >= 2]
    assert found["things"] == len(paired)
    if len(np.unique(paired[~np.isnan(paired)])) > 1:
        expected = krippendorff.alpha(reliability_data=paired.T, level_of_measurement="nominal")
        assert found["alpha"]["value"] == pytest.approx(expected)
    else:
        assert found["alpha"]["value"] is None
    pairs = {(each["first"], each["second"]): each for each in found["pairs"]}
    for one in range(3):
        for other in range(one + 1, 3):
            shared = codes[~np.isnan(codes[:, [one, other]]).any(axis=1)][:, [one, other]]
            pair = pairs.get((PEOPLE[one], PEOPLE[other]))
            assert (pair is not None) == (len(shared) >= 2)
            if pair and len(np.unique(shared)) > 1:
                assert pair["things"] == len(shared)
                expected = sklearn.metrics.cohen_kappa_score(shared[:, 0], shared[:, 1])
                assert pair["kappa"]["value"] == pytest.approx(expected)


@given(st.lists(st.tuples(LABELS, LABELS), max_size=30), st.randoms(use_true_random=False))
def test_the_order_of_decisions_changes_nothing_and_all_is_json(rows, random):
    decisions = labelled(rows)
    shuffled = random.sample(decisions, len(decisions))
    for figures in (agreement.summary, agreement.drift, settled):
        assert figures("domain_decisions", shuffled, 2) == figures("domain_decisions", decisions, 2)
    found = agreement.summary("domain_decisions", decisions, 2)
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_accuracy_is_against_what_was_settled_and_apart_for_disputes():
    decisions = labelled([("sql", "sql")] * 6 + [("sql", "web")] * 4 + [("git", "web"), ("sql", None)])
    judged = ["sql", "sql", "sql", "web", "tools"]
    decisions += [
        made("domain_decisions", f"t{number:04}", "eve", label, 99, "adjudicator")
        for number, label in enumerate(judged, start=6)
    ]
    found = only(agreement.summary("domain_decisions", decisions, 2), "domain")
    ann, bob = found["people"]
    assert (ann["annotator"], ann["accuracy"]["value"], ann["labels"]) == ("ann", pytest.approx(9 / 11), 11)
    assert (ann["disputed"]["value"], ann["disputed_labels"]) == (pytest.approx(3 / 5), 5)
    assert (bob["accuracy"]["value"], bob["disputed"]["value"]) == (pytest.approx(7 / 11), pytest.approx(1 / 5))
    assert found["accuracy"]["value"] == pytest.approx(16 / 22)
    assert found["labels"] == 22
    assert ann["accuracy"]["low"] < ann["accuracy"]["value"] < ann["accuracy"]["high"]
    # Ten disputes are needed for an interval.
    assert ann["disputed"]["low"] is None
    # The adjudicator is compared with nobody.
    assert [(each["first"], each["second"]) for each in found["pairs"]] == [("ann", "bob")]


def test_what_is_not_settled_by_two_counts_in_no_accuracy():
    open_and_disputed = labelled([("sql", None), ("sql", "web")])
    found = only(agreement.summary("domain_decisions", open_and_disputed, 2), "domain")
    assert (found["labels"], found["accuracy"]["value"]) == (0, None)
    alone = only(agreement.summary("domain_decisions", labelled([("sql", None)] * 20), 1), "domain")
    assert (alone["labels"], alone["things"], alone["pairs"]) == (0, 0, [])


def test_a_rejection_that_settles_by_rule_makes_nobody_wrong():
    decisions = labelled([("accept", "reject")] * 5 + [("reject", "reject")] * 3, "pair_decisions")
    by_rule = only(agreement.summary("pair_decisions", decisions, 2, "final"), "decision")
    assert (by_rule["labels"], by_rule["accuracy"]["value"]) == (6, 1)
    assert len(settled("pair_decisions", decisions, 2, "final")) == 8
    assert len(settled("pair_decisions", decisions, 2)) == 3


def test_pairs_have_each_failed_criterion_as_yes_or_no():
    failing = [["timeless"], ["timeless", "single answer"], [], None]
    decisions = [
        made("pair_decisions", f"t{number}", person, "reject", failed_criteria=failed)
        for number, failed in enumerate(failing)
        for person, failed in (("ann", failed), ("bob", ["timeless"]))
    ]
    found = agreement.summary("pair_decisions", decisions, 2)
    assert [each["criterion"] for each in found] == ["decision", "single answer", "timeless"]
    kappa = only(found, "timeless")["pairs"][0]["kappa"]["value"]
    assert kappa == pytest.approx(sklearn.metrics.cohen_kappa_score([1, 1, 0, 0], [1, 1, 1, 1]))
    assert only(found, "single answer")["things"] == 4


def test_corrections_to_different_answers_are_one_label_and_two_decisions():
    decisions = [
        made("pair_decisions", f"t{number:02}", person, "correct", number, answer=answer)
        for number in range(50)
        for person, answer in (("ann", "1 m"), ("bob", "1 m" if number < 25 else "2 m"))
    ]
    found = only(agreement.summary("pair_decisions", decisions, 2), "decision")
    assert (found["things"], found["labels"]) == (50, 50)
    assert len(settled("pair_decisions", decisions, 2)) == 25
    assert all(each["drifting"] for each in agreement.drift("pair_decisions", decisions, 2))


def test_labels_that_a_decision_does_not_have_are_missing():
    decisions = [
        made("dialogue_decisions", f"t{number}", person, task, code_centred=centred)
        for number, (task, centred) in enumerate([("know", True), ("know", False), ("fix", None)])
        for person in ("ann", "bob")
    ]
    found = agreement.summary("dialogue_decisions", decisions, 2)
    assert {each["criterion"]: each["things"] for each in found} == {
        "task": 3,
        "code_centred": 2,
        "single_answer": 0,
        "timeless": 0,
        "evidenced": 0,
    }
    assert only(found, "code_centred")["alpha"]["value"] == 1
    assert only(found, "timeless")["alpha"]["value"] is None


def test_grades_of_one_row_in_two_settings_are_two_things():
    decisions = [made("grade_decisions", "r1", "ann", "CORRECT", setting=setting) for setting in ("plain", "rag")]
    assert list(settled("grade_decisions", decisions, 1)) == [
        ("r1", "plain", "m", 1),
        ("r1", "rag", "m", 1),
    ]


# Drift


def run(generator, before, latest, fall=0.95, others=0.95, adjudicated=True):
    """Decisions of ann, who is right in 95 % of cases and then in `fall`, and of bob; eve settles what they dispute."""
    decisions = []
    for number in range(before + latest):
        rates = {"ann": 0.95 if number < before else fall, "bob": others}
        labels = {person: "git" if generator.random() < rate else "web" for person, rate in rates.items()}
        decisions += [made("domain_decisions", f"t{number:04}", *each, number) for each in labels.items()]
        if adjudicated and len({*labels.values()}) > 1:
            decisions.append(made("domain_decisions", f"t{number:04}", "eve", "git", number, "adjudicator"))
    return decisions


def flagged(seed, *arguments, **options):
    decisions = run(np.random.default_rng(seed), *arguments, **options)
    return {each["annotator"]: each["drifting"] for each in agreement.drift("domain_decisions", decisions, 2)}


def test_an_annotator_whose_agreement_falls_is_flagged_and_the_other_is_not():
    found = [flagged(seed, 120, 60, fall=0.7) for seed in range(60)]
    assert sum(each["ann"] for each in found) >= 50
    assert sum(each["bob"] for each in found) <= 3


@pytest.mark.parametrize("adjudicated", [True, False])
def test_steady_annotators_are_rarely_flagged(adjudicated):
    found = [flagged(seed, 60 + seed, 40, adjudicated=adjudicated) for seed in range(80)]
    assert sum(each[person] for each in found for person in ("ann", "bob")) <= 0.05 * 160


def test_a_rise_is_no_drift():
    generator = np.random.default_rng(1)
    decisions = run(generator, 0, 100, fall=0.6) + [
        row | {"id": f"late {row['id']}", "decided_at": "2027" + row["decided_at"][4:]}
        for row in run(generator, 100, 0)
    ]
    ann, _ = agreement.drift("domain_decisions", decisions, 2)
    assert not ann["drifting"]
    assert ann["p"] > 0.5


def test_a_fall_says_when_and_from_what_to_what():
    decisions = labelled([("git", "git")] * 50 + [("web", "git")] * 25)
    decisions += [
        made("domain_decisions", f"t{number:04}", "eve", "git", 99, "adjudicator") for number in range(50, 75)
    ]
    ann, bob = agreement.drift("domain_decisions", decisions, 2)
    assert ann == {
        "annotator": "ann",
        "decisions": 75,
        "drifting": True,
        "p": pytest.approx(1 / 2_000),
        "before": 1.0,
        "latest": 0.0,
        "latest_decisions": 25,
        "since": "2026-11-01T00:50:00Z",
    }
    assert (bob["drifting"], bob["p"], bob["before"]) == (False, 1.0, None)


def test_few_decisions_say_nothing_about_drift():
    decisions = labelled([("git", "git")] * 20 + [("git", "web")] * 19)
    assert [(each["p"], each["drifting"]) for each in agreement.drift("domain_decisions", decisions, 2)] == [
        (None, False)
    ] * 2
    assert agreement.drift("domain_decisions", labelled([("git", None)] * 100), 2) == []
