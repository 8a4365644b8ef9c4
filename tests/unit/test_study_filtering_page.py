"""What the page about the study and config.yaml say is what the configuration takes."""

import re
from pathlib import Path

import pytest
import yaml

from devqa.config import root
from devqa.config.layers import laid_over
from devqa.config.review import Review
from devqa.config.study import Study
from unit.test_study_scrubbing_lines import CLEAN, FOUND, lines

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/study.md").read_text(encoding="utf-8")
DEFAULT = (ROOT / "config.yaml").read_text(encoding="utf-8")


def loaded(section):
    gpt = {"base_url": "http://127.0.0.1:1/v1"}
    overlay = {"models": dict.fromkeys(("gpt", "gpt-4o-mini"), gpt), "study": section}
    section["sources"]["wildchat"]["path"] = str(ROOT / "examples/dialogues.jsonl")
    default = yaml.safe_load(DEFAULT)
    models = {**default["models"], **overlay["models"]}
    return root.load(laid_over({**default, **overlay, "models": models}, overlay)).study


@pytest.fixture(autouse=True)
def in_the_project(monkeypatch):
    monkeypatch.chdir(ROOT)


def commented():
    """The section `study` of config.yaml, which is a comment."""
    text = re.search(r"^# study:\n(?:#.*\n)+", DEFAULT, re.MULTILINE)[0]
    return yaml.safe_load(re.sub(r"^# ?", "", text, flags=re.MULTILINE))["study"]


def test_the_page_s_configuration_is_valid():
    first, *_ = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert loaded(yaml.safe_load(first)["study"]).filter.model == "gpt"


def test_the_commented_section_is_valid_and_says_the_defaults():
    section = commented()
    models = {name: {"model": "gpt-4o-mini"} for name in ("filter", "tasks", "suitability")}
    assert loaded(section) == Study.model_validate({"sources": section["sources"], **models})
    assert section.keys() == Study.model_fields.keys()


def test_the_section_about_review_says_the_defaults():
    assert Review.model_validate(yaml.safe_load(DEFAULT)["review"]) == Review()
    assert yaml.safe_load(DEFAULT)["review"].keys() == Review.model_fields.keys()


def test_the_page_names_every_key():
    keys = PAGE.split("## Keys")[1]
    assert [name for name in Study.model_fields if f"`{name}" not in keys] == []


def test_the_page_counts_the_lines_right():
    count = int(re.search(r"has some (\d+) lines", PAGE)[1])
    assert abs(len(lines(FOUND)) + len(lines(CLEAN)) - count) < 10
