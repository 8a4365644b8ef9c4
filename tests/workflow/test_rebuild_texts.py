"""Edits of all code and of all templates at once, in real runs: what was said in a comment is not sent, and of each
file's text exactly the requests that hold it are.

A request is sent if its text is not in the cache. So each file's edit adds a sentence of its own, and the requests that
hold that sentence are those that this edit alone would send.
"""

import copy
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from replies import reply, step_of
from workflow.conftest import Project, Run, configuration, copy_of_the_project, write_dialogues
from workflow.test_rebuild_code import RENDERING, TEMPLATES, imported, rendering

pytestmark = pytest.mark.slow

# Prompt → the step of the requests that it makes.
STEPS = {
    "verify/answer": "verify",
    "verify/compare": "compare",
    "answer/plain": "answer",
    **{f"answer/{setting}": setting for setting in ("rag", "confidence", "agentic")},
    **{name: name for name in ("queries", "condense", "generate", "check", "judge", "domains")},
}
# These have no part in this run: test_study.py and test_pull_rebuilds.py edit their prompts.
ELSEWHERE = {name for name in RENDERING if name.startswith(("study/", "pull_requests/"))}
RENDERED = [template for template in TEMPLATES if rendering(template) - ELSEWHERE]
DIALOGUES, ROWS = 4, 12
# The filter asks the model that is evaluated too, and what the judge says of its plain answers is known then. A second
# judge, who has not seen them, grades all four settings too.
ASKED = {
    "queries": DIALOGUES,
    "generate": DIALOGUES,
    **dict.fromkeys(("check", "verify", "compare", "domains", "rag", "confidence"), ROWS),
    "answer": 2 * ROWS,
    "agentic": 3 * ROWS,
    "judge": 2 * 4 * ROWS,
}
SAID = re.compile(r"\(Edited: [\w./]+\)\n?")
# Notes, at the end of each of a job's processes, which of the project's modules it has loaded.
NOTING = """
import atexit, json, os, sys

def note():
    files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
    with open(os.path.join(os.environ["LOADED"], str(os.getpid())), "w") as file:
        json.dump([sys.argv[0], files], file)

atexit.register(note)
"""


def without_edits(body: dict[str, Any]) -> Any:
    """The faithful model's answer to what a request was before any edit."""
    body = copy.deepcopy(body)
    for message in body["messages"]:
        message["content"] = SAID.sub("", message["content"] or "")
    return reply(body)


class State:
    """A project with all settings, and what its last run did."""

    def __init__(self, project: Project, loaded: Path):
        self.project = project
        self.loaded = loaded
        self.first = self.run()

    def run(self) -> tuple[Run, list[dict[str, Any]]]:
        self.project.endpoint.clear()
        self.project.endpoint.reply = without_edits
        environment = {"PYTHONPATH": str(self.loaded / "hook"), "LOADED": str(self.loaded / "notes")}
        run = self.project.run(environment=environment)
        assert run.code == 0, run.output
        return run, self.project.endpoint.requests

    def table(self, path: str) -> dict[str, bytes]:
        files = (self.project.folder / "results" / path).rglob("*.parquet")
        return {file.name: file.read_bytes() for file in files}


@pytest.fixture(scope="module")
def whole(endpoint, tmp_path_factory) -> State:
    folder = copy_of_the_project(tmp_path_factory.mktemp("texts") / "project")
    write_dialogues(folder / "mine/dialogues.jsonl", range(DIALOGUES))
    config = configuration(endpoint, dialogues={"mine": {"path": "mine"}})
    config["steps"]["condense"]["document_tokens"] = 100
    config["steps"]["difficulty"]["models"] = ["weak"]
    config["evaluation"] |= {
        "models": ["weak"],
        "settings": ["plain", "rag", "confidence", "agentic"],
        "repeats": 1,
        "panel": ["worker"],
        "domains": {"model": "worker", "names": {"tools": "version control, containers", "web": "protocols"}},
    }
    loaded = tmp_path_factory.mktemp("loaded")
    for part in ("hook", "notes"):
        (loaded / part).mkdir()
    (loaded / "hook/sitecustomize.py").write_text(NOTING, encoding="utf-8")
    return State(Project(folder, endpoint, config), loaded)


@pytest.fixture(scope="module")
def commented(whole) -> tuple[Run, list[dict[str, Any]], dict[str, bytes]]:
    """The run after a comment in every script, module and template, and the answers before it."""
    before = whole.table("answers")
    folder = whole.project.folder
    for file in (*folder.glob("scripts/**/*.py"), *folder.glob("prompts/**/*.yaml")):
        file.write_text(f"{file.read_text(encoding='utf-8')}\n# A comment.\n", encoding="utf-8")
    for file in (*folder.glob("scripts/**/*.j2"), *folder.glob("prompts/**/*.j2")):
        file.write_text(f"{{# A comment. #}}{file.read_text(encoding='utf-8')}", encoding="utf-8")
    return *whole.run(), before


@pytest.fixture(scope="module")
def edited(whole, commented) -> tuple[Run, list[dict[str, Any]]]:
    """The run after a further sentence in every file below prompts/."""
    for template in TEMPLATES:
        edit(whole.project.folder / "prompts" / template, f"(Edited: {template})")
    return whole.run()


def edit(file: Path, sentence: str) -> None:
    """Add a sentence to what a file gives to messages, or to the tools."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".j2":
        file.write_text(f"{sentence}\n{text}", encoding="utf-8")
        return
    entries = yaml.safe_load(text)
    # The longest text of the first tool's description, or of what the first demonstration is given.
    place, key = max(texts(entries[0], but=("answer", "parameters")), key=lambda it: len(it[0][it[1]]))
    place[key] = f"{sentence}\n{place[key]}"
    file.write_text(yaml.safe_dump(entries, allow_unicode=True), encoding="utf-8")


def texts(value: Any, but: tuple[str, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """Where the texts in a value stand: in what, and where there."""
    places = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in places:
        if isinstance(inner, str):
            yield value, key
        elif isinstance(inner, dict | list) and key not in but:
            yield from texts(inner)


def steps(requests: list[dict[str, Any]]) -> Counter[str]:
    return Counter(map(step_of, requests))


def test_the_first_run_asks_for_everything(whole):
    asked = steps(whole.first[1])
    assert 0 < asked["condense"] <= 10 * DIALOGUES
    assert asked == {**ASKED, "condense": asked["condense"]}


def test_a_job_loads_no_module_that_its_rule_does_not_depend_on(whole):
    root, loaded = whole.project.folder / "scripts", {}
    for note in (whole.loaded / "notes").iterdir():
        main, files = json.loads(note.read_text(encoding="utf-8"))
        # Snakemake runs a copy: .snakemake/scripts/tmp1234.check.py
        if ".snakemake" in main:
            own = {str(Path(file).relative_to(root)) for file in files if Path(file).is_relative_to(root / "devqa")}
            loaded.setdefault(Path(main).name.partition(".")[2], set()).update(own)
    assert loaded.keys() == {f"{name}.py" for name in {*whole.first[0].rules, "ingest"} - {"ingest_mine", "panel"}}
    for script, modules in loaded.items():
        assert "devqa/job.py" in modules
        assert modules <= imported(script), script


def test_comments_in_all_code_and_all_templates_run_every_rule_and_send_nothing(whole, commented):
    run, requests, answers = commented
    assert run.rules == whole.first[0].rules
    assert steps(requests) == {}
    assert whole.table("answers").keys() == answers.keys()


def test_other_texts_run_every_rule_that_asks_and_what_follows(whole, edited):
    run, requests = edited
    before = {"ingest_mine", "corpus"}
    assert run.rules == Counter({rule: count for rule, count in whole.first[0].rules.items() if rule not in before})
    assert steps(requests) == steps(whole.first[1])


@pytest.mark.parametrize("template", RENDERED)
def test_an_edited_text_sends_exactly_the_requests_that_hold_it(template, whole, edited):
    wanted = {STEPS[prompt] for prompt in rendering(template) - ELSEWHERE}
    holding = [body for body in edited[1] if f"(Edited: {template})" in json.dumps(body)]
    everything = steps(whole.first[1])
    assert steps(holding) == {step: everything[step] for step in wanted}


def test_every_prompt_has_a_step():
    assert STEPS.keys() == RENDERING.keys() - ELSEWHERE
    assert set(STEPS.values()) == {*ASKED, "condense"}
