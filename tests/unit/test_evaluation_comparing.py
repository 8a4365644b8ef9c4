"""All models beside each other, as the reports get them."""

import json
from pathlib import Path

import numpy as np
import pytest

from devqa.evaluation import agreement, as_json, comparing, comparison, gaps
from devqa.evaluation.correlation import correlation
from devqa.evaluation.statistics import UNRESOLVED, f_score
from graded import question, run

ROWS = 150
CLUSTERS = np.arange(ROWS) // 3
BENCHMARK = [question(number, dialogue_id=f"d{number // 3:02}") for number in range(ROWS)]
# Shares correct in the settings plain and rag.
MODELS = {"weak": (0.2, 0.6), "middle": (0.5, 0.7), "strong": (0.9, 0.9)}


def codes(share, seed, repeats=2):
    return (np.random.default_rng(seed).random((repeats, ROWS)) > share).astype(np.int8)


def models(**judges):
    """Runs of three models in two settings, and of one in `rag` alone."""
    found = {
        name: [
            run(codes(share, seed), name, setting, **judges)
            for setting, share in zip(("plain", "rag"), both, strict=True)
        ]
        for seed, (name, both) in enumerate(MODELS.items())
    }
    return found | {"late": [run(codes(0.7, 9, repeats=1), "late", "rag", **judges)]}


def test_models_are_compared_ranked_and_resolved_within_a_setting():
    runs = models()
    found = comparing.comparison(BENCHMARK, runs)["settings"]
    assert list(found) == ["plain", "rag"]
    own = np.stack([runs[name][0].codes for name in MODELS])
    expected = comparison.compare(list(MODELS), own, CLUSTERS)
    assert [tuple(each.values()) for each in found["plain"]["comparisons"]] == [
        (each.first, each.second, each.difference, each.p, each.p_holm, each.rows, each.clusters, each.better)
        for each in expected
    ]
    assert found["plain"]["ranks"] == {"strong": 1, "middle": 2, "weak": 3}
    assert found["plain"]["resolution"] == comparison.resolution(expected)
    assert set(found["rag"]["ranks"]) == {*MODELS, "late"}
    assert len(found["rag"]["comparisons"]) == 6


def test_gains_are_corrected_over_the_models_that_have_both_settings():
    runs = models()
    found = comparing.comparison(BENCHMARK, runs)["gains"]
    assert [(each["share"], each["model"]) for each in found] == [
        (share, model) for share in ("f_score", "cga", "co") for model in MODELS
    ]
    scores = [each for each in found if each["share"] == "f_score"]
    for each in scores:
        before, after = (own.codes for own in runs[each["model"]])
        (alone,) = comparison.compare(["a", "b"], np.stack([after, before]), CLUSTERS)
        assert each["difference"] == pytest.approx(tuple(alone.difference))
        assert each["p"] == pytest.approx(alone.p)
    assert [each["p_holm"] for each in scores] == pytest.approx(comparison.holm([each["p"] for each in scores]))


def test_the_gap_is_between_the_weakest_and_the_strongest_in_plain():
    runs = models()
    (found,) = comparing.comparison(BENCHMARK, runs)["gaps"]
    before, after = ({name: runs[name][place].codes for name in MODELS} for place in (0, 1))
    assert found == {"setting": "rag", **vars(gaps.gap(before, after, CLUSTERS))}
    assert (found["weakest"], found["strongest"], found["models"]) == ("weak", "strong", 3)
    assert found["change"].high < 0


def test_without_the_setting_plain_there_is_nothing_to_gain_on():
    runs = {name: own[1:] for name, own in models().items()}
    found = comparing.comparison(BENCHMARK, runs)
    assert (found["gains"], found["gaps"]) == ([], [])
    assert list(found["settings"]) == ["rag"]


def test_judges_agree_over_all_answers_that_both_graded():
    assert comparing.comparison(BENCHMARK, models())["judges"] is None
    one, other = codes(0.5, 1), np.where(np.random.default_rng(2).random((2, ROWS)) < 0.2, 2, codes(0.5, 1))
    runs = {"a": [run(one, "a", k=other)], "b": [run(one, "b", "rag", l=one)], "c": [run(one, "c")]}
    found = comparing.judges(runs, CLUSTERS)
    assert found["judges"] == ["j", "k", "l"]
    none = np.full(one.size, UNRESOLVED)
    table = np.stack(
        [
            np.tile(one.ravel(), 3),
            np.concatenate([other.ravel(), none, none]),
            np.concatenate([none, one.ravel(), none]),
        ]
    )
    everywhere = np.tile(CLUSTERS, 6)
    assert found["alpha"] == agreement.krippendorff_alpha(table, everywhere)
    pairs = {(each["first"], each["second"]): each for each in found["pairs"]}
    assert pairs["j", "k"]["kappa"] == agreement.against_people(one.ravel(), other.ravel(), np.tile(CLUSTERS, 2)).kappa
    assert {pair: each["rows"] for pair, each in pairs.items()} == {
        ("j", "k"): one.size,
        ("j", "l"): one.size,
        ("k", "l"): 0,
    }
    assert pairs["k", "l"]["kappa"] == (None, None, None)


def test_scores_are_held_against_figures_from_elsewhere():
    runs = models() | {f"m{number}": [run(codes(number / 9, number), f"m{number}")] for number in range(1, 5)}
    outside = {"weak": 30.0, "strong": 91.5, "late": 50.0, "m1": 20.0, "m4": 44.0, "never seen": 5.0}
    found = comparing.correlated(runs, outside, "HumanEval pass@1")
    scores = {name: f_score(own[0].codes) if own[0].setting == "plain" else None for name, own in runs.items()}
    assert [(each["model"], each["score"], each["outside"]) for each in found["points"]] == [
        (name, scores[name], outside[name]) for name in ("weak", "strong", "m1", "m4")
    ]
    assert set(found["left_out"]) == {"middle", "late", "m2", "m3"}
    assert found["unknown"] == ["never seen"]
    assert (found["pearson"], found["name"]) == (correlation(scores, outside).pearson, "HumanEval pass@1")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [UNRESOLVED, 1, 2])
@pytest.mark.parametrize("rows", [0, 1, 12])
def test_odd_runs_are_compared_in_words_that_json_has(kind, rows, tmp_path):
    benchmark = [question(number) for number in range(rows)]
    each = np.full((2, rows), kind, dtype=np.int8)
    runs = {name: [run(each, name, setting, k=each) for setting in ("plain", "rag")] for name in "ab"} | {"c": []}
    found = {**comparing.comparison(benchmark, runs), "correlation": comparing.correlated(runs, {"a": 1.0}, "x")}
    as_json.write(found, Path(tmp_path / "comparison.json"))
    read = json.loads((tmp_path / "comparison.json").read_text())
    assert set(read["settings"]["plain"]["ranks"]) == {"a", "b"}
    assert len(read["gains"]) == 6
    assert read["judges"]["pairs"][0]["rows"] == (0 if kind < 0 else 8 * rows)


def test_nothing_is_compared_without_models():
    found = comparing.comparison(BENCHMARK, {})
    assert found == {"settings": {}, "gains": [], "gaps": [], "judges": None}
