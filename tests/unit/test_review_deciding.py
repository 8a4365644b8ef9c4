"""Where a thing stands after some decisions."""

from hypothesis import given
from hypothesis import strategies as st

from decided import both, decided, disputed
from devqa.review.deciding import agreeing, state

TIMES = [f"2026-11-30T10:00:0{second}.000Z" for second in range(6)]
DECISION = st.builds(
    decided,
    st.just("a"),
    st.sampled_from(["ann", "bob", "cid"]),
    st.sampled_from(["accept", "reject", "correct"]),
    decided_at=st.sampled_from(TIMES),
    answer=st.sampled_from(["", "8m", "16m"]),
)
ADJUDICATION = st.builds(
    decided,
    st.just("a"),
    st.just("eve"),
    st.sampled_from(["accept", "reject", "correct"]),
    decided_at=st.sampled_from(TIMES),
    role=st.just("adjudicator"),
)
ABOUT_ONE = st.tuples(
    st.lists(DECISION, max_size=3, unique_by=lambda row: row["annotator"]), st.lists(ADJUDICATION, max_size=1)
).map(lambda parts: parts[0] + parts[1])
RULES = st.tuples(st.integers(1, 2), st.sampled_from(["adjudicated", "final"]))


def kind(rows, annotators=2, rejection="adjudicated"):
    return state(rows, "pair_decisions", annotators, rejection).kind


def test_two_who_agree_settle_a_pair_and_one_does_not():
    assert kind([]) == "open"
    assert kind([decided("a")]) == "open"
    assert kind(both("a")) == "settled"
    assert kind(disputed("a")) == "disputed"
    assert kind([decided("a")], annotators=1) == "settled"


def test_a_third_settles_a_dispute_whatever_they_say():
    for third in ("accept", "reject", "correct"):
        found = state(disputed("a", third), "pair_decisions", 2)
        assert (found.kind, found.final["decision"], found.adjudicated) == ("settled", third, True)


def test_corrections_agree_where_they_come_to_the_same_answer():
    def two(one, other):
        return [decided("a", "ann", "correct", answer=one), decided("a", "bob", "correct", answer=other)]

    assert kind(two("`8m`", " 8M ")) == "settled"
    assert kind(two("8m", "16m")) == "disputed"
    assert kind([decided("a", "ann", "correct", answer="8m"), decided("a", "bob", "accept")]) == "disputed"


def test_with_final_rejections_one_is_enough():
    assert kind([decided("a", decision="reject")], rejection="final") == "settled"
    assert kind(disputed("a"), rejection="final") == "settled"
    assert kind([decided("a", "ann", "correct"), decided("a", "bob")], rejection="final") == "disputed"


@given(ABOUT_ONE, RULES, st.randoms())
def test_the_order_of_decisions_makes_no_difference(rows, rules, random):
    assert state(random.sample(rows, len(rows)), "pair_decisions", *rules) == state(rows, "pair_decisions", *rules)


@given(ABOUT_ONE, RULES)
def test_what_is_settled_is_what_somebody_decided_and_only_then(rows, rules):
    found = state(rows, "pair_decisions", *rules)
    assert (found.final is None) == (found.kind != "settled")
    assert found.final is None or found.final in rows
    assert found.adjudicated == any(row["role"] == "adjudicator" for row in rows)
    if found.kind == "open":
        assert len(rows) < rules[0]


@given(DECISION, DECISION, DECISION)
def test_to_agree_is_an_equivalence(one, other, third):
    same = agreeing("pair_decisions")
    assert same(one, one)
    assert same(one, other) == same(other, one)
    assert not (same(one, other) and same(other, third)) or same(one, third)
