"""Nothing runs that need not: after touching, copying and moving a project, and from another folder."""

import shutil
import subprocess
import time

import pytest

from devqa.fingerprint import TICK_NS
from workflow.conftest import PARTS, Project

GIT = ("git", "-c", "user.name=somebody", "-c", "user.email=somebody@example.org", "-c", "init.defaultBranch=main")
KEPT = ("results", ".snakemake", ".cache")


def runs_nothing(project: Project, *arguments: str, **more) -> None:
    run = project.run(*arguments, **more)
    assert (run.code, run.rules, project.endpoint.count) == (0, {}, 0), run.output
    assert "Nothing to be done" in run.output


def test_what_changes_no_result_runs_nothing(project):
    runs_nothing(project)
    for path, old, new in (
        ("config.yaml", "# Where references come from", "\n\n# Where references are found"),
        ("config.yaml", "concurrency: 16", "concurrency: 2"),
        ("config.yaml", "timeout_s: 20", "timeout_s: 21"),
    ):
        project.edit(path, old, new)
    for model in project.config["models"].values():
        model |= {"limits": {"concurrency": 3, "timeout_s": 99}, "api_key_env": "SOME_KEY"}
    for file in project.folder.rglob("*"):
        if ".snakemake" not in file.parts:
            file.touch()
    # What was written just now is read, but not kept.
    time.sleep(TICK_NS / 1e9)
    runs_nothing(project, environment={"SOME_KEY": "x"})
    assert (project.folder / ".snakemake/devqa/fingerprints").exists()


@pytest.mark.slow
def test_a_clone_with_the_old_results_runs_nothing(project, tmp_path):
    if not shutil.which("git"):
        pytest.skip("there is no git here")
    folder = project.folder
    for arguments in (("init", "--quiet"), ("add", *PARTS, "mine"), ("commit", "--quiet", "-m", "as it is")):
        subprocess.run([*GIT, *arguments], cwd=folder, check=True, capture_output=True)
    clone = tmp_path / "clone"
    subprocess.run([*GIT, "clone", "--quiet", str(folder), str(clone)], check=True, capture_output=True)
    assert not (clone / "results").exists()
    for part in KEPT:
        # `cp -r`: all of it is as new as the clone, in no order.
        shutil.copytree(folder / part, clone / part, copy_function=shutil.copyfile)
    shutil.rmtree(folder)
    runs_nothing(Project(clone, project.endpoint, project.config))


@pytest.mark.slow
def test_a_project_that_was_moved_runs_nothing_nor_does_it_from_another_folder(project, tmp_path):
    moved = tmp_path / "elsewhere/deep/down"
    moved.parent.mkdir(parents=True)
    project.folder.rename(moved)
    runs_nothing(Project(moved, project.endpoint, project.config))

    # The results and what they are made of in one folder, the workflow in another, and the command given in a third.
    work = tmp_path / "work"
    work.mkdir()
    for part in (*KEPT, "mine", "examples", "mine.yaml"):
        (moved / part).rename(work / part)
    (moved / "examples").mkdir()
    here = Project(tmp_path, project.endpoint, project.config)
    where = ("--directory", str(work), "--snakefile", str(moved / "Snakefile"))
    runs_nothing(here, *where)


def test_where_digests_of_files_from_outside_can_t_be_kept_the_files_are_read(fresh):
    # As in a folder that can only be read: a folder is in the way of the file.
    (fresh.folder / ".snakemake/devqa/fingerprints").mkdir(parents=True)
    run = fresh.run("--dry-run")
    assert (run.code, run.planned["ingest_mine"]) == (0, 1), run.output


@pytest.mark.slow
def test_on_a_cluster_the_main_process_alone_reads_files_to_tell_their_content(fresh, tmp_path):
    """Jobs read the Snakefile anew: most of them don't look at such files, and those that do take what is kept."""
    code, noted = "scripts/devqa/fingerprint.py", tmp_path / "noted"
    fresh.edit(code, "TICK_NS = 2_000_000_000", "TICK_NS = -(10**15)")
    for place in ("def _sha256(file: str) -> str:", "def _state(file: str) -> State:"):
        note = f"open({str(noted)!r}, 'a').write(f'{place[4:8]} {{os.getpid()}} {{file}}\\n')"
        fresh.edit(code, place, f"{place}\n    {note}")
    submit = "sh -c 'sh \"$0\" >/dev/null 2>&1 & echo $!'"
    options = ("--executor", "cluster-generic", "--cluster-generic-submit-cmd", submit, "--jobs", "2")
    options += ("--seconds-between-status-checks", "1")
    run = fresh.run(*options, "--until", "queries")
    assert (run.code, run.rules) == (0, {"ingest_mine": 1, "queries": 2}), run.output
    lines = [line.split() for line in noted.read_text().splitlines()]
    own = {process for _, process, file in lines if file.startswith("mine/")}
    read = [process for what, process, file in lines if what == "_sha" and file.startswith("mine/")]
    # The main process, and the job that reads the dialogues.
    assert len(own) == 2
    assert len(read) == 1
