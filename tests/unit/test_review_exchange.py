"""Tasks and decisions in the forms of Label Studio and Argilla: there and back, all of a file or nothing."""

import json
from xml.etree.ElementTree import fromstring

import pytest

from decided import AT, URLS, both, decided
from devqa.config.commands import configuration
from devqa.errors import UserError
from devqa.review.exchange import argilla, label_studio
from devqa.review.exchange.asking import asking
from devqa.review.exchange.people import People, utc
from exchanged import DECISIONS, HOSTILE, annotated, responded, to_review

PEOPLE = People({"3": "ann", "4": "bob", "eve@example.org": "eve"}, ["eve"])


@pytest.fixture(scope="module")
def asked():
    return asking("pairs", configuration([]))


@pytest.fixture
def rows():
    return to_review()


def test_what_goes_to_label_studio_comes_back_as_decisions(asked, rows):
    tasks = json.loads(json.dumps(label_studio.tasks(asked, rows)))
    assert [json.loads(task["data"]["devqa_key"]) for task in tasks] == [["u"], ["a"], ["b"], ["c"]]
    found = label_studio.decisions(asked, annotated(tasks, DECISIONS), PEOPLE)
    assert sorted(found, key=str) == sorted(DECISIONS, key=str)


def test_what_goes_to_argilla_comes_back_as_decisions(asked, rows):
    records = argilla.records(asked, rows)
    found = argilla.decisions(asked, responded(records, DECISIONS), PEOPLE, AT)
    assert sorted(found, key=str) == sorted(DECISIONS, key=str)


def test_the_labelling_configuration_shows_what_tasks_have_and_asks_what_decisions_need(asked, rows):
    view = fromstring(label_studio.labelling(asked))  # noqa: S314 -- made here
    data = label_studio.tasks(asked, rows)[0]["data"]
    shown = {each.get("value") for each in view.iter("Text")}
    assert shown == {f"${name}" for name in data if name != "devqa_key"}
    assert all(data.values())
    controls = {each.get("name"): each for each in view.iter() if each.tag in ("Choices", "TextArea")}
    assert controls.keys() == set(asked.kind.labels)
    names = {each.get("name") for each in view.iter("Text")}
    assert {each.get("toName") for each in controls.values()} <= names
    assert [each.get("value") for each in controls["decision"]] == ["accept", "reject", "correct"]
    assert controls["decision"].get("required") == "true"
    assert controls["failed_criteria"].get("choice") == "multiple"


def test_the_settings_fit_the_records(asked, rows):
    settings = argilla.settings(asked, 2)
    assert settings["distribution"]["min_submitted"] == 2
    fields = {field["name"]: field["required"] for field in settings["fields"]}
    for record in argilla.records(asked, rows):
        assert record["fields"].keys() <= fields.keys()
        assert {name for name, required in fields.items() if required} <= record["fields"].keys()
        assert all(isinstance(text, str) and text for text in record["fields"].values())
    questions = {question["name"]: question for question in settings["questions"]}
    assert questions.keys() == set(asked.kind.labels)
    kinds = {name: question["settings"]["type"] for name, question in questions.items()}
    assert (kinds["decision"], kinds["failed_criteria"]) == ("label_selection", "multi_label_selection")
    assert {kinds[name] for name in ("own_answer", "reason", "answer", "evidence_urls")} == {"text"}


def test_what_the_model_or_the_judge_said_is_not_shown_with_answers_and_dialogues():
    config = configuration([])
    grades = asking("grades", config)
    row = {"id": "q", "setting": "plain", "model": "gpt", "repeat": 1, "question": "Why?", "answer": "so"}
    row |= {"prediction": "thus", "grade": "CORRECT", "stratum": "gpt / plain / CORRECT", "language": "en"}
    (task,) = label_studio.tasks(grades, [row])
    (record,) = argilla.records(grades, [row])
    assert task["data"] == {
        "devqa_key": '["q", "plain", "gpt", 1]',
        "question": "Why?",
        "answer": "so",
        "prediction": "thus",
    }
    assert record["fields"] == {"question": "Why?", "answer": "so", "prediction": "thus"}
    with pytest.raises(UserError, match="study: there is none in the configuration"):
        asking("dialogues", config)


def test_yes_and_no_are_told_apart_from_silence():
    config = configuration([]).model_copy(update={"study": _study()})
    asked = asking("dialogues", config)
    answers = {"task": "Dev Knowledge QA", "code_centred": ["yes"], "timeless": "no"}
    exported = [{"id": '["d1"]', "responses": {name: [{"value": v, "user_id": "3"}] for name, v in answers.items()}}]
    (row,) = argilla.decisions(asked, exported, PEOPLE, AT)
    assert row == {
        "dialogue_id": "d1",
        "annotator": "ann",
        "role": "annotator",
        "task": "Dev Knowledge QA",
        "code_centred": True,
        "single_answer": None,
        "timeless": False,
        "evidenced": None,
        "decided_at": AT,
    }
    exported[0]["responses"]["task"][0]["value"] = "Code Editing"
    (row,) = argilla.decisions(asked, exported, PEOPLE, AT)
    assert (row["code_centred"], row["timeless"]) == (None, None)
    exported[0]["responses"]["timeless"][0]["value"] = "perhaps"
    with pytest.raises(UserError, match="'timeless' is 'perhaps': it must be one of yes, no"):
        argilla.decisions(asked, exported, PEOPLE, AT)


def test_what_does_not_belong_to_a_decision_is_left_out_as_on_the_page(asked, rows):
    told = decided("a", reason="fine", failed_criteria=["verifiable"], answer="8m")
    (row,) = label_studio.decisions(asked, annotated(label_studio.tasks(asked, rows), [told]), PEOPLE)
    assert row == decided("a")


def _study():
    from devqa.config.study import Study

    step = {"model": "smollm2"}
    return Study(sources={"raw": {"path": "raw"}}, filter=step, tasks=step, suitability=step)


def test_who_has_skipped_or_only_begun_has_decided_nothing(asked, rows):
    exported = annotated(label_studio.tasks(asked, rows), both("a"))
    exported[1]["annotations"][0]["was_cancelled"] = True
    assert [row["annotator"] for row in label_studio.decisions(asked, exported, PEOPLE)] == ["bob"]
    records = responded(argilla.records(asked, rows), both("a"))
    for responses in records[1]["responses"].values():
        responses[0]["status"], responses[1]["status"] = "draft", "submitted"
    assert [row["annotator"] for row in argilla.decisions(asked, records, PEOPLE, AT)] == ["bob"]


@pytest.mark.parametrize(
    ("exported", "told"),
    [
        ({}, "is no export of Label Studio"),
        ([7], "task 1 is none that was exported from here"),
        ([{"id": 1, "question": "Why?", "decision": "accept"}], "export as JSON, not JSON-MIN"),
        ([{"data": {"devqa_key": '["a"]'}, "annotations": [{}]}], "task 1 has an annotation without a result"),
        ([{"data": {"devqa_key": '["a"]'}, "annotations": [{"result": []}]}], "it is not said who has decided"),
        (
            [{"data": {"devqa_key": '["a"]'}, "annotations": [{"result": [], "completed_by": 3}]}],
            "task 1: None is no time in ISO 8601",
        ),
        (
            [{"data": {"devqa_key": "a"}, "annotations": [{"result": [], "completed_by": 3, "updated_at": AT}]}],
            "'a' does not name one of the pairs",
        ),
        (
            [{"data": {"devqa_key": '["a", 1]'}, "annotations": [{"result": [], "completed_by": 3, "updated_at": AT}]}],
            "does not name one of the pairs",
        ),
        (
            [
                {
                    "data": {"devqa_key": '["a"]'},
                    "annotations": [
                        {
                            "result": [{"from_name": "decision", "value": {"choices": [["a"]]}}],
                            "completed_by": 3,
                            "updated_at": AT,
                        }
                    ],
                }
            ],
            "the answer to 'decision' is",
        ),
    ],
)
def test_what_is_no_export_of_label_studio_is_named(exported, told, asked):
    with pytest.raises(UserError) as error:
        label_studio.decisions(asked, exported, PEOPLE)
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("exported", "told"),
    [
        ({}, "is no export of Argilla"),
        ([7], "record 1 has no id or no responses"),
        ([{"id": '["a"]'}], "record 1 has no id or no responses"),
        ([{"id": '["a"]', "responses": {"decision": "accept"}}], "the responses to 'decision' are no list"),
        ([{"id": '["a"]', "responses": {"decision": [{"value": "accept"}]}}], "it is not said who has decided"),
    ],
)
def test_what_is_no_export_of_argilla_is_named(exported, told, asked):
    with pytest.raises(UserError) as error:
        argilla.decisions(asked, exported, PEOPLE, AT)
    assert told in str(error.value)


def test_times_are_of_one_form():
    assert utc("2026-11-30T12:00:00+02:00", "task 1") == AT
    assert utc("2026-11-30T10:00:00.000999Z", "task 1") == AT
    with pytest.raises(UserError, match="has no zone"):
        utc("2026-11-30T12:00:00", "task 1")


def test_hostile_texts_travel_as_they_are(asked, rows):
    (task,) = [task for task in label_studio.tasks(asked, rows) if json.loads(task["data"]["devqa_key"]) == ["u"]]
    assert task["data"]["question"] == HOSTILE
    found = label_studio.decisions(asked, annotated([task], [decided("u", decision="reject", reason=HOSTILE)]), PEOPLE)
    assert (found[0]["reason"], found[0]["evidence_urls"]) == (HOSTILE, [])
    assert label_studio.decisions(asked, annotated([task], [decided("u")]), PEOPLE)[0]["evidence_urls"] == URLS


@pytest.mark.parametrize("account", ["ev il<>", "-", "x" * 61])
def test_who_is_called_what_nobody_can_be_called_needs_another_name(account):
    with pytest.raises(UserError, match="can't be a person's name"):
        People().name(account, "file")
    assert People({account: "ann"}).name(account, "file") == "ann"
