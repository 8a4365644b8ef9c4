"""The same workflow, unchanged, on a cluster and on one machine."""

from cluster.running import ClusterRun, results
from workflow.conftest import Project, copy_of_the_project
from workflow.test_secrets import holding, needles

KEY = "sk-SeCrEt/0123+456=789xyz"
VARIABLE = "SOME_MODELS_KEY"


def test_a_cluster_makes_the_same_as_one_machine(cluster, fresh, tmp_path):
    """Every file is the same to the byte, and as many requests are sent; the key is in no file."""
    for model in fresh.config["models"].values():
        model["api_key_env"] = VARIABLE
    fresh.config["evaluation"] |= {"models": ["weak"], "repeats": 1}
    here = Project(copy_of_the_project(tmp_path / "here"), fresh.endpoint, fresh.config)
    (here.folder / "mine").symlink_to(fresh.folder / "mine")
    alone = here.run(environment={VARIABLE: KEY})
    assert alone.code == 0, alone.output
    asked = fresh.asked()
    fresh.endpoint.clear()

    run = ClusterRun(fresh, environment={VARIABLE: KEY}).wait()
    assert run.code == 0, run.output
    assert fresh.asked() == asked
    on_the_cluster, on_one_machine = results(fresh.folder), results(here.folder)
    assert on_the_cluster.keys() == on_one_machine.keys()
    assert [path for path, content in on_the_cluster.items() if content != on_one_machine[path]] == []
    assert len([path for path in on_the_cluster if path.endswith(".parquet")]) > 20

    assert all(needle not in run.output.encode() for needle in needles(KEY))
    assert not holding(fresh.folder, KEY)

    # What a cluster has made is up to date on one machine too.
    there = Project(fresh.folder, fresh.endpoint, fresh.config)
    again = there.run("--dry-run")
    assert (again.code, again.planned) == (0, {}), again.output
