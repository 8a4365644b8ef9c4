"""The evaluation's part of the configuration: who is evaluated on what, and what is refused."""

import copy
from pathlib import Path

import pytest
import yaml

from devqa.config import root
from devqa.config.layers import laid_over
from devqa.errors import UserError

ROOT = Path(__file__).resolve().parents[2]
DEFAULT = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def raw(monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    raw = copy.deepcopy(DEFAULT)
    raw["models"] |= {name: {"base_url": "http://127.0.0.1:1/v1"} for name in ("one", "two", "judge", "second")}
    raw["evaluation"] = {"models": ["one", "two"], "judge": {"model": "judge"}}
    for name in ("a.csv", "b.csv", "bench.jsonl", "people.csv", "figures.csv"):
        (tmp_path / name).write_text("")
    raw["files"] = tmp_path
    return raw


def loaded(raw):
    raw = copy.deepcopy(raw)
    del raw["files"]
    return root.load(raw)


def refusal(raw):
    with pytest.raises(UserError) as caught:
        loaded(raw)
    return str(caught.value)


def imported(raw, model="elsewhere", grade=None, **more):
    return {"model": model, "files": [f"{raw['files']}/a.csv"], "columns": {"grade": grade}, **more}


def test_each_model_has_its_own_settings_and_the_others_the_common_ones(raw):
    raw["evaluation"] |= {"settings": ["plain", "rag"], "model_settings": {"two": ["confidence"]}}
    evaluation = loaded(raw).evaluation
    assert evaluation.settings_of("one") == ["plain", "rag"]
    assert evaluation.settings_of("two") == ["confidence"]


def test_models_with_answers_from_elsewhere_come_after_those_that_are_asked(raw):
    raw["evaluation"]["imports"] = [
        imported(raw, setting="rag"),
        imported(raw, "one.elsewhere", grade="g"),
        imported(raw, setting="plain"),
    ]
    evaluation = loaded(raw).evaluation
    assert evaluation.all_models() == ["one", "two", "elsewhere", "one.elsewhere"]
    assert evaluation.settings_of("elsewhere") == ["rag", "plain"]
    assert evaluation.graded_elsewhere() == ["one.elsewhere"]


def test_answers_with_grades_need_neither_models_nor_a_judge(raw):
    raw["evaluation"] = {"imports": [imported(raw, grade="grade_letter")]}
    config = loaded(raw)
    assert config.evaluation.judge is None
    # The difficulty filter's judge is asked all the same.
    assert config.evaluation.judge_sampling().temperature == 0.5


def test_imports_leave_the_embedded_model_behind():
    overlay = {"evaluation": {"imports": [{"model": "m", "files": ["a.csv"]}]}}
    assert laid_over(DEFAULT | overlay, overlay)["evaluation"] == overlay["evaluation"]


def test_a_benchmark_from_elsewhere_needs_no_dialogues_and_none_of_their_models(raw):
    raw["evaluation"]["benchmark"] = {"path": f"{raw['files']}/bench.jsonl"}
    raw["dialogues"]["example"]["path"] = "no/such/file"
    config = loaded(raw)
    assert not config.builds()
    assert config.used_models().keys() == {"one", "two", "judge"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"models": []}, "evaluation: models is empty, and there are no imports"),
        ({"judge": None}, "evaluation: judge is missing: answers without a grade need one"),
        ({"verdict": "majority"}, "evaluation: verdict: majority needs a panel"),
        ({"panel": ["secnd"]}, "evaluation.panel.0: there is no model 'secnd' under models; did you mean 'second'?"),
        ({"panel": ["second", "judge"]}, "evaluation.panel: 'judge' stands there more than once"),
        ({"settings": ["plain", "plain"]}, "evaluation.settings: 'plain' stands there more than once"),
        ({"model_settings": {"two": ["rag", "rag"]}}, "evaluation.model_settings.two: 'rag' stands there more than"),
        ({"model_settings": {"three": ["rag"]}}, "evaluation.model_settings.three: 'three' is not one of"),
        ({"model_settings": {"two": ["rga"]}}, "evaluation.model_settings.two.0: input should be"),
        ({"domains": {"model": "one", "names": {"all": "all"}}}, "evaluation.domains.names: dictionary should have"),
        ({"domains": {"model": "eno", "names": {"a": "", "b": ""}}}, "evaluation.domains.model: there is no model"),
        ({"benchmark": {"path": "no/such.csv"}}, "evaluation.benchmark.path: "),
        ({"human_grades": {"path": "no/such.csv"}}, "evaluation.human_grades.path: "),
        ({"code_generation": {"path": "no/such.csv"}}, "evaluation.code_generation.path: "),
        ({"code_generation": {"path": "x", "model_column": "pass@1"}}, "model_column and score_column are the same"),
        ({"rag": {"pagse": 3}}, "evaluation.rag.pagse: unknown key; did you mean 'pages'?"),
    ],
)
def test_a_bad_value_is_refused_by_its_key(raw, change, says):
    raw["evaluation"] |= change
    assert says in refusal(raw)


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ([{"model": "one"}], "one is one of `models` too: give the imported answers another name"),
        ([{"model": "m"}, {"model": "m"}], "the answers of m in setting plain are there twice"),
        ([{"model": "m", "grade": "g"}, {"model": "m", "setting": "rag"}], "m has grades in one setting and none in"),
        ([{"model": "a/b"}], "evaluation.imports.0.model: 'a/b' must match"),
        ([{"model": "leaderboard"}], "evaluation.imports.0.model: the name 'leaderboard' is taken"),
        ([{"model": "m", "files": ["no/such.csv"]}], "evaluation.imports.0.files: "),
        ([{"model": "m", "files": []}], "evaluation.imports.0.files: list should have at least 1 item"),
        ([{"model": "m", "colums": {}}], "evaluation.imports.0.colums: unknown key; did you mean 'columns'?"),
        ([{"model": "m", "grades": {"yes": "GOOD"}}], "evaluation.imports.0.grades.yes: input should be 'CORRECT'"),
    ],
)
def test_imports_that_can_t_be_told_apart_or_read_are_refused(raw, entries, says):
    raw["evaluation"]["imports"] = [imported(raw, **entry) for entry in entries]
    assert says in refusal(raw)
