"""Edits of templates and code while a run is on."""

import json
import shutil
from pathlib import Path

import pytest

from devqa import edits
from devqa.errors import UserError
from devqa.recipe import recipe

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def project(tmp_path):
    for part in ("scripts", "prompts"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.fixture
def made(project):
    return json.loads(recipe(project, "check.py", {}, None, ["check"]))


def test_a_job_whose_files_are_those_of_its_recipe_goes_on(project, made):
    edits.refuse(made, project)
    # A checkout with other line ends renders the same.
    template = project / "prompts/check/user.j2"
    template.write_bytes(template.read_bytes().replace(b"\n", b"\r\n"))
    (project / "prompts/judge/user.j2").write_text("that of another step")
    edits.refuse(made, project)


@pytest.mark.parametrize(
    "file",
    ["prompts/check/user.j2", "prompts/check/demonstrations.yaml", "scripts/check.py", "scripts/devqa/steps/check.py"],
)
@pytest.mark.parametrize("how", ["edited", "removed"])
def test_a_file_that_was_edited_is_named(project, made, file, how):
    path = project / file
    if how == "edited":
        path.write_text(path.read_text() + "\n# more")
    else:
        path.unlink()
    with pytest.raises(UserError, match=f"prompts/|{file}"):
        edits.refuse(made, project)


def test_a_file_that_was_added_to_a_prompt_is_named(project, made):
    (project / "prompts/check/tools.yaml").write_text("[]")
    with pytest.raises(UserError, match="prompts/check/tools.yaml was edited while the run was on"):
        edits.refuse(made, project)
