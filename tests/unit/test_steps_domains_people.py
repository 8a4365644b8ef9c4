"""People's domains in place of the model's, and groups of domains."""

from devqa.evaluation.knowledge import grouped
from devqa.steps.domains import domains
from standins import Model, answered, assert_sound, prompt

NAMES = {"web": "", "tools": ""}


def domains_of(said, people):
    questions = [{"id": f"q{number}", "question": "What?"} for number in range(len(said))]
    chat = Model.saying(said)
    rows = domains(questions, chat, prompt("domains"), NAMES, people)
    assert_sound(rows, "domains")
    assert len(chat.requests) == len(said)
    return rows


def test_what_people_have_settled_stands_in_place_of_the_model_s_domain():
    said = [
        answered({"domain": "web"}),
        answered({"domain": "web"}),
        answered(outcome="refused"),
        answered(outcome="empty"),
    ]
    rows = domains_of(said, {"q1": "tools", "q2": "tools", "q9": "web"})
    assert [(row["domain"], row["status"]) for row in rows] == [
        ("web", "ok"),
        ("tools", "ok"),
        ("tools", "ok"),
        (None, "failed"),
    ]
    # What the model's answers have cost stays.
    assert all(row["usage"][0]["calls"] == 1 for row in rows)


def test_each_row_has_the_group_of_its_domain():
    rows = [{"id": name, "domain": name} for name in ("web", "tools", None)]
    assert [row["knowledge"] for row in grouped(rows, {"semantic": ["web"]})] == ["semantic", None, None]
    assert [row["knowledge"] for row in grouped(rows, {})] == [None] * 3
