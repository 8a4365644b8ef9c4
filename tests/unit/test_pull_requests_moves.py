"""Definitions that another one has taken the place of, and those that have moved."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devqa.pull_requests import LANGUAGES
from devqa.pull_requests.context.naming import around, is_common, simple
from devqa.pull_requests.context.tracking import Tracker
from followed import tracking, where
from grown import Grown

CACHE = '''class Cache:
    """Keeps pages."""

    def __init__(self, size, path):
        self.size = size
        self.path = path

    def evict(self):
        for key in sorted(self.pages)[self.size:]:
            del self.pages[key]

    def describe(self, page):
        width = max(len(line) for line in page.lines)
        return f"{page.name} is {width} letters wide and {len(page.lines)} lines long"
'''
MAILER = '''class Mailer:
    """Sends mail."""

    def __init__(self, host, port):
        self.host = host
        self.port = port

    def send(self, message):
        with connect(self.host) as wire:
            wire.write(message)
'''
CLOSE = "package p\n\ntype %s struct{ x int }\n\nfunc (%s *%s) Close() error {\n%s}\n"
LOCKED = "\tc.mu.Lock()\n\tdefer c.mu.Unlock()\n\treturn c.%s()\n"
EQUALS = """class %s {
  final int %s;

  public boolean equals(Object other) {
    if (this == other) return true;
    if (other == null || getClass() != other.getClass()) return false;
    return %s == ((%s) other).%s;
  }
%s}
"""
EVICT = """  void evict() {
    for (Page page : pages.sorted()) if (page.age > size) pages.remove(page.key);
    log.info("evicted", pages.count(), clock.now(), size, pages.oldest());
  }
"""
SEND = """  Receipt send(Message message) throws IOException {
    try (Wire wire = Wire.connect(host, port)) { return wire.write(message.bytes()).await(timeout); }
  }
"""
WIDTH = "class %s:\n%s\n    def width(self):\n        return self.right\n"
MAIN = "import sys\n\n\ndef main():\n    %s\n    sys.exit(0)\n"


@pytest.fixture
def grown(tmp_path):
    with Grown(tmp_path / "repository") as repository:
        yield repository


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ({"a.py": CACHE}, {"b.py": MAILER}, "Cache.__init__"),
        (
            {"a.go": CLOSE % ("Cache", "c", "Cache", LOCKED % "disk.Flush")},
            {"b.go": CLOSE % ("Mailer", "c", "Mailer", LOCKED % "wire.Hangup")},
            "Cache.Close",
        ),
        (
            {"A.java": EQUALS % ("Cache", "size", "size", "Cache", "size", EVICT)},
            {"B.java": EQUALS % ("Mailer", "port", "port", "Mailer", "port", SEND)},
            "Cache.equals",
        ),
        ({"a.py": MAIN % "run(sys.argv[1:])"}, {"b.py": MAIN % "print(sys.version, sys.path, sys.flags)"}, "main"),
        # Short bodies are like many others.
        (
            {"a.py": WIDTH % ("A", "    a = b = c = d = e = f = 1")},
            {"b.py": WIDTH % ("B", "    with_(u, v, w, x, y, z, *all_)")},
            "A.width",
        ),
    ],
)
def test_what_has_only_its_name_in_common_with_a_new_one_is_deleted(grown, tmp_path, old, new, name):
    grown.grow({**old, **{f"k{path}": "" for path in old}})
    gone = grown.grow({**dict.fromkeys(old), **new})
    with tracking(grown, tmp_path) as (tracker, past):
        assert where(tracker.now(past(next(iter(old)), name))) == f"deleted: by {gone[:12]}"


def test_a_method_goes_with_its_class_whatever_it_is_called(grown, tmp_path):
    """The class has another name, a file of its own and other constructors, but is the same one by all else."""
    renamed = CACHE.replace("Cache", "Store").replace("size, path)", "size)").replace("        self.path = path\n", "")
    grown.grow({"a.py": CACHE + "\n\nx = 1\n"})
    grown.grow({"a.py": "x = 1\n", "b.py": MAILER + "\n\n" + renamed})
    with tracking(grown, tmp_path) as (tracker, past):
        assert where(tracker.now(past("a.py", "Cache"))) == ("moved", "b.py", "Store")
        for name in ("__init__", "evict", "describe"):
            assert where(tracker.now(past("a.py", f"Cache.{name}"))) == ("moved", "b.py", f"Store.{name}")


def test_a_method_goes_with_what_its_class_stands_in(grown, tmp_path):
    page = "struct Page {\n  int width;\n  void close() { width = 0; }\n};\n"
    most = "int most(int a, int b) {\n  int first = a * a;\n  return first > b * b ? first : b * b;\n}\n"
    space = f"namespace one {{\n{page}{most}}}\n"
    grown.grow({"a.cpp": space})
    grown.grow({"a.cpp": space.replace("one", "two")})
    with tracking(grown, tmp_path) as (tracker, past):
        assert where(tracker.now(past("a.cpp", "one.Page.close"))) == ("renamed", "a.cpp", "two.Page.close")


def test_a_method_that_moves_to_another_class_is_known_by_its_body(grown, tmp_path):
    head, _, describe = CACHE.rpartition("\n    def describe")
    grown.grow({"a.py": CACHE})
    grown.grow({"a.py": head, "b.py": MAILER + "\n    def describe" + describe})
    with tracking(grown, tmp_path) as (tracker, past):
        assert where(tracker.now(past("a.py", "Cache.describe"))) == ("moved", "b.py", "Mailer.describe")


def test_a_common_name_at_the_top_of_a_file_moves_with_its_body(grown, tmp_path):
    text = MAIN % "run(parsed(sys.argv[1:]), verbose=True)"
    grown.grow({"a.py": "x = 1\n" + text})
    grown.grow({"a.py": "x = 1\n", "b.py": text})
    with tracking(grown, tmp_path) as (tracker, past):
        assert where(tracker.now(past("a.py", "main"))) == ("moved", "b.py", "main")


@pytest.mark.parametrize("name", ["__init__", "Close", "String", "toString", "to_string", "main", "test", "operator=="])
def test_common_names_are_known(name):
    assert is_common(name)


def test_a_name_is_what_it_is_called_and_what_is_around_it():
    names = ["A.b.c#2", "f", "f#3", "A.#p"]
    assert [(around(name), simple(name)) for name in names] == [("A.b", "c"), ("", "f"), ("", "f"), ("A", "#p")]
    assert not is_common("describe")


def test_a_path_that_is_used_again_is_another_file(grown, tmp_path):
    grown.grow({"a.py": CACHE})
    grown.grow({"a.py": None, "b.py": CACHE})
    gone = grown.grow({"b.py": None})
    grown.grow({"a.py": "class Cache:\n    def evict(self):\n        print(1)\n"})
    with tracking(grown, tmp_path) as (tracker, past):
        for name in ("Cache", "Cache.evict", ""):
            assert where(tracker.now(past("a.py", name))) == f"deleted: by {gone[:12]}"


def test_what_came_back_under_its_last_path_is_found_there(grown, tmp_path):
    grown.grow({"a.py": CACHE})
    grown.grow({"a.py": None, "b.py": CACHE})
    grown.grow({"b.py": None})
    grown.grow({"b.py": CACHE})
    with tracking(grown, tmp_path) as (tracker, past):
        assert where(tracker.now(past("a.py", "Cache.evict"))) == ("moved", "b.py", "Cache.evict")


@pytest.mark.parametrize("name", ["", "foo"])
def test_what_keeps_its_name_in_another_language_is_said_to_be_there(grown, tmp_path, name):
    code = "function foo(a) {\n  return bar(a, a * 2, a * 3, baz(a, qux(a)));\n}\n"
    grown.grow({"a.js": code})
    grown.grow({"a.js": None, "a.ts": code})
    with tracking(grown, tmp_path, languages=["javascript"]) as (tracker, past):
        assert where(tracker.now(past("a.js", name))) == "in another language: typescript"


def test_headers_are_in_the_language_that_they_hold(grown, tmp_path):
    code = "static int most(int a, int b) {\n  return a > b ? a : b;\n}\n"
    grown.grow({"a.h": code})
    grown.grow({"a.h": f"namespace x {{}}\n{code}"})
    with tracking(grown, tmp_path, languages=["c"]) as (tracker, past):
        assert where(tracker.now(past("a.h", "most"))) == "in another language: cpp"


def test_what_the_table_lacks_though_it_should_have_it_is_not_read(grown, tmp_path):
    grown.grow({"a.py": CACHE})
    with tracking(grown, tmp_path, languages=["go"]) as (tracker, past):
        tracker._languages = LANGUAGES
        told = "not read: it is in the pinned version, but not in table blocks"
        assert where(tracker.now(past("a.py", "Cache.evict"))) == told


BODIES = [f"{{ return {name}(a, {name}2(a), {name}3(a * {number}), {name}4); }}\n" for number, name in enumerate("pqr")]
VERSIONS = st.lists(st.tuples(st.sampled_from(["foo", "bar", "main"]), st.sampled_from(BODIES)), max_size=2).map(
    lambda those: "let x = 1;\n" + "".join(f"function {name}(a) {body}" for name, body in those)
)
COMMITS = st.lists(st.dictionaries(st.sampled_from(["a.js", "a.ts", "b.js"]), VERSIONS), min_size=1, max_size=4)


@settings(max_examples=25, deadline=None)
@given(COMMITS, st.sampled_from([["javascript"], ["typescript"], LANGUAGES]))
def test_no_history_is_followed_in_circles(tmp_path_factory, commits, languages):
    """Each look at a commit is a later one."""
    folder = tmp_path_factory.mktemp("history")
    with Grown(folder / "repository") as grown:
        there: dict[str, str] = {}
        for files in [{"a.js": f"let x = 1;\nfunction foo(a) {BODIES[0]}"}, *commits]:
            grown.grow({**dict.fromkeys(there), **files})
            there = files
        with tracking(grown, folder, languages=languages) as (tracker, past):
            looked = []

            def elsewhere(before, place):
                if before.definition.kind != "class":
                    assert not looked or looked[-1].step < place.step
                    looked.append(place)
                return Tracker._elsewhere(tracker, before, place)

            tracker._elsewhere = elsewhere
            now = tracker.now(past("a.js", "foo"))
            assert now.file is None or now.file.language in languages
