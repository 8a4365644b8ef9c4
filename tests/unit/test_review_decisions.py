"""Files of decisions: read as they are, or refused with one message that names file, thing and person."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from decided import AT, URLS, both, decided, disputed
from devqa import tables
from devqa.errors import UserError
from devqa.evaluation import grading
from devqa.review import decisions
from devqa.review.decisions import look_at, pair_decisions
from devqa.steps import check

UNCHANGED = "nothing was changed"


@pytest.fixture
def file(tmp_path):
    """A writer of files of decisions about pairs."""

    def written(*rows, name="pairs.parquet"):
        tables.write(rows, "pair_decisions", tmp_path / name)
        return str(tmp_path / name)

    return written


def refused(files, table="pair_decisions"):
    with pytest.raises(UserError) as error:
        decisions.decisions(files, table)
    told = str(error.value)
    assert told.endswith(UNCHANGED)
    assert "\n" not in told
    return told


def test_the_words_are_those_of_the_steps():
    assert decisions.CRITERIA == check.CRITERIA
    assert set(decisions.GRADES) == set(grading.GRADES)
    assert [f"{name[:-1]}_decisions" for name in decisions.FILES] == list(decisions.FILES.values())


def test_no_file_has_no_decisions():
    assert pair_decisions([]) == []


def test_decisions_come_back_as_they_are_sorted(file):
    rows = [*both("b"), *disputed("a", "correct"), decided("c", decision="reject", failed_criteria=["verifiable"])]
    found = pair_decisions([file(*rows[:3]), file(*rows[3:], name="more.parquet")])
    assert found == sorted(rows, key=lambda row: (row["pair_id"], row["annotator"]))


def test_null_stands_for_what_is_empty(file):
    row = {**decided("a"), "reason": None, "failed_criteria": None, "own_answer": None, "answer": None}
    assert pair_decisions(file(row)) == [decided("a")]


def test_what_others_write_is_taken_where_it_says_the_same(tmp_path):
    frame = pd.DataFrame([decided("a"), decided("b", decision="reject", failed_criteria=["unambiguous"])])
    path = tmp_path / "pairs.parquet"
    frame[sorted(frame.columns)].to_parquet(path)
    assert [row["pair_id"] for row in pair_decisions(str(path))] == ["a", "b"]


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"pair_id": ""}, "pair_id is empty"),
        ({"annotator": None}, "annotator is empty"),
        ({"role": "boss"}, "the role 'boss' is none of annotator, adjudicator"),
        ({"decision": "maybe"}, "the decision 'maybe' is none of accept, reject, correct"),
        ({"decision": None}, "the decision '' is none of accept, reject, correct"),
        ({"failed_criteria": ["pretty"]}, "the criterion 'pretty' is none of unambiguous"),
        ({"decided_at": "yesterday"}, "decided_at is 'yesterday'"),
        ({"decided_at": "2026-11-30T10:00:00"}, "it must be a time in ISO 8601 and UTC"),
        ({"decided_at": "2026-11-30T10:00:00+02:00"}, "it must be a time in ISO 8601 and UTC"),
        ({"evidence_urls": URLS[:1]}, "accept needs the addresses of 2 different pages as evidence"),
        ({"evidence_urls": None}, "accept needs the addresses of 2"),
        ({"evidence_urls": [URLS[0], URLS[0] + "#top"]}, "accept needs the addresses of 2 different pages"),
        ({"evidence_urls": [*URLS, "javascript:alert(1)"]}, "'javascript:alert(1)' is no http(s) address"),
        ({"evidence_urls": [*URLS, "http://[broken"]}, "'http://[broken' is no http(s) address"),
        ({"evidence_urls": [*URLS, "file:"]}, "'file:' is no http(s) address, nor one of the local corpus"),
        ({"evidence_urls": [*URLS, None]}, "None is no http(s) address"),
        ({"decision": "correct", "answer": " "}, "corrected without an answer"),
        ({"decision": "correct", "answer": "8m", "evidence_urls": []}, "correct needs the addresses of 2"),
        ({"decision": "reject"}, "rejected without a reason or a criterion"),
        ({"decision": "reject", "reason": " \n"}, "rejected without a reason or a criterion"),
    ],
)
def test_a_row_that_says_what_can_not_be_is_refused_by_name(changed, fault, file):
    path = file(decided("other"), {**decided("a"), **changed})
    told = refused(path)
    assert told.startswith(f"{path}: pair ")
    assert fault in told
    if changed.keys().isdisjoint({"pair_id", "annotator"}):
        assert "pair a, ann: " in told


@pytest.mark.parametrize(
    ("rows", "who", "fault"),
    [
        ([decided("a"), decided("a", decision="reject")], "ann", "decided twice by the same person"),
        ([*disputed("a", "accept"), decided("a", "joe", role="adjudicator")], "joe", "adjudicated by eve already"),
        ([decided("a"), decided("a", role="adjudicator")], "ann", "annotated and adjudicated by the same person"),
        ([decided("a", role="adjudicator"), decided("a")], "ann", "annotated and adjudicated by the same person"),
    ],
)
def test_what_can_not_stand_side_by_side_is_refused_in_one_file_and_in_two(rows, who, fault, file):
    one = file(*rows)
    assert f"{one}: pair a, {who}: {fault}" in refused(one)
    first, second = file(*rows[:-1]), file(rows[-1], name="more.parquet")
    assert f"{second}: pair a, {who}: {fault}" in refused([first, second])


def test_of_many_faults_one_is_told_and_how_many_there_are(file):
    told = refused(file(*(decided(f"p{number}", role="boss") for number in range(4))))
    assert "pair p0, ann: the role 'boss'" in told
    assert "(and 3 more)" in told


def test_a_file_that_is_none_is_refused_and_left_as_it_is(tmp_path):
    path = tmp_path / "pairs.parquet"
    path.write_text("pair_id,annotator\n", encoding="utf-8")
    assert f"{path} can't be read as Parquet" in refused(str(path))
    assert path.read_text(encoding="utf-8") == "pair_id,annotator\n"
    assert "can't be read as Parquet" in refused(str(tmp_path / "missing.parquet"))


@pytest.mark.parametrize(
    ("columns", "fault"),
    [
        ({"pair_id": ["a"]}, "lacks annotator"),
        ({**{name: [None] for name in tables.SCHEMAS["pair_decisions"].names}, "mood": ["fine"]}, "has mood"),
        ({name: [7] for name in tables.SCHEMAS["pair_decisions"].names}, "is no table of pair_decisions ("),
    ],
)
def test_other_columns_are_refused_by_name(columns, fault, tmp_path):
    path = tmp_path / "pairs.parquet"
    pq.write_table(pa.table(columns), path)
    assert fault in refused(str(path))


LABELLED = {"annotator": "ann", "role": "annotator", "decided_at": AT}
GRADED = {"id": "q1", "setting": "plain", "model": "gpt", "repeat": 1, "grade": "CORRECT", **LABELLED}
SORTED = {"dialogue_id": "d1", "task": "Code Editing", **LABELLED}
PLACED = {"id": "q1", "domain": "APIs", **LABELLED}


@pytest.mark.parametrize(
    ("table", "row", "changed", "fault"),
    [
        ("grade_decisions", GRADED, {"grade": "A"}, "answer q1 plain gpt 1, ann: the grade 'A' is none of CORRECT"),
        ("grade_decisions", GRADED, {"repeat": None}, "repeat is empty"),
        ("dialogue_decisions", SORTED, {"task": ""}, "dialogue d1, ann: the task is empty"),
        ("domain_decisions", PLACED, {"domain": None}, "question q1, ann: the domain is empty"),
    ],
)
def test_the_other_tables_are_looked_at_too(table, row, changed, fault, tmp_path):
    name = next(name for name, each in decisions.FILES.items() if each == table)
    path = tmp_path / f"{name}.parquet"
    tables.write([row], table, path)
    assert len(decisions.decisions(str(path), table)) == 1
    look_at(tmp_path)
    tables.write([{**row, **changed}], table, path)
    assert fault in refused(str(path), table)
    with pytest.raises(UserError, match="nothing was changed"):
        look_at(tmp_path)


def test_a_folder_that_is_not_there_has_nothing_to_look_at(tmp_path):
    look_at(tmp_path / "nowhere")
