"""Which runs of a command are the last, and what is kept of them: each may have cost something."""

import json
import runpy
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pulled
from devqa import tables
from devqa.llm.cache import decode, encode
from devqa.pull_requests.agents import runs
from devqa.pull_requests.agents.process import End
from exported import LABEL, commit_of
from standins import Model

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
RESULT = {"result": {"text": " Seven. "}, "cost": {"usd": 0.25}}


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
        # Nobody pays for these again, whatever makes the job run.
        ("time.sleep(600)", {"timeout_s": 0.5}, False, 1),
        ("signal.signal(15, lambda *_: sys.exit(143)); time.sleep(600)", {"timeout_s": 1.0}, False, 1),
        ("pass", {}, True, 3),
        ("print('Seven.'); sys.exit(3)", {}, True, 3),
        ("os.kill(os.getpid(), signal.SIGKILL)", {}, True, 3),
    ],
)
def test_only_what_may_end_otherwise_another_time_is_wanted_again(bench, monkeypatch, body, more, wants, runs):
    monkeypatch.chdir(bench.folder)
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


@pytest.mark.parametrize("code", [0, 1])
@pytest.mark.parametrize("answer_key", ["", "a"])
def test_no_secret_gets_into_a_table_or_the_cache(bench, monkeypatch, code, answer_key):
    monkeypatch.setenv("AGENT_API_KEY", "zebra/stripes-0123456789")
    monkeypatch.setenv("SHORT_TOKEN", "zebra")
    command = bench.command(
        f"""
        said = f"the key {{os.environ['AGENT_API_KEY']}} of a zebra and ghp_{{'a1B2' * 9}} were refused"
        print(json.dumps({{"a": said}}) if {answer_key!r} else said)
        print(said, file=sys.stderr)
        sys.exit({code})
        """,
        answer_key=answer_key,
    )
    for row in (*bench.rows(command), *bench.rows(command)):
        for text in (row["raw"], row["reason"]) if code else (row["answer"],):
            assert "the key *** of a zebra and" in text
            assert "were refused" in text
            # What only looks like a secret may be what was asked for.
            assert ("ghp_" in text) == (not code)
        assert "stripes" not in str(row)
    kept = b"".join(path.read_bytes() for path in (bench.folder / "cache/commands").rglob("*.seg"))
    assert b"refused" in kept
    assert b"stripes" not in kept
    assert (b"ghp_" in kept) == (not code)


def test_what_it_complains_of_is_not_kept_of_a_run_that_has_ended_well(bench):
    bench.rows(bench.command("print('Seven.')\nprint('a warning', file=sys.stderr)"))
    (record,) = bench.kept
    assert (record["stdout"], record["stderr"]) == ("Seven.\n", "")


FAILED = "log('ran')\nprint(json.dumps({'usd': 0.25, 'x': 'y' * 20_000}), flush=True)\n"
FAILED += "print('no', 'luck', file=sys.stderr, flush=True)\n"


@pytest.mark.parametrize(
    ("body", "timeout_s", "trouble", "mark"),
    [
        ("sys.exit(3)", 60.0, "it ended with code 3", runs.TOO_OFTEN.mark),
        ("time.sleep(600)", 1.0, "it was ended after 1 s", runs.TIMED_OUT.mark),
    ],
)
def test_a_failure_that_is_final_is_served_whatever_makes_the_job_run(bench, body, timeout_s, trouble, mark):
    command = bench.command(f"{FAILED}{body}", timeout_s=timeout_s, usd_key="usd")
    for _ in range(3):
        rows = bench.rows(command)
    count = len(bench.logged)
    assert count == (3 if body == "sys.exit(3)" else 1)
    (row,) = rows
    assert (row["reason"], row["usd"]) == (f"{trouble}{mark}: no luck", 0.25)
    assert row["raw"].startswith('{"usd": 0.25')
    record = bench.kept[-1]
    kept = {name: record[name] for name in ("trouble", "stderr", "usd", "timeout_s")}
    assert kept == {"trouble": trouble, "stderr": "no luck", "usd": 0.25, "timeout_s": timeout_s}
    assert len(record["stdout"]) == 10_000
    for other in (command._replace(answer_key="text"), command._replace(jobs=2)):
        assert bench.rows(other) == rows
    assert bench.rows(command, repeats=(1, 2))[:1] == rows
    assert len(bench.logged) == count + 1
    # Only who forces the job pays for it again: once, also where that was broken off and goes on.
    now = time.time()
    for _ in range(2):
        bench.rows(command, forced_at=now)
        assert len(bench.logged) == count + 2
    assert not bench.again


def test_what_has_ended_well_is_not_even_run_again_by_force(bench):
    command = bench.command("log('ran')\nprint('no JSON')", answer_key="text")
    rows = bench.rows(command)
    assert bench.rows(command, forced_at=time.time()) == rows
    assert len(bench.logged) == 1


def test_a_larger_time_limit_is_another_chance_and_a_smaller_one_is_none(bench):
    command = bench.command("log('ran')\ntime.sleep(600)", timeout_s=0.5)
    for timeout_s, count in ((0.5, 1), (0.3, 1), (0.8, 2), (0.5, 2), (0.8, 2)):
        bench.rows(command._replace(timeout_s=timeout_s))
        assert (len(bench.logged), bench.again) == (count, False)
    command = bench.command("log('ran')\nprint('Seven.')", timeout_s=20.0)
    assert bench.rows(command)[0]["answer"] == "Seven."
    assert len(bench.logged) == 3


def test_runs_of_before_that_do_not_say_how_they_ended_are_not_served(bench):
    """They may hold keys of the environment."""
    command = bench.command("print('Seven.')")
    bench.rows(command)
    (segment,) = (bench.folder / "cache/commands").rglob("*.seg")
    line = segment.read_bytes()
    old = {name: value for name, value in decode(line).items() if name not in ("end", "timeout_s", "usd")}
    segment.write_bytes(encode(line[:64].decode(), {**old, "stdout": "a key"}))
    assert bench.rows(command)[0]["answer"] == "Seven."


ENDS = st.sampled_from([End.WELL, End.BADLY, End.TIMEOUT])


@given(ends=st.lists(ENDS, min_size=4, max_size=4), limit=st.floats(1, 100))
def test_start_after_start_each_question_costs_three_runs_at_most(ends, limit):
    ran = []
    for end in ends:
        if runs.is_due(ran, limit, None):
            ran.append({"end": end, "time": len(ran), "timeout_s": limit})
    assert len(ran) <= 3
    assert not runs.is_due(ran, limit, None)
    # All but the last have ended badly.
    assert {run["end"] for run in ran[:-1]} <= {End.BADLY}
    assert runs.is_due(ran, limit * 2, None) == (ran[-1]["end"] == End.TIMEOUT)
    assert runs.is_due(ran, limit, len(ran)) == (ran[-1]["end"] != End.WELL)
    assert not runs.is_due(ran, limit, len(ran) - 1)


@given(made=st.lists(st.tuples(ENDS, st.floats(1, 100)), min_size=1), limit=st.floats(1, 100), forced=st.booleans())
def test_no_answer_that_was_paid_for_is_ever_asked_for_again(made, limit, forced):
    ran = [{"end": end, "time": place, "timeout_s": each} for place, (end, each) in enumerate(made)]
    well = [run for run in ran if run["end"] == End.WELL]
    if well:
        assert runs.told(ran) == well[0]
        assert not runs.is_due(ran, limit, len(ran) if forced else None)
    else:
        assert runs.told(ran) == ran[-1]
