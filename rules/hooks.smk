"""What is done and said before and after a run; no rules.

Needs: SETTINGS, and the jobs that have to run or have run.
Gives: check_before_start(), closing_words() and causes() for the Snakefile's hooks.
"""

import time

from devqa import closing, stopping, unchanged
from devqa.llm.pricing import is_free
from devqa.recipe import asked_models, searches
from devqa.why import templates

STARTED = time.time()


def check_before_start():
    """Refuse to start without the API keys of the models and the search engine that this run asks, with a cache that can't
    be written, or with tables that would be read last of all, when every answer has been paid for.
    """
    if not any(job.output for job in workflow.dag.needrun_jobs()):
        # A command that only reads, such as the bill.
        return
    recipes = {job.params.get("recipe") for job in workflow.dag.needrun_jobs()} - {None}
    templates.keep(SETTINGS.cache_dir, f"{workflow.basedir}/prompts", recipes)
    if workflow.touch:
        # Nothing is asked: results are taken as they are.
        return
    asked_now = {each["label"] for text in recipes for each in asked_models(text)}
    listing = any(job.rule.name == "pr_list" for job in workflow.dag.needrun_jobs())
    explained(root.preflight, SETTINGS, asked_now, any(map(searches, recipes)), listing)
    look_at_small_tables()
    forget_what_was_made()
    spend.remove_old(SETTINGS.cache_dir)
    stopping.once()


def forget_what_was_made():
    """See to it that jobs do all their work whose outputs were removed, that are forced, or whose packages have changed;
    and that those know it that are forced.
    """
    for job in workflow.dag.needrun_jobs():
        reason = workflow.dag.reason(job)
        removed = not all(Path(file).exists() for file in job.output)
        own = job.rule.name, dict(job.wildcards.items())
        if removed or reason.forced or reason.software_stack_changed:
            unchanged.forget(*own)
        if reason.forced:
            explained(unchanged.force, *own)
        else:
            unchanged.unforce(*own)


def look_at_small_tables():
    """Read people's decisions and grades, and the figures of other benchmarks, only to see that they can be read."""
    # Not needed at other starts, and slow to import.
    from devqa.imports.figures import outside_figures
    from devqa.imports.human import human_grades
    from devqa.review.decisions import look_at

    explained(look_at, SETTINGS.review.folder)
    if EVALUATION.human_grades:
        explained(human_grades, HUMAN_GRADES, EVALUATION.human_grades.model_dump())
    if EVALUATION.code_generation:
        explained(outside_figures, CODE_GENERATION, EVALUATION.code_generation.model_dump())


def closing_words():
    """What a person wants to know at the end of a run; nothing after a command such as the bill, or where files were only
    touched, of which some may not be there.
    """
    if workflow.touch or not any(job.output for job in workflow.dag.jobs):
        return ""
    recipes = {job.params.get("recipe") for job in workflow.dag.jobs} - {None}
    asked_for = {each["label"] for text in recipes for each in asked_models(text)}
    notes = [f"NOTE  {note}" for note in described.notes(SETTINGS, SETTINGS.used_models().keys() - asked_for)]
    return "\n".join(["", *made(), *spending(), *disturbed(), *notes])


def disturbed():
    """See to it that the next run reads again what has changed while this one did, and say so.

    A file that is put back before the run ends would go unseen: what was read is not what its digest stands for.
    """
    changed = set(FINGERPRINTS.disturbed())
    for job in workflow.dag.needrun_jobs(exclude_finished=False):
        if changed.intersection(job.input):
            again.leave(job.rule.name, dict(job.wildcards.items()))
    return [f"NOTE  {file} has changed while the run was on: the next run reads it again" for file in sorted(changed)]


def made():
    """What is to be said of the files of this run: those that it has made or found up to date, and no others."""
    # What no job of this run needs may be missing.
    files = {Path(file) for job in workflow.dag.jobs for file in job.output if Path(file).exists()}
    return explained(closing.summary, Path("results"), files, asking_rules(), PAIR_DECISIONS)


def asking_rules():
    """The rules behind stages that have several: those that grade, for the models that are asked, and one for each import
    and judge; and those that rate, if people have accepted pairs.
    """
    names = {"grades": ["judge"], "panel": ["panel"]} if EVALUATION.models else {"grades": [], "panel": []}
    for each in EVALUATION.imports:
        prefix = f"judge_{each.setting}_{each.model}"
        names["grades"] += [] if each.columns.grade else [f"{prefix}_{EVALUATION.judge.model}"]
        names["panel"] += [f"{prefix}_{judge}" for judge in EVALUATION.panel]
    if RESCUED:
        names["rated"] = ["difficulty", "difficulty_rescued"]
    return names


def causes():
    """Why jobs of this run failed, each cause once."""
    jobs = [job for failed in workflow.scheduler.failed for job in (failed if failed.is_group() else [failed])]
    failed = [closing.Failed(job.rule.name, dict(job.wildcards.items()), Path(job.log[0])) for job in jobs if job.log]
    # Snakemake says so only before it waits for the jobs that are at work.
    told = [closing.TOLD_TO_STOP] if getattr(workflow.scheduler, "_user_kill", None) else []
    return "\n".join(["", *closing.causes(Path("logs"), STARTED, failed), *told, *spending(), *disturbed()])


def spending():
    """What this run has spent, if anything has a price."""
    if SETTINGS.budget_usd is None and all(map(is_free, described.prices(SETTINGS).values())):
        return []
    return closing.spending(explained(spend.run_total, SETTINGS.cache_dir, os.environ[spend.RUN]), SETTINGS.budget_usd)
