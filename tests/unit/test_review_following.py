"""What follows from people's decisions about pairs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decided import URLS, both, decided, disputed, kept, verified
from devqa.errors import UserError
from devqa.ledger import Stage
from devqa.review.following import complete, progress, rescued, reviewed
from devqa.steps.benchmark import benchmark
from standins import assert_sound

RULES = (2, "adjudicated")


def outcome(decisions, verdict="supported", rules=RULES, arrived=True):
    """What becomes of one pair with these decisions."""
    row = verified("a", verdict)
    (found,) = reviewed(kept([row]) if arrived else [], [row], decisions, *rules)
    assert_sound([found], "reviewed")
    return found


@pytest.mark.parametrize(
    ("decisions", "decision", "status", "reason"),
    [
        ([], "", "ok", ""),
        ([decided("a", decision="reject")], "", "ok", ""),
        (disputed("a"), "", "ok", ""),
        (both("a"), "accepted", "ok", ""),
        (both("a", "correct"), "corrected", "ok", ""),
        (both("a", "reject"), "rejected", "rejected", "rejected in review: nobody asks that"),
        (disputed("a", "accept"), "accepted", "ok", ""),
        (
            disputed("a", "reject", reason="", failed_criteria=["complex_enough", "verifiable"]),
            "rejected",
            "rejected",
            "rejected in review: not complex enough, not verifiable",
        ),
    ],
)
def test_a_pair_stays_until_it_is_rejected(decisions, decision, status, reason):
    found = outcome(decisions)
    assert (found["supported"], found["decision"], found["status"]) == (True, decision, status)
    assert (found["reason"], found["decisions"]) == (reason, len(decisions))
    assert found["adjudicated"] == (len(decisions) == 3)


@pytest.mark.parametrize("verdict", ["contradicted", "not enough evidence"])
def test_a_pair_that_the_evidence_does_not_support_needs_peoples_word(verdict):
    doubt = {"contradicted": "contradicted by the evidence"}.get(verdict, verdict)
    for decisions in ([], [decided("a")], disputed("a")):
        found = outcome(decisions, verdict, arrived=False)
        assert (found["supported"], found["status"]) == (False, "rejected")
        assert found["reason"] == f"{doubt}, not decided in review"
    assert outcome(both("a"), verdict)["status"] == "ok"
    assert outcome(both("a", "reject"), verdict, arrived=False)["reason"] == "rejected in review: nobody asks that"
    lost = outcome(both("a"), verdict, arrived=False)
    assert (lost["decision"], lost["status"]) == ("accepted", "rejected")
    assert lost["reason"] == "accepted in review, but merged into another pair or without a difficulty"


def test_one_rejection_is_enough_where_the_configuration_says_so():
    assert outcome(disputed("a"), rules=(2, "final"))["decision"] == "rejected"
    assert outcome([decided("a")], rules=(1, "adjudicated"))["decision"] == "accepted"


def test_the_pages_of_all_who_say_the_same_stand_with_the_pair():
    two = [
        decided("a", "ann", evidence_urls=[URLS[0], "https://e/1"]),
        decided("a", "bob", evidence_urls=["https://e/2", URLS[0]]),
    ]
    assert outcome(two)["evidence_urls"] == [URLS[0], "https://e/1", "https://e/2"]
    settled = [*disputed("a"), decided("a", "eve", role="adjudicator", evidence_urls=["https://e/3", "https://e/4"])]
    assert outcome(settled)["evidence_urls"] == ["https://e/3", "https://e/4", *URLS]
    assert outcome(both("a", "reject", evidence_urls=URLS))["evidence_urls"] == []


def test_what_people_bring_back_goes_on_as_it_is_or_with_their_answer():
    rows = [
        verified("e"),
        verified("d", None),
        verified("c", "not enough evidence"),
        verified("b", "contradicted"),
        verified("a", "contradicted"),
    ]
    decisions = [*both("a"), *both("b", "correct", answer="8m"), *both("d"), *both("e", "reject"), decided("c")]
    found = rescued(rows, decisions, *RULES)
    assert_sound(found, "verified")
    told = [(row["pair_id"], row["status"], row["answer"], bool(row["supports"])) for row in found]
    assert told == [
        ("a", "ok", "the answer of a", True),
        ("b", "ok", "8m", False),
        ("c", "rejected", "the answer of c", True),
    ]
    assert found[2]["reason"] == "not enough evidence, not decided in review"
    # What the verification took is counted where it was spent.
    assert [(row["verdict"], row["usage"]) for row in found[:2]] == [("contradicted", [])] * 2


def test_decisions_about_other_pairs_change_nothing():
    rows = [verified("a"), verified("b", "contradicted")]
    others = [*both("x", "reject"), *both("y")]
    assert reviewed(kept(rows[:1]), rows, others, *RULES) == reviewed(kept(rows[:1]), rows, [], *RULES)
    assert rescued(rows, others, *RULES) == rescued(rows, [], *RULES)


def test_what_is_open_is_counted_before_a_benchmark_that_needs_people():
    rows = [verified(name) for name in "abcde"] + [verified(name, "contradicted") for name in "fgh"]
    decisions = [*both("a"), decided("b"), *disputed("c"), *both("f", "reject"), decided("g")]
    found = reviewed(kept(rows[:5]), rows, decisions, *RULES)
    assert progress(found) == {"decided": 2, "open": 5, "disputed": 1}
    with pytest.raises(UserError) as error:
        complete(found)
    assert str(error.value) == (
        "review.required: 6 pairs are not decided yet (2 without a decision, 1 with one, 1 disputed of pairs that the "
        "evidence supports; 1 without a decision, 1 with one of pairs that it does not support). `make review` shows "
        "them; with required: false the benchmark goes by what is decided so far"
    )
    rest = [row for name in "bdegh" for row in both(name)] + disputed("c", "accept")
    complete(reviewed(kept(rows), rows, [*decisions[:2], *both("f", "reject"), *rest], *RULES))


VERDICTS = st.sampled_from(["supported", "contradicted", "not enough evidence", None])
FATES = st.sampled_from(["none", "one", "accept", "correct", "reject", "disputed", "settled"])


def of(pair, fate):
    """Decisions about a pair by the name of what they come to."""
    match fate:
        case "none":
            return []
        case "one":
            return [decided(pair)]
        case "disputed":
            return disputed(pair)
        case "settled":
            return disputed(pair, "correct", answer="8m")
        case _:
            return both(pair, fate)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(VERDICTS, FATES), max_size=12),
    st.tuples(st.integers(1, 2), st.sampled_from(["adjudicated", "final"])),
    st.randoms(),
)
def test_no_pair_is_lost_the_ledger_adds_up_and_order_makes_no_difference(pairs, rules, random):
    rows = [verified(f"p{place:02}", verdict) for place, (verdict, _) in enumerate(pairs)]
    decisions = [row for place, (_, fate) in enumerate(pairs) for row in of(f"p{place:02}", fate)]
    back = rescued(rows, decisions, *rules)
    doubted = [row["pair_id"] for row in rows if row["status"] == "rejected"]
    assert [row["pair_id"] for row in back] == doubted

    # Of those that arrive, some are merged into others.
    arrived = [row for row in [*rows, *back] if row["status"] == "ok"]
    merged = kept(row for row in arrived if int(row["pair_id"][1:]) % 4)
    found = reviewed(merged, rows, decisions, *rules)
    assert_sound(found, "reviewed")
    in_merged = {row["pair_id"] for row in merged}
    assert [row["pair_id"] for row in found] == sorted({*doubted, *in_merged})
    # As the ledger counts: what went in comes out, in the benchmark or rejected.
    stage = Stage("reviewed")
    stage.add(row for row in found if row["supported"] or row["status"] == "ok")
    assert stage.rows == len(merged)
    built = benchmark(merged, {}, {name: [] for name in in_merged}, found, [], [])
    assert len(built) == stage.passed
    assert {row["reviewed"] for row in built} <= {"", "accepted", "corrected"}
    assert sum(progress(found).values()) == len(found)

    shuffled = [random.sample(part, len(part)) for part in (merged, rows, decisions)]
    assert reviewed(*shuffled, *rules) == found
    assert rescued(*shuffled[1:], *rules) == back
