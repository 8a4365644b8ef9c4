"""Tables from elsewhere as they come: formats, cells that look like something else, broken files."""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from devqa.errors import UserError
from devqa.imports import files
from devqa.imports.files import table_files
from devqa.imports.reading import Columns, Record, number, records, text

NAMES = {"question": "q", "grade": "g", "id": "id"}
COLUMNS = Columns(NAMES, needed=(("question",),))


def write(path, content, encoding="utf-8"):
    raw = content if isinstance(content, bytes) else content.encode(encoding)
    if path.suffix == ".gz":
        raw = gzip.compress(raw)
    if path.suffix == ".zst":
        raw = pa.Codec("zstd").compress(raw, asbytes=True)
    path.write_bytes(raw)
    return str(path)


def rows(path, columns=COLUMNS):
    return [record.values for record in records([path], columns)]


def refusal(path, columns=COLUMNS):
    with pytest.raises(UserError) as caught:
        rows(path, columns)
    return str(caught.value)


def test_all_formats_are_found_and_no_others(tmp_path):
    names = ["a.csv", "b.tsv.gz", "c.jsonl.zst", "d.ndjson", "e.parquet", "F.CSV", "g.json.gz"]
    for name in [*names, "notes.txt", "table.xlsx", ".hidden.csv", "x.json"]:
        (tmp_path / name).touch()
    assert sorted(table_files(str(tmp_path))) == sorted(str(tmp_path / name) for name in names)
    assert table_files(f"{tmp_path}/*.csv") == [f"{tmp_path}/a.csv"]
    with pytest.raises(UserError, match=r"notes.txt' is not of a supported format.*\.csv"):
        table_files(f"{tmp_path}/notes.txt")


def test_finding_files_imports_nothing_heavy():
    heavy = "pyarrow pandas numpy orjson pydantic"
    code = f"import sys, devqa.imports.files; print([name for name in {heavy.split()} if name in sys.modules])"
    environment = {**os.environ, "PYTHONPATH": str(Path(files.__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.csv.zst", "t.tsv", "t.tsv.gz"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_cells_stand_as_they_are_whatever_they_look_like(tmp_path, name, delimiter):
    cells = [
        "NA",
        "None",
        "null",
        "nan",
        "NaN",
        "",
        " ",
        "1e3",
        "007",
        "True",
        'say "hi"',
        "a,b;c\td",
        "two\nlines",
        "a\r\nb",
    ]
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter)
    writer.writerows([["", "q", "g", "other"], *([number, cell, "A", "x"] for number, cell in enumerate(cells))])
    found = rows(write(tmp_path / name, file.getvalue()))
    assert found == [{"question": cell, "grade": "A"} for cell in cells]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(*[st.text(st.characters(exclude_categories=["Cs"]))] * 2), min_size=1, max_size=8))
def test_what_is_written_as_csv_is_read(tmp_path, cells):
    file = io.StringIO()
    csv.writer(file).writerows([["q", "g"], *cells])
    found = rows(write(tmp_path / "t.csv", file.getvalue()))
    assert [(row["question"], row["grade"]) for row in found] == cells


def test_a_byte_order_mark_and_a_missing_last_line_end_are_accepted(tmp_path):
    assert rows(write(tmp_path / "t.csv", "\ufeffq,g\r\nfür,A", "utf-8")) == [{"question": "für", "grade": "A"}]
    line = '\ufeff{"q": "für", "g": null}'
    assert rows(write(tmp_path / "t.jsonl", line)) == [{"question": "für", "grade": None}]


def test_a_cell_may_be_long(tmp_path):
    assert rows(write(tmp_path / "t.csv", f"q\n{'x' * 300_000}\n")) == [{"question": "x" * 300_000}]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "t.csv is empty: it needs a header"),
        ("q,g\n", "t.csv holds no row"),
        ("q,g\nx,A\ny\n", "row 2 (line 3) has 1 cells, and the header 2"),
        ("q,g\nx,y,A\n", "row 1 (line 2) has 3 cells, and the header 2"),
        ('q,g\n"x,A\n', "row 1 is no well-formed CSV"),
        ('q,g\nx,A\n"x" y,A\n', "row 2 is no well-formed CSV"),
        ("q,q\nx,A\n", "has the column 'q' 2 times"),
        ("Q,g\nx,A\n", "t.csv has no column 'q' for question: it has 'Q', 'g'; name the right one under `columns`"),
        ("qq,g\nx,A\n", "no column 'q' for question: did you mean 'qq'?"),
        ("q,g\nfür,A\n".encode("latin-1"), "is not UTF-8"),
        ("q,g\nquestion,A\n".encode("utf-16"), "is not UTF-8"),
        (b"q,g\n" + b"x,A\n" * 5_000 + b"\xff,A\n", "is not UTF-8"),
    ],
)
def test_a_broken_csv_is_refused_with_file_and_row(tmp_path, content, says):
    assert says in refusal(write(tmp_path / "t.csv", content))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"q": "x"}\n\n{"q": \n', "t.jsonl, line 3: broken JSON"),
        ("[1]\n", "t.jsonl, line 1 is no JSON object"),
        (b'{"q": "\xff"}\n', "line 1: invalid UTF-8"),
        ("\n", "holds no row"),
        ('{"x": 1}\n{"y": 1}\n', "no column 'q' for question: it has 'x', 'y'"),
    ],
)
def test_broken_json_is_refused_with_file_and_line(tmp_path, content, says):
    assert says in refusal(write(tmp_path / "t.jsonl", content))


@pytest.mark.parametrize("name", ["t.csv.gz", "t.jsonl.gz", "t.jsonl.zst", "t.csv.zst", "t.parquet"])
def test_a_truncated_file_is_refused(tmp_path, name):
    path = tmp_path / name
    if name == "t.parquet":
        pq.write_table(pa.table({"q": ["x"] * 100}), path)
    elif "csv" in name:
        write(path, "q\n" + "".join(f"{number}\n" for number in range(100_000)))
    else:
        write(path, "".join(json.dumps({"q": number}) + "\n" for number in range(100_000)))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert f"{path} can't be read" in refusal(str(path))


def test_keys_of_json_may_differ_by_row_and_numbers_stay_numbers(tmp_path):
    path = write(tmp_path / "t.jsonl", '{"id": 7}\n{"q": 0.5, "other": []}\n')
    assert rows(path) == [{"id": 7}, {"question": 0.5}]


def test_parquet_is_read_whatever_its_text_type(tmp_path):
    table = pa.table(
        {
            "q": pa.array(["a", None, "NA"], pa.large_string()),
            "g": pa.array(["A", "B", None]).dictionary_encode(),
            "id": [1, 2, 3],
            "more": [[1], [2], [3]],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    assert rows(str(tmp_path / "t.parquet")) == [
        {"question": "a", "grade": "A", "id": 1},
        {"question": None, "grade": "B", "id": 2},
        {"question": "NA", "grade": None, "id": 3},
    ]


def test_rows_are_numbered_in_each_file(tmp_path):
    files = [write(tmp_path / "a.csv", "q\nx\n\ny\n"), write(tmp_path / "b.jsonl", '\n{"q": "z"}\n')]
    names = [str(record) for record in records(files, COLUMNS)]
    assert names == [f"{files[0]}, row 1", f"{files[0]}, row 2", f"{files[1]}, row 2"]


def test_what_the_configuration_names_must_be_there_and_is_taken_from_no_other_role(tmp_path):
    path = write(tmp_path / "t.csv", "q,answer\nx,said\n")
    names = {"question": "q", "prediction": "answer", "answer": "answer", "id": None, "grade": "g"}
    assert rows(path, Columns(names, named=("prediction", "id"))) == [{"question": "x", "prediction": "said"}]
    assert "no column left for prediction: it has 'q', 'answer'" in refusal(
        path, Columns({**names, "grade": "answer"}, ("grade",), (("prediction",),))
    )
    assert "no column 'g' for grade" in refusal(path, Columns(names, named=("grade",)))
    assert "no column 'id' or 'n' for id or number" in refusal(
        path, Columns({"id": "id", "number": "n"}, needed=(("id", "number"),))
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (float("nan"), None),
        ("nan", "nan"),
        ("", ""),
        (7, "7"),
        (7.0, "7"),
        (0.5, "0.5"),
        (True, "true"),
        (Decimal("1.50"), "1.50"),
        ("\ud83d\ude00", "😀"),
        ("half \ud83d", "half \ufffd"),
    ],
)
def test_values_as_text(value, expected):
    (record,) = _records(value)
    assert text(record, "question") == expected


@pytest.mark.parametrize("value", [[], {}, b"x"])
def test_what_is_no_text_is_refused_with_its_row(value):
    (record,) = _records(value)
    with pytest.raises(UserError, match="t.csv, row 3: question is of type"):
        text(record, "question")


def _records(value):
    return [Record("t.csv", 3, {"question": value})]


@pytest.mark.parametrize(
    ("value", "expected"),
    [("85", 85), (" 8.5 ", 8.5), (".5", 0.5), ("1e2", 100), (7, 7), (Decimal("1.5"), 1.5), ("-1", -1)]
    + [(bad, None) for bad in (None, "", "x", "85%", "1_0", "٣", "nan", "inf", True, [], float("nan"), "1,5", "9e999")],
)
def test_values_as_numbers(value, expected):
    assert number(value) == expected
