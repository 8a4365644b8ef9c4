"""Whatever strikes a run, the same command goes on after it, sends nothing twice, and makes the same tables."""

import copy
import os
import re
import resource
import shutil
import signal
import subprocess
import time
from collections import Counter

import pytest

from processes import is_alive
from replies import reply
from scripted import Reply
from striking import QUERIES, Strike, jobs, said, tables
from workflow.conftest import ROOT, Project, configuration, copy_of_the_project, write_dialogues

pytestmark = pytest.mark.slow

DIALOGUES = 24
KEPT = "what was answered is kept"


@pytest.fixture(scope="module")
def whole(endpoint, tmp_path_factory):
    """A project of one shard whose queries have been asked for, with nothing in the way."""
    folder = copy_of_the_project(tmp_path_factory.mktemp("whole") / "project")
    write_dialogues(folder / "mine/dialogues.jsonl", range(DIALOGUES))
    endpoint.reply = reply
    config = configuration(endpoint, dialogues={"mine": {"path": "mine", "shards": 1}})
    project = Project(folder, endpoint, config)
    # Else each test would wait for requests that are never answered.
    project.edit("scripts/devqa/stopping.py", "GRACE_S = 3.0", "GRACE_S = 0.2")
    run = project.run(*QUERIES)
    assert run.code == 0, run.output
    return project


@pytest.fixture
def undisturbed(whole):
    return tables(whole)


@pytest.fixture
def struck(whole, endpoint, tmp_path):
    """The same before its queries were asked for, which a test may change."""
    folder = tmp_path / "project"
    shutil.copytree(whole.folder, folder, copy_function=shutil.copy2)
    shutil.rmtree(folder / "results/queries")
    shutil.rmtree(folder / ".cache")
    endpoint.clear()
    return Project(folder, endpoint, copy.deepcopy(whole.config))


def commands():
    """What docs/recovery.md tells people to type."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", (ROOT / "docs/recovery.md").read_text(), re.MULTILINE | re.DOTALL)
    return [line.split("  #")[0] for block in blocks for line in block.splitlines()]


def once(running, project):
    os.killpg(running.pid, signal.SIGINT)


def twice(running, project):
    os.killpg(running.pid, signal.SIGINT)
    os.killpg(running.pid, signal.SIGINT)


def ended(running, project):
    os.killpg(running.pid, signal.SIGTERM)


def job_ended(running, project):
    (job,) = jobs(project)
    os.kill(job, signal.SIGTERM)


def job_killed(running, project):
    (job,) = jobs(project)
    os.kill(job, signal.SIGKILL)


STRIKES = {
    "Ctrl-C": (once, f"ERROR  queries: interrupted: {KEPT}, give the same command again"),
    "Ctrl-C twice": (twice, f"ERROR  queries: interrupted: {KEPT}, give the same command again"),
    "SIGTERM to all": (ended, "NOTE  The run was told to stop (SIGTERM)"),
    "SIGTERM to a job": (job_ended, f"or it is cancelled: {KEPT}. Give the same command again to go on"),
    "SIGKILL of a job": (job_killed, "ERROR  queries, mine, 0-of-1: the job was killed before it could say why"),
}


@pytest.mark.parametrize("strike", STRIKES)
def test_after_a_signal_the_same_command_goes_on(struck, undisturbed, strike):
    deed, says = STRIKES[strike]
    run = Strike(struck)
    with run.running() as running:
        deed(running, struck)
    assert run.code == 1, run.output
    assert says in run.output
    assert "Traceback" not in run.output
    assert run.sent() == run.answers + run.under_way
    assert not jobs(struck)
    run.goes_on(undisturbed)


def test_what_is_under_way_is_kept_when_its_answer_comes_soon(struck, undisturbed):
    struck.edit("scripts/devqa/stopping.py", "GRACE_S = 0.2", "GRACE_S = 60.0")
    struck.edit("scripts/devqa/stopping.py", "_LONGEST_S = 6.0", "_LONGEST_S = 90.0")
    run = Strike(struck, late_s=1.0)
    with run.running() as running:
        job_ended(running, struck)
    assert run.code == 1, run.output
    assert len(run.answered) == run.sent() == run.answers + run.under_way
    run.goes_on(undisturbed)


def test_snakemake_alone_waits_for_its_jobs_and_says_what_to_do(struck, undisturbed):
    run = Strike(struck, late_s=0.2)
    with run.running() as running:
        running.send_signal(signal.SIGTERM)
    assert run.code == 1, run.output
    assert "NOTE  The run was told to stop (SIGTERM): give the same command again to go on." in run.output
    assert run.sent() == len(run.answered) == DIALOGUES
    run.goes_on(undisturbed)


def test_an_orphan_makes_way_for_the_same_job_of_the_next_run(struck, undisturbed):
    """Who kills Snakemake alone leaves its jobs at work: two would send, and pay for, the same requests."""
    run = Strike(struck)
    with run.running() as running:
        (orphan,) = jobs(struck)
        running.kill()
        running.wait(60)
        refused = struck.run(*QUERIES)
        assert refused.code == 1
        assert "LockException" in refused.output
        assert "It can be removed with the --unlock argument" in refused.output
        assert is_alive(orphan)
        run.goes_on(undisturbed, "--unlock")
        assert not is_alive(orphan)
    log = (struck.folder / "logs/queries/mine/0-of-1.log").read_text()
    assert f"another attempt of this job is at work (process {orphan} on " in log


def test_a_lack_of_memory_is_one_message(struck, undisturbed):
    """A job that wants more than any machine has, when all of its requests have been answered."""
    hungry = "hog = bytearray(1 << 46)\n    tables.write("
    struck.edit("scripts/queries.py", "tables.write(", hungry)
    run = Strike(struck, answers=DIALOGUES)
    done = struck.run(*QUERIES)
    assert done.code == 1
    assert "ERROR  queries: out of memory (MemoryError): give it more (on a cluster --set-resources" in done.output
    assert "Traceback" not in done.output
    struck.edit("scripts/queries.py", hungry, "tables.write(")
    run.goes_on(undisturbed)


@pytest.fixture
def disk(struck):
    """The folder `results` of the project on a file system of its own, with what it holds."""
    results = struck.folder / "results"
    held = {path.relative_to(results): path.read_bytes() for path in results.rglob("*") if path.is_file()}
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(results)]
    if os.geteuid() or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("file systems can't be mounted here")
    for name, content in held.items():
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).write_bytes(content)
    yield results
    subprocess.run(["umount", "--lazy", str(results)], check=True)


def remount(disk, how):
    subprocess.run(["mount", "-o", f"remount,{how}", str(disk)], check=True)


def test_results_on_a_disk_that_is_read_only_and_then_full(struck, undisturbed, disk):
    run = Strike(struck, answers=DIALOGUES)
    remount(disk, "ro")
    refused = struck.run(*QUERIES)
    assert refused.code == 1
    assert "Read-only file system: 'results/" in refused.output
    assert not run.sent()
    remount(disk, "rw")
    free = os.statvfs(disk)
    (disk / "ballast").write_bytes(b"x" * free.f_bavail * free.f_bsize)
    full = struck.run(*QUERIES)
    assert full.code == 1
    assert "ERROR  queries: results/queries/mine/0-of-1.parquet can't be written (" in full.output
    assert "No space left on device" in full.output
    assert "Traceback" not in full.output
    assert run.sent() == DIALOGUES
    (disk / "ballast").unlink()
    run.goes_on(undisturbed)


def test_a_cache_that_can_not_grow_stops_the_run_at_once_and_says_what_is_lost(struck, undisturbed):
    """As where a quota is used up. Answers that were written before it are kept."""
    run = Strike(struck, late_s=5.0)
    with run.running():
        (job,) = jobs(struck)
        (segment,) = struck.folder.glob(".cache/devqa/responses/*/*.seg")
        resource.prlimit(job, resource.RLIMIT_FSIZE, (segment.stat().st_size + 10, resource.RLIM_INFINITY))
    assert run.code == 1
    assert "ERROR  queries: the cache can't be written: .cache/devqa/responses/worker-" in run.output
    assert f"{run.under_way} answers that came then are lost: they will be asked for again" in run.output
    assert "Traceback" not in run.output
    assert run.sent() == run.answers + run.under_way
    del run.answered[run.answers :]
    run.goes_on(undisturbed)


@pytest.mark.parametrize("table", ["dialogues", "queries"])
def test_a_table_that_was_damaged_by_hand_is_named_and_made_again(struck, undisturbed, table):
    run = Strike(struck, answers=DIALOGUES)
    assert struck.run(*QUERIES).code == 0
    name = f"results/{table}/mine/0-of-1.parquet"
    whole_table = (struck.folder / name).read_bytes()
    (struck.folder / name).write_bytes(whole_table[: len(whole_table) // 2] if table == "dialogues" else b"")
    damaged = struck.run(*QUERIES)
    assert damaged.code == 1
    assert f"{name} can't be read as Parquet (" in damaged.output
    assert "): delete it and run again" in damaged.output
    assert "Traceback" not in damaged.output
    (struck.folder / name).unlink()
    run.goes_on(undisturbed)


def test_files_from_the_future_make_nothing_run_and_hide_no_edit(struck):
    run = Strike(struck, answers=2 * DIALOGUES)
    assert struck.run(*QUERIES).code == 0
    tomorrow = time.time() + 86_400
    for folder in ("results", ".cache", "mine"):
        for file in (struck.folder / folder).rglob("*"):
            os.utime(file, (tomorrow, tomorrow))
    again = struck.run(*QUERIES)
    assert (again.code, again.rules, run.sent()) == (0, {}, DIALOGUES)
    with (struck.folder / "prompts/queries/user.j2").open("a", encoding="utf-8") as prompt:
        prompt.write("\nThink twice.")
    # What Snakemake makes of them it would take for older than they are.
    refused = struck.run(*QUERIES)
    assert refused.code == 1
    assert "has older modification time" in refused.output
    (mend,) = [command for command in commands() if command.startswith("find ")]
    subprocess.run(mend, shell=True, cwd=struck.folder, check=True)
    edited = struck.run(*QUERIES)
    assert edited.code == 0, edited.output
    assert (edited.rules, run.sent()) == ({"queries": 1}, 2 * DIALOGUES)


def test_a_second_run_in_the_same_folder_is_refused_and_harms_nothing(struck, undisturbed):
    run = Strike(struck, late_s=0.2)
    target = ("--cores", "1", "results/queries/mine/0-of-1.parquet")
    with run.running(*target):
        (job,) = jobs(struck)
        os.kill(job, signal.SIGSTOP)
        refused = struck.run(*target)
        assert refused.code == 1
        assert "make sure that no other Snakemake process is trying to create the same files" in refused.output
        assert "It can be removed with the --unlock argument" in refused.output
        # What the first run does not make may be made meanwhile.
        other = struck.run("--cores", "1", "results/corpus.parquet")
        assert (other.code, other.rules) == (0, {"corpus": 1}), other.output
        os.kill(job, signal.SIGCONT)
    assert run.code == 0, run.output
    assert run.sent() == DIALOGUES
    (struck.folder / "results/corpus.parquet").unlink()
    assert tables(struck) == undisturbed


def test_two_folders_with_one_cache_have_the_same_tables(struck, undisturbed, tmp_path):
    struck.config["cache_dir"] = str(tmp_path / "cache")
    struck.endpoint.reply = lambda body: Reply(reply(body), delay_s=0.2)
    others = [Project(tmp_path / name, struck.endpoint, struck.config) for name in ("second", "third")]
    for other in others:
        shutil.copytree(struck.folder, other.folder, copy_function=shutil.copy2)
    process = struck.process(None) | {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    for key in ("capture_output", "timeout", "cwd"):
        process.pop(key)
    both = [
        subprocess.Popen(project.command(1, *QUERIES), cwd=project.folder, **process) for project in (struck, others[0])
    ]
    for running in both:
        output = running.communicate(timeout=300)[0]
        assert running.returncode == 0, output
    # What both want at the same moment is sent by both, and what one has got is sent by none.
    times = Counter(said(body) for body in struck.endpoint.requests)
    assert len(times) == DIALOGUES
    assert max(times.values()) <= 2
    assert tables(struck) == tables(others[0])
    struck.endpoint.clear()
    assert others[1].run(*QUERIES).code == 0
    assert struck.endpoint.count == 0
    assert tables(others[1]) == tables(struck) == undisturbed


def test_every_command_of_the_page_is_one_that_snakemake_takes(struck):
    """`find` is run in earnest above, and so are the same command and `--unlock`."""
    told = [command.split()[1:] for command in commands() if command.startswith(".venv/bin/snakemake ")]
    assert ["--unlock"] in told
    for arguments in told:
        run = struck.run(*arguments, *([] if arguments == ["--unlock"] else ["--dry-run"]))
        assert run.code == 0, run.output
        assert arguments == ["--unlock"] or run.planned["queries"] == 1
