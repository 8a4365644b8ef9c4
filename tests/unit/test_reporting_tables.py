"""The index's figures, and the tables for spreadsheets, papers and GitHub."""

import csv
import io
import re
import shutil
import subprocess

import pytest

import made_up
from devqa import tables
from devqa.reporting import overview, reading, spending, tabular, words
from reported import MODEL, NOTHING, answered, bench, index, stage


def board(benchmark, models, **more):
    return [row for setting in index(benchmark, models, **more)["settings"] for row in setting["leaderboard"]]


def test_the_leaderboard_is_flat_and_best_first():
    benchmark = [bench(n) for n in range(4)]
    shares = {"bad": ["INCORRECT"], "good": ["CORRECT"], "none": ["ungraded"]}
    rows = board(benchmark, {name: {"fates": fates} for name, fates in shares.items()})
    assert [(row["model"], row["f_score"]) for row in rows] == [("good", 1), ("bad", 0), ("none", None)]
    assert (rows[2]["ungraded"], rows[2]["graded"], rows[2]["co_spread"]) == (4, 0, None)
    assert (rows[2]["f_score_worst"], rows[2]["f_score_best"]) == (0, 1)
    assert all(list(row) == overview.LEADERBOARD for row in rows)


def test_plain_comes_first_and_each_setting_has_its_own_ranks():
    benchmark = made_up.questions(60)
    models = [
        made_up.Model(name, skill, benchmark, {"agentic": 1, "plain": 1, "rag": 1})
        for name, skill in (("weak", 0.1), ("strong", 0.9))
    ]
    got = made_up.index(models)
    assert [each["setting"] for each in got["settings"]] == ["plain", "rag", "agentic"]
    plain = got["settings"][0]["leaderboard"]
    assert [(row["model"], row["rank"]) for row in plain] == [("strong", 1), ("weak", 2)]
    pairs = overview.comparison_rows({"settings": {each["setting"]: each for each in got["settings"]}})
    assert [row["setting"] for row in pairs] == ["plain", "rag", "agentic"]
    assert all(list(row) == overview.COMPARISONS for row in pairs)
    assert pairs[0]["difference_low"] < pairs[0]["difference"] < pairs[0]["difference_high"]


def test_a_model_without_any_answers_is_in_no_leaderboard():
    arguments = ([MODEL], [bench(0)], [], NOTHING, {}, [], [])
    assert overview.index_data(*arguments)["settings"] == []


def test_what_answers_took_is_the_same_from_rows_and_from_files(tmp_path):
    answers, _ = answered([bench(n) for n in range(9)], repeats=2, cached_tokens=7)
    other, _ = answered([bench(0)], setting="rag", input_tokens=0, output_tokens=0, uncounted=1)
    two_models = answers[0]["usage"][0] | {"model": "helper"}
    answers[0] = answers[0] | {"usage": [*answers[0]["usage"], two_models]}
    paths = []
    for number, rows in enumerate((answers, other, [])):
        paths.append(tmp_path / f"{number}.parquet")
        tables.write(rows, "answers", paths[-1])
    found = spending.read_spent(paths)
    assert found == spending.spent([*answers, *other])
    assert found["m-1", "plain"]["calls"] == 19
    assert found["m-1", "rag"] | {"calls": 1} == found["m-1", "rag"] | {"uncounted": 1, "counted": 0}


def test_cost_is_of_what_was_counted():
    price = {"input": 1.0, "output": 2.0, "cached_input": 0.5}
    taken = {"input_tokens": 100, "cached_tokens": 60, "output_tokens": 50, "uncounted": 3, "counted": 2}
    usd = (40 * 1 + 60 * 0.5 + 50 * 2) / 1e6
    assert spending.cost(taken, price) == {
        "usd": pytest.approx(usd),
        "usd_per_answer": pytest.approx(usd / 2),
        "uncounted": 3,
    }
    assert spending.cost(taken | {"counted": 0}, price) == {"usd": None, "usd_per_answer": None, "uncounted": 3}
    assert spending.cost(None, price)["usd"] is None
    # Of a model without a price nobody knows what it costs.
    assert spending.cost(taken, {"input": 0, "output": 0, "cached_input": 0})["usd"] is None


def test_the_asked_rows_have_their_domain_and_no_long_texts(tmp_path):
    references = [{"url": "https://a", "title": "A", "text": "x" * 1000}]
    rows = [bench(n, references=references, domain="own") for n in (2, 0, 1)]
    tables.write(rows, "benchmark", tmp_path / "benchmark.parquet")
    domains = [{"id": "q00001", "domain": "web", "status": "ok", "reason": ""}]
    tables.write(domains, "domains", tmp_path / "domains.parquet")
    got = reading.asked_rows(tmp_path / "benchmark.parquet", [], ["hard"], {})
    assert [(row["id"], row["domain"], row["references"]) for row in got] == [
        (row, "own", [{"url": "https://a", "title": "A"}]) for row in ("q00001", "q00002")
    ]
    groups = {"semantic": ["web", "sql"]}
    got = reading.asked_rows(tmp_path / "benchmark.parquet", tmp_path / "domains.parquet", ["hard"], groups)
    assert [(row["domain"], row["knowledge"]) for row in got] == [("web", "semantic"), (None, None)]


def test_the_funnel_is_read_as_it_was_written(tmp_path):
    rows = [stage("pairs", "rejected", 'a "b", c\nd', 9, 4), stage("pairs", "ok", "", 9, 5)]
    (tmp_path / "funnel.csv").write_text(tabular.csv_text(rows, list(rows[0])), encoding="utf-8")
    assert reading.read_funnel(tmp_path / "funnel.csv") == rows


def test_csv_keeps_every_digit_and_leaves_null_empty():
    text = tabular.csv_text([{"a": 1 / 3, "b": None}, {"a": 'x,"y"', "b": 2}], ["a", "b"])
    assert list(csv.reader(io.StringIO(text))) == [["a", "b"], [str(1 / 3), ""], ['x,"y"', "2"]]


ROWS = [bench(n) for n in range(40)]
FATES = {
    "good_one": ["CORRECT", "CORRECT", "INCORRECT"],
    "b|ad": ["INCORRECT", "CORRECT", "refused"],
    "none": ["error"],
}


def settings(repeats=1):
    return index(ROWS, {name: {"fates": fates, "repeats": repeats} for name, fates in FATES.items()})["settings"]


def test_markdown_is_a_table_that_github_understands():
    lines = tabular.markdown(settings(repeats=2)).splitlines()
    assert lines[0] == "## plain"
    table = [line for line in lines if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {11}
    cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", table[2])[1:-1]]
    assert cells[:2] == ["1", r"good\_one"]
    assert re.fullmatch(r"0\.\d{3} \[0\.\d{3}, 0\.\d{3}\]", cells[2])
    assert re.fullmatch(r"0\.\d{3} ± 0\.000", cells[3])
    assert cells[-1] == "40"
    assert r"b\|ad" in table[3]
    assert table[3].endswith("| 27 of 40 |")
    assert table[4].split("|")[3:5] == [" – ", " – "]


def test_notes_speak_of_a_spread_only_where_there_is_one():
    assert "standard deviation" in tabular.markdown(settings(repeats=2))
    assert "standard deviation" not in tabular.markdown(settings())
    assert tabular.markdown([]) == "No model was graded.\n"


def test_latex_is_escaped_and_has_a_row_for_each_model():
    text = tabular.latex(settings(repeats=2), 40)
    assert text.startswith("% Needs \\usepackage{booktabs}.\n\\begin{table}\n")
    body = text.split("\\midrule\n")[1].split("    \\bottomrule")[0].splitlines()
    assert len(body) == 3
    assert all(line.count(" & ") == 9 and line.endswith(" \\\\") for line in body)
    assert r"good\_one & 0." in body[0]
    assert r"{\scriptsize[0." in body[0]
    assert r"\,$\pm$\,0.000" in body[0]
    assert r"\caption{Models on 40 questions, setting \texttt{plain}, means over 2 repeats." in text
    assert r"\label{tab:devqa-plain}" in text
    assert tabular.latex([], 0) == "% Needs \\usepackage{booktabs}."


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX on this machine")
def test_latex_compiles(tmp_path):
    source = tabular.latex(index(ROWS, {r"a_b&c%$#{}~^\<>": {"repeats": 2}, "plain": {}})["settings"], 40)
    document = f"\\documentclass{{article}}\\usepackage{{booktabs}}\\begin{{document}}\n{source}\n\\end{{document}}"
    (tmp_path / "t.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_figures_in_words():
    assert [words.share(value) for value in (0.12345, -0.5, None)] == ["0.123", "−0.500", "–"]
    assert [words.signed(value) for value in (0.1, -0.1, None)] == ["+0.100", "−0.100", "–"]
    assert [words.p_value(value) for value in (0.0004, 0.05, None)] == ["< 0.001", "0.050", "–"]
    assert words.resolution(None) == words.resolution({"median": None}) == ""
    one = {"comparisons": 1, "median": 0.03, "largest": 0.03, "corrected": 0.03}
    assert "difference of 0.030" in words.resolution(one)
    several = words.resolution(one | {"comparisons": 210, "largest": 0.05, "corrected": 0.04})
    assert "210 pairs, 0.050 for the hardest" in several
    assert "one of 0.040 with the correction" in several
    other = words.resolution(one, "difference in fact recall", "two agents")
    assert other.startswith("A true difference in fact recall of 0.030 between two agents would be found")


def test_what_a_model_shares_is_said_in_one_sentence():
    roles = [
        {"role": role, "model": model, "family": "gpt", "same_model": model == "gpt-4o"}
        for role, model in (("queries", "gpt-4o"), ("filter judge", "gpt-4o"), ("judge", "o3"), ("unheard of", "o1"))
    ]
    assert words.family_notice({"model": "gpt-4o", "family": "gpt", "roles": roles}).startswith(
        "gpt-4o: it is itself the writer of the search queries and difficulty filter’s judge; "
        "same family (gpt) as the judge (o3) and unheard of (o1). "
    )
