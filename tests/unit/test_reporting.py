"""Reports: what the figures are, and that pages hold texts as texts."""

import base64
import hashlib
import json
import re

import pytest
from bs4 import BeautifulSoup

import made_up
from devqa.evaluation.metrics import scores
from devqa.reporting import charts, data, pages
from devqa.reporting.spending import spent as taken_by
from reported import FATES, HOSTILE, HOSTILE_BENCH, MODEL, answered, bench, hostile_pages, index, report, spent, stage


def soup(page):
    return BeautifulSoup(page, "lxml")


def reported_on(benchmark, answers, grades):
    found = scores(benchmark, answers, grades)
    return data.report_data(MODEL, benchmark, answers, grades, found, taken_by(answers))


# The figures


def test_report_data_is_json_and_holds_every_answer_once():
    benchmark = [bench(n) for n in range(32)]
    got = report(benchmark, repeats=2)
    assert json.loads(json.dumps(got, allow_nan=False)) == got
    assert len(got["runs"]) == 64
    plain = got["settings"][0]
    assert plain["outcomes"] == dict.fromkeys(FATES, 8)
    assert plain["repeats"] == 2
    co = plain["figures"]["co"]
    assert (co["mean"], co["spread"], co["repeats"]) == (pytest.approx(1 / 3), 0, 2)
    assert co["low"] < co["mean"] < co["high"]
    assert (co["worst"], co["best"]) == (pytest.approx(1 / 8), pytest.approx(6 / 8))
    assert sum(part["rows"] for part in plain["slices"] if part["slice"] == "difficulty") == 32
    # No row has a domain, so there is no such slice.
    assert list(got["benchmark"]["composition"]) == ["language", "difficulty", "source"]
    assert got["benchmark"]["composition"]["difficulty"] == {"hard": 21, "easy": 11}


def test_each_run_says_what_became_of_it_and_why():
    runs = {run["fate"]: run for run in report([bench(n) for n in range(8)])["runs"]}
    assert list(runs) == FATES
    assert runs["ungraded"]["reason"] == "two verdicts"
    assert runs["CORRECT"]["reason"] == ""
    assert runs["truncated"]["reason"].startswith("why")
    assert runs["truncated"]["prediction"].startswith("cut")


def test_a_row_that_was_not_answered_is_missing():
    benchmark = [bench(0), bench(1)]
    answers, grades = answered(benchmark[:1])
    got = reported_on(benchmark, answers, grades)
    assert [run["fate"] for run in got["runs"]] == ["CORRECT", "missing"]
    assert got["settings"][0]["outcomes"] == {"CORRECT": 1, "missing": 1}


def test_cost_is_tokens_times_price():
    plain = report([bench(n) for n in range(8)], repeats=2)["settings"][0]
    assert plain["usd_per_answer"] == pytest.approx((100 * 1 + 50 * 2) / 1e6)
    assert plain["usd"] == pytest.approx(16 * plain["usd_per_answer"])


def test_cost_is_unknown_where_no_tokens_are():
    got = report([bench(0)], input_tokens=0, output_tokens=0, uncounted=1)
    assert got["settings"][0]["usd"] is None
    page = soup(pages.model_report(got))
    assert "–" in page.find("h3", string="Cost").parent.text
    assert page.find(class_="notice").text.strip() == "1 call came without a token count: the cost is too low."


def test_what_was_not_counted_is_said_beside_the_cost_of_the_rest():
    benchmark = [bench(n) for n in range(4)]
    answers, grades = answered(benchmark)
    for row in answers[:2]:
        row["usage"][0] |= {"uncounted": 1, "input_tokens": 0, "output_tokens": 0}
        row |= {"input_tokens": None, "output_tokens": None, "reasoning_tokens": None}
    got = reported_on(benchmark, answers, grades)
    (plain,) = got["settings"]
    assert (plain["uncounted"], plain["usd_per_answer"]) == (2, pytest.approx(200 / 1e6))
    assert plain["usd"] == pytest.approx(2 * plain["usd_per_answer"])
    assert "2 calls came without a token count" in soup(pages.model_report(got)).text


def test_the_endpoints_own_cache_makes_prompts_cheaper():
    (plain,) = report([bench(0)], cached_tokens=60)["settings"]
    assert plain["usd"] == pytest.approx((40 * 1 + 60 * 0.5 + 50 * 2) / 1e6)


def test_reasoning_tokens_are_shown_where_there_are_any():
    thinking = soup(pages.model_report(report([bench(0)], reasoning_tokens=30)))
    assert "50 out, of which 30 reasoning" in thinking.find("h3", string="Tokens").parent.text
    assert "reasoning" not in soup(pages.model_report(report([bench(0)]))).find("h3", string="Tokens").parent.text
    rows = [stage("pairs", "ok", "", 9, 9, reasoning_tokens=7)]
    page = soup(pages.index_page(index([], {}, rows)))
    assert [cell.text.strip() for cell in page.select(".funnel .stage td")][-2] == "9 63 reasoning"


def test_the_funnel_is_grouped_by_stage():
    rows = [stage("a", "ok", "", 9, 5), stage("a", "rejected", "r", 9, 3), stage("a", "failed", "f", 9, 1)]
    got = index([], {}, [*rows, stage("b", "ok", "", 5, 5)])
    assert [(each["stage"], each["rows"]) for each in got["funnel"]] == [("a", 9), ("b", 5)]
    assert got["funnel"][0]["by_status"] == {"ok": 5, "rejected": 3, "failed": 1}
    assert got["spent"] == {**spent(14, input_tokens=10, output_tokens=1), "usd": 2.0}


def test_the_index_says_how_many_calls_were_not_counted():
    rows = [stage("a", "ok", "", 3, 3, uncounted=1), stage("b", "ok", "", 4, 4)]
    page = soup(pages.index_page(index([], {}, rows)))
    assert page.find(class_="notice").text.strip() == "3 calls came without a token count: the cost is too low."
    assert soup(pages.index_page(index([], {}, rows[1:]))).find(class_="notice") is None


def test_passages_are_kept_once_and_cut_where_they_are_long():
    benchmark = [bench(0, "short"), bench(1, "x" * 3000)]
    got = report(benchmark, repeats=3)
    assert [(len(each["text"]), each["left_out"]) for each in got["passages"]] == [(5, 0), (2000, 1000)]
    assert [run["passages"] for run in got["runs"]] == [[0]] * 3 + [[1]] * 3
    (call,) = got["runs"][-1]["tool_calls"]
    assert (len(call["arguments"]), len(call["result"]), call["left_out"]) == (600, 600, 4800)


def test_the_majority_decides_and_every_judge_is_heard():
    benchmark = made_up.questions(300)
    got = made_up.report(made_up.Model("m", 0.5, benchmark, {"plain": 1}), verdict="majority")
    assert got["settings"][0]["outcomes"].get("CORRECT") == sum(run["fate"] == "CORRECT" for run in got["runs"])
    several = [run for run in got["runs"] if run["grades"]]
    assert several
    for run in several:
        votes = [each["grade"] for each in run["grades"]]
        assert [each["judge"] for each in run["grades"]] == ["judge", "second", "third"]
        assert run["fate"] == next((vote for vote in votes if vote and votes.count(vote) > 1), "ungraded")
        assert bool(run["reason"]) == (run["fate"] == "ungraded")


# The pages


def test_the_report_shows_figures_slices_and_notice():
    page = soup(pages.model_report(report([bench(n) for n in range(16)], MODEL | {"note": "It proves plumbing."})))
    assert page.h1.text == "m-1"
    assert page.find(class_="notice").text == "It proves plumbing."
    cards = {card.h3.text: card.find(class_="value").text.split()[0] for card in page.select(".card")}
    assert cards["CO"] == "0.333"
    assert cards["Tokens"] == "150"
    tables = page.find_all("table")
    assert [[cell.text for cell in table.select("tbody th")] for table in tables] == [
        ["en"],
        ["easy", "hard"],
        ["example"],
    ]
    assert [cell.text for cell in tables[1].select("tbody tr td:nth-child(2)")] == ["6", "10"]


def test_no_notice_without_a_note():
    assert soup(pages.model_report(report([bench(0)]))).find(class_="notice") is None


def test_undefined_figures_are_dashes():
    page = soup(pages.model_report(report([bench(0)], fates=["ungraded"])))
    assert {card.h3.text: card.find(class_="value").text.strip() for card in page.select(".card")}["F-score"] == "–"


def test_an_empty_benchmark_gives_pages_that_say_so():
    empty = data.report_data(MODEL, [], [], [], [], {})
    for page in (pages.model_report(empty), pages.index_page(index([], {}))):
        assert "The benchmark is empty" in soup(page).find(class_="empty").text


def test_the_index_links_every_model_and_shows_every_loss():
    models = {"a": {"model": {"note": "tiny"}}, "b.2": {}}
    rows = [stage("pairs", "ok", "", 9, 5), stage("pairs", "rejected", "two answers", 9, 4)]
    page = soup(pages.index_page(index([bench(0)], models, rows, ["A word to all."])))
    assert [link["href"] for link in page.select(".sortable a")] == ["a.html", "b.2.html"]
    assert [notice.text for notice in page.find_all(class_="notice")] == ["A word to all.", "a: tiny"]
    losses = [[cell.text.strip() for cell in row.find_all(["th", "td"])] for row in page.select(".funnel .reason")]
    assert losses == [["rejected two answers", "rejected 44.4%, all others 55.6%", "", "4", "4", "40", "4", "$0.50"]]


@pytest.fixture(scope="module")
def rich():
    """A report with every section, and an index of three models."""
    benchmark = made_up.questions(90, dialogues=45)
    settings = {"plain": 2, "rag": 1, "confidence": 1, "agentic": 1}
    models = [made_up.Model(name, skill, benchmark, settings) for name, skill in (("a", 0.3), ("b", 0.5), ("c", 0.7))]
    graded = made_up.people(models, 60)
    role = {"role": "generate", "model": "a-large", "family": "a", "same_model": False}
    families = [{"model": "a", "family": "a", "roles": [role, role | {"role": "judge", "same_model": True}]}]
    one = made_up.report(models[0], graded, families=families)
    return one, made_up.index(models, graded, {"a": 0.2, "b": 0.4, "c": 0.9, "d": 1}, families)


def test_a_report_shows_every_statistic(rich):
    page = soup(pages.model_report(rich[0]))
    plain, confidence = page.find(id="plain"), page.find(id="confidence")
    assert "it is itself the judge; same family (a) as the generator of the questions (a-large)" in page.text
    assert [each.text for each in confidence.find_all("h4")] == [
        "NOT_ATTEMPTED counts as not correct",
        "NOT_ATTEMPTED left out",
    ]
    found = rich[0]["settings"][2]["calibration"]["excluded"]
    view = confidence.find_all(class_="view")[1]
    assert f"{found['ece']['value']:.3f}" in view.text
    assert f"{found['unreadable']} with no confidence that could be read" in view.text
    assert len(view.select("tbody tr")) == len(found["bins"])
    assert not plain.find(class_="view")
    confusion = [[int(cell.text) for cell in row.find_all("td")] for row in plain.select(".matrix tbody tr")]
    assert confusion == rich[0]["settings"][0]["people"]["confusion"]
    assert plain.find("caption", string=re.compile("Corrected"))
    assert "Krippendorff" in plain.text
    assert [row.th.text for row in plain.find(string="Left out").find_parent("table").select("tbody tr")] == [
        "none",
        "strong",
        "weak",
    ]
    assert [row.th.text for row in page.find(id="gain").select("tbody tr")] == ["rag", "confidence", "agentic"] * 3


def test_the_index_shows_every_comparison(rich):
    page = soup(pages.index_page(rich[1]))
    plain = page.find(id="plain")
    assert [row.th.text for row in plain.find("table").select("tbody tr")] == ["c", "b", "a"]
    assert "would be found in four cases of five" in plain.text
    assert len(plain.find_all("table")[1].select("tbody tr")) == 3
    assert len(plain.find_all("svg", class_="drawn")) == 2
    assert "Between a, the weakest of 3 in plain, and c, the strongest" in page.find(id="gain").text
    assert "not evaluated: d" in page.find(id="correlation").text
    judges = page.find(id="judges")
    assert [head.text for head in judges.find_all("h3")][:2] == ["judge against people", "second against people"]
    assert "2 of people’s grades are not used" in judges.text
    assert "it is itself the judge" in page.find(id="families").text


def test_every_chart_stands_beside_a_table_of_its_figures(rich):
    for page in (pages.model_report(rich[0]), pages.index_page(rich[1])):
        for chart in soup(page).find_all("svg", class_="drawn"):
            assert chart["aria-label"] == chart.title.text != ""
            assert chart.find_parent("section").find("table")


def test_pages_are_deterministic(rich):
    assert hostile_pages() == hostile_pages()
    assert pages.index_page(rich[1]) == pages.index_page(rich[1])
    assert pages.model_report(rich[0]) == pages.model_report(rich[0])


@pytest.mark.parametrize("page", hostile_pages(), ids=["report", "index"])
def test_hostile_texts_stay_texts(page):
    parsed = soup(page)
    assert not parsed.find_all(["img", "iframe", "object", "link", "base"])
    assert all("owned" not in script.text for script in parsed.find_all("script") if not script.get("type"))
    assert HOSTILE[0] in parsed.text
    assert HOSTILE[3] in parsed.text
    assert not parsed.find_all(lambda tag: any(name.startswith("on") or name == "style" for name in tag.attrs))
    assert not [link for link in parsed.find_all("a") if not re.fullmatch(r"[\w.%-]+\.html|#[a-z]+", link["href"])]


@pytest.mark.parametrize("page", hostile_pages(), ids=["report", "index"])
def test_the_policy_allows_the_pages_own_code_alone(page):
    parsed = soup(page)
    policy = parsed.find("meta", {"http-equiv": "Content-Security-Policy"})["content"]
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert "http" not in policy
    code = [parsed.style, *(script for script in parsed.find_all("script") if not script.get("type"))]
    hashes = [base64.b64encode(hashlib.sha256(part.string.encode()).digest()).decode() for part in code]
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    assert not parsed.find_all(src=True)


def test_the_rows_travel_unharmed():
    page = soup(hostile_pages()[0])
    carried = json.loads(page.find("script", {"type": "application/json"}).string)
    assert [row["question"] for row in carried["rows"]] == [row["question"] for row in HOSTILE_BENCH]
    assert len(carried["runs"]) == 30


def test_charts_have_text_alternatives_and_true_widths():
    bar = soup(charts.stacked_bar([("a & b", "correct", 1), ("none", "rest", 0), ("c", "incorrect", 3)])).svg
    assert bar["aria-label"] == bar.title.text == "a & b 25.0%, c 75.0%"
    assert [float(part["width"]) for part in bar.find_all("rect")] == [25, 75]
    assert soup(charts.stacked_bar([])).svg["aria-label"] == "nothing to show"
    assert soup(charts.interval(None, None)).svg["aria-label"] == "undefined"
    assert "0.900, 95 % interval 0.700 to 1.000" in charts.interval(0.9, 0.7, 1.0)
    whisker = soup(charts.interval(0.9, 0.7, 1.0)).find(class_="whisker")
    assert float(whisker["x"]) + float(whisker["width"]) == pytest.approx(100)
    assert soup(charts.interval(0.9)).find(class_="whisker") is None
