"""The statistics of one model, as the reports get them."""

import json

import numpy as np
import pytest

from devqa.evaluation import agreement, as_json, calibration, comparison, statistics
from devqa.evaluation.bootstrap import Estimate
from devqa.evaluation.model_statistics import model_statistics
from devqa.evaluation.runs import runs
from devqa.evaluation.statistics import UNRESOLVED
from graded import answers, grades, question, run

ROWS = 90
CLUSTERS = np.arange(ROWS) // 3
BENCHMARK = [question(number, dialogue_id=f"d{number // 3:02}") for number in range(ROWS)]


def codes(repeats=2, seed=3):
    return np.random.default_rng(seed).choice(3, size=(repeats, ROWS)).astype(np.int8)


def test_a_run_of_one_judge_without_confidence_has_no_more_than_its_scores():
    found = model_statistics("m", BENCHMARK, [run(codes())])
    nothing = dict.fromkeys(("calibration", "audit", "corrected", "people", "judges"))
    assert found == {"model": "m", "settings": {"plain": nothing}, "gain": []}
    assert model_statistics("m", BENCHMARK, []) == {"model": "m", "settings": {}, "gain": []}


def test_confidence_that_was_asked_for_is_held_against_all_answers_of_all_repeats():
    stated = np.random.default_rng(1).choice([50.0, 80.0, np.nan], size=(2, ROWS))
    own = run(codes(), setting="confidence")
    own.confidence[:] = stated
    found = model_statistics("m", BENCHMARK, [own])["settings"]["confidence"]["calibration"]
    for view in ("incorrect", "excluded"):
        expected = calibration.calibration(stated.ravel(), own.codes.ravel(), np.tile(CLUSTERS, 2), view)
        assert found[view] == expected
        assert expected.answers == 2 * ROWS and expected.unreadable > 0


def test_confidence_counts_where_it_was_asked_for_or_is_there():
    asked, imported = run(codes(), setting="confidence"), run(codes(), setting="rag")
    imported.confidence[0, 0] = 70
    found = model_statistics("m", BENCHMARK, [asked, imported, run(codes())])["settings"]
    assert found["confidence"]["calibration"]["incorrect"].unreadable == 2 * ROWS
    assert found["rag"]["calibration"]["incorrect"].used == 1
    assert found["plain"]["calibration"] is None


def test_gains_are_paired_and_corrected_over_the_settings():
    plain_run, rag, agentic = (
        run(codes(seed=seed), setting=name) for seed, name in enumerate(("plain", "rag", "agentic"))
    )
    found = model_statistics("m", BENCHMARK, [rag, plain_run, agentic])["gain"]
    assert [(each["setting"], each["share"]) for each in found] == [
        (setting, share) for share in ("f_score", "cga", "co") for setting in ("rag", "agentic")
    ]
    for each in found:
        other = rag if each["setting"] == "rag" else agentic
        (alone,) = comparison.compare(["a", "b"], np.stack([other.codes, plain_run.codes]), CLUSTERS, each["share"])
        assert (each["difference"], each["p"], each["rows"], each["clusters"]) == (
            alone.difference,
            alone.p,
            alone.rows,
            alone.clusters,
        )
    by_share = [each for each in found if each["share"] == "co"]
    assert min(each["p_holm"] for each in by_share) == pytest.approx(min(1, 2 * min(each["p"] for each in by_share)))
    assert model_statistics("m", BENCHMARK, [rag, agentic])["gain"] == []


def test_several_judges_have_their_own_figures_and_an_agreement():
    one, other = codes(), codes(seed=4)
    other[:, :30] = one[:, :30]
    other[0, -1] = UNRESOLVED
    found = model_statistics("m", BENCHMARK, [run(one, k=other)])["settings"]["plain"]["judges"]
    assert found["judges"] == ["j", "k"]
    assert found["alpha"] == agreement.krippendorff_alpha(np.stack([one.ravel(), other.ravel()]), np.tile(CLUSTERS, 2))
    assert [each["judge"] for each in found["figures"]] == ["j", "k", "majority"]
    for each, by in zip(found["figures"], (one, other, agreement.majority(np.stack([one, other]))), strict=True):
        expected = statistics.share_intervals(by[None], CLUSTERS)[0]
        for share in statistics.BOUNDED:
            assert each[share] == pytest.approx(tuple(expected[share]))
        assert each["graded"] == (by >= 0).sum() / 2


def test_people_are_of_this_model_alone():
    given = {"row": 1, "id": "q0001", "setting": None, "repeat": None, "grade": "CORRECT", "reason": ""}
    found = model_statistics("m", BENCHMARK, [run(codes())], [given | {"model": "m"}, given | {"model": "other"}])
    assert found["settings"]["plain"]["people"]["rows"] == 1
    assert found["settings"]["plain"]["corrected"]["figures"] == {}


def test_rows_without_a_dialogue_are_their_own_cluster():
    benchmark = [question(number, dialogue_id=None) for number in range(ROWS)]
    both = [run(codes(seed=1)), run(codes(seed=2), setting="rag")]
    assert model_statistics("m", benchmark, both)["gain"][0]["clusters"] == ROWS
    assert model_statistics("m", BENCHMARK, both)["gain"][0]["clusters"] == ROWS // 3


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("fates", [["ungraded"] * 12, ["error"] * 12, ["NOT_ATTEMPTED"] * 12, ["CORRECT"], []])
def test_odd_runs_have_statistics_that_json_can_say(fates, tmp_path):
    """All that a report asks for is there, and what can't be given is null."""
    failing = [{"model": "f", "grade": "INCORRECT"}, {"model": "g", "grade": None}]
    benchmark = [question(number, filtered=failing) for number in range(len(fates))]
    given = [row for setting in ("plain", "rag", "confidence") for row in answers(fates, setting=setting)]
    said = [row for setting in ("plain", "rag", "confidence") for row in grades(fates, setting=setting)]
    found = runs(benchmark, given, said, [{**row, "judge": "k"} for row in said])
    person = {"row": 1, "id": "q0000", "model": "m", "setting": None, "repeat": None, "grade": "CORRECT", "reason": ""}
    as_json.write(model_statistics("m", benchmark, found, [person]), tmp_path / "m.json")
    read = json.loads((tmp_path / "m.json").read_text())
    assert list(read["settings"]) == (["confidence", "plain", "rag"] if fates else [])
    assert len(read["gain"]) == (6 if fates else 0)


def test_the_same_figures_are_the_same_bytes_whatever_their_order(tmp_path):
    value = {
        "b": [Estimate(0.5, None, np.float64(1))],
        "a": np.int64(3),
        "ключ": comparison.Resolution(1, 0.1, 0.1, None),
    }
    as_json.write(value, tmp_path / "one.json")
    as_json.write(dict(reversed(value.items())), tmp_path / "other.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "other.json").read_bytes()
    assert json.loads((tmp_path / "one.json").read_text(encoding="utf-8")) == {
        "a": 3,
        "b": [{"value": 0.5, "low": None, "high": 1.0}],
        "ключ": {"comparisons": 1, "median": 0.1, "largest": 0.1, "corrected": None},
    }


@pytest.mark.parametrize("figure", [float("nan"), np.float64("nan"), float("inf")])
def test_a_figure_that_is_none_is_never_written_as_nan(figure, tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        as_json.write({"figure": figure}, tmp_path / "one.json")
    assert not (tmp_path / "one.json").exists()
