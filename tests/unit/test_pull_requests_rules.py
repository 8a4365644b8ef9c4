"""The rules for questions that a program can check."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.pull_requests.questions.rules import LONGEST, RULES, Known, broken, held, joined

PATHS = [
    "src/shop/basket.py",
    "src/shop/http_client.py",
    "lib/node.js",
    ".gitignore",
    "client/server/io.go",
    "Makefile",
]
KNOWN = Known(
    paths=joined(PATHS),
    name="acme/Click",
    text="class HttpClient:\n    def parse_args(self, maxDepth): return self.conn.close()\nclass Basket: GitHub\n",
    names=frozenset(
        {
            "HttpClient",
            "parse_args",
            "Basket",
            "GitHub",
            "NumPy",
            "close",
            "Python",
            "Click",
            "toList",
            "isValidIPv6",
            "AST",
        }
    ),
    classes=frozenset({"HttpClient", "Basket", "GitHub", "NumPy", "Python", "Click", "AST"}),
)


def missed(question):
    criteria = held(question, KNOWN)
    assert [entry["criterion"] for entry in criteria] == [*RULES]
    assert all(bool(entry["reason"]) != entry["passed"] for entry in criteria)
    return {entry["criterion"]: entry["reason"] for entry in criteria if not entry["passed"]}


@pytest.mark.parametrize(
    ("phrase", "rule", "found"),
    [
        ("the logic in src/shop/basket.py", "no_path", "src/shop/basket.py"),
        ("the folder src/shop", "no_path", "src/shop"),
        ("what shop/basket.py holds", "no_path", "shop/basket.py"),
        ("another file such as ui/main.tsx", "no_path", "main.tsx"),
        ("a missing basket.py", "no_path", "basket.py"),
        ("the settings of package.json", "no_path", "package.json"),
        ("entries of .gitignore", "no_path", ".gitignore"),
        ("lib/node.js", "no_path", "lib/node.js"),
        ("files that match **/*.rs", "no_path", "*.rs"),
        ("the script ./run", "no_path", "./run"),
        ("the file /etc/hosts", "no_path", "/etc/hosts"),
        (r"C:\temp being full", "no_path", r"C:\temp"),
        ("what https://example.org says", "no_path", "https://example.org"),
        ("the loop on line 12", "no_line_number", "line 12"),
        ("the code in lines 3-9", "no_line_number", "lines 3"),
        ("the 12th line", "no_line_number", "12th line"),
        ("the range L12-L20", "no_line_number", "L12-L20"),
        ("the call of `close` here", "no_code", "`"),
        ("a call of frobnicate()", "no_code", "frobnicate()"),
        ("a call of run(a, b=2)", "no_code", "run(a, b=2)"),
        ("the type std::vector", "no_code", "::"),
        ("a List<String> that is empty", "no_code", "<String>"),
        ("the element items[0]", "no_code", "s[0]"),
        ("x != y", "no_code", "!="),
        ("the assignment limit = 3", "no_code", "limit = 3"),
        ("the template {name}", "no_code", "{"),
        ("the function parse_args", "no_identifier", "parse_args"),
        ("the parameter maxDepth", "no_identifier", "maxDepth"),
        ("the HttpClient", "no_identifier", "HttpClient"),
        ("what the Basket is given", "no_identifier", "Basket"),
        ("what toList gives", "no_identifier", "toList"),
        ("what isValidIPv6 gives", "no_identifier", "isValidIPv6"),
        ("the call of conn.close", "no_identifier", "conn.close"),
        ("this change", "no_change", "this change"),
        ("this PR", "no_change", "this PR"),
        ("the bug that PR #12 mends", "no_change", "PR #12"),
        ("the bug of #123", "no_change", "#123"),
        ("the option introduced in the pull request", "no_change", "introduced in the pull request"),
        ("the recently added cache", "no_change", "recently added"),
        ("the state at 3f2a9bc0", "no_change", "3f2a9bc0"),
    ],
)
def test_what_a_question_must_not_hold_is_named(phrase, rule, found):
    reasons = missed(f"How does the program deal with {phrase} when it runs?")
    assert rule in reasons
    assert reasons[rule] == found


FINE = [
    "How does GitHub authentication work when NumPy and/or pandas is missing, e.g. on Python 3.11?",
    "How does the I/O layer fall back from HTTP/2 to HTTP/1.1 over TCP/IP, i.e. without TLS 1.3?",
    "Which input/output streams are read/write 24/7 in the client/database protocol of the U.S. edition?",
    "How does the Node.js build differ from Vue.js and ASP.NET ones at 9 a.m. on x86_64?",
    "What happens to the argument(s) or child(ren) when re(connect)ing over HTTP(S) takes O(n) or O(log n) steps?",
    "How many lines may a message have, at most 120 lines or a line 80 characters long?",
    "What is the return value (if any) of a class method: the default, or nothing?",
    "Which #1 priority does an L2 cache have over L1 regularisation in C# 12 or C++?",
    "How are the --verbose flag and the key=value pairs treated in a .env file or in JSON?",
    "How does Click decide whether colours are on, with a value >= 2 or <= 5?",
    "How is the AST of a Python file built by a Rust or Go program?",
    "Basket contents are kept for how long after a customer leaves?",
    "How does the basket, or the close of a connection, report the change to the watcher's commit log?",
    'What does a lone "?" in a pattern match, compared with a "*"?',
    "How long are hashes such as deadbeef, and numbers such as 1234567 or 0x7fffffff?",
    "Why is e-mail from user@example.org kept in snake_case or camelCase keys?",
    "Как программа выбирает скидку, если подходит сразу несколько правил?",
]


@pytest.mark.parametrize("question", FINE)
def test_prose_about_software_is_no_code(question):
    assert missed(question) == {}


@pytest.mark.parametrize(
    ("question", "rule", "reason"),
    [
        ("Tell me how the discount is found.", "one_question", "it does not end with a question mark"),
        ("How is the discount found? And when is it paid?", "one_question", "2 question marks"),
        ("How is it?", "length", "3 words"),
        ("Incomprehensibilities everywhere?", "length", "2 words"),
        (f"How long is a {'very ' * 90}long question?", "length", "478 characters"),
    ],
)
def test_one_question_of_some_length(question, rule, reason):
    assert missed(question) == {rule: reason}


def test_what_is_said_of_a_question_is_the_same_for_all_that_break_the_same_rules():
    one, other = (held(f"Where is {name} called?", KNOWN) for name in ("parse_args", "maxDepth"))
    assert broken(one) == broken(other) == "names an identifier of the code"
    both = held("Where is parse_args called on line 3?", KNOWN)
    assert broken(both) == "names a line number, names an identifier of the code"
    assert broken(held(FINE[0], KNOWN)) == ""


NOTHING = Known(paths="", name="", text="", names=frozenset(), classes=frozenset())
WORD = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12).filter(
    lambda word: (
        not re.fullmatch(r"lines?|ll?|this|by|in|with|through|the|recently|before|after|pr|mr|gh|issue|bug", word)
    )
)
PROSE = st.lists(WORD, min_size=6, max_size=30).map(lambda words: " ".join(words).capitalize() + "?")


@given(PROSE)
def test_plain_words_break_no_rule(question):
    assert [entry for entry in held(question, KNOWN) if not entry["passed"] and entry["criterion"] != "length"] == []


NAME = st.one_of(
    st.lists(WORD, min_size=2, max_size=4).map("_".join),
    st.lists(WORD, min_size=2, max_size=4).map(lambda parts: "".join(part.capitalize() + "x" for part in parts)),
)


@given(PROSE, NAME, st.integers(1, 5))
def test_a_name_of_several_words_that_the_context_defines_is_found_anywhere(prose, name, place):
    words = prose.split()
    question = " ".join([*words[:place], name, *words[place:]])
    known = Known("", "", "", frozenset({name}), frozenset({name}))
    (criterion,) = (entry for entry in held(question, known) if entry["criterion"] == "no_identifier")
    assert criterion["reason"] == name
    (unknown,) = (entry for entry in held(question, NOTHING) if entry["criterion"] == "no_identifier")
    assert unknown["passed"]


PATH = st.lists(st.text("abcxyz019_-. ", min_size=1, max_size=8).filter(str.strip), min_size=1, max_size=4).map(
    "/".join
)


@given(st.text(max_size=LONGEST + 50), st.lists(PATH, max_size=5), st.text(max_size=50))
def test_whatever_a_question_is_each_rule_has_a_verdict(question, paths, text):
    criteria = held(question, Known(joined(paths), text, text, frozenset(text.split()), frozenset()))
    assert [entry["criterion"] for entry in criteria] == [*RULES]
    assert bool(broken(criteria)) == any(entry["reason"] for entry in criteria)


@pytest.mark.parametrize(
    "piece", ["a" * 50_000, "a_" * 25_000, "aB" * 25_000, "a." * 25_000, "<a " * 20_000, "(" * 50_000]
)
def test_a_hostile_question_takes_linear_time(piece, no_deadlock):
    assert "length" in missed(f"What is {piece}?")
