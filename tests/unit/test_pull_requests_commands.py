"""repository_questions → predictions of external agents: programs of somebody else's."""

import json
import os
import runpy
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

import pulled
from devqa import tables
from devqa.errors import UserError
from devqa.llm.cache import Cache
from devqa.pull_requests.agents import commands, process
from devqa.pull_requests.agents.commands import Command, answered
from exported import LABEL, commit_of, question, store
from patience import until
from processes import is_alive
from standins import Model, assert_sound, prompt

FILES = {b"a.py": b"zebra = 7\n", b"src": {b"b.py": b"b = 1\n"}}
SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


class Bench:
    """Puts questions about a repository to an agent that a test writes, with a cache that outlives each run."""

    def __init__(self, folder):
        self.folder = folder
        self.origin = store(folder / "repository", FILES)
        self.log = folder / "log"
        (folder / "bin").mkdir()

    def agent(self, body):
        """An executable that runs the Python code `body`; in it `log(line)` leaves a line for the test."""
        path = self.folder / "bin" / "agent"
        head = f"#!{sys.executable}\nimport json, os, pathlib, signal, subprocess, sys, time\n"
        head += f"def log(line):\n    with open({str(self.log)!r}, 'a') as file: file.write(f'{{line}}\\n')\n"
        path.write_text(head + textwrap.dedent(body))
        path.chmod(0o755)
        return str(path)

    @property
    def logged(self):
        return self.log.read_text().splitlines() if self.log.exists() else []

    def command(self, body="print('Seven.')", arguments="{question}", **more):
        return Command("mine", f"{self.agent(body)} {arguments}", **{"timeout_s": 60.0, **more})

    def rows(self, command, questions=1, repeats=(1,), **more):
        asked = [question(number, self.origin, commit_of(self.origin), **more) for number in range(questions)]
        rows = answered(
            asked,
            command,
            prompt("pull_requests/command"),
            repeats,
            origins={LABEL: self.origin},
            cache=self.folder / "cache",
            offline=True,
        )
        assert_sound(rows, "predictions")
        assert [(row["repeat"], row["id"]) for row in rows] == [
            (repeat, row["id"]) for repeat in repeats for row in asked
        ]
        return rows


@pytest.fixture
def bench(tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    yield Bench(tmp_path)
    assert not list((tmp_path / "temporary").iterdir())


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


def test_nothing_is_run_twice_that_has_ended_well(bench):
    command = bench.command("log('ran')\nprint('Seven.')")
    rows = bench.rows(command, questions=2, repeats=(1, 2))
    assert len(bench.logged) == 4
    assert bench.rows(command, questions=2, repeats=(1, 2)) == rows
    assert len(bench.logged) == 4
    bench.rows(command, questions=3, repeats=(1, 2, 3))
    assert len(bench.logged) == 9
    # Neither the time limit nor how many run at once makes it another answer; another command does.
    bench.rows(command._replace(timeout_s=5.0, jobs=3, name="yours"), questions=2)
    assert len(bench.logged) == 9
    bench.rows(command._replace(command=f"{command.command} --more"))
    assert len(bench.logged) == 10


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


@pytest.mark.parametrize(
    ("body", "code", "says"),
    [
        ("print('half'); print('it broke', file=sys.stderr); sys.exit(3)", 3, "it ended with code 3: it broke"),
        ("sys.exit(1)", 1, "it ended with code 1"),
        ("pass", 0, "it printed nothing"),
        ("print(' ')", 0, "it printed nothing"),
        ("os.kill(os.getpid(), signal.SIGKILL)", None, "it was killed"),
        ("sys.stderr.write('\\x1b[31mred' + 'x' * 100000 + ' the end'); sys.exit(1)", 1, "x the end"),
    ],
)
def test_a_run_that_did_not_end_well_has_failed_and_is_tried_again(bench, body, code, says):
    command = bench.command("log('ran')\n" + body)
    for count in (1, 2):
        (row,) = bench.rows(command)
        assert (row["status"], row["outcome"], row["answer"], row["exit_code"]) == ("failed", "error", None, code)
        assert says in row["reason"]
        assert len(row["reason"]) < 350
        assert len(bench.logged) == count
    command = bench.command("print('Seven.')")
    assert bench.rows(command)[0]["status"] == "ok"


def test_what_takes_too_long_is_ended_with_all_that_it_started(bench):
    command = bench.command(
        """
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        log(child.pid)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("thinking", flush=True)
        time.sleep(600)
        """,
        timeout_s=1.0,
    )
    (row,) = bench.rows(command)
    assert (row["status"], row["exit_code"], row["answer"]) == ("failed", None, None)
    assert "it was ended after 1 s (timeout_s)" in row["reason"]
    assert row["seconds"] >= 1.0
    until(lambda: not is_alive(int(bench.logged[0])), 10)


def test_what_a_program_leaves_behind_is_ended_too(bench):
    command = bench.command(
        """
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        log(child.pid)
        print("Seven.")
        """
    )
    (row,) = bench.rows(command)
    assert row["answer"] == "Seven."
    until(lambda: not is_alive(int(bench.logged[0])), 10)


def test_what_is_printed_is_bounded(bench, monkeypatch):
    monkeypatch.setattr(process, "_MOST_OUTPUT", 1_000_000)
    command = bench.command("sys.stdout.write('x' * 5_000_000)\nsys.stderr.write('y' * 5_000_000)")
    (row,) = bench.rows(command)
    assert (row["status"], row["exit_code"]) == ("failed", 0)
    assert "it printed more than 1 MB" in row["reason"]
    assert len(row["raw"]) <= 10_000


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


def test_a_key_that_was_wrong_costs_no_second_run(bench):
    command = bench.command(f"log('ran')\nprint({json.dumps(RESULT)!r})", answer_key="text")
    rows = bench.rows(command)
    assert rows[0]["status"] == "failed"
    assert bench.rows(command) == rows
    (row,) = bench.rows(command._replace(answer_key="result.text", usd_key="cost.usd"))
    assert (row["answer"], row["usd"], len(bench.logged)) == ("Seven.", 0.25, 1)


class Named(dict):
    __getattr__ = dict.__getitem__


@pytest.mark.parametrize(
    ("body", "more", "wants", "runs"),
    [
        ("print('Seven.')", {}, False, 1),
        # It was paid for, and says the same each time: only its keys can be mended.
        ("print('no JSON')", {"answer_key": "text"}, False, 1),
        ("print('{}')", {"answer_key": "text"}, False, 1),
        # Run when something else is wanted, but not for this.
        ("pass", {}, False, 4),
        ("time.sleep(600)", {"timeout_s": 0.5}, False, 4),
        ("print('Seven.'); sys.exit(3)", {}, True, 4),
    ],
)
def test_only_what_may_end_otherwise_another_time_is_wanted_again(bench, body, more, wants, runs):
    own = {"repository": LABEL, "name": "acme/shop", "commit": commit_of(bench.origin)}
    tables.write([pulled.benchmark_question(1, **own)], "repository_questions", bench.folder / "questions.parquet")
    command = bench.command(f"log('ran')\n{body}", **more)
    options = {name: getattr(command, name) for name in ("command", "timeout_s", "answer_key", "usd_key")}
    agents = {"commands": {"mine": {"jobs": 1}}}
    snakemake = Named(
        rule="pr_command",
        input=Named(questions=bench.folder / "questions.parquet"),
        output=Named(predictions=[bench.folder / "1.parquet"]),
        wildcards=Named(agent="mine"),
        threads=1,
        resources={},
        scriptdir=str(SCRIPTS),
        params=Named(recipe=json.dumps({"options": {"origins": {LABEL: bench.origin}, **options}, "models": {}})),
        config={
            "cache_dir": str(bench.folder / "cache"),
            "offline": True,
            "pull_requests": {"evaluation": agents},
        },
        # It runs as within another job, without a log or an end of its own.
        chat=Model,
        lacks=None,
    )
    for number in (1, 2, 3, 4):
        this = runpy.run_path(str(SCRIPTS / "pr_command.py"), {"snakemake": snakemake})["this"]
        # Each run may have cost something: the third that fails is the last that nobody asked for.
        assert this.wants_again == (wants and number < 3)
        (row,) = tables.read(bench.folder / "1.parquet", "predictions")
        assert ("too often" in row["reason"]) == (wants and number >= 3)
    assert len(bench.logged) == runs


def test_no_secret_gets_into_a_table_or_the_cache(bench, monkeypatch):
    monkeypatch.setenv("AGENT_API_KEY", "zebra-stripes-0123456789")
    said = "'the key', os.environ['AGENT_API_KEY'], 'and ghp_' + 'a1B2' * 9, 'were refused'"
    command = bench.command(f"print({said})\nprint({said}, file=sys.stderr)\nsys.exit(1)")
    (row,) = bench.rows(command)
    assert "were refused" in row["reason"]
    assert "were refused" in row["raw"]
    assert "zebra-stripes" not in str(row)
    assert "ghp_" not in str(row)
    bench.rows(bench.command(f"print('Seven.')\nprint({said}, file=sys.stderr)"))
    kept = b"".join(path.read_bytes() for path in (bench.folder / "cache/commands").rglob("*.seg"))
    assert b"Seven." in kept
    assert b"refused" not in kept


def test_a_checkout_that_was_changed_is_made_anew(bench):
    command = bench.command(
        """
        log(json.dumps(sorted(str(path) for path in pathlib.Path().rglob("*"))))
        log(pathlib.Path("a.py").read_text() == "zebra = 7\\n")
        pathlib.Path("a.py").write_text("changed")
        pathlib.Path("new").mkdir()
        os.symlink("/etc", "src/away")
        pathlib.Path("src").chmod(0)
        print("Seven.")
        """
    )
    bench.rows(command, questions=3)
    assert bench.logged == ['["a.py", "src", "src/b.py"]', "True"] * 3


@pytest.mark.parametrize(
    "left",
    [
        "os.symlink(victim, folder)",
        "open(folder, 'w').close()",
        "os.mkfifo(folder)",
        "pass",
        "os.chmod(os.path.dirname(folder), 0)",
        "os.rmdir(os.path.dirname(folder)); os.symlink(victim, os.path.dirname(folder))",
    ],
)
def test_whatever_an_agent_puts_in_the_place_of_its_checkout_the_next_one_has_a_new_one(bench, left):
    victim = bench.folder / "victim"
    (victim / "sub").mkdir(parents=True)
    (victim / "sub").chmod(0o750)
    command = bench.command(
        f"""
        import shutil
        log(pathlib.Path("a.py").read_text() == "zebra = 7\\n")
        victim, folder = {str(victim)!r}, sys.argv[2]
        os.chdir("/")
        shutil.rmtree(folder)
        {left}
        print("Seven.")
        """,
        "{question} {checkout}",
    )
    assert [row["answer"] for row in bench.rows(command, questions=3)] == ["Seven."] * 3
    assert bench.logged == ["True"] * 3
    assert [(path.name, path.stat().st_mode & 0o777) for path in victim.rglob("*")] == [("sub", 0o750)]


def test_a_checkout_that_can_t_be_removed_stops_nothing(bench, monkeypatch):
    left = []
    remove = commands.remove
    monkeypatch.setattr(commands, "remove", left.append)
    command = bench.command("pathlib.Path('a.py').write_text('changed')\nprint('Seven.')")
    assert [row["answer"] for row in bench.rows(command, questions=3)] == ["Seven."] * 3
    for folder in left:
        remove(folder)


def test_a_checkout_that_was_left_as_it_was_is_used_again(bench, monkeypatch):
    made = []
    export = commands.export
    monkeypatch.setattr(
        commands, "export", lambda repository, folder: made.append(folder) or export(repository, folder)
    )
    bench.rows(bench.command("print(pathlib.Path('a.py').read_text())"), questions=3)
    assert len(made) == 1


def test_so_many_run_at_once_each_in_a_checkout_of_its_own(bench):
    # Each waits until the other has begun: one after the other they would wait for ever.
    command = bench.command(
        f"""
        log(os.getcwd())
        while len(pathlib.Path({str(bench.log)!r}).read_text().splitlines()) < 2:
            time.sleep(0.01)
        print("Seven.")
        """,
        jobs=2,
    )
    rows = bench.rows(command, questions=2)
    assert [row["answer"] for row in rows] == ["Seven."] * 2
    assert len(set(bench.logged)) == 2


def test_a_checkout_that_can_t_be_made_ends_it(bench, monkeypatch):
    def full(repository, folder):
        raise UserError("the disk is full")

    monkeypatch.setattr(commands, "export", full)
    with pytest.raises(UserError, match="the disk is full"):
        bench.rows(bench.command(jobs=3), questions=6)


def test_a_cache_that_can_t_be_written_stops_the_others(bench, monkeypatch):
    def full(self, key, record):
        raise UserError("the disk is full")

    monkeypatch.setattr("devqa.llm.cache.Writer.write", full)
    command = bench.command(
        """
        log(os.getpid())
        if len(pathlib.Path(os.environ["DEVQA_LOG"]).read_text().splitlines()) > 1:
            time.sleep(600)
        print("Seven.")
        """,
        jobs=1,
    )
    monkeypatch.setenv("DEVQA_LOG", str(bench.log))
    with pytest.raises(UserError, match="the disk is full"):
        bench.rows(command, questions=3)
    assert not any(is_alive(int(line)) for line in bench.logged)


def test_a_program_that_is_asked_to_stop_is_stopped(tmp_path):
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    ran = process.run([sys.executable, "-c", "import time; time.sleep(600)"], tmp_path, 60.0, stop)
    assert (ran.exit_code, ran.trouble) == (None, "the job was told to stop")


def test_what_can_t_be_run_says_why(tmp_path):
    (tmp_path / "agent").write_bytes(b"\x00\x01")
    (tmp_path / "agent").chmod(0o755)
    ran = process.run([str(tmp_path / "agent")], tmp_path, 60.0, threading.Event())
    assert "it can't be run" in ran.trouble


TOLD_TO_STOP = """
import sys
from pathlib import Path
sys.path[:0] = [{scripts!r}, {tests!r}]
from devqa import stopping
from test_pull_requests_commands import Bench, Command, commands

folder = Path({folder!r})
bench = Bench.__new__(Bench)
bench.folder, bench.log = folder, folder / "log"
bench.origin = {origin!r}
stopping.listen(lambda stopped: 99)
try:
    bench.rows(Command("mine", {command!r}, 600.0), questions=3)
except stopping.Stopped:
    sys.exit(77)
"""


def test_sigterm_ends_the_agent_and_keeps_what_was_answered(bench, tmp_path):
    command = bench.command(
        """
        log(os.getpid())
        if "discount 0" not in sys.argv[1]:
            time.sleep(600)
        print("Seven.")
        """
    )
    here = str(Path(__file__).parent)
    code = TOLD_TO_STOP.format(
        scripts=str(SCRIPTS), tests=here, folder=str(bench.folder), origin=bench.origin, command=command.command
    )
    environment = {**os.environ, "PYTHONPATH": f"{SCRIPTS}:{Path(here).parent}", "TMPDIR": str(tmp_path / "temporary")}
    job = subprocess.Popen([sys.executable, "-c", code], env=environment)
    try:
        until(lambda: len(bench.logged) == 2)
        job.send_signal(signal.SIGTERM)
        assert job.wait(30) == 77
    finally:
        job.kill()
        job.wait()
    assert not any(is_alive(int(line)) for line in bench.logged)
    (shelf,) = Cache(bench.folder / "cache/commands").shelves()
    assert [record["stdout"] for _, record in shelf.records()] == ["Seven.\n"]
