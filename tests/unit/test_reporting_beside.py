"""One's own figures beside SimpleDevQA's."""

import pytest

from devqa.config.evaluation import DOMAIN_GROUPS, DOMAINS
from devqa.reporting import beside, paper
from reported import stage

FUNNEL = [
    stage("dialogues", "ok", "", 100, 90),
    stage("dialogues", "rejected", "empty", 100, 10),
    stage("pairs", "ok", "", 270, 250),
    stage("checked", "ok", "", 250, 160),
    stage("verified", "ok", "", 160, 100),
    stage("rescued", "ok", "", 20, 20),
]
MERGED = [{"pair_id": f"p{n}", "difficulty": "hard" if n % 3 else "easy"} for n in range(120)]


def reviewed(*decisions):
    return [{"pair_id": f"p{n}", "decision": decision} for n, decision in enumerate(decisions)]


def test_each_step_has_its_count_and_its_rate_of_the_step_before():
    found = beside.steps(FUNNEL, MERGED, [])
    assert [(each["own"], each["own_rate"]) for each in found] == [
        (90, None),
        (250, pytest.approx(250 / 90)),
        (160, pytest.approx(0.64)),
        (120, pytest.approx(0.75)),
        (80, pytest.approx(2 / 3)),
        (40, pytest.approx(1 / 3)),
        (None, None),
    ]
    assert [each["paper"] for each in found] == [3_000, 9_000, 6_020, 6_020, 3_231, 2_789, 2_740]
    assert [each["paper_rate"] and round(each["paper_rate"], 3) for each in found] == [
        None,
        3.0,
        0.669,
        1.0,
        0.537,
        0.463,
        0.848,
    ]


def test_people_s_rate_is_of_the_hard_pairs_that_they_have_decided_about():
    # p0 and p3 are easy, p9 is not rated.
    decisions = reviewed("accepted", "accepted", "corrected", "rejected", "rejected", "")
    last = beside.steps(FUNNEL, MERGED, [*decisions, {"pair_id": "other", "decision": "rejected"}])[-1]
    assert (last["own"], last["own_rate"]) == (2, pytest.approx(2 / 3))


def test_nothing_stands_beside_the_paper_where_nothing_is_built():
    assert beside.steps([], [], []) == []
    empty = beside.steps([stage("dialogues", "rejected", "empty", 3, 3)], [], [])
    assert [(each["own"], each["own_rate"]) for each in empty[:-1]] == [(0, None)] * 6


def test_rows_are_counted_by_group_and_domain():
    rows = [{"domain": name} for name in ("System design", "APIs & Frameworks", "APIs & Frameworks", None)]
    syntactic, semantic = beside.knowledge(rows, DOMAIN_GROUPS)
    assert (syntactic["group"], syntactic["rows"], syntactic["share"], syntactic["paper"]) == (
        "syntactic",
        2,
        pytest.approx(2 / 3),
        2_305,
    )
    assert [(each["domain"], each["rows"]) for each in syntactic["domains"]] == [
        ("APIs & Frameworks", 2),
        ("Programming language syntax", 0),
    ]
    assert (semantic["rows"], semantic["paper"], len(semantic["domains"])) == (1, 435, 7)


def test_the_paper_s_counts_stand_as_printed():
    assert sum(paper.GROUPS.values()) == paper.FUNNEL["kept"] == 2_740
    assert sum(paper.DOMAINS.values()) == 2_739
    assert paper.DOMAINS.keys() == DOMAINS.keys()
    assert paper.GROUPS.keys() == DOMAIN_GROUPS.keys()


def test_own_names_have_no_counts_of_the_paper_and_may_have_no_groups():
    rows = [{"domain": "web"}, {"domain": "tools"}, {"domain": "web"}]
    assert beside.knowledge(rows, {}) == []
    first, rest = beside.knowledge(rows, {"syntactic": ["tools", "data"]})
    assert (first["rows"], first["paper"], len(first["domains"])) == (1, None, 2)
    assert (rest["group"], rest["domains"][0]["domain"], rest["rows"]) == (beside.UNGROUPED, "web", 2)
    # The same names in other groups are other groups.
    (all_in_one,) = beside.knowledge([], {"semantic": list(DOMAINS)})
    assert (all_in_one["paper"], all_in_one["share"]) == (None, None)


def test_the_most_frequent_group_comes_first():
    rows = [{"domain": "web"}, {"domain": "tools"}, {"domain": "web"}]
    found = beside.knowledge(rows, {"one": ["tools"], "other": ["web"]})
    assert [each["group"] for each in found] == ["other", "one"]
