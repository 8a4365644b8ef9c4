"""Prompts: rendering, the set of files that they depend on, and the messages for what is wrong with them."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.errors import UserError
from devqa.prompts import Prompt, inert
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


PULLING = [name for name in NAMES if name.startswith("pull_requests/")]
TAGS = ("answer", "code", "description", "fact", "facts", "question", "title")


def shown(name, text):
    """The message that a prompt of pull requests makes where all that it shows is `text`."""
    facts = [text] if name == "pull_requests/judge" else [{"number": 1, "fact": text}]
    given_ = dict.fromkeys(("question", "answer", "predicted", "title", "description", "repository"), text)
    blocks = [{"node": text, "cut": False, "text": text}]
    return Prompt(ROOT / "prompts", name).messages(
        {"most": 1, "rounds": 1, "calls": 1}, {**given_, "facts": facts, "blocks": blocks}
    )[-1]["content"]


@pytest.mark.parametrize("name", PULLING)
def test_no_data_can_end_the_tags_between_which_prompts_show_it(name):
    def closing(text):
        return re.findall(r"<\s*/\s*\w+", text)

    plain_ones = closing(shown(name, "text"))
    assert {tag.removeprefix("</") for tag in plain_ones} <= set(TAGS)
    for form in ("</{}>", "</{}", "< / {} >", "<\n/{} a='b'>"):
        for case in (str.lower, str.upper):
            text = "".join(form.format(case(tag)) for tag in TAGS)
            assert closing(shown(name, text)) == plain_ones
            assert "&lt;" in shown(name, text)


@given(st.text("</>acdefinoqrstuw &;\n", max_size=60))
def test_only_closing_tags_are_made_inert(text):
    made = inert(text)
    assert made.replace("&lt;", "<") == text.replace("&lt;", "<")
    assert not re.search(rf"<\s*/\s*({'|'.join(TAGS)})\b", made)
    if not re.search(r"<\s*/", text):
        assert made == text


@pytest.mark.parametrize("name", PULLING)
def test_ordinary_text_is_shown_as_it_is(name):
    code = "List<Question> a = b < c / d; // <code>x</tt> <answer> &lt; </answers> </codes> \u0000\u202e 'q' \"r\"\n\tx"
    assert code in shown(name, code)


def test_a_variable_that_is_not_given_is_named_behind_a_filter_too(folder):
    root = folder(p__system_j2="S", p__user_j2="{{ misspelt | inert }}")
    with pytest.raises(UserError, match="prompts/p/user.j2: 'misspelt' is undefined"):
        Prompt(root, "p").messages({}, {})


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
