import math
from collections import Counter
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devqa import tables
from devqa.study.sampling import drawn, sample_size, sampled, stratum

OPTIONS = {"confidence": 0.95, "interval": 0.1, "strata": ["language", "length", "model"], "seed": 1}


def row(identifier, language="en", characters=100, model="gpt-4", **more):
    return {
        "dialogue_id": identifier,
        "source": "wild",
        "language": language,
        "model": model,
        "origin": f"a:{identifier}",
        "turns": 2,
        "characters": characters,
        "text": f"text of {identifier}",
        "outcome": "ok",
        "raw": "",
        "usage": [],
        "status": "ok",
        "reason": "",
        **more,
    }


def test_the_paper_s_sample():
    assert sample_size(103_112, 0.95, 0.01) == 8_786


@pytest.mark.parametrize(
    ("population", "confidence", "interval", "size"),
    # Cochran's 385 for an unlimited population at 95 % and ± 5 %, and tables that correct it for finite ones.
    [(10**9, 0.95, 0.05, 385), (1_000, 0.95, 0.05, 278), (500, 0.95, 0.05, 218), (10_000, 0.99, 0.03, 1_557)]
    + [(0, 0.95, 0.01, 0), (1, 0.95, 0.01, 1), (2, 0.51, 0.49, 1), (50, 0.95, 0.01, 50)],
)
def test_sample_sizes(population, confidence, interval, size):
    assert sample_size(population, confidence, interval) == size


@given(st.integers(1, 10**7), st.floats(0.6, 0.999), st.floats(0.005, 0.3))
def test_a_sample_of_that_size_is_as_sure_as_asked_and_one_less_is_not(population, confidence, interval):
    size = sample_size(population, confidence, interval)
    z = NormalDist().inv_cdf((1 + confidence) / 2)

    def error(drawn):
        """Half the width of the interval about a share of one half, drawn without replacement."""
        return z * math.sqrt(0.25 / drawn * (population - drawn) / (population - 1)) if population > 1 else 0.0

    assert 1 <= size <= population
    assert error(size) <= interval + 1e-9
    assert size == 1 or error(size - 1) > interval - 1e-9


def test_strata():
    assert stratum(row("x", "zh", 1_499, "gpt-4"), ["language", "length", "model"]) == "zh | short | gpt-4"
    assert stratum(row("x", "", 1_500, ""), ["model", "length"]) == "unknown | medium"
    assert stratum(row("x", "", 5_000), ["length", "language"]) == "long | unknown"
    assert stratum(row("x"), []) == ""


population = st.dictionaries(
    st.integers(0, 10**6).map(str),
    st.tuples(
        st.sampled_from(["en", "zh", "ru", "de"]), st.sampled_from([10, 2_000, 9_000]), st.sampled_from(["a", "b"])
    ),
    min_size=1,
    max_size=400,
)
options = st.fixed_dictionaries(
    {
        "confidence": st.sampled_from([0.8, 0.95]),
        "interval": st.sampled_from([0.05, 0.1, 0.2]),
        "strata": st.lists(st.sampled_from(["language", "length", "model"]), unique=True),
        "seed": st.integers(0, 5),
    }
)


def rows_of(people):
    return [row(identifier, *values) for identifier, values in people.items()]


@settings(max_examples=80, deadline=None)
@given(population, options)
def test_the_sample_is_as_large_as_it_must_be_in_proportion_and_its_weights_add_up(people, options):
    rows = rows_of(people)
    weights = drawn(rows, options)
    size = sample_size(len(rows), options["confidence"], options["interval"])
    assert len(weights) == size
    held = Counter(stratum(each, options["strata"]) for each in rows)
    taken = Counter(stratum(each, options["strata"]) for each in rows if each["dialogue_id"] in weights)
    if size >= len(held):
        assert taken.keys() == held.keys()
        assert sum(weights.values()) == pytest.approx(len(rows))
    for each in rows:
        if each["dialogue_id"] in weights:
            name = stratum(each, options["strata"])
            assert weights[each["dialogue_id"]] == held[name] / taken[name]
            # By largest remainder nobody is more than one off; small strata may take from large ones.
            assert taken[name] <= max(1, math.ceil(size * held[name] / len(rows)))


@settings(max_examples=80, deadline=None)
@given(population, population, options)
def test_a_dialogue_that_is_drawn_stays_so_unless_new_ones_take_its_place_or_its_stratum_s_part_shrinks(
    people, more, options
):
    before, after = rows_of(people), rows_of({**more, **people})
    old, new = drawn(before, options), drawn(after, options)
    names = {each["dialogue_id"]: stratum(each, options["strata"]) for each in after}
    for name in set(names.values()):
        was = {key for key in old if names[key] == name}
        stays = {key for key in new if names[key] == name and key in people}
        came = sum(names[key] == name and key not in people for key in new)
        # Of those that were there, the same come first: nobody goes and another one of them comes.
        assert was <= stays or stays <= was
        assert len(was - stays) <= came + max(0, len(was) - (len(stays) + came))


def test_the_order_of_rows_does_not_matter_and_the_seed_does():
    rows = [row(str(number)) for number in range(500)]
    assert drawn(rows, OPTIONS) == drawn(rows[::-1], OPTIONS)
    assert drawn(rows, OPTIONS).keys() != drawn(rows, {**OPTIONS, "seed": 2}).keys()


def test_every_dialogue_of_the_population_has_a_row(tmp_path):
    paths = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    people = [row(str(number), "en" if number % 3 else "zh") for number in range(300)]
    people[5] |= {"status": "rejected", "reason": "not about software development"}
    people[6] |= {"status": "failed", "reason": "error"}
    for path, part in zip(paths, (people[:100], people[100:]), strict=True):
        tables.write(part, "filtered", path)
    tables.write(sampled(paths, OPTIONS), "sampled", tmp_path / "sampled.parquet", 50)
    rows = tables.read(tmp_path / "sampled.parquet", "sampled")
    assert [each["dialogue_id"] for each in rows] == [str(number) for number in range(300) if number not in (5, 6)]
    taken = [each for each in rows if each["status"] == "ok"]
    assert len(taken) == sample_size(298, 0.95, 0.1)
    assert {each["stratum"] for each in taken} == {"en | short | gpt-4", "zh | short | gpt-4"}
    assert sum(each["weight"] for each in taken) == pytest.approx(298)
    assert all(each["text"] == f"text of {each['dialogue_id']}" for each in taken)
    for each in rows:
        if each["status"] != "ok":
            assert (each["status"], each["reason"]) == ("rejected", "not drawn")
            assert (each["weight"], each["text"]) == (None, None)


def test_a_small_population_is_taken_whole_and_an_empty_one_has_no_sample(tmp_path):
    tables.write([row("a"), row("b", "zh")], "filtered", tmp_path / "a.parquet")
    tables.write([], "filtered", tmp_path / "b.parquet")
    rows = list(sampled([tmp_path / "a.parquet", tmp_path / "b.parquet"], {**OPTIONS, "interval": 0.01}))
    assert [(each["status"], each["weight"]) for each in rows] == [("ok", 1), ("ok", 1)]
    assert list(sampled([tmp_path / "b.parquet"], OPTIONS)) == []
