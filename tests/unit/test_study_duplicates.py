import random
import tracemalloc
from collections import Counter

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devqa import tables
from devqa.errors import UserError
from devqa.ingest.shards import shard_of
from devqa.study import duplicates, sketches
from devqa.study.duplicates import band_length, near_duplicates, unique

WORDS = [
    f"{first}{second}" for first in "bcdfghjklmnprstvz" for second in ("a", "ero", "in", "olt", "ub", "yst", "ach")
]


UNWANTED = {"status": "rejected", "reason": "off topic", "text": None, "exact": None, "sketch": None}


def prose(seed, words=60):
    return " ".join(random.Random(seed).choices(WORDS, k=words))


def changed(text, words, seed=0):
    """`text` with its last `words` words replaced."""
    return " ".join([*text.split()[:-words], *prose(f"other{seed}", words).split()])


def jaccard(one, other):
    first, second = ({text[begin : begin + 5] for begin in range(len(text) - 4)} for text in (one, other))
    return len(first & second) / len(first | second)


def row(number, text, key=None, **more):
    normal = sketches.normal(text)
    return {
        "dialogue_id": key or f"id{number}",
        "source": "wild",
        "language": "en",
        "model": "gpt",
        "origin": f"a:{number}",
        "turns": 2,
        "characters": len(text),
        "number": number,
        "exact": sketches.exact(normal),
        "sketch": sketches.sketches([normal])[0].tobytes(),
        "toxic": False,
        "redacted": False,
        "topic_score": 0.9,
        "text": text,
        "status": "ok",
        "reason": "",
        **more,
    }


def scrub(text):
    return text.replace("secret", "<SECRET>"), ["secret"] if "secret" in text else []


def run(folder, files, shards=1, least=0.8):
    """Counts, and the rows of each shard; `files` are the rows of each file of table `scanned`."""
    paths = [folder / f"scanned{number}.parquet" for number in range(len(files))]
    for path, rows in zip(paths, files, strict=True):
        tables.write(rows, "scanned", path)
    outputs = [folder / f"{number}-of-{shards}.parquet" for number in range(shards)]
    counts = unique(paths, outputs, least, scrub)
    return counts, [tables.read(output, "unique") for output in outputs]


def reasons(rows):
    return {row["origin"]: row["reason"] for row in rows}


def test_the_first_of_what_says_the_same_goes_on(tmp_path):
    text = prose(1)
    files = [
        [row(1, text), row(2, prose(2)), row(3, f"  {text.upper()}\n")],
        [
            row(4, changed(text, 2)),
            row(5, changed(text, 30)),
            row(6, prose(6), key="id2"),
            row(7, prose(7) + " secret"),
        ],
    ]
    files[1].append({**row(8, ""), **UNWANTED})
    counts, [rows] = run(tmp_path, files)
    assert counts == {"ok": 4, "duplicate id": 1, "duplicate": 1, "near duplicate": 1}
    assert reasons(rows) == {
        "a:1": "",
        "a:2": "",
        "a:3": "duplicate: of wild/a:1",
        "a:4": "near duplicate: of wild/a:1",
        "a:5": "",
        "a:6": "duplicate id",
        "a:7": "",
    }
    for kept in rows:
        assert (kept["status"] == "ok") == (not kept["reason"]) == (kept["text"] is not None)
    assert (rows[-1]["text"], rows[-1]["scrubbed"]) == (prose(7) + " <SECRET>", ["secret"])
    assert rows[0]["scrubbed"] == rows[2]["scrubbed"] == []
    assert {key: rows[0][key] for key in ("characters", "turns", "topic_score", "language")} == {
        "characters": len(text),
        "turns": 2,
        "topic_score": 0.9,
        "language": "en",
    }


def test_a_chain_of_small_differences_makes_no_two_texts_one_that_are_not_alike(tmp_path):
    chain = [prose(1, 120)]
    for step in range(1, 12):
        words = chain[-1].split()
        begin = step * 10 - 10
        chain.append(" ".join([*words[:begin], *prose(f"step{step}", 10).split(), *words[begin + 10 :]]))
    _, [rows] = run(tmp_path, [[row(number, text) for number, text in enumerate(chain)]])
    texts, left_out = dict(enumerate(chain)), 0
    kept = [number for number, each in enumerate(rows) if not each["reason"]]
    for number, each in enumerate(rows):
        if each["reason"]:
            first = int(each["reason"].rpartition(":")[2])
            assert first in kept
            assert jaccard(texts[first], texts[number]) > 0.7
            left_out += 1
    assert 2 <= len(kept) < len(chain)
    assert left_out >= 3


def test_rows_lie_in_the_shard_of_their_id_in_the_order_of_the_files_and_the_same_rows_give_the_same_bytes(
    tmp_path, monkeypatch
):
    files = [[row(number, prose(number)) for number in part] for part in (range(40), range(40, 90))]
    _, shards = run(tmp_path / "a", files, shards=7)
    for number, rows in enumerate(shards):
        assert [each["number_"] for each in numbered(rows)] == [n for n in range(90) if shard_of(f"id{n}", 7) == number]
    first = [(tmp_path / f"a/{n}-of-7.parquet").read_bytes() for n in range(7)]
    # As many as can be open at once must not show.
    monkeypatch.setattr(duplicates, "_OPEN", 2)
    run(tmp_path / "b", files, shards=7)
    assert [(tmp_path / f"b/{n}-of-7.parquet").read_bytes() for n in range(7)] == first


def numbered(rows):
    return [{"number_": int(each["origin"].partition(":")[2])} for each in rows]


def test_no_dialogues_give_empty_shards(tmp_path):
    assert run(tmp_path, [[], [{**row(1, ""), **UNWANTED}]], shards=2) == ({}, [[], []])


def test_a_file_of_another_version_is_refused_and_nothing_written(tmp_path):
    pq.write_table(tables.pa.table({"dialogue_id": ["x"]}), tmp_path / "old.parquet")
    with pytest.raises(UserError, match="not a table 'scanned' of this version"):
        unique([tmp_path / "old.parquet"], [tmp_path / "out.parquet"], 0.8, scrub)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 but no more")
    with pytest.raises(UserError, match=r"broken.parquet can't be read"):
        unique([tmp_path / "broken.parquet"], [tmp_path / "out.parquet"], 0.8, scrub)
    assert not (tmp_path / "out.parquet").exists()


def test_the_estimate_of_similarity_has_no_bias_and_the_error_that_it_states():
    errors = []
    for seed in range(150):
        one = prose(seed, 200)
        other = changed(one, 1 + seed % 60, seed)
        both = sketches.sketches([one, other])
        errors.append(float(sketches.similarity(both[0], both[1:])[0]) - jaccard(one, other))
    assert abs(np.mean(errors)) < 0.01
    assert np.std(errors) < 0.044


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=40), max_size=12))
def test_a_sketch_is_that_of_the_text_alone_and_equal_texts_have_equal_ones(texts):
    normal = [sketches.normal(text.replace("\0", "")) for text in texts]
    together = sketches.sketches(normal)
    assert together.shape == (len(texts), sketches.PERMUTATIONS)
    assert together.dtype == np.uint8
    for text, sketch in zip(normal, together, strict=True):
        assert (sketches.sketches([text])[0] == sketch).all()
        assert sketches.similarity(sketch, together[[normal.index(text)]])[0] == 1


def test_exact_hashes_fit_into_the_table_and_do_not_mind_white_space_and_case():
    assert sketches.exact(sketches.normal(" What \t IS\n`x`? ")) == sketches.exact(sketches.normal("what is x?"))
    assert sketches.exact("a") != sketches.exact("b")
    hashes = [sketches.exact(str(number)) for number in range(200)]
    assert -(1 << 63) <= min(hashes) < 0 < max(hashes) < 1 << 63


def brute(matrix, numbers, least):
    """What near_duplicates must find, by comparing all with all."""
    first, kept = [], []
    for number in numbers:
        alike = [other for other in kept if sketches.similarity(matrix[number], matrix[[other]])[0] >= least]
        first.append(alike[0] if alike else -1)
        if not alike:
            kept.append(number)
    return first


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12)), min_size=1, max_size=40), st.integers(0, 2**32 - 1))
def test_of_sketches_near_each_other_all_are_found(drawn, seed):
    numbers = np.random.default_rng(seed)
    bases = numbers.integers(0, 256, (4, sketches.PERMUTATIONS), np.uint8)
    matrix = bases[[base for base, _ in drawn]].copy()
    for sketch, (_, changes) in zip(matrix, drawn, strict=True):
        places = numbers.choice(sketches.PERMUTATIONS, changes, replace=False)
        sketch[places] ^= numbers.integers(1, 256, changes, np.uint8)
    those = np.flatnonzero(numbers.random(len(matrix)) < 0.8)
    # Of 16 bands at least one is left as it was in both, if they differ in 15 places or fewer.
    assert near_duplicates(matrix, those, 0.89).tolist() == brute(matrix, those.tolist(), 0.89)


def test_bands_are_as_long_as_nine_in_ten_pairs_allow():
    assert [band_length(least) for least in (1.0, 0.9, 0.8, 0.75, 0.7, 0.6, 0.5)] == [8, 8, 8, 7, 6, 4, 3]


def test_a_crowd_of_which_all_are_half_alike_is_compared_in_bounded_time(monkeypatch):
    compared = Counter()

    def counted(sketch, others):
        compared["pairs"] += len(others)
        return sketches.similarity(sketch, others)

    monkeypatch.setattr(duplicates, "similarity", counted)
    monkeypatch.setattr(duplicates, "_COMPARED", 10)
    numbers = np.random.default_rng(1)
    matrix = numbers.integers(0, 256, (2_000, sketches.PERMUTATIONS), np.uint8)
    matrix[:, :64] = matrix[0, :64]
    assert (near_duplicates(matrix, np.arange(2_000), 0.8) == -1).all()
    assert compared["pairs"] <= 2_000 * 8 * 10


def test_memory_does_not_grow_with_the_texts(tmp_path):
    files = [[row(number, prose(number, 2_000)) for number in range(200)]]
    run(tmp_path, files)  # what is imported and cached
    paths = []
    for number in range(6):
        paths.append(tmp_path / f"many{number}.parquet")
        rows = ({**each, "dialogue_id": f"{number} {each['dialogue_id']}"} for each in files[0])
        tables.write(rows, "scanned", paths[-1])
    del files
    text = sum(path.stat().st_size for path in paths)
    tracemalloc.start()
    unique(paths, [tmp_path / "out.parquet"], 0.8, scrub)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert text > 0
    assert most < 12_000_000
