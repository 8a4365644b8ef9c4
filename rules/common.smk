"""The validated configuration, paths, and recipes; no rules.

Needs: the configuration that Snakemake has read.
Gives: SETTINGS (devqa.config.root.Config) and the helpers below. All rules have one param, a recipe, with
everything but data that a result depends on (see devqa.recipe).
"""

import os
import re
import sys
from pathlib import Path

sys.path.insert(0, f"{workflow.basedir}/scripts")

from snakemake.exceptions import WorkflowError

from devqa import again
from devqa.config import described, root
from devqa.config.layers import laid_over
from devqa.config.models import asked_with
from devqa.errors import UserError
from devqa.files import unique_name
from devqa.fingerprint import Fingerprints
from devqa.imports.files import table_files
from devqa.ingest.sources import source_files
from devqa.llm import spend
from devqa.prompts import Prompt
from devqa.recipe import recipe
from devqa.unrecorded import remade
from devqa.web.corpus_files import corpus_files


def explained(function, *arguments):
    """Call `function`; what the user has to mend becomes Snakemake's own kind of error, without a traceback."""
    try:
        return function(*arguments)
    except UserError as error:
        raise WorkflowError(str(error)) from None


SETTINGS = explained(root.load, laid_over(config, workflow.config_settings.overwrite_config))
# Snakemake hands `config` to every script: they see the validated configuration, with defaults filled in.
config.clear()
config.update(SETTINGS.dumped())

# The run's name: the jobs of one run find each other by it, on whatever machine they are.
os.environ.setdefault(spend.RUN, unique_name())
SOURCE_FILES = {
    name: source_files(source.path) if SETTINGS.builds() else [] for name, source in SETTINGS.dialogues.items()
}
EVALUATION = SETTINGS.evaluation
EVALUATED = EVALUATION.all_models()
# The benchmark that models are graded on: the one that is built here, or one from elsewhere.
BENCHMARK = "results/benchmark.parquet" if SETTINGS.builds() else "results/imported_benchmark.parquet"
# The same without the models and prompts that have made it: so an edit that leaves all pairs as they are ends there.
QUESTIONS = "results/questions.parquet" if SETTINGS.builds() else BENCHMARK
LOCAL = SETTINGS.searches() and SETTINGS.search.engine == "local"
CORPUS_FILES = corpus_files(SETTINGS.search.corpus) if LOCAL else []
# What is in files from outside, told without reading them again at every start.
FINGERPRINTS = Fingerprints(".snakemake/devqa/fingerprints", logger.info)


remade(workflow)


# On a cluster too: Snakemake passes it on with every job.
envvars:
    "DEVQA_RUN",


wildcard_constraints:
    source="[^/]+",
    shard=r"\d+-of-\d+",
    setting="[^/]+",
    model="[^/]+",
    judge="[^/]+",


def shards(table, source):
    """The files of one source's `table`. The count is in the name, so a file of another sharding is never taken."""
    count = SETTINGS.dialogues[source].shards
    return [f"results/{table}/{source}/{number}-of-{count}.parquet" for number in range(count)]


def workers(most):
    """How many cores the job of a shard takes: on one machine, no more than leave one for each other shard, because a job
    that wants all cores waits until all others have ended. On a cluster, `most`.
    """
    if workflow.nodes or not workflow.is_main_process:
        return most
    shards_in_all = sum(source.shards for source in SETTINGS.dialogues.values())
    return max(1, min(most, (workflow.global_resources["_cores"].value or 1) // shards_in_all))


def grows(first):
    """The amount of a resource: `first`, a number or a function of the wildcards, for a job's first attempt, and twice as
    much for each further one, so that a retry is no repetition of what was too little. Memory is in MB, time in minutes.
    """
    if callable(first):
        return lambda wildcards, attempt: first(wildcards) * 2 ** (attempt - 1)
    return lambda wildcards, attempt: first * 2 ** (attempt - 1)


def all_shards(table):
    """The files of `table` over all sources."""
    return [path for source in SETTINGS.dialogues for path in shards(table, source)]


def decisions_file(name):
    """The file of people's decisions of that `name`, in a list; none where nobody has decided anything yet."""
    file = f"{SETTINGS.review.folder}/{name}.parquet"
    return [file] if Path(file).exists() else []


def repeats(model, setting):
    """The numbers of the repeats that `model` has in `setting`."""
    imported = [each.files for each in EVALUATION.imports if (each.model, each.setting) == (model, setting)]
    return range(1, (len(imported[0]) if imported else EVALUATION.repeats) + 1)


def runs_of(table, model, setting):
    """The files of `table` for `model` in one setting, all repeats."""
    return [f"results/{table}/{setting}/{model}/{repeat}.parquet" for repeat in repeats(model, setting)]


def runs(table, models):
    """The files of `table` for `models`, each in its settings and repeats."""
    return [
        file for model in models for setting in EVALUATION.settings_of(model) for file in runs_of(table, model, setting)
    ]


def asked(label, *sampling):
    """How model `label` is asked, as plain JSON values."""
    return asked_with(label, SETTINGS.models[label], *sampling)


def recipe_text(script, options=None, models=None, prompts=(), files=()):
    """The recipe for scripts/<script>, which reads `files` from outside."""
    content = explained(FINGERPRINTS.digest, files)
    return explained(recipe, workflow.basedir, script, options or {}, models, prompts, content)


def with_token(text, rule, wildcards):
    """The recipe of the job of `rule` with `wildcards`, with the token that it has left if it wants to run again."""
    return again.added(text, again.token(rule, dict(wildcards.items())))


def recipe_of(script, *arguments, rule=None, files=(), **named):
    """The recipe of a job, whatever its wildcards. A function, because in a string Snakemake reads braces as wildcards.

    `rule` is the rule's name, where it is not the script's. `files` are those from outside that its jobs read: they are
    looked at only for a job that is there, so not by jobs of other rules on a cluster, which all read the Snakefile.
    """
    text = recipe_text(script, *arguments, **named)

    def of_the_job(wildcards):
        whole = recipe_text(script, *arguments, files=files, **named) if files else text
        return with_token(whole, rule or script.removesuffix(".py"), wildcards)

    return of_the_job


def step_recipe(name, prompts=None, leave_out=()):
    """The recipe of a step that asks one model: its section of the configuration, its prompts and its script."""
    step = getattr(SETTINGS.steps, name)
    options = step.model_dump(mode="json", exclude={"model", "sampling", *leave_out})
    return recipe_of(f"{name}.py", options, {name: asked(step.model, step.sampling)}, prompts or [name])


def one_of(labels):
    """A wildcard's constraint: one of `labels`, or nothing at all where there are none."""
    return "|".join(map(re.escape, labels)) or "(?!)"


def judging(*judges, rule="judge"):
    """The recipe of a job of `rule` in which the first of `judges` grades; none where there is no judge."""
    models = {"judge": asked(judge, EVALUATION.judge_sampling()) for judge in judges[:1]}
    return recipe_of("judge.py", models=models, prompts=["judge"], rule=rule)


def panel_runs(models):
    """The grades of all further judges for `models`."""
    return [path for judge in EVALUATION.panel for path in runs(f"panel/{judge}", models)]


def prompt_hashes():
    """The hash of every prompt that has a part in the benchmark."""
    names = [name for prompts in described.STEP_PROMPTS.values() for name in prompts]
    return [{"step": name, "sha256": explained(Prompt(f"{workflow.basedir}/prompts", name).sha256)} for name in names]
