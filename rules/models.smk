"""Models in a run: how its jobs share what a model bears, and the servers that the run starts; no rules.

Needs: SETTINGS, and the jobs that have to run.
Gives: asking() for the resources of rules that ask models, start_servers() and stop_servers() for the Snakefile's hooks.
"""

import json
import os

from devqa.llm.shares import at_a_time, resource_names
from devqa.serving.address import address_file
from devqa.serving.servers import Server, stop

# What a model bears is a resource: `--resources requests_gpt=16` lowers it for this run.
REQUESTS = resource_names(config["models"])
for label, name in REQUESTS.items():
    bears = at_a_time(config["models"][label]["limits"])
    given = workflow.global_resources.get(name).value
    workflow.register_resource(name, bears if given is None else max(1, min(given, bears)))

# Jobs on other machines see only themselves, so the main process tells them their shares through the environment.
if workflow.is_main_process:
    os.environ["DEVQA_SHARES"] = "{}"

SERVERS = []


envvars:
    "DEVQA_SHARES",


def asking(*labels, by=None):
    """The resources of a rule whose jobs ask the models `labels`, or the one of them that the wildcard `by` names.

    A job takes an equal share of what a model bears, so that all jobs of its rule can run at the same time. Whatever
    else asks the model has to wait: Snakemake never hands out more than there is.
    """
    return {REQUESTS[label]: share_of(label, by) for label in labels if label in REQUESTS}


def share_of(label, by):
    """A function for Snakemake: a job's share of what model `label` bears; 0 if its wildcard `by` names another."""

    def share(wildcards, rulename):
        if by and wildcards[by] != label:
            return 0
        shares = json.loads(os.environ["DEVQA_SHARES"])
        name = f"{rulename} {label}"
        if name not in shares and workflow.is_main_process:
            bears = workflow.global_resources[REQUESTS[label]].value
            shares[name] = max(1, bears // jobs_at_once(rulename, by, label))
            os.environ["DEVQA_SHARES"] = json.dumps(shares)
        return shares.get(name, 1)

    return share


def jobs_at_once(rulename, by, label):
    """How many jobs of a rule, with `label` as wildcard `by` if there is one, this run can have at the same time."""
    jobs = [job for job in workflow.dag.needrun_jobs(exclude_finished=False) if job.rule.name == rulename]
    places = workflow.nodes or workflow.global_resources["_cores"].value or 1
    return max(1, min(places, sum(not by or job.wildcards[by] == label for job in jobs)))


def start_servers():
    """Start the server of every served model that a job of this run will ask, without waiting until it answers."""
    served = [label for label, model in config["models"].items() if model["runtime"] == "served"]
    if workflow.touch or not served:
        return
    asked_for = {name for job in workflow.dag.needrun_jobs() for name, part in job.resources.items() if part}
    for label in served:
        if REQUESTS[label] in asked_for:
            file = address_file(SETTINGS.cache_dir, os.environ[spend.RUN], label)
            log = Path(f"logs/serve/{label}.log")
            SERVERS.append(explained(Server, label, config["models"][label], file, log))


def stop_servers():
    """Stop the servers of this run; return when they have ended."""
    stop(SERVERS)
