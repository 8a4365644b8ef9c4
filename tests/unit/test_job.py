"""How a script of a rule starts and ends, in a process of its own, as Snakemake starts it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

SCRIPT = """
import json, logging
from types import SimpleNamespace
from devqa.errors import UserError
from devqa.job import job

class Named(dict):
    __getattr__ = dict.__getitem__

snakemake = SimpleNamespace(
    rule="verify",
    input=Named(%(input)s),
    output=Named(rows="out.parquet"),
    wildcards=Named(shard="0-of-1"),
    threads=3,
    resources={},
    log=["job.log"],
    scriptdir="/project/scripts",
    params=SimpleNamespace(recipe=json.dumps({"options": {"pages": 5}, "models": {"verify": {"label": "m"}}})),
    config={"cache_dir": "cache"},
)
with job(snakemake) as this:
    %(body)s
"""


@pytest.fixture
def run(tmp_path):
    def start(body: str, inputs: str = "", log: bool = True) -> tuple[int, str, str, str]:
        """Exit code, standard output, standard error and the log file of a script with this body."""
        script = tmp_path / "script.py"
        script.write_text(SCRIPT % {"body": body, "input": inputs}, encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts")}
        ended = subprocess.run(
            [sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60
        )
        written = (tmp_path / "job.log").read_text(encoding="utf-8") if log else ""
        return ended.returncode, ended.stdout, ended.stderr, written

    return start


def test_a_job_gives_a_script_what_it_needs(run):
    code, out, err, _ = run(
        "print(this.options['pages'], this.asked['verify']['label'], this.cache, this.prompts, this.threads,"
        " this.output.rows, this.wildcards.shard, this.corpus())"
    )
    assert (code, err) == (0, "")
    assert out.split() == ["5", "m", "cache", "/project/prompts", "3", "out.parquet", "0-of-1", "None"]


@pytest.mark.parametrize(("inputs", "corpus"), [("corpus='c.parquet'", "c.parquet"), ("corpus=[]", "None")])
def test_the_corpus_is_there_for_the_local_engine_only(run, inputs, corpus):
    assert run("print(this.corpus())", inputs)[1].strip() == corpus


def test_a_user_error_is_one_message_without_a_traceback(run):
    code, out, err, log = run("raise UserError('models.m: 100% wrong, mend it')")
    assert code == 1
    assert err == "verify: models.m: 100% wrong, mend it\n"
    assert log.endswith("ERROR verify: models.m: 100% wrong, mend it\n")
    assert "Traceback" not in out + err + log


def test_a_message_that_no_file_can_hold_is_written_all_the_same(run):
    code, _, err, log = run(r"raise UserError('no file \udcff.parquet in 目录')")
    assert code == 1
    assert r"no file \udcff.parquet in 目录" in log
    assert "Traceback" not in err + log


def test_an_unexpected_fault_leaves_its_traceback_in_the_log(run):
    code, _, err, log = run("raise KeyError('missing row')")
    assert code == 1
    for text in (err, log):
        assert "Traceback (most recent call last)" in text
        assert "KeyError: 'missing row'" in text
        assert "script.py" in text


def test_a_module_that_fails_to_load_is_in_the_log_too(run):
    code, _, _, log = run("import devqa.no_such_module")
    assert code == 1
    assert "ModuleNotFoundError" in log


def test_what_is_told_of_progress_goes_to_the_log_and_not_to_a_file_on_standard_error(run):
    code, out, err, log = run(
        "logging.getLogger('devqa.progress').info('half done'); logging.getLogger('httpx').info('noise')"
    )
    assert (code, out, err) == (0, "", "")
    assert "INFO half done" in log
    assert "noise" not in log


def test_a_script_that_ends_itself_keeps_its_exit_code(run):
    assert run("raise SystemExit(7)")[0] == 7


@pytest.mark.parametrize(("wants", "left"), [(True, True), (False, False)])
def test_a_job_that_wants_to_run_again_leaves_a_token_for_its_rule(run, tmp_path, wants, left):
    assert run(f"this.wants_again = {wants}")[0] == 0
    assert (tmp_path / "results/.again/verify/0-of-1").exists() == left


def test_a_job_is_forced_until_its_body_has_run_through(run, tmp_path):
    mark = tmp_path / ".snakemake/devqa/forced/verify/0-of-1/mark"
    mark.parent.mkdir(parents=True)
    mark.touch()
    assert run("print(this.forced_at > 0); raise UserError('the disk is full')")[:2] == (1, "True\n")
    assert run("print(this.forced_at > 0)")[:2] == (0, "True\n")
    assert run("print(this.forced_at)")[:2] == (0, "None\n")


@pytest.mark.parametrize(
    "fault",
    [
        "MemoryError()",
        "ExceptionGroup('requests', [ValueError(), ExceptionGroup('', [MemoryError()])])",
        "OSError(12, 'Cannot allocate memory')",
        'RuntimeError("can\'t start new thread")',
    ],
)
def test_a_lack_of_memory_is_one_message_that_says_what_helps(run, fault):
    code, out, err, log = run(f"raise {fault}")
    assert code == 1
    assert err.startswith("verify: out of memory (")
    assert "--set-resources verify:mem_mb=" in log
    assert "Traceback" not in out + err + log


@pytest.mark.parametrize(
    ("number", "says", "ends"),
    [
        ("SIGINT", "verify: interrupted: what was answered is kept", 130),
        ("SIGTERM", "verify: told to stop (SIGTERM)", 143),
    ],
)
def test_a_signal_is_one_message(run, tmp_path, number, says, ends):
    body = f"import os, signal, time; os.kill(os.getpid(), signal.{number}); time.sleep(60)"
    code, out, err, log = run(body)
    assert (code, err.startswith(says)) == (ends, True), err
    assert says in log
    assert "Traceback" not in out + err + log
    assert not list((tmp_path / ".snakemake/devqa/jobs").rglob("0-of-1"))


def test_a_job_whose_place_another_one_has_taken_says_so(run):
    mark = {"name": "other", "host": "other", "pid": 1, "since": 1}
    code, _, err, _ = run(
        f"import os, signal, time; open('.snakemake/devqa/jobs/verify/0-of-1', 'w').write('{json.dumps(mark)}'); "
        "os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)"
    )
    assert code == 143
    assert err == ("verify: stopped, because another attempt of this job has begun: what was answered is kept for it\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no disk that is always full")
def test_a_log_that_can_not_grow_is_one_message_and_stops_nothing(run, tmp_path):
    (tmp_path / "job.log").symlink_to("/dev/full")
    code, out, err, _ = run("logging.getLogger('devqa').info('one'); print('done')", log=False)
    assert (code, out) == (0, "done\n")
    assert (
        err
        == f"{tmp_path / 'job.log'} can't be written (No space left on device): make room. The job goes on without it\n"
    )
