"""Results that were made elsewhere are never taken for what this project would make, unless somebody says so."""

import shutil

import pytest

WITHOUT = "are there without a record of how they were made"


@pytest.mark.slow
def test_results_that_were_copied_in_are_made_again_from_the_cache(project):
    """Here with tables of another prompt, all newer than the project's own files."""
    every = set(project.run("--dry-run", "--forceall").planned)
    shutil.rmtree(project.folder / ".snakemake")
    for file in sorted((project.folder / "results").rglob("*")):
        file.touch()
    dry = project.run("--dry-run")
    assert set(dry.planned) == every
    assert dry.output.count(WITHOUT) == 1
    assert "`snakemake --touch` takes them as they are" in dry.output
    # A command that makes nothing makes nothing of this either.
    why = project.run("--", "why", cores=1)
    assert why.rules == {"why": 1}
    assert WITHOUT not in why.output
    assert "there is no record of how these were made: results/corpus.parquet" in why.output
    # Nobody knows what made these tables, so nothing is certain.
    assert "In all, probably 0 of " in why.output
    run = project.run()
    assert run.code == 0, run.output
    assert run.rules == dry.planned
    assert project.endpoint.count == 0
    again = project.run()
    assert (again.code, again.rules) == (0, {})
    assert WITHOUT not in again.output


@pytest.mark.slow
def test_results_that_were_copied_in_are_taken_as_they_are_with_touch(project):
    project.config["models"]["worker"]["api_key_env"] = "NO_SUCH_KEY"
    before = (project.folder / "results/benchmark.parquet").read_bytes()
    shutil.rmtree(project.folder / ".snakemake")
    (project.folder / "results/funnel.csv").unlink()
    # Tables of another prompt.
    project.edit("prompts/check/system.j2", "Answer in JSON.", "Answer as JSON.")
    touched = project.run("--touch")
    assert touched.code == 0, touched.output
    assert WITHOUT not in touched.output
    assert "Traceback" not in touched.output
    assert "Error" not in touched.output
    again = project.run()
    assert (again.code, again.rules, project.endpoint.count) == (0, {"funnel": 1, "index": 1}, 0)
    assert (project.folder / "results/benchmark.parquet").read_bytes() == before
    # From here on edits are seen.
    project.edit("prompts/check/system.j2", "Answer as JSON.", "Answer in JSON.")
    assert project.run("--dry-run").planned["check"] == 2


def test_a_single_table_without_a_record_is_made_again_with_what_follows(project):
    forget(project, "results/benchmark.parquet")
    dry = project.run("--dry-run")
    # The job's other table has its record.
    assert f"1 of the files that are wanted {WITHOUT}, such as results/benchmark.parquet" in dry.output
    assert {"benchmark", "answer", "report", "index"} <= set(dry.planned)
    assert not {"difficulty", "verify", "ingest_mine", "corpus", "review"} & set(dry.planned)
    # A target that has no need of it.
    other = project.run("--dry-run", "--", "results/review.parquet")
    assert (other.planned, WITHOUT in other.output) == ({}, False)


def forget(project, *files: str) -> None:
    """Remove Snakemake's record of how a file was made."""
    run = project.run("--cleanup-metadata", *files)
    assert run.code == 0, run.output
