"""The validated configuration, paths, and recipes; no rules.

Needs: the configuration that Snakemake has read.
Gives: SETTINGS (devqa.config.root.Config) and the helpers below. All rules have one param, a recipe, with
everything but data that a result depends on (see devqa.recipe).
"""

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, f"{workflow.basedir}/scripts")

from snakemake.exceptions import WorkflowError

from devqa import again, closing
from devqa.config import described, root
from devqa.config.layers import laid_over
from devqa.config.models import asked_with
from devqa.errors import UserError
from devqa.files import unique_name
from devqa.ingest.sources import source_files
from devqa.llm import spend
from devqa.llm.pricing import is_free
from devqa.prompts import Prompt
from devqa.recipe import asked_models, recipe
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
config.update(SETTINGS.model_dump(mode="json"))

STARTED = time.time()
# The run's name: the jobs of one run find each other by it, on whatever machine they are.
os.environ.setdefault(spend.RUN, unique_name())
SOURCE_FILES = {name: source_files(source.path) for name, source in SETTINGS.dialogues.items()}
EVALUATION = SETTINGS.evaluation
REPEATS = range(1, EVALUATION.repeats + 1)
LOCAL = SETTINGS.search.engine == "local"
CORPUS_FILES = corpus_files(SETTINGS.search.corpus) if LOCAL else []


# On a cluster too: Snakemake passes it on with every job.
envvars:
    "DEVQA_RUN",


wildcard_constraints:
    source="[^/]+",
    shard=r"\d+-of-\d+",
    setting="[^/]+",
    model="[^/]+",
    repeat=r"\d+",


def shards(table, source):
    """The files of one source's `table`. The count is in the name, so a file of another sharding is never taken."""
    count = SETTINGS.dialogues[source].shards
    return [f"results/{table}/{source}/{number}-of-{count}.parquet" for number in range(count)]


def all_shards(table):
    """The files of `table` over all sources."""
    return [path for source in SETTINGS.dialogues for path in shards(table, source)]


def runs(table, models):
    """The files of `table` for `models` in every setting and repeat."""
    return expand(
        f"results/{table}/{{setting}}/{{model}}/{{repeat}}.parquet",
        setting=EVALUATION.settings,
        model=models,
        repeat=REPEATS,
    )


def asked(label, *sampling):
    """How model `label` is asked, as plain JSON values."""
    return asked_with(label, SETTINGS.models[label], *sampling)


def recipe_text(script, options=None, models=None, prompts=()):
    """The recipe for scripts/<script>."""
    return explained(recipe, workflow.basedir, script, options or {}, models, prompts)


def with_token(text, script, wildcards):
    """The recipe of the job with `wildcards`, with the token that it has left if it wants to run again."""
    return again.added(text, again.token(script.removesuffix(".py"), dict(wildcards.items())))


def recipe_of(script, *arguments, **named):
    """The recipe of a job, whatever its wildcards. A function, because in a string Snakemake reads braces as wildcards."""
    text = recipe_text(script, *arguments, **named)
    return lambda wildcards: with_token(text, script, wildcards)


def step_recipe(name, prompts=None, leave_out=()):
    """The recipe of a step that asks one model: its section of the configuration, its prompts and its script."""
    step = getattr(SETTINGS.steps, name)
    options = step.model_dump(mode="json", exclude={"model", "sampling", *leave_out})
    return recipe_of(f"{name}.py", options, {name: asked(step.model, step.sampling)}, prompts or [name])


def check_before_start():
    """Refuse to start without the API keys of the models that this run asks or with a cache that can't be written."""
    recipes = {job.params.get("recipe") for job in workflow.dag.needrun_jobs()}
    asked_now = {each["label"] for text in recipes - {None} for each in asked_models(text)}
    explained(root.preflight, SETTINGS, asked_now)
    spend.remove_old(SETTINGS.cache_dir)


def prompt_hashes():
    """The hash of every prompt that has a part in the benchmark."""
    names = [name for prompts in described.STEP_PROMPTS.values() for name in prompts]
    return [{"step": name, "sha256": explained(Prompt(f"{workflow.basedir}/prompts", name).sha256)} for name in names]


def closing_words():
    """What a person wants to know at the end of a run; nothing after a command such as the bill."""
    if not any(job.output for job in workflow.dag.jobs):
        return ""
    notes = [f"NOTE  {note}" for note in described.notes(SETTINGS)]
    return "\n".join(["", *closing.summary(Path("results")), *spending(), *notes])


def causes():
    """Why jobs of this run failed, each cause once."""
    return "\n".join(["", *closing.causes(Path("logs"), STARTED), *spending()])


def spending():
    """What this run has spent, if anything has a price."""
    if SETTINGS.budget_usd is None and all(map(is_free, described.prices(SETTINGS).values())):
        return []
    return closing.spending(explained(spend.run_total, SETTINGS.cache_dir, os.environ[spend.RUN]), SETTINGS.budget_usd)
