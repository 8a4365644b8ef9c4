"""Which rules run when a module, a script or a template changes: held against what Python and Jinja really load."""

import hashlib
import modulefinder
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import pytest

from everything import everything
from merging import repository, section
from planned import Plan, plans
from workflow.conftest import ROOT, copy_of_the_project, write_dialogues

pytestmark = pytest.mark.slow

SCRIPTS, PROMPTS = ROOT / "scripts", ROOT / "prompts"
MODULES = sorted(path.relative_to(SCRIPTS).as_posix() for path in SCRIPTS.rglob("*.py"))
DATA = sorted(path.relative_to(SCRIPTS).as_posix() for path in SCRIPTS.rglob("reporting/templates/*"))
TEMPLATES = sorted(path.relative_to(PROMPTS).as_posix() for path in PROMPTS.rglob("*") if path.is_file())
JUDGING = {"judge", "panel", "judge_rag_said_judge", "judge_rag_said_second", "judge_plain_published_second"}
PREDICTED = ("full_context", "no_context", "retrieval", "agentic")
# Prompt → rules that render it. The benchmarks say of their rows which prompts made them.
RENDERING = {
    "queries": {"queries", "benchmark"},
    "condense": {"condense", "benchmark"},
    "generate": {"generate", "benchmark"},
    "check": {"check", "benchmark"},
    "verify/answer": {"verify", "benchmark"},
    "verify/compare": {"verify", "benchmark"},
    "judge": {"difficulty", "benchmark", *JUDGING},
    "answer/plain": {"difficulty", "benchmark", "answer"},
    "answer/rag": {"answer"},
    "answer/confidence": {"answer"},
    "answer/agentic": {"answer"},
    "domains": {"domains"},
    "study/filter": {"study_filter"},
    "study/tasks": {"study_classify"},
    "study/suitability": {"study_classify"},
    **{f"pull_requests/{name}": {f"pr_{name}", "pr_benchmark"} for name in ("question", "check", "answer", "facts")},
    "pull_requests/support": {"pr_facts", "pr_benchmark"},
    **{f"pull_requests/{setting}": {"pr_predict"} for setting in PREDICTED},
    "pull_requests/command": {"pr_command"},
    "pull_requests/judge": {"pr_recall", "pr_recall_ground_truth"},
}
# Scripts whose rules are not called after them, and those whose rule has no jobs here.
RULES = {
    "ingest.py": {"ingest_mine", "ingest_more"},
    "judge.py": JUDGING,
    "import_answers.py": {"import_plain_published", "import_rag_said"},
    "import_benchmark.py": set(),
    "pr_recall.py": {"pr_recall", "pr_recall_ground_truth"},
}
# That an edit of a file changes the recipes in which it stands is seen of these: a step, a script, a module that many
# import, one that is imported inside a function, one that no job imports; templates, demonstrations, tools.
EDITED = (
    "scripts/devqa/steps/check.py",
    "scripts/check.py",
    "scripts/devqa/tables.py",
    "scripts/devqa/llm/local.py",
    "scripts/devqa/recipe.py",
    "scripts/devqa/reporting/templates/base.html.j2",
    "prompts/generate/user.j2",
    "prompts/answer/plain/system.j2",
    "prompts/answer/agentic/tools.yaml",
    "prompts/judge/demonstrations.yaml",
    "prompts/shared/data_only.j2",
    "prompts/pull_requests/facts/user.j2",
)
# Jobs of rules that have one for each model and setting, by the prompt.
ANSWERS = {"answer/plain": 4, "answer/rag": 2, "answer/confidence": 2, "answer/agentic": 2}
ANSWERS |= {f"pull_requests/{setting}": 1 for setting in PREDICTED}


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    folder = copy_of_the_project(tmp_path_factory.mktemp("rebuild") / "project")
    write_dialogues(folder / "mine/dialogues.jsonl", range(2))
    repository(folder / "zoo")
    return folder


@pytest.fixture(scope="module")
def planned(project) -> dict[str, Plan]:
    """The plan of the project as it is (""), and those after a comment in each of the `EDITED` files."""
    config = everything(project) | {"study": studying(), "pull_requests": section("zoo")}
    edits = [(config, {file: _commented(project / file)}) for file in EDITED]
    return dict(zip(["", *EDITED], plans(project, [(config, {}), *edits]), strict=True))


def studying() -> dict[str, Any]:
    model = {"model": "worker"}
    return {"sources": {"raw": {"path": "mine"}}, "shards": 2, "filter": model, "tasks": model, "suitability": model}


def _commented(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    return f"{{# A comment. #}}{text}" if path.suffix == ".j2" else f"{text}\n# A comment.\n"


@cache
def imported(script: str) -> frozenset[str]:
    """The project's modules that a script imports, at once or later, as the standard library's `modulefinder` sees."""
    finder = modulefinder.ModuleFinder(path=[str(SCRIPTS)])
    finder.run_script(str(SCRIPTS / script))
    files = {Path(module.__file__).resolve() for module in finder.modules.values() if module.__file__}
    return frozenset(file.relative_to(SCRIPTS).as_posix() for file in files)


def rules_of(script: str, planned: dict[str, Plan]) -> set[str]:
    """The rules that run a script, of those that have jobs here."""
    return RULES.get(script, {script.removesuffix(".py")} & planned[""].recipes.keys())


def scripts() -> list[str]:
    return [name for name in MODULES if "/" not in name]


def test_every_script_has_a_rule_is_a_command_or_is_started_by_a_server(planned):
    """So no script is left out of what follows."""
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "rules").glob("*.smk"))
    named = set(re.findall(r'(?:recipe_of|of_repository)\(\s*"(\w+\.py)"', text)) | {
        f"{name}.py" for name in re.findall(r'step_recipe\(\s*"(\w+)"', text)
    }
    with_jobs = {script for script in scripts() if rules_of(script, planned)}
    assert with_jobs - {"judge.py", "report.py", "answer.py"} <= named
    everybody = {rule for script in with_jobs for rule in rules_of(script, planned)}
    assert everybody == set(planned[""].recipes)


@pytest.mark.parametrize("script", scripts())
def test_a_rule_s_recipe_holds_all_that_its_script_imports_and_nothing_else(script, planned):
    for rule in rules_of(script, planned):
        for recipe in planned[""].recipes[rule]:
            modules = {name: content for name, content in recipe["code"].items() if name not in DATA}
            assert modules.keys() == imported(script), rule
            for name, content in modules.items():
                assert content == hashlib.sha256((SCRIPTS / name).read_bytes()).hexdigest()


@pytest.mark.parametrize("module", MODULES)
def test_an_edited_module_changes_exactly_the_rules_whose_script_imports_it(module, planned):
    expected = {rule for script in scripts() if module in imported(script) for rule in rules_of(script, planned)}
    assert {
        rule for rule, recipes in planned[""].recipes.items() if any(module in each["code"] for each in recipes)
    } == expected
    if edited := planned.get(f"scripts/{module}"):
        assert edited.changed == Counter({rule: len(planned[""].recipes[rule]) for rule in expected})


@pytest.mark.parametrize("file", DATA)
def test_an_edited_template_of_the_reports_changes_the_pages_that_are_made_of_it(file, planned):
    assert jobs_with(planned, lambda recipe: file in recipe["code"]) == {
        "report": 6,
        "index": 1,
        "study_report": 1,
        "pr_report": 1,
    }


def jobs_with(planned: dict[str, Plan], holds: Callable[[dict[str, Any]], bool]) -> Counter[str]:
    """How many jobs each rule has whose recipe is such."""
    counts = {rule: sum(map(holds, recipes)) for rule, recipes in planned[""].recipes.items()}
    return Counter({rule: count for rule, count in counts.items() if count})


class Tolerant(jinja2.ChainableUndefined):
    """A variable that is whatever a template wants, and true or false."""

    truth = True

    def __bool__(self):
        return self.truth

    def __iter__(self):
        return iter([self, self])

    def __int__(self):
        return 2

    def __call__(self, *arguments, **named):
        return self

    __gt__ = __lt__ = lambda self, other: self.truth


class Denying(Tolerant):
    truth = False


@cache
def loaded(name: str) -> frozenset[str]:
    """The templates that Jinja loads while it renders a prompt's, whatever conditions say."""
    seen = set()
    files = jinja2.FileSystemLoader(PROMPTS)

    def load(template):
        seen.add(template)
        return files.get_source(environment, template)[0]

    for undefined in (Tolerant, Denying):
        environment = jinja2.Environment(loader=jinja2.FunctionLoader(load), undefined=undefined, autoescape=False)
        environment.filters["inert"] = str
        for part in ("system.j2", "user.j2"):
            environment.get_template(f"{name}/{part}").render()
    return frozenset(seen)


def rendering(template: str) -> set[str]:
    """The prompts of which a file is a part."""
    own = str(Path(template).parent.as_posix())
    return {own} if own in RENDERING else {name for name in RENDERING if template in loaded(name)}


@pytest.mark.parametrize("template", TEMPLATES)
def test_an_edited_template_changes_exactly_the_rules_that_render_it(template, planned):
    prompts = rendering(template)
    assert prompts, "nothing renders it"
    rules = {rule for name in prompts for rule in RENDERING[name]}
    jobs = {rule: len(recipes) for rule, recipes in planned[""].recipes.items()}
    expected = Counter({rule: jobs[rule] for rule in rules - {"answer", "pr_predict"}})
    for name in prompts & ANSWERS.keys():
        expected["pr_predict" if name.startswith("pull_requests/") else "answer"] += ANSWERS[name]
    if edited := planned.get(f"prompts/{template}"):
        assert edited.changed == expected
    # The benchmarks have hashes of whole prompts.
    del expected["benchmark"], expected["pr_benchmark"]
    content = hashlib.sha256((PROMPTS / template).read_bytes()).hexdigest()

    def holds(recipe):
        return any(files.get(template) == content for files in recipe["prompts"].values())

    assert jobs_with(planned, holds) == expected


def test_a_prompt_s_table_names_every_prompt():
    assert RENDERING.keys() == {Path(name).parent.as_posix() for name in TEMPLATES} - {"shared"}
