"""`snakemake --report`: one archive with all reports, made without a network."""

import json
import shutil
import subprocess
import zipfile

import pytest

ALONE = ("unshare", "--map-root-user", "--net")
NO_NETWORK = shutil.which("unshare") and subprocess.run([*ALONE, "true"], capture_output=True).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(not NO_NETWORK, reason="a network can't be taken away here")
def test_the_archive_holds_every_report_and_needs_no_network(project):
    command = [*ALONE, *project.command(1, "--report", "report.zip")]
    done = subprocess.run(command, **project.process(), check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(project.folder / "report.zip") as archive:
        files = {name.rsplit("/", 1)[1]: archive.read(name) for name in archive.namelist()}
    reports = project.folder / "results/reports"
    for name in ("weak.html", "strong.html", "weak.csv", "index.html", "leaderboard.csv", "comparisons.csv"):
        assert files[name] == (reports / name).read_bytes()
    assert files["funnel.csv"] == (project.folder / "results/funnel.csv").read_bytes()
    # Categories, labels and captions are in its own page.
    page = files["report.html"].decode()
    for text in ("All models", "Leaderboard", "Every two models", "every single answer with its grade"):
        assert text in page
    assert project.endpoint.count == 0


def test_the_reports_and_their_tables_are_there(finished):
    reports = finished.folder / "results/reports"
    for name in ("weak.html", "weak.json", "weak.csv", "index.html", "index.json", "comparisons.csv"):
        assert (reports / name).stat().st_size > 0
    assert (reports / "leaderboard.tex").read_text(encoding="utf-8").count("\\begin{table}") == 1
    assert (reports / "leaderboard.md").read_text(encoding="utf-8").startswith("## plain\n")
    index = json.loads((reports / "index.json").read_text(encoding="utf-8"))
    (plain,) = index["settings"]
    assert {row["model"] for row in plain["leaderboard"]} == {"weak", "strong"}
    assert plain["comparisons"][0]["rows"] > 0
    one = json.loads((reports / "weak.json").read_text(encoding="utf-8"))
    row = next(row for row in plain["leaderboard"] if row["model"] == "weak")
    assert row["f_score"] == one["settings"][0]["figures"]["f_score"]["mean"]
    assert row["usd"] == one["settings"][0]["usd"]
