import os

import pytest

from devqa.errors import UserError
from devqa.ingest.sources import labels, source_files


@pytest.fixture
def folder(tmp_path):
    names = ["b.jsonl", "a.parquet", "deep/er/c.jsonl.gz", "deep/d.jsonl.zst", "e.ndjson", "f.json.gz", "G.JSONL"]
    for name in [*names, "notes.txt", "dataset_info.json", ".hidden/x.jsonl", ".y.jsonl"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def test_a_folder_gives_all_supported_files_below_it_sorted(folder):
    found = [os.path.relpath(file, folder) for file in source_files(str(folder))]
    expected = ["G.JSONL", "a.parquet", "b.jsonl", "deep/d.jsonl.zst", "deep/er/c.jsonl.gz", "e.ndjson", "f.json.gz"]
    assert found == expected


def test_a_file_and_a_relative_path_stay_as_they_are(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert source_files("b.jsonl") == ["b.jsonl"]
    assert source_files("deep") == ["deep/d.jsonl.zst", "deep/er/c.jsonl.gz"]


def test_globs_take_supported_files_only(folder):
    assert source_files(f"{folder}/*.jsonl") == [f"{folder}/b.jsonl"]
    assert source_files(f"{folder}/**/*.jsonl.*") == [f"{folder}/deep/d.jsonl.zst", f"{folder}/deep/er/c.jsonl.gz"]


def test_a_name_with_glob_characters_is_a_name_first(tmp_path):
    (tmp_path / "a[1].jsonl").touch()
    assert source_files(f"{tmp_path}/a[1].jsonl") == [f"{tmp_path}/a[1].jsonl"]


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("missing.jsonl", "does not exist"),
        ("notes.txt", "is not of a supported format"),
        ("*.csv", "holds no file"),
        ("empty", "holds no file"),
        (" ", "does not exist"),
    ],
)
def test_nothing_found_names_the_path_and_what_is_supported(folder, monkeypatch, path, says):
    monkeypatch.chdir(folder)
    (folder / "empty").mkdir()
    with pytest.raises(UserError, match=r"\.jsonl\.zst") as error:
        source_files(path)
    assert f"'{path}' {says}" in str(error.value)


def test_labels_are_names_and_paths_only_where_names_repeat(tmp_path):
    files = [str(tmp_path / name) for name in ("x/a.jsonl", "y/a.jsonl", "y/b.jsonl")]
    assert list(labels(files).values()) == ["x/a.jsonl", "y/a.jsonl", "b.jsonl"]


def test_a_label_of_a_name_that_is_no_utf8_is_text(tmp_path):
    (label,) = labels([os.fsdecode(os.fsencode(tmp_path) + b"/\xff.jsonl")]).values()
    assert label.encode("utf-8").decode() == "\ufffd.jsonl"
