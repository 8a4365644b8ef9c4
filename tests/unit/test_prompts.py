"""Prompts: rendering, the set of files that they depend on, and the messages for what is wrong with them."""

import re
from pathlib import Path

import pytest

from devqa.errors import UserError
from devqa.prompts import Prompt
from devqa.text import plain

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(path.parent.relative_to(ROOT / "prompts").as_posix() for path in (ROOT / "prompts").rglob("system.j2"))


@pytest.fixture
def folder(tmp_path):
    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_j2", ".j2").replace("_yaml", ".yaml")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_demonstrations_come_as_earlier_turns(folder):
    root = folder(
        p__system_j2="Be brief, {{ name }}.",
        p__user_j2="Q: {{ question }}",
        p__demonstrations_yaml='- {given: {question: one}, answer: {n: 1}}\n- {given: {question: two}, answer: "2"}\n',
    )
    messages = Prompt(root, "p").messages({"name": "Ann"}, {"question": "three"})
    assert [(message["role"], message["content"]) for message in messages] == [
        ("system", "Be brief, Ann."),
        ("user", "Q: one"),
        ("assistant", '{"n": 1}'),
        ("user", "Q: two"),
        ("assistant", "2"),
        ("user", "Q: three"),
    ]
    assert len(Prompt(root, "p").messages({"name": "Ann"}, {"question": "three"}, demonstrations=1)) == 4


def test_a_row_s_own_variables_never_reach_a_demonstration_or_the_system_message(folder):
    root = folder(
        p__system_j2="S",
        p__user_j2="{{ question }} {{ extra }}",
        p__demonstrations_yaml="- {given: {question: a}, answer: b}",
    )
    with pytest.raises(UserError, match="prompts/p/user.j2: 'extra' is undefined"):
        Prompt(root, "p").messages({}, {"question": "q", "extra": "leak"})


def test_files_are_the_closure_of_includes(folder):
    root = folder(
        p__system_j2='{% include "shared/a.j2" %}',
        p__user_j2="x",
        shared__a_j2='{% include "shared/b.j2" %}',
        shared__b_j2="b",
        shared__c_j2="c",
    )
    assert list(Prompt(root, "p").files()) == ["p/system.j2", "p/user.j2", "shared/a.j2", "shared/b.j2"]
    before = Prompt(root, "p").sha256()
    folder(shared__c_j2="changed")
    assert Prompt(root, "p").sha256() == before
    folder(shared__b_j2="changed")
    assert Prompt(root, "p").sha256() != before


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"p__system_j2": "x"}, "prompts/p/user.j2 is missing"),
        ({"p__system_j2": "{% if %}", "p__user_j2": "x"}, "prompts/p/system.j2, line 1: Expected an expression"),
        ({"p__system_j2": "{% include name %}", "p__user_j2": "x"}, "by a computed name"),
        ({"p__system_j2": '{% include "q.j2" %}', "p__user_j2": "x"}, "prompts/q.j2 is missing"),
        ({"p__system_j2": "x", "p__user_j2": '{% include "p/user.j2" %}'}, "prompts/p/user.j2 includes itself"),
        (
            {"p__system_j2": "x", "p__user_j2": '{% include "s/a.j2" %}', "s__a_j2": '{% include "p/user.j2" %}'},
            "p/user.j2 → s/a.j2 → p/user.j2",
        ),
    ],
)
def test_a_broken_template_is_named(folder, files, says):
    with pytest.raises(UserError, match=says):
        Prompt(folder(**files), "p").files()


@pytest.mark.parametrize("text", ["- {given: {a: 1}}", "- nonsense", "{: ["])
def test_broken_demonstrations_are_named(folder, text):
    root = folder(p__system_j2="x", p__user_j2="y", p__demonstrations_yaml=text)
    with pytest.raises(UserError, match="prompts/p/demonstrations.yaml"):
        Prompt(root, "p").messages({}, {})


@pytest.mark.parametrize("name", NAMES)
def test_the_project_s_prompts_parse(name):
    assert f"{name}/system.j2" in Prompt(ROOT / "prompts", name).files()


def test_the_ten_demonstrations_of_generate_are_well_grounded():
    demonstrations = Prompt(ROOT / "prompts", "generate").demonstrations
    assert len(demonstrations) == 10
    assert {entry["given"]["language"] for entry in demonstrations} == {"en", "zh", "ru"}
    for entry in demonstrations:
        assert len(entry["answer"]["pairs"]) == 3
        text = " ".join(reference["text"] for reference in entry["given"]["references"])
        for pair in entry["answer"]["pairs"]:
            assert pair["sentences"]
            for number in pair["sentences"]:
                sentence = re.search(rf"\[{number}\] (.*?)(?=\[\d+\]|$)", text)[1]
                assert plain(pair["answer"]) in plain(sentence), pair
