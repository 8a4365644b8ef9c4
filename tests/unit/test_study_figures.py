"""The figures of the study: weighted shares, people's labels before the model's, and how far the two agree."""

import json

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from devqa.config.study import TASKS
from devqa.study import figures, sampling

KNOWLEDGE, GENERATION = "Dev Knowledge QA", "Code Generation"
LABELS = ("code_centred", *figures.CRITERIA)


def classified(number, task=KNOWLEDGE, weight=1.0, status="ok", **labels):
    known = dict.fromkeys(LABELS, False if task == KNOWLEDGE else None)
    return {"dialogue_id": f"d{number}", "weight": weight, "task": task, "status": status, **known, **labels}


def settled(task=KNOWLEDGE, **labels):
    return {"task": task, **dict.fromkeys(LABELS, False if task == KNOWLEDGE else None), **labels}


def findings(rows, people=None, categories=TASKS):
    return figures.findings(figures.labelled(rows, people or {}), categories, KNOWLEDGE)


def share(found, task):
    (one,) = [each for each in found["tasks"] if each["task"] == task]
    return one["share"]


def test_each_dialogue_stands_for_those_of_its_stratum():
    rows = [classified(number, weight=1.0) for number in range(10)]
    rows += [classified(number, GENERATION, weight=4.0) for number in range(10, 20)]
    found = findings(rows)
    assert share(found, KNOWLEDGE)["value"] == pytest.approx(0.2)
    assert share(found, GENERATION)["low"] < 0.8 < share(found, GENERATION)["high"]
    assert [each["rows"] for each in found["tasks"]][:2] == [10, 10]
    # Never seen in twenty dialogues is not never.
    assert share(found, "Test Generation") == {"value": 0.0, "low": 0.0, "high": pytest.approx(1 - 0.025 ** (1 / 20))}


@given(st.lists(st.tuples(st.sampled_from([*TASKS]), st.floats(0.5, 20)), min_size=1, max_size=40))
def test_shares_are_weighted_means_that_add_up(drawn):
    rows = [classified(number, task, weight) for number, (task, weight) in enumerate(drawn)]
    found = findings(rows)
    assert sum(each["share"]["value"] for each in found["tasks"]) == pytest.approx(1)
    is_first = [task == drawn[0][0] for task, _ in drawn]
    expected = np.average(is_first, weights=[weight for _, weight in drawn])
    assert share(found, drawn[0][0])["value"] == pytest.approx(expected)
    assert sum(found["dialogues"][name] for name in ("by_people", "by_model", "unrelated", "unlabelled")) == len(rows)


def test_intervals_cover_the_share_of_the_population():
    generator = np.random.default_rng(1)
    covered = 0
    for _ in range(150):
        # Two strata, the second drawn a third as densely as the first.
        flags = [generator.random(150) < 0.5, generator.random(100) < 0.2]
        weights = [2.0] * 150 + [6.0] * 100
        (found,) = figures.weighted_shares([[flag] for flag in np.concatenate(flags)], weights, 1)
        covered += found["low"] <= (2 * 150 * 0.5 + 6 * 100 * 0.2) / (2 * 150 + 6 * 100) <= found["high"]
    assert covered >= 0.92 * 150


def test_what_people_have_settled_stands_in_place_of_the_model_s_label():
    rows = [classified(0, code_centred=True), classified(1, GENERATION), classified(2, None, status="rejected")]
    rows += [classified(3, None, status="failed"), classified(4, None, status="rejected")]
    people = {"d1": settled(code_centred=False), "d2": settled(GENERATION), "d4": settled("cooking"), "d9": settled()}
    found = findings(rows, people)
    assert found["dialogues"] == {"sample": 5, "by_people": 2, "by_model": 1, "unrelated": 1, "unlabelled": 1}
    assert share(found, KNOWLEDGE)["value"] == pytest.approx(2 / 3)
    assert (found["code_centred"]["rows"], found["code_centred"]["share"]["value"]) == (2, 0.5)


def test_suitable_is_what_meets_all_three_criteria():
    met = [(True, True, True), (True, True, False), (True, False, None), (False, False, False)]
    rows = [classified(number, **dict(zip(figures.CRITERIA, each, strict=True))) for number, each in enumerate(met)]
    # A failed row keeps the task that the model gave, and is known to meet nothing.
    rows.append(classified(9, status="failed", code_centred=True, **dict.fromkeys(figures.CRITERIA)))
    suitable = {each["criterion"]: (each["rows"], each["share"]["value"]) for each in findings(rows)["suitable"]}
    assert suitable == {
        "single_answer": (4, 0.75),
        "timeless": (4, 0.5),
        "evidenced": (3, pytest.approx(1 / 3)),
        "all": (3, pytest.approx(1 / 3)),
    }


def test_an_empty_sample_has_no_shares():
    found = findings([])
    assert {each["share"]["value"] for each in [*found["tasks"], found["code_centred"], *found["suitable"]]} == {None}
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@pytest.mark.parametrize("seed", range(4))
def test_the_model_beside_people_is_as_scikit_learn_has_it(seed):
    generator = np.random.default_rng(seed)
    tasks = [*TASKS]
    rows, people = [], {}
    for number in range(60):
        one, other = generator.integers(4, size=2)
        rows.append(classified(number, tasks[one]))
        people[f"d{number}"] = settled(tasks[one if generator.random() < 0.5 else other])
    task, centred, *_ = figures.model_against_people([*rows, classified(99)], people)
    said, held = [row["task"] for row in rows], [people[row["dialogue_id"]]["task"] for row in rows]
    assert (task["criterion"], task["things"]) == ("task", 60)
    assert task["kappa"]["value"] == pytest.approx(sklearn.metrics.cohen_kappa_score(said, held))
    assert task["accuracy"]["value"] == pytest.approx(sklearn.metrics.accuracy_score(said, held))
    both = [one == other == KNOWLEDGE for one, other in zip(said, held, strict=True)]
    assert (centred["criterion"], centred["things"]) == ("code_centred", sum(both))


def test_a_dialogue_that_the_model_takes_for_unrelated_counts_as_its_label():
    rows = [classified(0, None, status="rejected"), classified(1), classified(2, None, status="failed")]
    (task, *_) = figures.model_against_people(rows, {f"d{number}": settled() for number in range(3)})
    assert (task["things"], task["accuracy"]["value"]) == (2, 0.5)
    assert figures.model_against_people(rows, {}) == []


def test_the_population_is_shown_by_language_length_and_model():
    rows = [
        {"language": language, "characters": 400 * number, "model": "m", "status": "ok" if number % 2 else "rejected"}
        for number, language in enumerate(["en", "en", "", *"abcdefghijk"])
    ]
    found = figures.population(rows)
    assert found["language"][0] == {"value": "en", "population": 2, "sample": 1}
    assert found["language"][-1] == {"value": "3 others", "population": 3, "sample": 1}
    assert len(found["language"]) == figures.SHOWN + 1
    assert found["model"] == [{"value": "m", "population": 14, "sample": 7}]
    assert [(each["value"], each["population"]) for each in found["length"]] == [
        ("0 to 499", 2),
        ("500 to 1,499", 2),
        ("1,500 to 4,999", 9),
        ("5,000 to 19,999", 1),
        ("20,000 and more", 0),
    ]
    # So that it can be seen whether each stratum got its part.
    assert {sampling.MEDIUM, sampling.LONG} <= {*figures.LENGTHS}
    for name in found:
        assert sum(each["population"] for each in found[name]) == 14
        assert sum(each["sample"] for each in found[name]) == 7
