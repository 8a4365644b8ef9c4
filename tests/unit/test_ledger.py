"""The attrition ledger: nothing lost, nothing counted twice, everything paid for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa import tables
from devqa.errors import UserError
from devqa.ledger import COLUMNS, PARENTS, Stage, check, funnel, general, stage, stages
from devqa.llm import outcomes
from devqa.llm.chat import Answer, usage
from devqa.usage import COUNTS, searched, usages

PRICES = {"m": {"input": 1.0, "output": 2.0, "cached_input": 0.5}}
REASONS = st.sampled_from(["", "too short: 12 characters", "too short: 9 characters", "HTTP 404", "HTTP 500", None])
SPENT = st.lists(
    st.fixed_dictionaries(
        {
            "model": st.sampled_from("mno"),
            **dict.fromkeys(COUNTS, st.integers(0, 1000)),
            "input_tokens": st.integers(1000, 2000),
        }
    ),
    max_size=3,
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "status": st.sampled_from(["ok", "rejected", "failed"]),
            "reason": REASONS,
            "usage": st.one_of(st.none(), SPENT),
        }
    ),
    max_size=30,
)


def counted(rows, name="pairs"):
    account = Stage(name)
    account.add(rows)
    return account


@given(ROWS)
def test_rows_out_add_up_to_rows_in_and_nothing_spent_is_lost(rows):
    lines = funnel([(counted(rows), None)], PRICES)
    assert sum(line["rows_out"] for line in lines) == len(rows)
    assert {line["rows_in"] for line in lines} == ({len(rows)} if rows else set())
    assert len({(line["status"], line["reason"]) for line in lines}) == len(lines)
    assert all(tuple(line) == COLUMNS for line in lines)
    for key in COUNTS:
        assert sum(line[key] for line in lines) == sum(entry[key] for row in rows for entry in row["usage"] or [])
    usd = sum(
        (entry["input_tokens"] - 0.5 * entry["cached_tokens"] + 2 * entry["output_tokens"]) / 1e6
        for row in rows
        for entry in row["usage"] or []
        if entry["model"] == "m"
    )
    assert sum(line["usd"] for line in lines) == pytest.approx(usd, abs=1e-5)


@given(ROWS)
def test_what_passes_is_what_is_ok(rows):
    account = counted(rows)
    assert (account.rows, account.passed) == (len(rows), sum(row["status"] == "ok" for row in rows))


@given(ROWS, st.randoms())
def test_the_order_of_rows_makes_no_difference(rows, random):
    shuffled = random.sample(rows, len(rows))
    assert funnel([(counted(rows), None)], PRICES) == funnel([(counted(shuffled), None)], PRICES)


def test_lines_come_by_status_then_by_how_many():
    rows = [("failed", "b"), ("rejected", "x"), ("rejected", "y"), ("rejected", "y"), ("ok", ""), ("failed", "a")]
    lines = funnel([(counted({"status": status, "reason": reason} for status, reason in rows), None)], {})
    assert [(line["status"], line["reason"]) for line in lines] == [
        ("ok", ""),
        ("rejected", "y"),
        ("rejected", "x"),
        ("failed", "a"),
        ("failed", "b"),
    ]


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("too short: 12 characters", "too short"),
        ("HTTP 503", "HTTP 503"),
        ("error: given up after 7 attempts: HTTP 500", "error: given up after N attempts"),
        (
            "the judge's answer is error: given up after 7 attempts: HTTP 503",
            "the judge's answer is error: given up after N attempts",
        ),
        ("the judge's answer is error: HTTP 401: no such key", "the judge's answer is error: HTTP 401"),
        ("the judge's answer is ambiguous: A or B", "the judge's answer is ambiguous"),
        ("truncated: cut off at the token limit: raise it", "truncated: cut off at the token limit"),
        ("error: HTTP 400: too long", "error: HTTP 400"),
        ("longer than 5,000,000 bytes", "longer than N bytes"),
        ("not unambiguous, not verifiable", "not unambiguous, not verifiable"),
        ("", ""),
        (": odd", ""),
        ("  white \n space ", "white space"),
        ("x" * 500, "x" * 120),
    ],
)
def test_reasons_without_their_particulars(reason, kind):
    assert general(reason) == kind


@given(st.text())
def test_a_general_reason_is_short_and_one_line(reason):
    found = general(reason)
    assert len(found) <= 120
    assert found == " ".join(found.split(" "))
    assert found.count(":") <= 1
    assert "\n" not in found


@given(st.lists(SPENT, max_size=4))
def test_usages_add_up_by_model(parts):
    total = usages(*parts)
    models = [entry["model"] for entry in total]
    assert models == sorted({entry["model"] for part in parts for entry in part})
    for key in COUNTS:
        assert sum(entry[key] for entry in total) == sum(entry[key] for part in parts for entry in part)


def test_usages_leave_what_they_are_given_alone():
    part = [{"model": "m", **dict(zip(COUNTS, (1, 0, 4, 2, 3, 1), strict=True))}]
    assert usages(part, part) == [{"model": "m", **dict(zip(COUNTS, (2, 0, 8, 4, 6, 2), strict=True))}]
    assert part[0]["calls"] == 1


def test_usage_is_of_the_answers_and_says_how_many_were_not_counted():
    def said(tokens, **more):
        return Answer("ok", "x", None, "", "", tokens, 2 * tokens, False, **more)

    answers = [said(10, cached_tokens=4, reasoning_tokens=3), said(0, counted=False), said(5, reasoning_tokens=1)]
    (row,) = usage("m", answers)
    assert row == {"model": "m", **dict(zip(COUNTS, (3, 1, 15, 4, 30, 4), strict=True))}
    assert usage("m", []) == []


def test_records_of_earlier_versions_are_counted_where_they_have_tokens():
    old = {"outcome": "ok", "text": "", "data": None, "reason": "", "raw": "", "output_tokens": 1}
    counted, uncounted = (outcomes.answer({**old, "input_tokens": tokens}, True) for tokens in (3, 0))
    assert (counted.counted, uncounted.counted) == (True, False)
    assert (counted.reasoning_tokens, counted.cached_tokens) == (0, 0)
    # An endpoint that has more of a prompt in its cache than the prompt is long.
    assert outcomes.answer({**old, "input_tokens": 3, "cached_tokens": 9}, True).cached_tokens == 3


@pytest.fixture
def inputs(tmp_path):
    """A table of each kind for a run of two dialogues: one lost at the queries, one with two pages and two pairs."""

    def written(name, *rows):
        path = tmp_path / f"{name}.parquet"
        tables.write([{"reason": "", **row} for row in rows], "verified" if name == "rescued" else name, path)
        return str(path)

    ok = {"status": "ok"}
    spent = {"usage": [{"model": "m", **dict.fromkeys(COUNTS, 0), "calls": 1, "input_tokens": 10, "output_tokens": 5}]}
    results = {"results": [{"rank": 1, "url": "a"}, {"rank": 2, "url": "b"}]}
    passing = {name: [ok] for name in PARENTS if name != "rescued"}
    passing |= {
        "dialogues": [ok, ok, {"status": "rejected", "reason": "no user turn"}],
        "queries": [{**ok, **spent}, {"status": "failed", "reason": "truncated: the answer", **spent}],
        "search": [{**ok, **results}],
        "pages": [ok, {"status": "failed", "reason": "HTTP 500"}],
        "pairs": [ok, {"status": "rejected", "reason": "no usable reference"}],
        "reviewed": [{**ok, "supported": True}],
        "answers": [ok],
        "grades": [ok],
    }
    return {name: written(name, *rows) for name, rows in passing.items()}


def test_a_sound_run_adds_up(inputs):
    found = stages(inputs, pairs=2, asked=1)
    check(found)
    given_rows = {account.name: expected for account, expected in found}
    assert (given_rows["dialogues"], given_rows["queries"], given_rows["pages"], given_rows["pairs"]) == (None, 2, 2, 2)
    lines = funnel(found, PRICES)
    for name in (*inputs, "answers", "grades"):
        own = [line for line in lines if line["stage"] == name]
        assert sum(line["rows_out"] for line in own) == own[0]["rows_in"]
    assert sum(line["usd"] for line in lines) == pytest.approx(2 * 20 / 1e6)


@pytest.mark.parametrize(("pairs", "asked", "name"), [(3, 1, "pairs"), (2, 2, "answers")])
def test_a_run_that_does_not_add_up_is_refused(inputs, pairs, asked, name):
    with pytest.raises(UserError, match=f"{name} was given .* delete results/{name}"):
        check(stages(inputs, pairs, asked))


def test_a_row_that_is_missing_is_noticed(inputs):
    tables.write([], "verified", inputs["verified"])
    with pytest.raises(UserError, match="verified was given 1 rows and has 0"):
        check(stages(inputs, 2, 1))


def accounts(inputs, folder, **rows):
    """The stages of tables with these rows, each a status or (status, supported), laid over `inputs`."""
    inputs = dict(inputs)
    for name, entries in rows.items():
        paths = [folder / f"{name}-{number}.parquet" for number in range(len(entries))]
        for path, each in zip(paths, entries, strict=True):
            told = [entry if isinstance(entry, tuple) else (entry,) for entry in each]
            keys = ("status", "supported") if name == "reviewed" else ("status",)
            found = [{"reason": "", **dict(zip(keys, entry, strict=True))} for entry in told]
            tables.write(found, "verified" if name == "rescued" else name, path)
        inputs[name] = list(map(str, paths))
    return [each for each in stages(inputs, pairs=1, asked=1) if each[0].name in rows]


def given_and_passed(found):
    return {account.name: (expected, account.rows, account.passed) for account, expected in found}


VERIFIED = ["ok", "ok", "ok", "rejected", "rejected", "rejected", "failed"]


def test_without_decisions_pairs_that_are_not_supported_are_lost_at_verify_alone(inputs, tmp_path):
    undecided = [("ok", True), ("ok", True), *[("rejected", False)] * 3]
    found = accounts(
        inputs,
        tmp_path,
        verified=[VERIFIED],
        rated=[["ok"] * 3],
        merged=[["ok", "ok", "rejected"]],
        reviewed=[undecided],
    )
    check(found[1:])
    assert given_and_passed(found) == {
        "verified": (1, 7, 3),
        "rated": (3, 3, 3),
        "merged": (3, 3, 2),
        "reviewed": (2, 2, 2),
    }


def test_pairs_that_people_bring_back_are_rated_beside_the_others(inputs, tmp_path):
    # Of three two come back: one is kept, and one is merged into another pair. Of the others people reject one.
    decided = [("ok", True), ("rejected", True), ("ok", False), ("rejected", False), ("rejected", False)]
    tables_of = {
        "verified": [VERIFIED],
        "rescued": [["ok", "ok", "rejected"]],
        "rated": [["ok", "ok", "ok"], ["ok", "ok"]],
        "merged": [["ok", "ok", "ok", "rejected", "rejected"]],
        "reviewed": [decided],
    }
    found = accounts(inputs, tmp_path, **tables_of)
    check(found[1:])
    assert given_and_passed(found) == {
        "verified": (1, 7, 3),
        "rescued": (3, 3, 2),
        "rated": (5, 5, 5),
        "merged": (5, 5, 3),
        "reviewed": (3, 3, 2),
    }
    for name, lost, says in (
        ("rescued", [["ok", "ok"]], "rescued was given 3 rows and has 2"),
        ("rated", [["ok"] * 3], "rated was given 5 rows and has 3"),
        ("reviewed", [decided[1:]], "reviewed was given 3 rows and has 2"),
    ):
        with pytest.raises(UserError, match=says):
            check(accounts(inputs, tmp_path, **{**tables_of, name: lost})[1:])


def evaluation(tmp_path, domains=1, answers=(2, 2), panel=(2, 2, 2, 2)):
    """Files with so many rows, as they are when the benchmark comes from elsewhere."""

    def written(name, table, rows):
        path = tmp_path / f"{name}.parquet"
        tables.write([{"status": "ok", "reason": ""}] * rows, table, path)
        return str(path)

    return {
        "benchmark": "benchmark.parquet",
        "domains": [written("d", "domains", domains)] if domains else [],
        **{
            name: [written(f"{name}{n}", name, rows) for n, rows in enumerate(answers)]
            for name in ("answers", "grades")
        },
        "panel": [written(f"p{n}", "grades", rows) for n, rows in enumerate(panel)],
    }


def test_a_benchmark_from_elsewhere_has_the_stages_of_the_evaluation_alone(tmp_path):
    found = stages(evaluation(tmp_path, domains=2), pairs=3, asked=2)
    check(found)
    assert [(account.name, account.rows, expected) for account, expected in found] == [
        ("domains", 2, 2),
        ("answers", 4, 4),
        ("grades", 4, 4),
        ("panel", 8, 8),
    ]
    found = stages(evaluation(tmp_path, domains=0, panel=()), pairs=3, asked=2)
    check(found)
    assert [account.name for account, _ in found] == ["answers", "grades"]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"domains": 1}, "domains was given 2 rows and has 1"),
        ({"domains": 2, "panel": (2, 2, 2, 1)}, "panel was given 8 rows and has 7"),
    ],
)
def test_domains_and_panel_have_to_add_up(tmp_path, more, says):
    found = stages(evaluation(tmp_path, **more), pairs=3, asked=2)
    with pytest.raises(UserError, match=says):
        check(found)


@pytest.mark.parametrize("name", ["search", "evidence", "retrieved"])
def test_requests_to_the_search_engine_are_calls_with_a_price_of_their_own(inputs, tmp_path, name):
    path = tmp_path / f"{name}.parquet"
    rows = [
        {"status": "ok", "reason": "", "usage": searched("brave", 2)},
        {"status": "ok", "reason": "", "usage": searched("brave", 3)},
        {"status": "failed", "reason": "no answer", "usage": searched("brave", 1)},
        {"status": "rejected", "reason": "nothing was found", "usage": searched("local", 0)},
    ]
    tables.write(rows, name, path)
    found = stages({**inputs, name: str(path)}, pairs=2, asked=1)
    lines = funnel(found, {**PRICES, "search:brave": {"request": 0.005}})
    own = [(line["status"], line["calls"], line["usd"]) for line in lines if line["stage"] == name]
    assert own == [("ok", 5, 0.025), ("rejected", 0, 0), ("failed", 1, 0.005)]


def test_passages_for_the_benchmark_are_a_stage_that_has_to_add_up(inputs, tmp_path):
    path = tmp_path / "retrieved.parquet"
    tables.write([{"status": "ok", "reason": ""}], "retrieved", path)
    found = {account.name: expected for account, expected in stages({**inputs, "retrieved": [str(path)]}, 2, 1)}
    assert found["retrieved"] == 1
    assert list(found)[-3:] == ["retrieved", "answers", "grades"]
    # The rows of a benchmark from elsewhere have no ledger.
    (first, *_) = stages({"retrieved": str(path), **evaluation(tmp_path, domains=0)}, pairs=3, asked=2)
    assert (first[0].name, first[1]) == ("retrieved", None)


def test_a_stage_is_read_over_all_its_files(inputs):
    account = stage("search", [inputs["search"], inputs["search"]])
    assert (account.rows, account.results) == (2, 4)
