"""repository_questions → predictions, in the setting `agentic`: a model that looks into a repository."""

import json

import pytest

from conversing import calling, script
from devqa.errors import UserError
from devqa.llm import outcomes
from devqa.prompts import Prompt
from devqa.pull_requests.agents.agent import agentic
from exported import LABEL, Link, checked_out, question
from scripted import Reply
from standins import assert_sound, prompt

FILES = {
    b"basket.py": b"class Basket:\n    def discount(self):\n        return max(self.discounts)\n",
    b"big.txt": b"zebra and more of it\n" * 2_000,
    b"away": Link(b"/etc/passwd"),
}
GREP = calling(("grep", {"pattern": "def discount"}))
READ = calling(("read_file", {"path": "basket.py"}))


class Office:
    """Asks one model about one repository, with a cache that outlives each run."""

    def __init__(self, folder, server):
        self.folder, self.server = folder, server
        self.checkout = checked_out(folder, FILES)
        self.origin = {"label": LABEL, "name": "acme/shop"}

    def rows(self, reply, *, questions=1, rounds=3, calls=2, result_tokens=300, repeats=(1,), template=None, **model):
        self.server.reply = reply
        asked = [question(number, self.origin, "0" * 40) for number in range(questions)]
        model = {"context": 16_000, "sampling": {"max_tokens": 500}, "limits": {"retries": 0}, **model}
        with self.server.chat(self.folder / "answers", "pr_agentic", **model) as chat:
            found = agentic(
                asked,
                {LABEL: self.checkout},
                chat,
                template or prompt("pull_requests/agentic"),
                list(repeats),
                rounds=rounds,
                calls=calls,
                result_tokens=result_tokens,
            )
        assert_sound(found, "predictions")
        assert [(row["repeat"], row["id"]) for row in found] == [
            (repeat, row["id"]) for repeat in repeats for row in asked
        ]
        return found


@pytest.fixture
def office(tmp_path, endpoint):
    endpoint.clear()
    yield Office(tmp_path, endpoint)
    endpoint.reply = lambda body: "ok"


def test_a_model_looks_for_lines_reads_a_file_and_answers(office):
    (row,) = office.rows(script(GREP, READ, "The largest of all."))
    assert (row["answer"], row["setting"], row["model"], row["repeat"]) == (
        "The largest of all.",
        "agentic",
        "scripted",
        1,
    )
    assert [(call["round"], call["tool"], call["outcome"]) for call in row["tool_calls"]] == [
        (1, "grep", "ok"),
        (2, "read_file", "ok"),
    ]
    assert "basket.py:2:     def discount(self):" in row["tool_calls"][0]["result"]
    assert "3\t        return max(self.discounts)" in row["tool_calls"][1]["result"]
    assert row["usage"][0]["calls"] == 3
    assert row["seconds"] > 0
    assert row["shown"] == []


def test_the_model_is_told_the_repository_the_question_and_its_tools(office):
    office.rows(script("Seven."), rounds=4, calls=1)
    (body,) = office.server.requests
    assert body["messages"][1]["content"] == "Repository: acme/shop\nQuestion: What of discount 0?"
    assert "4 rounds of calls, with at most 1 call in each" in body["messages"][0]["content"]
    assert [tool["function"]["name"] for tool in body["tools"]] == ["grep", "read_file", "list_files"]


def test_a_rerun_asks_for_nothing_and_gives_the_same(office):
    reply = script(GREP, READ, "The largest.")
    rows = office.rows(reply, questions=2, repeats=(1, 2))
    assert office.server.count == 3 * 4
    office.server.clear()
    assert office.rows(reply, questions=2, repeats=(1, 2)) == rows
    assert office.server.count == 0


def test_the_bounds_hold(office):
    def eager(body):
        if body.get("tool_choice") == "none":
            return "Enough."
        return calling(*[("grep", {"pattern": "zebra", "path": "big.txt"})] * 3)

    (row,) = office.rows(eager, rounds=2, calls=2, result_tokens=100)
    assert (row["answer"], office.server.count) == ("Enough.", 3)
    assert [call["round"] for call in row["tool_calls"]] == [1, 1, 1, 2, 2, 2]
    assert ["at most 2 calls" in call["outcome"] for call in row["tool_calls"]] == [False, False, True] * 2
    assert all(len(call["result"]) < 100 * 4 + 100 for call in row["tool_calls"])


@pytest.mark.parametrize(
    "call",
    [
        ("read_file", {"path": "../../../../../../etc/passwd"}),
        ("read_file", {"path": "/etc/passwd"}),
        ("read_file", {"path": "away"}),
        ("grep", {"pattern": "root", "path": "/etc"}),
        ("list_files", {"path": ".."}),
        ("write_file", {"path": "a", "content": "x"}),
        ("read_file", "{broken"),
    ],
)
def test_what_is_not_allowed_is_said_to_the_model_and_costs_no_row(office, call):
    (row,) = office.rows(script(calling(call), "I do not know."))
    assert (row["answer"], row["status"]) == ("I do not know.", "ok")
    (logged,) = row["tool_calls"]
    assert logged["outcome"] != "ok"
    assert logged["result"] == f"No result: {logged['outcome']}."
    assert logged["result"] == office.server.requests[-1]["messages"][-1]["content"]


def test_the_window_is_kept_to(office):
    def eager(body):
        return "Enough." if body.get("tool_choice") == "none" else calling(("read_file", {"path": "big.txt"}))

    (row,) = office.rows(eager, rounds=50, result_tokens=1_000, context=4_000)
    assert (row["answer"], row["status"]) == ("Enough.", "ok")
    assert office.server.count < 10
    assert "answer the question now" in row["tool_calls"][-1]["result"]


def test_the_tools_must_be_those_that_there_are(office, tmp_path):
    for name, text in (("system.j2", "s"), ("user.j2", "u"), ("tools.yaml", json.dumps([]))):
        (tmp_path / "own").mkdir(exist_ok=True)
        (tmp_path / "own" / name).write_text(text)
    with pytest.raises(UserError, match="own/tools.yaml must describe the tools grep and read_file and list_files"):
        office.rows(script("Seven."), template=Prompt(tmp_path, "own"))


def test_an_answer_that_can_t_be_used_is_no_answer(office):
    (row,) = office.rows(script(GREP, Reply(None, refusal="no")))
    assert (row["outcome"], row["status"]) == ("refused", "failed")
    assert len(row["tool_calls"]) == 1


def test_an_answer_of_a_batch_has_no_seconds(office, monkeypatch):
    read = outcomes.answer
    monkeypatch.setattr(outcomes, "answer", lambda record, cached: read({**record, "seconds": None}, cached))
    (row,) = office.rows(script(GREP, "Seven."))
    assert (row["answer"], row["seconds"]) == ("Seven.", None)
