"""How many requests a dialogue leads to: from tables of earlier runs, else from the paper."""

import pytest

from devqa import tables
from devqa.bill.rates import rates

CONFIG = {
    "steps": {"generate": {"pairs": 3}},
    "search": {"results": 10},
    "evaluation": {"difficulties": ["easy", "hard"]},
}


def rows(count: int, ok: int, calls: int = 0, **more):
    """`count` rows of which the first `ok` passed and the first `calls` were asked about once."""
    usage = [{"model": "m", "calls": 1, "uncounted": 0, "input_tokens": 1, "output_tokens": 1}]
    usage = [{**each, "cached_tokens": 0, "reasoning_tokens": 0} for each in usage]
    return [
        {
            "status": "ok" if number < ok else "rejected",
            "reason": "" if number < ok else "no",
            **({"usage": usage * 1 if number < calls else []} if calls else {}),
            **more,
        }
        for number in range(count)
    ]


def write(results, name: str, content: list, shard: str = "s/0-of-1") -> None:
    tables.write(content, name, results / name / f"{shard}.parquet")


def test_without_tables_the_paper_s_rates_hold(tmp_path):
    found = rates(tmp_path, CONFIG)
    assert found.requests["queries"] == found.requests["generate"] == 1
    # 3,000 dialogues: 9,000 pairs, 6,020 after both checks.
    assert found.requests["check"] * 3_000 == 9_000
    assert found.requests["difficulty"] * 3_000 == pytest.approx(6_020)
    assert found.requests["answer"] * 3_000 == pytest.approx(3_231 + 2_789)
    assert found.earlier == {"queries"}


def test_only_the_difficulties_that_are_asked_count(tmp_path):
    hard = rates(tmp_path, {**CONFIG, "evaluation": {"difficulties": ["hard"]}})
    assert hard.requests["answer"] * 3_000 == pytest.approx(3_231)


def test_tables_of_earlier_runs_go_before_the_paper(tmp_path):
    write(tmp_path, "dialogues", rows(12, 10))
    write(tmp_path, "search", rows(10, 8))
    write(tmp_path, "condensed", rows(40, 40, calls=20))
    write(tmp_path, "pairs", rows(24, 16, calls=8))
    write(tmp_path, "checked", rows(16, 12, calls=16))
    write(tmp_path, "verified", [*rows(8, 6, calls=8), *rows(4, 0, calls=4)])
    write(tmp_path, "rated", rows(6, 6))
    tables.write(
        [{"id": str(number), "difficulty": "easy"} for number in range(4)], "benchmark", tmp_path / "benchmark.parquet"
    )
    found = rates(tmp_path, CONFIG)
    assert found.requests["condense"] == pytest.approx(2)
    assert found.requests["generate"] == pytest.approx(0.8)
    assert found.requests["check"] == pytest.approx(1.6)
    # One call for each of the twelve: no comparison was needed.
    assert found.requests["verify"] == pytest.approx(1.2)
    assert found.requests["difficulty"] == pytest.approx(0.6)
    assert found.requests["answer"] == pytest.approx(0.4)
    every = {"queries", "condense", "generate", "check", "evidence", "verify", "difficulty", "retrieve", "answer"}
    assert found.earlier == every


def test_searches_are_as_many_as_the_rows_that_are_searched_for(tmp_path):
    found = rates(tmp_path, CONFIG)
    assert found.requests["search"] == 3
    # One for each pair that is checked and found good, and one for each that evidence has borne out.
    assert found.requests["evidence"] == pytest.approx(3 * (6_020 / 9_000) ** 0.5)
    assert found.requests["retrieve"] == pytest.approx(3 * 6_020 / 9_000)
    write(tmp_path, "queries", rows(4, 3, queries=["a", "b", "c", "d"]))
    found = rates(tmp_path, CONFIG)
    assert (found.requests["search"], found.earlier) == (3, {"queries", "search"})
    write(tmp_path, "queries", rows(4, 1, queries=["a", "b"]))
    assert rates(tmp_path, CONFIG).requests["search"] == 0.5


def test_what_is_not_there_yet_comes_from_the_paper(tmp_path):
    write(tmp_path, "dialogues", rows(10, 10))
    write(tmp_path, "search", rows(10, 5))
    found = rates(tmp_path, CONFIG)
    assert found.requests["check"] == pytest.approx(0.5 * 3)
    assert found.earlier == {"queries"}


def test_shards_that_only_one_of_two_steps_has_are_left_out(tmp_path):
    for shard in ("s/0-of-2", "s/1-of-2"):
        write(tmp_path, "dialogues", rows(10, 10), shard)
    write(tmp_path, "search", rows(10, 9), "s/0-of-2")
    assert rates(tmp_path, CONFIG).requests["check"] == pytest.approx(0.9 * 3)


def test_tables_of_another_version_say_nothing(tmp_path):
    write(tmp_path, "dialogues", rows(10, 10))
    (tmp_path / "search/s").mkdir(parents=True)
    (tmp_path / "search/s/0-of-1.parquet").write_bytes((tmp_path / "dialogues/s/0-of-1.parquet").read_bytes())
    (tmp_path / "pairs/s").mkdir(parents=True)
    (tmp_path / "pairs/s/0-of-1.parquet").write_bytes(b"nonsense")
    assert rates(tmp_path, CONFIG).requests["check"] == 3
