"""What a cluster does to jobs: nodes are lost, jobs cancelled, over their time, over their memory."""

import re
import time
from collections import Counter
from itertools import combinations
from pathlib import Path

import orjson
import pytest

from cluster.running import ClusterRun, results
from devqa import tables
from processes import until
from replies import reply
from scripted import Reply
from workflow.conftest import Project, configuration, copy_of_the_project, write_dialogues

SHARDS = 4
DIALOGUES = 48
PER_MINUTE = 240
CONCURRENCY = 8
MEMORY_MB = 700
# The shard whose job will need more memory.
SWELLS = 3
NUMBER = re.compile(r"Question number (\d+)")


class Waiting:
    """Answers the first requests of each shard, then none until its job has been struck, then all.

    Attributes:
        answered: how often each question was answered.
        came: the times of all requests, and their shards.
        struck: the shards whose first job has got what was meant for it.
        swelling: is the job of the shard `SWELLS` sent more than its memory holds?
    """

    ANSWERED = 6

    def __init__(self, shard_of: dict[int, int]):
        self.shard_of = shard_of
        self.answered: Counter[bytes] = Counter()
        self.came: list[tuple[float, int]] = []
        self.struck: set[int] = set()
        self.swelling = False

    def __call__(self, body):
        shard = self.shard_of[int(NUMBER.search(body["messages"][-1]["content"])[1])]
        self.came.append((time.monotonic(), shard))
        if self.swelling and shard == SWELLS:
            return Reply(body=b" " * (MEMORY_MB * 1_000_000))
        if shard not in self.struck and self.waits(shard):
            # The one that is to swell has to ask again.
            return Reply(status=429, headers={"Retry-After": "1"}) if shard == SWELLS else Reply(fault="hang")
        self.answered[orjson.dumps(body)] += 1
        return Reply(reply(body), delay_s=0.2)

    def waits(self, shard: int) -> bool:
        """Have as many requests come as are answered, and at least one more?"""
        return [each for _, each in self.came].count(shard) > self.ANSWERED


def prepared(folder: Path, endpoint) -> Project:
    """A project in which nothing has run, with four shards."""
    copy_of_the_project(folder)
    write_dialogues(folder / "mine/dialogues.jsonl", range(DIALOGUES))
    sources = {"mine": {"path": "mine", "shards": SHARDS}}
    project = Project(folder, endpoint, configuration(endpoint, dialogues=sources))
    limits = {"concurrency": CONCURRENCY, "requests_per_minute": PER_MINUTE}
    project.config["models"]["worker"]["limits"] = limits
    return project


@pytest.fixture(scope="module")
def alone(endpoint, tmp_path_factory) -> Project:
    """What one machine makes of it, up to the queries."""
    project = prepared(tmp_path_factory.mktemp("alone") / "project", endpoint)
    endpoint.clear()
    endpoint.reply = reply
    run = project.run("--until", "queries")
    assert run.code == 0, run.output
    assert endpoint.count == DIALOGUES
    return project


@pytest.fixture
def project(endpoint, tmp_path) -> Project:
    return prepared(tmp_path / "project", endpoint)


@pytest.fixture
def waiting(endpoint, alone) -> Waiting:
    """What the endpoint does in a test: jobs wait until they are struck."""
    shard_of = {}
    for shard in range(SHARDS):
        path = alone.folder / f"results/dialogues/mine/{shard}-of-{SHARDS}.parquet"
        numbers = map(int, NUMBER.findall(repr(tables.read([path], "dialogues"))))
        shard_of |= dict.fromkeys(numbers, shard)
    assert len(shard_of) == DIALOGUES
    endpoint.clear()
    endpoint.reply = Waiting(shard_of)
    return endpoint.reply


def jobs_of_queries(cluster, run, states="RUNNING"):
    """By shard a run's SLURM jobs of `queries` in these states."""
    found: dict[int, list[dict[str, str]]] = {}
    for job in cluster.jobs(states):
        shard = re.fullmatch(r"rule_queries_wildcards_mine_(\d)-of-\d", job["what"])
        if shard and job["run"] == run.name:
            found.setdefault(int(shard[1]), []).append(job)
    return found


def until_all_wait(run, waiting):
    """Until each shard's job has some answers, and requests that wait for theirs."""

    def all_wait():
        assert run.process.poll() is None, run.output()
        return all(map(waiting.waits, range(SHARDS)))

    until(all_wait, 300)


def check(project, alone, waiting):
    """Each answer was asked for once, the tables are those of one machine, and the limits have held."""
    assert len(waiting.answered) == DIALOGUES
    assert set(waiting.answered.values()) == {1}
    assert results(project.folder) == results(alone.folder)
    assert 2 < project.endpoint.peak <= CONCURRENCY
    times, late_s = [when for when, _ in waiting.came], 1.0
    for (first, start), (last, end) in combinations(enumerate(times), 2):
        assert last - first <= (end - start + late_s) * PER_MINUTE / 60


def test_a_job_is_lost_in_each_of_four_ways(cluster, project, alone, waiting):
    """The node of one is lost, one is cancelled, one is over its time, one over its memory: the run ends right, and no
    answer that came is asked for again."""
    memory = f"queries:mem_mb={MEMORY_MB} * 3 ** (attempt - 1)"
    where = {"SBATCH_PARTITION": "other", "SBATCH_ACCOUNT": "nlp"}
    run = ClusterRun(project, "--until", "queries", "--set-resources", memory, environment=where)
    try:
        until_all_wait(run, waiting)
        jobs = {shard: job for shard, [job] in jobs_of_queries(cluster, run).items()}
        assert len({job["node"] for job in jobs.values()}) == SHARDS
        before = waiting.answered.copy()
        assert sum(before.values()) == SHARDS * Waiting.ANSWERED

        cluster.lose(jobs[0]["node"])
        cluster.command("scancel", jobs[1]["id"])
        cluster.command("scontrol", "update", f"JobId={jobs[2]['id']}", "EndTime=now+2")
        waiting.struck |= {0, 1, 2}
        waiting.swelling = True
        until(lambda: jobs_of_queries(cluster, run, "FAILED"), 120)
        waiting.swelling = False
        waiting.struck.add(SWELLS)
    finally:
        done = run.wait()
        cluster.restore()
    assert done.code == 0, done.output

    states = {
        shard: sorted(job["state"] for job in jobs) for shard, jobs in jobs_of_queries(cluster, run, "ALL").items()
    }
    assert states == {
        0: ["COMPLETED", "NODE_FAIL"],
        1: ["CANCELLED", "COMPLETED"],
        2: ["COMPLETED", "TIMEOUT"],
        SWELLS: ["COMPLETED", "FAILED"],
    }
    # The second has twice the time; that of the one that was over it was changed above.
    for shard, ours in jobs_of_queries(cluster, run, "ALL").items():
        limits = {job["state"]: job["limit"] for job in ours if job["state"] != "TIMEOUT"}
        assert limits.pop("COMPLETED") == "8:00:00"
        assert set(limits.values()) == (set() if shard == 2 else {"4:00:00"})
    ours = [job for jobs in jobs_of_queries(cluster, run, "ALL").values() for job in jobs]
    assert {(job["partition"], job["account"]) for job in ours} == {("other", "nlp")}
    check(project, alone, waiting)


def test_the_session_on_the_login_node_dies(cluster, project, alone, waiting):
    """Its jobs run on. They are taken back, the folder is unlocked, and the same command goes on where they were."""
    killed = ClusterRun(project, "--until", "queries")
    until_all_wait(killed, waiting)
    killed.process.kill()
    killed.process.wait()
    assert len(jobs_of_queries(cluster, killed)) == SHARDS
    cluster.command("scancel", f"--name={killed.name}")
    until(lambda: not cluster.jobs())
    waiting.struck |= set(range(SHARDS))

    locked = ClusterRun(project, "--until", "queries").wait()
    assert locked.code != 0
    assert "--unlock" in locked.output
    assert ClusterRun(project, "--unlock").wait().code == 0
    done = ClusterRun(project, "--until", "queries").wait()
    assert done.code == 0, done.output
    check(project, alone, waiting)
