"""What the rules of questions from pull requests share; no rules.

Needs: SETTINGS.
Gives: PULLS (the section, or None), the files of its tables, its recipes' parts, and pulled() for the target.
"""

from devqa.pull_requests.repositories.pinning import pinned

PULLS = SETTINGS.pull_requests
NO_PULLS = """The configuration has no section `pull_requests`: say from which repositories questions are made, and which
models are asked; examples/pull_requests.yaml is one that works.
docs/pull_requests.md explains it."""

REPOSITORIES = PULLS.repositories if PULLS else {}
AGENTS = PULLS.evaluation if PULLS else None
ANSWER_REPEATS = range(1, AGENTS.repeats + 1) if PULLS else []
PULL_STEPS = ("question", "check", "answer", "facts", "support")


def of_repositories(table):
    """The files of `table`, one for each repository."""
    return [f"results/pull_requests/{table}/{repository}.parquet" for repository in REPOSITORIES]


def agent_runs(table):
    """The files of `table` for all agents, settings and repeats; the true answer is graded once."""
    return [
        f"results/pull_requests/{table}/{setting}/{agent}/{repeat}.parquet"
        for setting, agent in AGENTS.runs()
        for repeat in (ANSWER_REPEATS if setting != "ground_truth" else [1])
    ]


def origin(repository):
    """Where a repository comes from, as options: what a result depends on, and no more."""
    section = REPOSITORIES[repository]
    return {"label": repository, **section.model_dump(include={"path", "url", "name"})}


def bundle_file(wildcards):
    """The bundle that a repository is in, in a list; none where it is a folder or an address."""
    path = REPOSITORIES[wildcards.repository].path
    return [path] if path and Path(path).is_file() else []


def pin_recipe(wildcards):
    """The recipe of the job that finds the pinned commit: of a clone on this machine it is looked up at every start."""
    section = REPOSITORIES[wildcards.repository]
    commit = explained(pinned, wildcards.repository, section.path, section.commit)
    return recipe_of("pr_repository.py", {**origin(wildcards.repository), "commit": commit})(wildcards)


def pulls_file(wildcards):
    """The JSON Lines file with a repository's pull requests, in a list; none where they come from elsewhere."""
    pulls = REPOSITORIES[wildcards.repository].pulls
    return [] if pulls in ("history", "github") else [pulls]


def list_recipe(wildcards):
    """The recipe of the job that lists a repository's pull requests."""
    section = REPOSITORIES[wildcards.repository]
    options = {
        **origin(wildcards.repository),
        **section.model_dump(include={"pulls", "history", "api", "latest"}),
        "select": PULLS.select.model_dump(),
    }
    return recipe_of("pr_list.py", options, files=pulls_file(wildcards))(wildcards)


def of_repository(script, options=None, models=None, prompts=()):
    """The recipe of a job of `script` that opens the repository of its wildcard."""

    def of_the_job(wildcards):
        whole = {"origin": origin(wildcards.repository), **(options or {})}
        return recipe_of(script, whole, models, prompts)(wildcards)

    return of_the_job


def pull_step(name):
    """The recipe's model for step `name`: the part that it plays → how it is asked."""
    step = getattr(PULLS, name)
    return {f"pr_{name}": asked(step.model, step.sampling)}


def pull_options(name):
    """The options of step `name` beside its model."""
    return getattr(PULLS, name).model_dump(mode="json", exclude={"model", "sampling"})


def predict_recipe(wildcards):
    """The recipe of the jobs that ask one model in one setting."""
    options = {}
    if wildcards.setting in ("retrieval", "agentic"):
        options = {"origins": {repository: origin(repository) for repository in REPOSITORIES}}
        options |= getattr(AGENTS, wildcards.setting).model_dump()
    models = {f"pr_{wildcards.setting}": asked(wildcards.agent, AGENTS.sampling)}
    return recipe_of("pr_predict.py", options, models, [f"pull_requests/{wildcards.setting}"])(wildcards)


def command_recipe(wildcards):
    """The recipe of the job that runs one command."""
    options = {
        "origins": {repository: origin(repository) for repository in REPOSITORIES},
        **AGENTS.commands[wildcards.agent].model_dump(include={"command", "timeout_s", "answer_key", "usd_key"}),
    }
    return recipe_of("pr_command.py", options, prompts=["pull_requests/command"])(wildcards)


def recalling(rule):
    """The recipe of a job of `rule`, in which the judge looks for facts."""
    judge = {"pr_judge": asked(AGENTS.judge.model, AGENTS.judge.sampling)}
    return recipe_of("pr_recall.py", {"batch": AGENTS.judge.batch}, judge, ["pull_requests/judge"], rule=rule)


def pull_provenance():
    """Which model and prompts made the rows of the benchmark."""
    models = [(step, getattr(PULLS, step).model) for step in PULL_STEPS]
    return {
        "models": [
            {
                "step": step,
                "model": SETTINGS.models[label].model or label,
                "endpoint": SETTINGS.models[label].endpoint(),
            }
            for step, label in models
        ],
        "prompts": [
            {"step": step, "sha256": explained(Prompt(f"{workflow.basedir}/prompts", f"pull_requests/{step}").sha256)}
            for step in PULL_STEPS
        ],
    }


def pull_notes():
    """What has to be said of the models and commands that take part."""
    named = [
        label for label, keys in SETTINGS.used_models().items() if any(key.startswith("pull_requests.") for key in keys)
    ]
    said = [f"{label}: {SETTINGS.models[label].note}" for label in named if SETTINGS.models[label].note]
    return said + [f"{name}: {command.note}" for name, command in AGENTS.commands.items() if command.note]


def pulled(wildcards):
    """What `rule pull_requests` needs, by name."""
    if not PULLS:
        raise WorkflowError(NO_PULLS)
    return {
        **{
            table: of_repositories(table)
            for table in ("pulls", "blocks", "context", "questions", "checked", "answered")
        },
        "facts": of_repositories("facts"),
        "benchmark": [rules.pr_benchmark.output.benchmark],
        "predictions": agent_runs("predictions"),
        "recalled": agent_runs("recalled"),
        "html": rules.pr_report.output.html,
        "dataset": rules.pr_report.output.dataset,
    }
