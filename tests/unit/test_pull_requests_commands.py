"""repository_questions → predictions of external agents: what is run, and the answer in what it prints."""

import json
from pathlib import Path

import pytest

from commanded import FILES, Bench
from devqa.errors import UserError
from devqa.pull_requests.agents.commands import Command


def test_what_a_program_prints_is_the_answer(bench):
    (row,) = bench.rows(bench.command("print('\\n It is seven. \\n')"))
    assert (row["answer"], row["setting"], row["model"], row["repeat"]) == ("It is seven.", "command", "mine", 1)
    assert (row["exit_code"], row["usd"], row["outcome"], row["status"]) == (0, None, "ok", "ok")
    assert row["seconds"] > 0


def test_it_runs_in_a_checkout_with_nothing_to_read_from(bench):
    command = bench.command(
        """
        log(json.dumps([sys.stdin.read(), os.getcwd(), os.environ["PWD"], sys.argv[2:],
                        sorted(str(path) for path in pathlib.Path().rglob("*")), os.getpgid(0) == os.getpid()]))
        print(sys.argv[1])
        """,
        "{question} {checkout} --in={checkout} '{}' {other}".replace("{other}", "$HOME;id"),
    )
    (row,) = bench.rows(command)
    stdin, folder, pwd, arguments, files, own_group = json.loads(bench.logged[0])
    assert (stdin, files, own_group) == ("", ["a.py", "src", "src/b.py"], True)
    assert folder == pwd
    assert arguments == [folder, f"--in={folder}", "{}", "$HOME;id"]
    assert row["answer"].endswith("Repository: acme/shop\nQuestion: What of discount 0?")
    # Nothing of the project is above it.
    assert not Path(folder).is_relative_to(Path.cwd())


@pytest.mark.parametrize(
    "text", ["--help", "{checkout} {question}", "'; touch pwned; '", "$(touch pwned)", "a\0b", "Zebra\ud800?"]
)
def test_a_question_is_one_word_whatever_it_says(bench, text):
    (row,) = bench.rows(bench.command("print(len(sys.argv), sys.argv[1][-30:])"), question=text)
    assert row["status"] == "ok"
    assert row["answer"].startswith("2 ")
    assert row["answer"].endswith(text.replace("\0", " ").replace("\ud800", "\ufffd")[-20:].strip())


def test_the_kept_answers_need_no_program(bench):
    command = bench.command()
    rows = bench.rows(command)
    Path(bench.agent("")).unlink()
    assert bench.rows(command) == rows


@pytest.mark.parametrize("program", ["no-such-agent", "./agent", "/no/such/agent"])
def test_a_missing_program_is_named_where_it_stands(bench, program):
    with pytest.raises(UserError, match=r"pull_requests\.evaluation\.commands\.mine\.command: there is no program"):
        bench.rows(Command("mine", f"{program} {{question}}", 60.0))


def test_a_program_of_the_repository_is_never_run(tmp_path, monkeypatch):
    monkeypatch.setitem(FILES, b"agent", b"#!/bin/sh\necho pwned\n")
    bench = Bench(tmp_path)
    with pytest.raises(UserError, match="there is no program"):
        bench.rows(Command("mine", "./agent {question}", 60.0))


RESULT = {"type": "result", "result": {"text": " Seven. ", "parts": [{"text": "Eight."}]}, "cost": {"usd": 0.25}}


@pytest.mark.parametrize(
    ("printed", "answer_key", "usd_key", "answer", "usd"),
    [
        (RESULT, "result.text", "cost.usd", "Seven.", 0.25),
        (RESULT, "result.parts.0.text", "", "Eight.", None),
        (RESULT, "result.parts.1.text", "cost.usd", None, 0.25),
        (RESULT, "result", "cost", None, None),
        (RESULT, "nowhere.at.all", "", None, None),
        ({"a": "Seven.", "usd": True}, "a", "usd", "Seven.", None),
        ({"a": "Seven.", "usd": -1}, "a", "usd", "Seven.", None),
        ({"a": "Seven.", "usd": 0}, "a", "usd", "Seven.", 0.0),
        # Two of these are more than a number can be.
        ({"a": "Seven.", "usd": 1e308}, "a", "usd", "Seven.", None),
        ({"a": "Seven.", "usd": 10**30}, "a", "usd", "Seven.", None),
        ('{"a": "Seven.", "usd": NaN}', "a", "usd", None, None),
        ({"a": "", "usd": 2}, "a", "usd", None, 2.0),
        ([1, 2], "a", "", None, None),
        ("no JSON", "a", "", None, None),
    ],
)
def test_of_json_the_answer_is_where_the_key_says(bench, printed, answer_key, usd_key, answer, usd):
    text = printed if isinstance(printed, str) else f"working\n{json.dumps(printed)}"
    command = bench.command(f"print({text!r})", answer_key=answer_key, usd_key=usd_key)
    (row,) = bench.rows(command)
    assert (row["answer"], row["usd"], row["exit_code"]) == (answer, usd, 0)
    if answer is None:
        assert (row["status"], row["outcome"]) == ("failed", "error")
        assert f"there is no text at answer_key {answer_key}" in row["reason"]
