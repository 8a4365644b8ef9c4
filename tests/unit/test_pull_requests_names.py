"""What definitions are called."""

import pytest

from devqa.pull_requests.code.definitions import definitions


@pytest.mark.parametrize(
    ("grammar", "source", "names"),
    [
        ("rust", "impl Tr for Box<dyn Fn(A) -> B> { fn f() {} }", ["Box", "Box.f"]),
        ("rust", "impl Tr for &'a mut Vec<Foo> { fn f() {} }", ["Vec", "Vec.f"]),
        ("rust", "impl Tr for *const a::Foo<B> {}", ["Foo"]),
        ("rust", "impl<T> Tr for <T as X>::Y {}", ["Y"]),
        ("rust", "impl dyn Tr {}", ["dyn Tr"]),
        ("rust", "impl Tr for [u8; 4] {}", ["[u8; 4]"]),
        ("cpp", "int my_operator<int>::run() { return 1; }", ["my_operator.run"]),
        ("cpp", "void A<decltype(a->b)>::B<C<D>>::f<int>() {}", ["A.B.f"]),
        ("cpp", "template<class T> bool A<T>::operator<(A b) { return 1; }", ["A.operator<"]),
        ("cpp", "A<B>::operator std::vector<C>() const { return c; }", ["A.operator std::vector<C>"]),
        ("cpp", "int operator->*(A a, B b) { return 1; }", ["operator->*"]),
        ("cpp", "template <> struct Array<int, 3> {};", ["Array"]),
        ("cpp", "namespace a::b::c { int f() { return 1; } }", ["a.b.c", "a.b.c.f"]),
        ("cpp", "int ::a::f() { return 1; }", ["a.f"]),
        ("go", "package p\nfunc (c (*C)) F() {}", ["C.F"]),
        ("go", "package p\nfunc (c *(C[K, V])) F() {}", ["C.F"]),
        ("go", "package p\nfunc (C) F() {}", ["C.F"]),
    ],
)
def test_a_name_is_what_its_parser_takes_for_one(grammar, source, names):
    assert [each.name for each in definitions(source.encode(), grammar)] == names


@pytest.mark.parametrize(
    ("grammar", "source"),
    [
        ("cpp", "int " + "a::" * 20_000 + "f() { return 1; }"),
        ("cpp", "int " + "a<" * 3_000 + "b" + ">" * 3_000 + "::f() { return 1; }"),
        ("rust", "impl T for " + "&" * 20_000 + "Foo {}"),
        ("go", "package p\nfunc (c " + "(*" * 5_000 + "C" + ")" * 5_000 + ") F() {}"),
    ],
)
def test_hostile_names_end_at_a_bound(grammar, source):
    assert all(len(each.name) < 7_000 for each in definitions(source.encode(), grammar))
