"""How many requests the study sends."""

import json

import pytest

from devqa.bill.meter import Missing, Reading
from devqa.bill.plan import Planned
from devqa.bill.sizes import STUDYING, size
from devqa.bill.spent import Earlier
from devqa.bill.study import study_lines
from devqa.config.study import TASKS
from standins import PROMPTS

MISSING = Missing(1_000, 300, 100, True)
ROLES_OF = {"study_filter": ["study_filter"], "study_classify": ["study_tasks", "study_suitability"]}
PROMPTS_OF = {"study_filter": ["study/filter"], "study_classify": ["study/tasks", "study/suitability"]}


def asked(label):
    return {"label": label, "endpoint": "e", "model": label, "context": 8192, "sampling": {"max_tokens": 300}}


def job(rule, basis="exact"):
    options = {"text_tokens": 600} | ({"categories": TASKS} if rule == "study_classify" else {})
    prompts = {name: {f"{name}/system.j2": "", f"{name}/user.j2": ""} for name in PROMPTS_OF[rule]}
    recipe = {"options": options, "models": {role: asked(role[-5:]) for role in ROLES_OF[rule]}, "prompts": prompts}
    return Planned(rule, {}, {}, {}, json.dumps(recipe), 1, {}, True, basis, False)


def reading(rule, role, keys, missing, further=0, most=0):
    names = tuple(f"{role}{number}" for number in range(keys))
    return Reading(
        rule,
        role,
        role[-5:],
        "e",
        role[-5:],
        names,
        frozenset(names[missing:]),
        dict.fromkeys(names[:missing], MISSING),
        further,
        most,
        not most,
        None,
    )


@pytest.fixture
def config(tmp_path):
    (tmp_path / "raw.jsonl").write_text("{}\n" * 10_000)
    sample = {"confidence": 0.95, "interval": 0.05}
    return {"study": {"sources": {"mine": {"path": str(tmp_path)}}, "shards": 2, "sample": sample}}


def test_tables_that_are_there_are_counted(config):
    measured = [
        (job("study_filter"), [reading("study_filter", "study_filter", 10, 4)]),
        (job("study_filter", "present"), [reading("study_filter", "study_filter", 20, 2)]),
        (
            job("study_classify", "present"),
            [
                reading("study_classify", "study_tasks", 9, 3),
                reading("study_classify", "study_suitability", 4, 1, 1.5, 3),
            ],
        ),
    ]
    lines = study_lines(measured, Earlier(), config)
    assert [line.role for line in lines] == list(STUDYING)
    assert [(len(line.sure), len(line.likely), line.cached) for line in lines] == [(4, 2, 24), (0, 3, 6), (0, 1, 3)]
    assert [(line.further, line.most) for line in lines] == [(0, 0), (0, 0), (1.5, 3)]
    assert [line.bases for line in lines] == [{"exact", "present"}, {"present"}, {"present"}]


def test_what_is_not_there_is_reckoned_from_the_raw_records(config):
    lines = study_lines([(job(rule, "missing"), []) for rule in ("study_filter", "study_classify")], Earlier(), config)
    # One of two shards; 10,000 records would give 1,031 dialogues about development, and a sample of 280 of them.
    assert [round(line.further) for line in lines] == [round(10_000 * 0.376888 / 2), 281, round(281 * 0.396)]
    assert [line.most for line in lines] == [5_000, 370, 370]
    assert all(line.bases == {"paper"} for line in lines)


def test_without_a_study_there_are_no_lines():
    assert study_lines([], Earlier(), {"study": None}) == []


@pytest.mark.parametrize("role", STUDYING)
def test_the_length_of_each_request_can_be_told(role):
    rule = "study_filter" if role == "study_filter" else "study_classify"
    told = size(role, asked("m"), job(rule).recipe, {}, PROMPTS)
    assert 300 < told.input < told.input_most < 8_192
    assert 0 < told.output < told.output_most == 300
    assert told.structured
