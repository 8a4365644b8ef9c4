"""People's decisions about pairs, and what becomes of the benchmark, in real Snakemake runs."""

import copy
import csv
import hashlib
import re
import shutil
from collections import Counter

import pytest

from decided import URLS, both, decided, disputed
from devqa import tables
from replies import reply, step_of
from workflow.conftest import Project, configuration, copy_of_the_project, write_dialogues

DIALOGUES, PAIRS = 30, 90
DECISIONS = "review/pairs.parquet"
# Of the pairs that the evidence does not support, and of the others, those that people decide about.
DOUBTED, SUPPORTED = 6, 24
# What Snakemake runs when people have decided for the first time.
FOLLOWING = {
    **dict.fromkeys(("rescued", "difficulty_rescued", "merge", "review", "benchmark", "sources"), 1),
    **dict.fromkeys(("answer", "judge", "score", "report"), 2),
    **dict.fromkeys(("compare", "review_grades", "funnel", "index"), 1),
}


def doubting(body):
    """A faithful model, but that it finds some answers wrong, and for some no evidence."""
    said = int(hashlib.sha256(body["messages"][-1]["content"].encode()).hexdigest()[:8], 16)
    match step_of(body):
        case "compare" if said % 9 == 0:
            return {"reason": "scripted", "same": False}
        case "verify" if said % 9 == 0:
            return {"passages": [], "enough_evidence": False, "answer": ""}
        case _:
            return reply(body)


@pytest.fixture(scope="module")
def unreviewed(endpoint, tmp_path_factory):
    """A finished project of ninety pairs, some of which are not supported. Nobody has decided anything."""
    folder = copy_of_the_project(tmp_path_factory.mktemp("unreviewed") / "project")
    write_dialogues(folder / "mine/dialogues.jsonl", range(DIALOGUES))
    sources = {"mine": {"path": "mine/dialogues.jsonl", "shards": 2}}
    endpoint.reply = doubting
    project = Project(folder, endpoint, configuration(endpoint, dialogues=sources))
    run = project.run()
    assert run.code == 0, run.output
    return project


@pytest.fixture
def project(unreviewed, endpoint, tmp_path):
    """A copy that a test may change."""
    shutil.copytree(unreviewed.folder, tmp_path / "project", copy_function=shutil.copy2)
    endpoint.clear()
    endpoint.reply = doubting
    return Project(tmp_path / "project", endpoint, copy.deepcopy(unreviewed.config))


def table(project, name, schema=None):
    return tables.read(project.folder / f"results/{name}.parquet", schema or name)


def to_review(project):
    """The pairs that people are asked about: those that the evidence does not support, and the others."""
    rows = table(project, "review")
    doubted = [row["pair_id"] for row in rows if row["verdict"] != "supported"]
    assert [row["pair_id"] for row in rows[: len(doubted)]] == doubted
    return doubted, [row["pair_id"] for row in rows[len(doubted) :]]


def thirty(project):
    """Decisions about thirty pairs, of every kind."""
    doubted, supported = to_review(project)
    assert len(doubted) >= DOUBTED
    back, corrected, rejected, single, settled, open_ = doubted[:DOUBTED]
    rows = [*both(back), *both(corrected, "correct", answer="42"), *both(rejected, "reject"), decided(single)]
    rows += [*disputed(settled, "accept"), *disputed(open_)]
    for pair in supported[:10]:
        rows += both(pair)
    for pair in supported[10:15]:
        rows += both(pair, "correct", answer=f"the answer of {pair}")
    for pair in supported[15:20]:
        rows += both(pair, "reject", failed_criteria=["complex_enough"], reason="")
    rows += [*disputed(supported[20], "reject"), *disputed(supported[21], "correct", answer="43")]
    rows += [*disputed(supported[22]), decided(supported[23])]
    assert len({row["pair_id"] for row in rows}) == DOUBTED + SUPPORTED
    return rows


def decide(project, rows, path=DECISIONS):
    (project.folder / path).parent.mkdir(exist_ok=True)
    tables.write(rows, "pair_decisions", project.folder / path)


def funnel(project):
    """Of each stage: the rows that went in, and those that passed."""
    with (project.folder / "results/funnel.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        assert int(row["rows_in"]) == sum(int(each["rows_out"]) for each in rows if each["stage"] == row["stage"])
    return {
        row["stage"]: (
            int(row["rows_in"]),
            sum(int(each["rows_out"]) for each in rows if each["status"] == "ok" and each["stage"] == row["stage"]),
        )
        for row in rows
    }


def notes(run):
    return [line for line in run.output.splitlines() if line.startswith("NOTE  review")]


def state_of(project):
    files = (project.folder / "results").rglob("*")
    return {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in files if file.is_file()}


def test_without_decisions_all_that_is_supported_is_the_benchmark(unreviewed):
    doubted, supported = to_review(unreviewed)
    assert {row["id"] for row in table(unreviewed, "benchmark")} == set(supported)
    assert {row["reviewed"] for row in table(unreviewed, "benchmark")} == {""}
    found = Counter((row["supported"], row["status"]) for row in table(unreviewed, "reviewed"))
    assert found == {(True, "ok"): len(supported), (False, "rejected"): len(doubted)}
    assert {row["verdict"] for row in table(unreviewed, "review")} == {
        "contradicted",
        "not enough evidence",
        "supported",
    }
    assert "rescued" not in funnel(unreviewed)
    assert funnel(unreviewed)["reviewed"] == (len(supported), len(supported))


def test_what_people_decide_changes_the_benchmark_and_asks_only_about_what_they_bring_back(project):
    before = {row["id"]: row for row in table(project, "benchmark")}
    doubted, supported = to_review(project)
    decide(project, thirty(project))
    run = project.run()
    assert run.code == 0, run.output
    assert run.rules == FOLLOWING
    # Three pairs come back: rated by two models, and asked two evaluated ones twice. Whose answer was corrected is
    # only judged anew. The scripted models give each answer again, so a judge sees it once.
    back, corrected = 3, 6
    assert project.asked() == {"answer": back * (2 + 2 * 2), "judge": 2 * (back + corrected)}

    after = {row["id"]: row for row in table(project, "benchmark")}
    gone = set(supported[15:21])
    assert after.keys() == (before.keys() - gone) | {doubted[0], doubted[1], doubted[4]}
    told = {pair: row["reviewed"] for pair, row in after.items() if row["reviewed"]}
    assert told == {
        **dict.fromkeys([doubted[0], doubted[4], *supported[:10]], "accepted"),
        **dict.fromkeys([doubted[1], *supported[10:15], supported[21]], "corrected"),
    }
    for pair, row in after.items():
        if not row["reviewed"]:
            assert row == before[pair]
        else:
            assert row["evidence_urls"][:2] == URLS
            assert bool(row["supports"]) == (row["reviewed"] == "accepted")
    assert after[supported[10]]["answer"] == f"the answer of {supported[10]}"
    assert (after[supported[21]]["answer"], after[doubted[1]]["answer"]) == ("43", "42")
    assert after[doubted[1]]["difficulty"]

    stages = funnel(project)
    assert stages["rescued"] == (len(doubted), back)
    assert stages["rated"] == (len(supported) + back, len(supported) + back)
    assert stages["reviewed"] == (len(supported) + back, len(after))
    total, done = len(doubted) + len(supported), 26
    assert notes(run) == [f"NOTE  review: of {total} pairs {done} decided, {total - done - 2} open, 2 disputed"]
    assert project.run("--dry-run").planned == {}


@pytest.mark.slow
def test_a_benchmark_that_needs_people_waits_for_the_last_of_them(project):
    rows = thirty(project)
    decide(project, rows)
    project.config["review"] = {"required": True}
    run = project.run()
    assert run.code != 0
    doubted, supported = to_review(project)
    (error,) = [line for line in run.output.splitlines() if line.startswith("ERROR  ")]
    left = len(doubted) + len(supported) - 26
    none = (len(supported) - SUPPORTED, len(doubted) - DOUBTED)
    assert error.startswith(f"ERROR  benchmark: review.required: {left} pairs are not decided yet")
    lacking = [", ".join([*([f"{n} without a decision"] if n else []), "1 with one", "1 disputed"]) for n in none]
    assert f"({lacking[0]} of pairs that the evidence supports; {lacking[1]} of pairs that it does not" in error
    assert "`make review` shows them" in error
    assert not (project.folder / "results/benchmark.parquet").exists()
    assert (project.folder / "results/review.parquet").exists()

    begun = {row["pair_id"] for row in rows}
    single, open_ = (doubted[3], supported[23]), (doubted[5], supported[22])
    rows = [row for row in rows if row["pair_id"] not in single]
    for pair in {*doubted, *supported} - begun | {*single}:
        rows += both(pair, "reject" if pair in doubted else "accept")
    rows += [decided(pair, "eve", "reject", role="adjudicator") for pair in open_]
    decide(project, rows)
    run = project.run()
    assert run.code == 0, run.output
    assert {row["reviewed"] for row in table(project, "benchmark")} == {"accepted", "corrected"}
    total = len(doubted) + len(supported)
    assert notes(run) == [f"NOTE  review: of {total} pairs {total} decided, 0 open, 0 disputed"]


@pytest.mark.slow
def test_decisions_hold_as_long_as_their_pairs_are_the_same(project):
    decide(project, thirty(project))
    assert project.run().code == 0
    first = table(project, "benchmark")
    project.endpoint.clear()
    project.edit("prompts/verify/answer/system.j2", "from the documents alone", "only from the documents")
    run = project.run()
    assert run.code == 0, run.output
    assert set(project.asked()) == {"verify"}
    same = [{**row, "prompts": None} for row in table(project, "benchmark")]
    assert same == [{**row, "prompts": None} for row in first]

    # Other pairs altogether: what people said is not held against them, and not lost.
    project.edit("prompts/generate/user.j2", "Language:", "Take your time. Language:")
    run = project.run()
    assert run.code == 0, run.output
    rows = table(project, "benchmark")
    assert {row["reviewed"] for row in rows} == {""}
    assert not {row["id"] for row in rows} & {row["id"] for row in first}
    decisions = len(tables.read(project.folder / DECISIONS, "pair_decisions"))
    (note,) = notes(run)
    assert note.endswith(f"{decisions} decisions are about pairs that are not there now: kept, not applied")
    assert re.search(r"of \d+ pairs 0 decided, \d+ open, 0 disputed;", note)

    project.edit("prompts/generate/user.j2", "Take your time. Language:", "Language:")
    project.endpoint.clear()
    run = project.run()
    assert run.code == 0, run.output
    assert project.endpoint.count == 0
    assert [{**row, "prompts": None} for row in table(project, "benchmark")] == same


BROKEN = {
    "no Parquet": "can't be read as Parquet",
    "other columns": "is no table of pair_decisions: it lacks",
    "without evidence": "accept needs the addresses of 2 different pages as evidence",
    "twice": "decided twice by the same person",
    "adjudicated twice": "adjudicated by eve already",
    "adjudicated by an annotator": "annotated and adjudicated by the same person",
}


def broken(project, fault):
    """Decisions with one fault."""
    pair = to_review(project)[0][0]
    file = project.folder / DECISIONS
    file.parent.mkdir(exist_ok=True)
    match fault:
        case "no Parquet":
            file.write_text("pair_id\n", encoding="utf-8")
        case "other columns":
            tables.write([], "grade_decisions", file)
        case "without evidence":
            decide(project, [*both(pair)[:1], decided(pair, "bob", evidence_urls=URLS[:1])])
        case "twice":
            decide(project, [*both(pair), decided(pair, "bob")])
        case "adjudicated twice":
            decide(project, [*disputed(pair, "accept"), decided(pair, "joe", role="adjudicator")])
        case "adjudicated by an annotator":
            decide(project, [*disputed(pair), decided(pair, "ann", role="adjudicator")])


@pytest.mark.slow
def test_a_malformed_file_of_decisions_is_one_message_and_changes_nothing(project):
    before = state_of(project)
    for fault, told in BROKEN.items():
        broken(project, fault)
        run = project.run()
        assert run.code != 0, fault
        assert run.output.count(told) == 1, run.output
        assert f"{DECISIONS}" in next(line for line in run.output.splitlines() if told in line)
        assert "Traceback" not in run.output
        assert run.rules == {}
        assert state_of(project) == before
    assert project.endpoint.count == 0
    (project.folder / DECISIONS).unlink()
    assert project.run("--dry-run").planned == {}


@pytest.mark.slow
def test_bill_and_why_know_what_people_have_decided(project):
    decide(project, thirty(project))
    bill = project.run("--quiet", "rules", "--", "bill", cores=1)
    assert bill.code == 0, bill.output
    why = project.run("--quiet", "rules", "--", "why", cores=1)
    assert why.code == 0, why.output
    assert project.endpoint.count == 0
    to_send = {
        tuple(line.split()[:2]): int(line.split()[4])
        for line in bill.output.splitlines()
        if line.startswith("difficulty")
    }
    assert to_send[("difficulty", "weak")] == to_send[("difficulty", "strong")] == 3
    causes = dict(re.findall(r"^(\w+)[^\n]*: [^\n]*\n((?:    [^\n]*\n)+)", why.output, re.MULTILINE))
    assert causes["rescued"] == f"    not made yet: results/rescued.parquet\n    changed: {DECISIONS}\n"
    assert f"changed: {DECISIONS}" in causes["benchmark"]
    assert "rescued" in causes["difficulty"]
