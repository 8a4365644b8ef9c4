"""How JSON is asked for: found out once per model, and mended by one question."""

import pytest

from devqa.llm import outcomes
from devqa.llm.requests import Request
from devqa.llm.structured import MODES, Structured, known_mode, repair, repaired
from faults import GRADE

ASKED = Request(({"role": "user", "content": "which grade?"},), GRADE)
TEXT = Request(({"role": "user", "content": "which grade?"},))


def record(content, schema=GRADE, finish="stop", **message):
    choice = {"message": {"content": content, **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    return outcomes.read({"choices": [choice], "usage": usage}, schema)


GOOD = record('{"grade": "A"}')
WRONG_VALUE = record('{"grade": "Z"}')
OTHER_JSON = record('{"verdict": "A"}')
PROSE = record("The grade is A.")
TELLS_NOTHING = {
    "truncated": record('{"gra', finish="length"),
    "refused": record(None, refusal="no"),
    "empty": record(None),
    "a tool": record(None, tool_calls=[{}]),
}


def test_the_best_mode_is_tried_first_and_kept_once_it_works(tmp_path):
    found = Structured("auto", tmp_path)
    assert (found.mode, found.known(ASKED), found.known(TEXT)) == ("json_schema", False, True)
    assert known_mode(tmp_path) is None
    assert found.learn(ASKED, found.mode, GOOD)
    assert found.known(ASKED)
    assert known_mode(tmp_path) == "json_schema"
    assert Structured("auto", tmp_path).known(ASKED)


def test_a_mode_that_is_refused_gives_way_to_the_next(tmp_path):
    found = Structured("auto", tmp_path)
    assert found.step_down("json_schema")
    assert found.step_down("json_schema"), "another request that was under way at the same time"
    assert found.mode == "json_object"
    assert found.step_down("json_object")
    assert found.mode == "prompt"
    assert not found.step_down("prompt")
    assert found.learn(ASKED, "prompt", GOOD)
    assert Structured("auto", tmp_path).mode == "prompt"


@pytest.mark.parametrize("setting", MODES)
def test_a_mode_that_is_set_is_known_and_stays(setting, tmp_path):
    found = Structured(setting, tmp_path)
    assert found.known(ASKED)
    assert found.learn(ASKED, setting, PROSE)
    assert not found.step_down(setting)
    assert found.mode == setting
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("mode", "answer", "kept"),
    [
        ("json_schema", PROSE, False),
        ("json_schema", OTHER_JSON, False),
        ("json_schema", WRONG_VALUE, True),
        ("json_object", PROSE, False),
        ("json_object", OTHER_JSON, True),
        ("prompt", PROSE, True),
    ],
)
def test_an_answer_shows_whether_the_endpoint_enforces_the_mode(mode, answer, kept, tmp_path):
    """Where it has kept to what the mode promises, the model is to blame: it is asked once more, in the same mode."""
    found = Structured("auto", tmp_path)
    for earlier in MODES[: MODES.index(mode)]:
        found.step_down(earlier)
    assert found.learn(ASKED, mode, answer) == kept
    assert found.mode == (mode if kept else MODES[MODES.index(mode) + 1])
    assert known_mode(tmp_path) is None


@pytest.mark.parametrize("answer", TELLS_NOTHING.values(), ids=TELLS_NOTHING)
def test_an_answer_that_tells_nothing_holds_nobody_up_and_settles_nothing(answer, tmp_path):
    found = Structured("auto", tmp_path)
    assert found.learn(ASKED, "json_schema", answer)
    assert found.known(ASKED)
    assert known_mode(tmp_path) is None
    assert not found.learn(ASKED, "json_schema", PROSE)
    assert found.mode == "json_object"


def test_an_answer_in_a_mode_of_before_settles_nothing(tmp_path):
    found = Structured("auto", tmp_path)
    found.step_down("json_schema")
    assert found.learn(ASKED, "json_schema", GOOD)
    assert known_mode(tmp_path) is None
    assert not found.learn(ASKED, "json_schema", PROSE), "it is asked again in the mode of now"
    assert found.mode == "json_object"


def test_an_endpoint_that_forgets_what_it_could_is_found_out(tmp_path):
    Structured("auto", tmp_path).learn(ASKED, "json_schema", GOOD)
    found = Structured("auto", tmp_path)
    assert found.step_down("json_schema")
    assert (found.mode, found.known(ASKED)) == ("json_object", False)


def test_answers_to_requests_for_text_tell_nothing(tmp_path):
    found = Structured("auto", tmp_path)
    assert found.learn(TEXT, "json_schema", record("prose", schema=None))
    assert not found.known(ASKED)


@pytest.mark.parametrize("text", ["", "nonsense", "json_schema and more"])
def test_a_damaged_note_counts_as_none(text, tmp_path):
    (tmp_path / "structured").write_text(text)
    assert known_mode(tmp_path) is None


@pytest.mark.parametrize("answer", [WRONG_VALUE, OTHER_JSON, PROSE])
def test_an_answer_off_the_schema_can_be_asked_about(answer):
    question = repair(ASKED, answer)
    assert question.schema == GRADE
    assert [message["role"] for message in question.messages] == ["user", "assistant", "user"]
    assert question.messages[1]["content"] == answer["text"]
    assert answer["reason"] in question.messages[2]["content"]


@pytest.mark.parametrize("answer", [GOOD, *TELLS_NOTHING.values()])
def test_nothing_else_can(answer):
    assert repair(ASKED, answer) is None
    assert repair(TEXT, record("prose", schema=None)) is None


def test_a_huge_answer_is_not_quoted_whole():
    question = repair(ASKED, record("x" * 100_000))
    assert len(question.messages[1]["content"]) == 8_000


def test_two_answers_make_one_record_with_the_tokens_of_both():
    first, second = {**WRONG_VALUE, "sent_bytes": 100}, {**GOOD, "sent_bytes": 150}
    both = repaired(first, second)
    assert (both["outcome"], both["data"], both["repaired"]) == ("ok", {"grade": "A"}, True)
    assert (both["input_tokens"], both["output_tokens"], both["sent_bytes"]) == (20, 10, 250)
    assert both["counted"]
    assert not repaired({**first, "counted": False}, second)["counted"]
