"""People's grades, and figures of other benchmarks."""

import pytest

from devqa.config.imports import CodeGeneration, HumanGrades
from devqa.errors import UserError
from devqa.imports.figures import outside_figures
from devqa.imports.human import human_grades


def people(tmp_path, content, **section):
    path = tmp_path / "people.csv"
    path.write_text(content, encoding="utf-8")
    return human_grades([str(path)], HumanGrades(path=str(path), **section).model_dump())


def outside(tmp_path, content, **section):
    path = tmp_path / "figures.csv"
    path.write_text(content, encoding="utf-8")
    return outside_figures([str(path)], CodeGeneration(path=str(path), **section).model_dump())


def test_grades_of_people_keep_every_row(tmp_path):
    rows = people(tmp_path, "id,model,grade\n7, gpt ,A\n,gpt,incorrect\n8,qwen,?\n9,qwen,\n")
    assert [(row["row"], row["id"], row["model"], row["grade"]) for row in rows] == [
        (1, "7", "gpt", "CORRECT"),
        (2, "", "gpt", "INCORRECT"),
        (3, "8", "qwen", None),
        (4, "9", "qwen", None),
    ]
    assert [row["reason"] for row in rows] == [
        "",
        "",
        "unknown grade: '?'; say what it means under `grades`",
        "there is no grade",
    ]
    assert {(row["setting"], row["repeat"]) for row in rows} == {(None, None)}
    assert rows[0]["file"] == str(tmp_path / "people.csv")


def test_setting_and_repeat_are_taken_where_they_are_there(tmp_path):
    rows = people(
        tmp_path,
        "id,model,grade,setting,run\n1,m,yes,rag,2.0\n1,m,A,,\n",
        columns={"repeat": "run"},
        grades={"yes": "CORRECT"},
    )
    assert [(row["setting"], row["repeat"], row["grade"]) for row in rows] == [
        ("rag", 2, "CORRECT"),
        (None, None, "CORRECT"),
    ]


@pytest.mark.parametrize(
    ("content", "columns", "says"),
    [
        ("id,model\n1,m\n", {}, "no column 'grade' for grade"),
        ("id,model,grade\n1,m,A\n", {"repeat": "run"}, "no column 'run' for repeat"),
        ("id,model,grade,repeat\n1,m,A,first\n", {}, r"people.csv, row 1: the repeat is 'first': it must be a number"),
        ("id,model,grade,repeat\n1,m,A,1.5\n", {}, "the repeat is '1.5'"),
    ],
)
def test_tables_of_people_that_cannot_be_read(tmp_path, content, columns, says):
    with pytest.raises(UserError, match=says):
        people(tmp_path, content, columns=columns)


def test_figures_in_the_order_of_the_file(tmp_path):
    assert outside(tmp_path, "model,pass@1,x\nb,67.5,\n a ,50%,\nc,0,\n") == {"b": 67.5, "a": 50, "c": 0}
    assert outside(tmp_path, "name,score\nb,0\n", model_column="name", score_column="score") == {"b": 0}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("model,pass@1\na,1\nb,most\n", r"figures.csv, row 2: pass@1 of b is 'most': write a number such as 67.5"),
        ("model,pass@1\na,92.5\nb,0.61\n", r"figures.csv: 0.61 of b is a share and 92.5 of a is not: write all"),
        ("model,pass@1\na,\n", "row 1: pass@1 of a is ''"),
        ("model,pass@1\na,nan\n", "row 1: pass@1 of a is 'nan'"),
        ('model,pass@1\na,"0,675"\n', "row 1: pass@1 of a is '0,675'"),
        ("model,pass@1\na,1\na,2\n", "row 2: a has a figure in an earlier row"),
        ("model,pass@1\n,1\n", "row 1 has no model in column 'model'"),
        ("model,pass1\na,1\n", r"no column 'pass@1' for figure: did you mean 'pass1'\?"),
    ],
)
def test_figures_that_cannot_be_read(tmp_path, content, says):
    with pytest.raises(UserError, match=says):
        outside(tmp_path, content)
