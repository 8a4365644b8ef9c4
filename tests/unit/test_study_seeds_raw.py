"""What the tables of raw files are called."""

from devqa.study.raw import raw_files


def test_a_file_that_comes_to_them_leaves_the_names_of_others():
    before = raw_files(["raw/b.parquet", "raw/c.jsonl"])
    after = raw_files(["raw/a.parquet", "raw/b.parquet", "raw/c.jsonl"])
    assert before.items() <= after.items()
    assert before["b.parquet"] == ("raw/b.parquet", "b.parquet")


def test_names_that_repeat_are_told_apart_without_slashes():
    found = raw_files(["raw/x/a.jsonl", "raw/y/a.jsonl", "raw/x%2Fa.jsonl"])
    assert {name: raw.file for name, raw in found.items()} == {
        "x%2Fa.jsonl": "raw/x/a.jsonl",
        "y%2Fa.jsonl": "raw/y/a.jsonl",
        "x%252Fa.jsonl": "raw/x%2Fa.jsonl",
    }
