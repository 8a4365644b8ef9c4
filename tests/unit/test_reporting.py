"""Reports: what the figures are, that pages hold texts as texts, and that the browser of rows works."""

import base64
import hashlib
import json
import re

import pytest
from bs4 import BeautifulSoup

from browser.chromium import CHROMIUM, dom, driven
from devqa.evaluation.metrics import scores
from devqa.reporting import charts, data, pages
from devqa.usage import COUNTS

HOSTILE = [
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">",
    "</script><script>document.title='owned'</script>",
    "<!--<script>",
    "{{ 7 * 7 }} {% raw %}",
    "]]>&lt;b&gt;\u2028\x00'\"",
]
FATES = ["CORRECT", "INCORRECT", "NOT_ATTEMPTED", "ungraded", "refused", "truncated", "empty", "error"]
MODEL = {
    "name": "m-1",
    "endpoint": "https://models.example/v1",
    "model": "m-1-2025",
    "note": "",
    "price": {"input": 1, "output": 2, "cached_input": 0.5},
}


def bench(number, question="Which <b>flag</b>?", language="en"):
    return {
        "id": f"q{number:05}",
        "question": question,
        "answer": "gold " + question,
        "language": language,
        "difficulty": "hard" if number % 3 else "easy",
        "source": "example",
        "references": [
            {"url": "https://docs.example/a?b=1&c=2", "title": question, "text": "long"},
            {"url": "javascript:document.title='owned'", "title": "bad", "text": ""},
        ],
    }


def spent(calls=1, **counts):
    return {"calls": calls, **{count: calls * counts.get(count, 0) for count in COUNTS[1:]}}


def answered(benchmark, fates=FATES, repeats=1, setting="plain", **counts):
    counts = {"input_tokens": 100, "output_tokens": 50, **counts}
    answers, grades = [], []
    for repeat in range(1, repeats + 1):
        for number, row in enumerate(benchmark):
            became = fates[number % len(fates)]
            usable = became in FATES[:4]
            key = {"id": row["id"], "setting": setting, "model": MODEL["name"], "repeat": repeat}
            result = {
                "answer": row["question"] if usable else None,
                "raw": "" if usable else "cut " + row["question"],
                "outcome": "ok" if usable else became,
                "status": "ok" if usable else "failed",
                "reason": "" if usable else "why: " + row["question"],
                "usage": [{"model": MODEL["name"], **spent(**counts)}],
                **{key: counts.get(key, 0) or None for key in ("input_tokens", "output_tokens")},
                "reasoning_tokens": counts.get("reasoning_tokens", 0) if counts["input_tokens"] else None,
            }
            answers.append(key | result)
            if usable:
                grade = {"grade": None if became == "ungraded" else became, "judge_text": row["question"], "raw": ""}
                grades.append(key | grade | {"reason": "two verdicts" if became == "ungraded" else ""})
    return answers, grades


def report(benchmark, model=MODEL, **options):
    answers, grades = answered(benchmark, **options)
    for row in answers:
        row["usage"][0]["model"] = model["name"]
    return data.report_data(model, benchmark, answers, grades, scores(benchmark, answers, grades))


def funnel(stage, status, reason, rows_in, rows_out, **counts):
    row = {"stage": stage, "status": status, "reason": reason, "rows_in": rows_in, "rows_out": rows_out, "usd": 0.5}
    return row | spent(rows_out, **{"input_tokens": 10, "output_tokens": 1, **counts})


def soup(page):
    return BeautifulSoup(page, "lxml")


HOSTILE_BENCH = [bench(n, text, "zh") for n, text in enumerate(HOSTILE * 2)]


def hostile_pages():
    model = MODEL | {"note": HOSTILE[0] + HOSTILE[3], "endpoint": HOSTILE[1]}
    one = report(HOSTILE_BENCH, model, repeats=3)
    rows = [funnel("pairs", "ok", "", 9, 5), funnel("pairs", "rejected", HOSTILE[0], 9, 4)]
    return pages.model_report(one), pages.index_page(data.index_data([one], rows, []))


# The figures


def test_report_data_is_json_and_holds_every_answer_once():
    benchmark = [bench(n) for n in range(16)]
    got = report(benchmark, repeats=2)
    assert json.loads(json.dumps(got, allow_nan=False)) == got
    assert len(got["runs"]) == 32
    plain = got["settings"][0]
    assert plain["outcomes"] == dict.fromkeys(FATES, 4)
    assert plain["repeats"] == 2
    assert plain["figures"]["co"] == {"mean": pytest.approx(1 / 3), "spread": 0, "repeats": 2}
    assert sum(part["rows"] for part in plain["slices"] if part["slice"] == "difficulty") == 16
    assert got["benchmark"]["composition"]["difficulty"] == {"hard": 10, "easy": 6}


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
    got = data.report_data(MODEL, benchmark, answers, grades, scores(benchmark, answers, grades))
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
    got = data.report_data(MODEL, benchmark, answers, grades, scores(benchmark, answers, grades))
    (plain,) = got["settings"]
    assert (plain["uncounted"], plain["usd_per_answer"]) == (2, pytest.approx(200 / 1e6))
    assert plain["usd"] == pytest.approx(2 * plain["usd_per_answer"])
    assert "2 calls came without a token count" in soup(pages.model_report(got)).text
    assert data.leaderboard_rows([got])[0]["uncounted"] == 2


def test_the_endpoints_own_cache_makes_prompts_cheaper():
    (plain,) = report([bench(0)], cached_tokens=60)["settings"]
    assert plain["usd"] == pytest.approx((40 * 1 + 60 * 0.5 + 50 * 2) / 1e6)


def test_reasoning_tokens_are_shown_where_there_are_any():
    thinking = soup(pages.model_report(report([bench(0)], reasoning_tokens=30)))
    assert "50 out, of which 30 reasoning" in thinking.find("h3", string="Tokens").parent.text
    assert "reasoning" not in soup(pages.model_report(report([bench(0)]))).find("h3", string="Tokens").parent.text
    rows = [funnel("pairs", "ok", "", 9, 9, reasoning_tokens=7)]
    page = soup(pages.index_page(data.index_data([], rows, [])))
    assert [cell.text.strip() for cell in page.select(".funnel .stage td")][-2] == "9 63 reasoning"


def test_the_leaderboard_is_flat_and_best_first():
    benchmark = [bench(n) for n in range(4)]
    shares = {"bad": ["INCORRECT"], "good": ["CORRECT"], "none": ["ungraded"]}
    models = [report(benchmark, MODEL | {"name": name}, fates=fates) for name, fates in shares.items()]
    rows = data.leaderboard_rows(models)
    assert [(row["model"], row["f_score"]) for row in rows] == [("good", 1), ("bad", 0), ("none", None)]
    assert (rows[2]["ungraded"], rows[2]["graded"], rows[2]["co_spread"]) == (4, 0, None)
    assert all(row.keys() == rows[0].keys() for row in rows)


def test_index_data_needs_no_rows_of_the_reports():
    one = report([bench(0)])
    light = {key: one[key] for key in ("model", "benchmark", "settings")}
    assert data.index_data([light], [], []) == data.index_data([one], [], [])


def test_the_funnel_is_grouped_by_stage():
    rows = [funnel("a", "ok", "", 9, 5), funnel("a", "rejected", "r", 9, 3), funnel("a", "failed", "f", 9, 1)]
    got = data.index_data([], [*rows, funnel("b", "ok", "", 5, 5)], [])
    assert [(stage["stage"], stage["rows"]) for stage in got["funnel"]] == [("a", 9), ("b", 5)]
    assert got["funnel"][0]["by_status"] == {"ok": 5, "rejected": 3, "failed": 1}
    assert got["spent"] == {**spent(14, input_tokens=10, output_tokens=1), "usd": 2.0}


def test_the_index_says_how_many_calls_were_not_counted():
    rows = [funnel("a", "ok", "", 3, 3, uncounted=1), funnel("b", "ok", "", 4, 4)]
    page = soup(pages.index_page(data.index_data([], rows, [])))
    assert page.find(class_="notice").text.strip() == "3 calls came without a token count: the cost is too low."
    assert soup(pages.index_page(data.index_data([], rows[1:], []))).find(class_="notice") is None


# The pages


def test_the_report_shows_figures_slices_and_notice():
    page = soup(pages.model_report(report([bench(n) for n in range(16)], MODEL | {"note": "It proves plumbing."})))
    assert page.h1.text == "m-1"
    assert page.find(class_="notice").text == "It proves plumbing."
    cards = {card.h3.text: card.find(class_="value").text.split()[0] for card in page.select(".card")}
    assert cards["CO"] == "0.333"
    assert cards["Tokens"] == "150"
    tables = page.find_all("table")
    assert [[cell.text for cell in table.select("tbody th")] for table in tables] == [["en"], ["easy", "hard"]]
    assert [cell.text for cell in tables[1].select("tbody tr td:nth-child(2)")] == ["6", "10"]


def test_no_notice_without_a_note():
    assert soup(pages.model_report(report([bench(0)]))).find(class_="notice") is None


def test_undefined_figures_are_dashes():
    page = soup(pages.model_report(report([bench(0)], fates=["ungraded"])))
    assert {card.h3.text: card.find(class_="value").text.strip() for card in page.select(".card")}["F-score"] == "–"


def test_an_empty_benchmark_gives_pages_that_say_so():
    empty = data.report_data(MODEL, [], [], [], [])
    for page in (pages.model_report(empty), pages.index_page(data.index_data([empty], [], []))):
        assert "The benchmark is empty" in soup(page).find(class_="empty").text


def test_the_index_links_every_model_and_shows_every_loss():
    models = [report([bench(0)], MODEL | {"name": name, "note": note}) for name, note in (("a", "tiny"), ("b.2", ""))]
    rows = [funnel("pairs", "ok", "", 9, 5), funnel("pairs", "rejected", "two answers", 9, 4)]
    page = soup(pages.index_page(data.index_data(models, rows, ["A word to all."])))
    assert [link["href"] for link in page.select(".sortable a")] == ["a.html", "b.2.html"]
    assert [notice.text for notice in page.find_all(class_="notice")] == ["A word to all.", "a: tiny"]
    losses = [[cell.text.strip() for cell in row.find_all(["th", "td"])] for row in page.select(".funnel .reason")]
    assert losses == [["rejected two answers", "rejected 44.4%, all others 55.6%", "", "4", "4", "40", "4", "$0.50"]]


def test_pages_are_deterministic():
    assert hostile_pages() == hostile_pages()


@pytest.mark.parametrize("page", hostile_pages(), ids=["report", "index"])
def test_hostile_texts_stay_texts(page):
    parsed = soup(page)
    assert not parsed.find_all(["img", "iframe", "object", "link", "base"])
    assert all("owned" not in script.text for script in parsed.find_all("script") if not script.get("type"))
    assert HOSTILE[0] in parsed.text
    assert HOSTILE[3] in parsed.text
    assert not parsed.find_all(lambda tag: any(name.startswith("on") or name == "style" for name in tag.attrs))
    assert not [link for link in parsed.find_all("a") if not re.fullmatch(r"[\w.%-]+\.html", link["href"])]


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
    assert "0.900 plus or minus 0.200" in charts.interval(0.9, 0.2)
    whisker = soup(charts.interval(0.9, 0.2)).find(class_="whisker")
    assert float(whisker["x"]) + float(whisker["width"]) == pytest.approx(100)


# In a browser

in_browser = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")


@in_browser
def test_rows_render_and_nothing_of_the_data_runs(tmp_path):
    path = tmp_path / "report.html"
    path.write_text(hostile_pages()[0], encoding="utf-8")
    page = soup(dom(path, tmp_path / "profile"))
    assert page.title.text == "m-1 – DevQA report"
    assert len(page.select("article.row")) == 20
    assert page.select_one(".question").text == HOSTILE[0]
    assert not page.find_all("img")
    assert {link["href"] for link in page.select("article a")} == {"https://docs.example/a?b=1&c=2"}
    assert all("noopener" in link["rel"] for link in page.select("article a"))


@in_browser
def test_rows_are_filtered_and_paged(tmp_path):
    texts = ["git stash", "左前缀", "Read Committed"]
    benchmark = [bench(n, texts[n % 3], ["en", "zh", "ru"][n % 3]) for n in range(3000)]
    path = tmp_path / "report.html"
    path.write_text(pages.model_report(report(benchmark)), encoding="utf-8")
    steps = """
    const form = page.querySelector("form");
    const count = () => page.querySelectorAll("article").length;
    const note = () => said.push(page.querySelector(".found").textContent + "; " + count());
    const set = (name, value) => {
      form.elements[name].value = value;
      form.dispatchEvent(new Event("input"));
      note();
    };
    note();
    page.querySelector("[name=next]").click(); note();
    set("fate", "CORRECT"); set("language", "zh"); set("text", " 左前 "); set("text", "git"); set("language", "");
    set("fate", "refused"); set("text", "Q00004");
    said.push(page.querySelector("article .facts b").textContent);
    """
    assert json.loads(driven(path, tmp_path / "profile", steps)) == [
        "1–20 of 3,000 answers; 20",
        "21–40 of 3,000 answers; 20",
        "1–20 of 375 answers; 20",
        "1–20 of 125 answers; 20",
        "1–20 of 125 answers; 20",
        "0 answers; 0",
        "1–20 of 125 answers; 20",
        "1–20 of 125 answers; 20",
        "1–1 of 1 answers; 1",
        "refused",
    ]


@in_browser
def test_the_leaderboard_sorts_with_undefined_last(tmp_path):
    benchmark = [bench(n) for n in range(8)]
    shares = {"b": ["INCORRECT"], "c": ["CORRECT", "INCORRECT"], "a": ["CORRECT"], "d": ["ungraded"]}
    models = [report(benchmark, MODEL | {"name": name}, fates=fates) for name, fates in shares.items()]
    path = tmp_path / "index.html"
    path.write_text(pages.index_page(data.index_data(models, [], [])), encoding="utf-8")
    steps = """
    const links = () => [...page.querySelectorAll(".sortable tbody a")];
    const order = () => said.push(links().map((link) => link.textContent).join(""));
    const heads = page.querySelectorAll(".sortable th button");
    order();
    for (const column of [0, 0, 2, 2]) { heads[column].click(); order(); }
    said.push(heads[2].parentElement.getAttribute("aria-sort"));
    """
    assert json.loads(driven(path, tmp_path / "profile", steps)) == [
        "acbd",
        "abcd",
        "dcba",
        "acbd",
        "bcad",
        "ascending",
    ]


def test_the_leaderboard_s_columns_are_those_of_its_rows():
    (row,) = data.leaderboard_rows([report([bench(0)])])
    assert list(row) == data.LEADERBOARD
