"""Steps that share a SLURM job (`groups:` in profiles/slurm)."""

import shutil
from collections import Counter

import orjson

from cluster.running import ClusterRun, results
from processes import until
from replies import reply, step_of
from scripted import Reply
from workflow.conftest import Project

ANSWERED = 3


def test_a_group_is_cancelled_in_its_last_step(cluster, fresh, tmp_path):
    """Its finished step runs again for nothing, and what its last step was told is not asked for again. One machine
    begins here, and the cluster goes on."""
    fresh.config["dialogues"]["mine"]["shards"] = 1
    begun = fresh.run("--until", "check")
    assert begun.code == 0, begun.output
    here = Project(tmp_path / "here", fresh.endpoint, fresh.config)
    shutil.copytree(fresh.folder, here.folder)
    fresh.endpoint.clear()
    alone = here.run("--until", "verify")
    assert alone.code == 0, alone.output
    asked = Counter(map(orjson.dumps, fresh.endpoint.requests))
    assert fresh.asked()["verify"] > ANSWERED

    answered: Counter[bytes] = Counter()
    cancelled = []

    def waits(body):
        if not cancelled and step_of(body) == "verify" and answered.total() >= ANSWERED:
            return Reply(fault="hang")
        answered[orjson.dumps(body)] += 1
        return reply(body)

    fresh.endpoint.clear()
    fresh.endpoint.reply = waits
    run = ClusterRun(fresh, "--until", "verify")
    until(lambda: fresh.endpoint.count > ANSWERED or run.process.poll() is not None, 300)
    assert (fresh.folder / "results/evidence/mine/0-of-1.parquet").exists(), run.output()
    [job] = [job for job in cluster.jobs("RUNNING") if job["run"] == run.name]
    cancelled.append(job["id"])
    cluster.command("scancel", job["id"])
    done = run.wait()
    assert done.code == 0, done.output
    ours = sorted(job["state"] for job in cluster.jobs("ALL") if job["run"] == run.name)
    assert (job["what"], ours) == ("rule_confirm_evidence_verify", ["CANCELLED", "COMPLETED"])
    assert answered == asked
    assert results(fresh.folder) == results(here.folder)
