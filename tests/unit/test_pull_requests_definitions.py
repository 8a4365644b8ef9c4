"""Definitions in source files of each language."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devqa.pull_requests import LANGUAGES
from devqa.pull_requests.code.definitions import (
    definitions,
    grammar_of,
    language_of,
    language_of_grammar,
    name_of,
    node_id,
    unnumbered,
)
from devqa.pull_requests.code.grammars import GRAMMARS

SOURCES = {
    "python": '''"""A module."""

# Says what a shape is.
@register
class Shape(Base):
    SIDES = 0

    # How large it is.
    @property
    def area(self):
        def square(side):
            return side * side
        return square(self.side)

    @area.setter
    def area(self, value): ...

async def draw(shape):
    pass
''',
    "javascript": """/** Draws. */
export function draw() {}
const create = () => 1;
app.use = function use(fn) {};
Shape.prototype.area = function () {};
exports.open = () => {};
const handlers = { click() {}, inner: { move: () => 1 } };
export const Schema = create("Schema", (inst) => {
  return inst;
});
class Shape { #grow() {} static of = () => 1 }
export default class {}
""",
    "typescript": """export function parse(text: string): Tree;
export function parse(bytes: Uint8Array): Tree;
export function parse(input: any): Tree { return input; }
export interface Tree { root(): Node }
export type Node = { name: string };
export abstract class Walker<T> {
  walk(a: string): void;
  walk(a: any) {}
  private step = () => 1;
}
declare namespace Outer.Inner { enum Kind { A } }
declare global { interface Window {} }
""",
    "tsx": "export const Button: FC = () => <div>{'x'}</div>;\n",
    "java": """package x;
/** A shape. */
@Immutable
public class Shape<T> {
  static final Factory FACTORY = new Factory() {
    @Override public Shape make() { return null; }
  };
  Shape() {}
  /** Grows. */
  @Override
  void grow(int by) {}
  void grow(String by) {}
  enum Kind { ROUND { void roll() {} }, FLAT }
  record Point(int x) { Point {} }
}
""",
    "go": """package x

// Draw draws.
func Draw() {}

// Run runs.
func (s *Shape[T]) Run() {
	step := func() {}
	step()
}

type (
	// Shape is one.
	Shape struct{ x int }
	Walker interface{ Walk() }
)

// Kind is one.
type Kind int
var handler = func() {}
""",
    "rust": """//! The crate.
use std::fmt;

/// A shape.
#[derive(Debug)]
pub struct Shape<T> { x: T }

impl<T> Shape<T> {
    /// Makes one.
    #[inline]
    pub fn new() -> Self { fn inner() {} Shape {} }
}
impl<T> fmt::Display for crate::Shape<T> {
    fn fmt(&self) {}
}
trait Walk { fn walk(&self); fn run(&self) {} }
mod tests { fn check() {} }
mod elsewhere;
macro_rules! shape { () => {} }
""",
    "c": """#define SQUARE(x) \\
  ((x) * (x))
/* Finds it. */
static int *find(int x)
{
  return 0;
}
typedef struct shape { int x; } shape_t;
typedef struct { int y; } point_t;
enum kind { ROUND };
int (*choose(void))(int) { return 0; }
""",
    "cpp": """namespace geo::flat {
template <class T>
struct Shape : Base<T> {
  Shape() = default;
  ~Shape() {}
  auto operator=(Shape&&) -> Shape& { return *this; }
  operator bool() const { return true; }
  void grow();
};
}
// Grows.
template <class T>
void geo::flat::Shape<T>::grow() {}
extern "C" { void plain() {} }
namespace { int& hidden() {} }
""",
    "csharp": """using System;
namespace Geo.Flat;

/// <summary>A shape.</summary>
[Serializable]
public class Shape<T> : Base
{
    public int Sides { get; set; }
    public int Twice => 2 * Sides;
    public Shape() {}
    ~Shape() {}
    public static Shape<T> operator +(Shape<T> a, Shape<T> b) => a;
    public int this[int i] => i;
    void Grow<U>() { int Step() => 1; }
}
""",
}
EXPECTED = {
    "python": [
        ("Shape", "class", 3, 16),
        ("Shape.area", "method", 8, 13),
        ("Shape.area.square", "function", 11, 12),
        ("Shape.area#2", "method", 15, 16),
        ("draw", "function", 18, 19),
    ],
    "javascript": [
        ("draw", "function", 1, 2),
        ("create", "function", 3, 3),
        ("app.use", "function", 4, 4),
        ("Shape.area", "function", 5, 5),
        ("open", "function", 6, 6),
        ("handlers.click", "method", 7, 7),
        ("handlers.inner.move", "method", 7, 7),
        ("Schema", "function", 8, 10),
        ("Shape", "class", 11, 11),
        ("Shape.#grow", "method", 11, 11),
        ("Shape.of", "method", 11, 11),
        ("default", "class", 12, 12),
    ],
    "typescript": [
        ("parse", "function", 1, 3),
        ("Tree", "class", 4, 4),
        ("Node", "class", 5, 5),
        ("Walker", "class", 6, 10),
        ("Walker.walk", "method", 7, 8),
        ("Walker.step", "method", 9, 9),
        ("Outer.Inner", "class", 11, 11),
        ("Outer.Inner.Kind", "class", 11, 11),
        ("global", "class", 12, 12),
        ("global.Window", "class", 12, 12),
    ],
    "tsx": [("Button", "function", 1, 1)],
    "java": [
        ("Shape", "class", 2, 15),
        ("Shape.FACTORY", "class", 5, 7),
        ("Shape.FACTORY.make", "method", 6, 6),
        ("Shape.Shape", "method", 8, 8),
        ("Shape.grow", "method", 9, 11),
        ("Shape.grow#2", "method", 12, 12),
        ("Shape.Kind", "class", 13, 13),
        ("Shape.Kind.ROUND", "class", 13, 13),
        ("Shape.Kind.ROUND.roll", "method", 13, 13),
        ("Shape.Point", "class", 14, 14),
        ("Shape.Point.Point", "method", 14, 14),
    ],
    "go": [
        ("Draw", "function", 3, 4),
        ("Shape.Run", "method", 6, 10),
        ("Shape.Run.step", "function", 8, 8),
        ("Shape", "class", 13, 14),
        ("Walker", "class", 15, 15),
        ("Kind", "class", 18, 19),
        ("handler", "function", 20, 20),
    ],
    "rust": [
        ("Shape", "class", 4, 6),
        ("Shape#2", "class", 8, 12),
        ("Shape.new", "method", 9, 11),
        ("Shape.new.inner", "function", 11, 11),
        ("Shape#3", "class", 13, 15),
        ("Shape.fmt", "method", 14, 14),
        ("Walk", "class", 16, 16),
        ("Walk.run", "method", 16, 16),
        ("tests", "class", 17, 17),
        ("tests.check", "function", 17, 17),
        ("shape", "function", 19, 19),
    ],
    "c": [
        ("SQUARE", "function", 1, 2),
        ("find", "function", 3, 7),
        ("shape", "class", 8, 8),
        ("point_t", "class", 9, 9),
        ("kind", "class", 10, 10),
        ("choose", "function", 11, 11),
    ],
    "cpp": [
        ("geo.flat", "class", 1, 10),
        ("geo.flat.Shape", "class", 2, 9),
        ("geo.flat.Shape.Shape", "method", 4, 4),
        ("geo.flat.Shape.~Shape", "method", 5, 5),
        ("geo.flat.Shape.operator=", "method", 6, 6),
        ("geo.flat.Shape.operator bool", "method", 7, 7),
        ("geo.flat.Shape.grow", "method", 11, 13),
        ("plain", "function", 14, 14),
        ("hidden", "function", 15, 15),
    ],
    "csharp": [
        ("Geo.Flat.Shape", "class", 4, 15),
        ("Geo.Flat.Shape.Twice", "method", 9, 9),
        ("Geo.Flat.Shape.Shape", "method", 10, 10),
        ("Geo.Flat.Shape.~Shape", "method", 11, 11),
        ("Geo.Flat.Shape.operator +", "method", 12, 12),
        ("Geo.Flat.Shape.this", "method", 13, 13),
        ("Geo.Flat.Shape.Grow", "method", 14, 14),
        ("Geo.Flat.Shape.Grow.Step", "function", 14, 14),
    ],
}


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_definitions_are_found_with_all_that_belongs_to_them(grammar):
    assert [each[:4] for each in definitions(SOURCES[grammar].encode(), grammar)] == EXPECTED[grammar]


def test_every_language_of_the_configuration_has_a_grammar():
    assert {language_of_grammar(grammar) for grammar in GRAMMARS} == set(LANGUAGES)


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_each_definition_stands_in_its_parent(grammar):
    found = definitions(SOURCES[grammar].encode(), grammar)
    for each in found:
        if each.parent is not None:
            outer = found[each.parent]
            assert outer.start_line <= each.start_line <= each.end_line <= outer.end_line
            assert each.name.startswith(f"{unnumbered(outer.name)}.")


@settings(max_examples=30)
@given(st.sampled_from([*GRAMMARS]), st.data())
def test_definitions_are_in_the_order_of_the_table(grammar, data):
    """Indices into the table rest on it. Lines that were joined have several definitions."""
    lines = SOURCES[grammar].split("\n")
    joints = data.draw(st.lists(st.sampled_from(["\n", " "]), min_size=len(lines), max_size=len(lines)))
    found = definitions("".join(map(str.__add__, lines, joints)).encode(), grammar)
    order = [(each.start_line, -each.end_line) for each in found]
    assert order == sorted(order)
    for each in found:
        outer = found[each.parent] if each.parent is not None else None
        assert outer is None or outer.start_line <= each.start_line <= each.end_line <= outer.end_line


def test_a_comment_belongs_to_what_is_directly_below_it_and_as_far_to_the_right():
    source = b"# licence\n\n# one\n# two\ndef f():\n    x = 1  # no\n    def g(): ...\n# end\n\ndef h(): ...\n"
    assert [each[:4] for each in definitions(source, "python")] == [
        ("f", "function", 3, 7),
        ("f.g", "function", 7, 7),
        ("h", "function", 10, 10),
    ]


def test_overloads_without_a_body_belong_to_the_definition_that_has_one():
    source = b"@t.overload\ndef f(x: int): ...\n\n\n@overload\ndef f(x: str): ...\n\n\ndef f(x): ...\ndef g(x): ...\n"
    assert [each[:4] for each in definitions(source, "python")] == [("f", "function", 1, 9), ("g", "function", 10, 10)]


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("python", b"def f():\n    return )\n\nclass (\n\ndef g():\n    x = ]\n"),
        ("c", b"int f() { return ((1; }\nint g() { return 2; }\n"),
    ],
)
def test_of_broken_code_what_can_be_parsed_is_found(language, source):
    assert [each.name for each in definitions(source, language)] == ["f", "g"]


def test_very_deep_nesting_ends_at_a_bound():
    source = b"function f(){" * 20_000 + b"}" * 20_000
    found = definitions(source, "javascript")
    assert len(found) == 30
    assert found[-1].name.count(".") == 29


@settings(max_examples=30)
@given(st.sampled_from([*GRAMMARS]), st.data())
def test_no_bytes_whatever_are_an_error(grammar, data):
    source = SOURCES[grammar].encode()
    begin, end = (data.draw(st.integers(0, len(source))) for _ in range(2))
    mixed = source[:begin] + data.draw(st.binary(max_size=20)) + source[end:]
    lines = mixed.count(b"\n") + 1
    found = definitions(mixed, grammar)
    assert all(1 <= each.start_line <= each.end_line <= lines for each in found)
    assert len({each.name for each in found}) == len(found)
    assert all(each.name.isprintable() and len(each.name) < 7_000 for each in found)


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_a_byte_that_is_no_utf_8_is_an_error_nowhere(grammar):
    source = SOURCES[grammar].encode()
    for place in range(len(source)):
        found = definitions(source[:place] + b"\xe9" + source[place:], grammar)
        assert all(1 <= each.start_line <= each.end_line <= source.count(b"\n") + 1 for each in found)


def test_text_of_another_encoding_hides_no_definition():
    source = '@app.route("/caf\xe9")  # \xe0 la carte\ndef f():\n    return "\xfc"\n\n\n@\xe9.overload\ndef g(): ...\n'
    assert [each[:4] for each in definitions(source.encode("latin-1"), "python")][0] == ("f", "function", 1, 3)


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.py", "python"),
        ("a.JSX", "javascript"),
        ("a.d.ts", "typescript"),
        ("a.tsx", "typescript"),
        ("a.h", "c"),
        ("a.hpp", "cpp"),
        ("a.cs", "csharp"),
        ("py", None),
        (".py", None),
        ("README.md", None),
    ],
)
def test_the_extension_tells_the_language(path, language):
    assert language_of(path) == language


def test_headers_are_read_by_what_they_hold():
    assert grammar_of("a.h", b"int f(void);\n// a class of things\n") == "c"
    assert grammar_of("a.h", b"#pragma once\nnamespace a {}\n") == "cpp"
    assert (grammar_of("a.tsx", b""), grammar_of("a.ts", b""), grammar_of("a.txt", b"")) == ("tsx", "typescript", None)


@given(st.text(), st.text())
def test_a_node_holds_its_name(name, path):
    assert name_of(node_id(name, path), path) == name


def test_only_the_number_of_an_overload_is_left_out_of_a_name():
    assert [unnumbered(name) for name in ("A.f#2", "A.#f", "A.f")] == ["A.f", "A.#f", "A.f"]
