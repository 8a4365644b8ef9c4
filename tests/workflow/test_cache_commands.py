"""The commands that look after the cache, in real Snakemake runs."""

import os
import re
import shutil
import subprocess
import time

import pytest

from workflow.conftest import Project, copy_of_the_project

DAY_S = 86_400


def said(project, *arguments, code=0, environment=None):
    """What a command prints to the screen, with nothing of Snakemake's own."""
    process = project.process(environment)
    run = subprocess.run(project.command(1, "--quiet", "all", "--nocolor", *arguments), **process, check=False)
    assert run.returncode == code, run.stdout + run.stderr
    assert "Traceback" not in run.stderr
    return run.stdout


def segments(project):
    return sorted((project.folder / ".cache/devqa/responses").rglob("*.seg"))


def aged(project):
    """Make all segments look as if they had been written the day before."""
    moment = time.time() - DAY_S
    for path in segments(project):
        os.utime(path, (moment, moment))


def rebuilt(project):
    """Run everything anew from the cache."""
    shutil.rmtree(project.folder / "results")
    project.endpoint.clear()
    run = project.run()
    assert run.code == 0, run.output
    return project.endpoint.count


def rows(text, step):
    """The numbers of a table's rows for one step, added up by column."""
    found = re.findall(rf"^\S+ +{step} +(\d.*)$", text, re.MULTILINE)
    return [
        sum(int(cell.replace(",", "")) for cell in column)
        for column in zip(*(row.split()[:4] for row in found), strict=True)
    ]


@pytest.mark.slow
def test_what_a_finished_project_holds_is_all_hits(project):
    page = said(project, "cache_show")
    assert "Cache .cache/devqa" in page
    for step in ("queries", "generate", "check", "verify", "answer", "judge"):
        requests, failed, answers, hits = rows(page, step)
        assert requests == answers == hits > 0, page
        assert failed == 0
    assert max(map(len, page.splitlines())) <= 120
    assert said(project, "cache_show").splitlines()[:2] == page.splitlines()[:2]
    assert project.endpoint.count == 0


@pytest.mark.slow
def test_commands_need_no_key_and_touch_no_results(project):
    for model in project.config["models"].values():
        model["api_key_env"] = "NO_SUCH_KEY"
    before = {path: path.stat().st_mtime_ns for path in (project.folder / "results").rglob("*")}
    said(project, "cache_export", "cache_show")
    assert "already there" in said(project, "cache_import", "cache_verify", "cache_prune", "cache_prune_apply")
    assert {path: path.stat().st_mtime_ns for path in (project.folder / "results").rglob("*")} == before
    assert project.endpoint.count == 0


@pytest.mark.slow
def test_a_colleague_reruns_without_paying(project, tmp_path):
    text = said(project, "cache_export", "--config", f"cache_archive={tmp_path}/answers.zip")
    assert "have no answer" not in text
    there = Project(copy_of_the_project(tmp_path / "colleague"), project.endpoint, project.config)
    shutil.copytree(project.folder / "mine", there.folder / "mine")
    assert not (there.folder / ".cache").exists()
    came = said(there, "cache_import", "--config", f"cache_archive={tmp_path}/answers.zip")
    assert re.search(r"added: [1-9]", came)
    assert "added: 0 answers" in said(there, "cache_import", "--config", f"cache_archive={tmp_path}/answers.zip")
    run = there.run()
    assert run.code == 0, run.output
    assert project.endpoint.count == 0
    for table in ("benchmark.parquet", "funnel.csv", "reports/leaderboard.csv"):
        assert (there.folder / "results" / table).read_bytes() == (project.folder / "results" / table).read_bytes()


@pytest.mark.slow
def test_pruning_after_an_edit_drops_the_old_answers_and_no_other(project):
    before = rows(said(project, "cache_show"), "check")
    project.edit("prompts/check/system.j2", "", "Be strict.\n")
    assert project.run().code == 0
    assert set(project.asked()) == {"check"}
    aged(project)
    listed = said(project, "cache_prune")
    assert rows(listed, r"\w+")[:2] == [before[2], 0]
    assert rows(listed, "check")[:2] == [before[2], 0]
    assert "Nothing was changed" in listed
    kept = {path: path.read_bytes() for path in segments(project)}
    assert rows(said(project, "cache_show"), "check")[2:] == [2 * before[2], before[2]]
    assert {path: path.read_bytes() for path in segments(project)} == kept
    said(project, "cache_prune_apply")
    assert rows(said(project, "cache_show"), "check")[2:] == [before[2], before[2]]
    assert "are sound" in said(project, "cache_verify")
    assert "No answer goes" in said(project, "cache_prune")
    assert rebuilt(project) == 0


@pytest.mark.slow
def test_nothing_is_pruned_of_steps_whose_inputs_are_gone(project):
    aged(project)
    shutil.rmtree(project.folder / "results/verified")
    shutil.rmtree(project.folder / "results/evidence")
    project.edit("prompts/judge/system.j2", "", "Be strict.\n")
    text = said(project, "cache_prune_apply")
    assert "No answer goes" in text
    assert re.search(r"^worker +verify +verify$", text, re.MULTILINE)
    project.edit("prompts/judge/system.j2", "Be strict.\n", "")
    assert rebuilt(project) == 0


@pytest.mark.slow
def test_a_flipped_byte_is_found_and_dropped(project):
    path = segments(project)[0]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    text = said(project, "cache_verify", code=1)
    assert re.search(rf"{path.name}\n  line \d+, byte [\d,]+: the checksum is wrong", text)
    assert "cache_prune_apply" in text
    aged(project)
    said(project, "cache_prune_apply")
    assert "are sound" in said(project, "cache_verify")
    assert rebuilt(project) == 1


@pytest.mark.slow
@pytest.mark.parametrize("content", [None, b"no archive"])
def test_a_bad_archive_is_one_message(fresh, content):
    if content:
        (fresh.folder / "devqa-cache.zip").write_bytes(content)
    run = fresh.run("--nocolor", "cache_import")
    assert run.code != 0
    assert "ERROR  cache_import: cache_archive: " in run.output
    assert "devqa-cache.zip" in run.output
    assert "Traceback" not in run.output


@pytest.mark.slow
def test_a_project_in_which_nothing_has_run_yet(fresh):
    page = said(fresh, "cache_show", "cache_verify", "cache_prune_apply", "cache_export")
    for says in ("0 segments", "are sound", "No answer goes", "0 answers"):
        assert says in page
    assert "added: 0 answers" in said(fresh, "cache_import")
