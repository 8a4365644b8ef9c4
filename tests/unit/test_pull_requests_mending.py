"""Definitions in C, C++ and C# around what parsers stumble over: conditionals and macros."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.pull_requests.code.definitions import definitions
from devqa.pull_requests.code.mending import mended


def test_statements_that_conditionals_cut_in_two_do_not_hide_the_class_around_them():
    source = b"""class Sink
{
    void Grow() { if (a
#if ASYNC
        && b)
#else
        )
#endif
    { } }
    void Shrink() { }
}
"""
    assert [each[:4] for each in definitions(source, "csharp")] == [
        ("Sink", "class", 1, 11),
        ("Sink.Grow", "method", 3, 9),
        ("Sink.Shrink", "method", 10, 10),
    ]


def test_macros_do_not_hide_definitions():
    source = b"""LIB_BEGIN_NAMESPACE
namespace detail {
class LIB_API Buffer {
  LIB_CONSTEXPR LIB_INLINE auto size() const LIB_NOEXCEPT -> int { return 1; }
};
}
LIB_END_NAMESPACE
"""
    assert [each[:4] for each in definitions(source, "cpp")] == [
        ("detail", "class", 2, 6),
        ("detail.Buffer", "class", 3, 5),
        ("detail.Buffer.size", "method", 4, 4),
    ]


_BRANCHES = [b"#if 0\n", b"#if A \\\n", b"#else\n", b"#elif B\n", b"#endif\n"]
_PIECES = [*_BRANCHES, *b"\n|LIB_A f() {\n|  }|X\xff\n|/*|#define F(x) \\\n|AAA(x, a *)\n{".split(b"|")]


@given(st.lists(st.sampled_from(_PIECES)), st.sampled_from(["c", "cpp", "csharp"]))
def test_what_is_mended_keeps_its_places(parts, language):
    content = b"".join(parts)
    after = mended(content, language)
    assert len(after) == len(content)
    assert all(new == old or (new == 32 and old not in b"\n\t ") for new, old in zip(after, content, strict=True))


def test_most_languages_need_no_mending():
    assert mended(b"", "python") is None


def test_macros_that_are_heads_of_functions_are_called_as_their_first_word():
    """As those of the Linux kernel: it does not matter how many types are between the brackets."""
    source = b"""SYSCALL_DEFINE0(getpid)
{
	return 1;
}
SYSCALL_DEFINE1(exit, int, code)
{
}
/* Reads. */
SYSCALL_DEFINE3(read, unsigned int, fd, char __user *, buf,
		size_t, count)
{
	LIST_FOREACH(each, &all, link) {
		go(each);
	}
}
BPF_CALL_2(probe, struct map *, map, int (*), call) {
	return 0;
}
static int after(void) { return 0; }
module_init(after);
"""
    assert [each[:4] for each in definitions(source, "c")] == [
        ("getpid", "function", 1, 4),
        ("exit", "function", 5, 7),
        ("read", "function", 8, 15),
        ("probe", "function", 16, 18),
        ("after", "function", 19, 19),
    ]


def test_in_c_plus_plus_such_a_macro_is_a_name_of_its_own():
    source = b'TEST_CASE("adds one", "[add]") {\n  CHECK(1);\n}\nTEST(Suite, Name)\n{\n}\n'
    assert [each[:4] for each in definitions(source, "cpp")] == [
        ("TEST_CASE", "function", 1, 3),
        ("TEST", "function", 4, 6),
    ]


@pytest.mark.parametrize("piece", [b"AAA(x,", b"AAA(x,\n", b"AAA((x)\n", b"(a)", b"a", b"\n"])
def test_no_text_takes_hours_to_mend(piece):
    content = b"AAA(" + piece * (500_000 // len(piece))
    assert len(mended(content, "c")) == len(content)
