"""The report of questions from pull requests: its figures, its page, and the browser of questions."""

import csv
import importlib.util
import io
import json
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from browser.chromium import CHROMIUM
from browser.devtools import browser
from devqa import tables
from devqa.pull_requests import GROUND_TRUTH
from devqa.reporting import blog, pages, plots, recalled, recalling
from devqa.reporting.tabular import csv_text
from recalled import AGENTS, PRICES, answered, benchmark, block, prediction, question, recall, report, score, unanswered
from reported import HOSTILE

AXE = importlib.util.find_spec("axe_playwright_python")
NEEDS_CHROMIUM = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A report with everything in it."""
    rows = benchmark(60)
    return report(tmp_path_factory.mktemp("whole"), rows, *answered(rows, AGENTS), notes=["large: made up."])


def soup(data):
    return BeautifulSoup(pages.pull_requests_page(data), "lxml")


def cells(page, section, place=0):
    """The rows of a section's table: texts by the text of the row's head."""
    found = page.find(id=section).find_all("table")[place]
    return {row.th.text: [cell.text for cell in row.find_all("td")] for row in found.find_all("tr") if row.find("td")}


def graded(rows, found=None, setting="retrieval", model="small", **columns):
    given = [prediction(row, setting, model, **columns) for row in rows]
    return given, [
        recall(row, found or [True] * len(row["facts"]), each) for row, each in zip(rows, given, strict=True)
    ]


def test_the_data_is_json(whole):
    assert json.loads(json.dumps(whole, allow_nan=False)) == whole


def test_agents_stand_best_first_and_the_true_answers_last(whole):
    board = whole["leaderboard"]
    assert board[-1]["agent"] == GROUND_TRUTH
    recalls = [row["recall"] for row in board[:-1]]
    assert recalls == sorted(recalls, reverse=True)
    assert [(each["setting"], each["agent"]) for each in whole["agents"]] == [
        (row["setting"], row["agent"]) for row in board
    ]
    assert list(board[0]) == recalling.LEADERBOARD
    written = list(csv.DictReader(io.StringIO(csv_text(board, recalling.LEADERBOARD))))
    assert float(written[0]["recall"]) == board[0]["recall"]
    assert written[-1]["rank"] == ""
    page = cells(soup(whole), "agents")
    assert page["terminal-agent command"][-1] == f"{board[3]['graded']}of 120"
    assert GROUND_TRUTH not in page


def test_cost_is_a_command_s_own_or_that_of_tokens_and_else_unknown(tmp_path):
    rows = [question(number) for number in range(2)]
    parts = [
        graded(rows),
        graded(rows, setting="command", model="tool", usd=0.25, usage=[], input_tokens=None),
        graded(rows, model="unpriced"),
        graded(rows, model="uncounted", input_tokens=None),
    ]
    data = report(tmp_path, rows, *(sum(each, []) for each in zip(*parts, strict=True)), prices=PRICES)
    usd = {row["agent"]: (row["usd"], row["usd_per_answer"]) for row in data["leaderboard"]}
    assert usd["small"] == (pytest.approx(0.0028), pytest.approx(0.0014))
    assert usd["tool"] == (0.5, 0.25)
    assert usd["unpriced"] == usd["uncounted"] == (None, None)
    # One of a command's answers says nothing of its cost.
    (first, second), recalled = parts[1]
    data = report(tmp_path, rows, [first, {**second, "usd": None}], recalled, prices=PRICES)
    (row,) = data["leaderboard"]
    assert (row["usd"], row["usd_per_answer"], row["uncounted"]) == (0.25, 0.25, 1)


def test_the_benchmark_is_told_by_repository_beside_the_published_one():
    rows = [
        question(0, ["vital"], context=[block(0)], scope="deep", difficulty="easy"),
        question(1, ["vital"] * 4, context=[block(place, f"{place}.py") for place in range(3)], scope="broad"),
        question(2, ["okay"] * 7, "parser", core=False, searchable=True, scope="deep", difficulty="hard"),
    ]
    found = recalling.composition(rows)
    first, second = found["repositories"]
    assert (first["name"], first["questions"], second["questions"]) == ("acme/cli", 2, 1)
    assert first["counts"]["scope"] == {"deep": 1, "broad": 1}
    assert first["counts"]["difficulty"] == {"easy": 1, "moderate": 1, "hard": 0}
    assert second["counts"] == {
        "scope": {"deep": 1, "broad": 0},
        "core": {"yes": 0},
        "searchable": {"yes": 1},
        "difficulty": {"easy": 0, "moderate": 0, "hard": 1},
    }
    assert found["total"]["facts"] == {"mean": 4.0, "median": 4, "least": 1, "most": 7}
    assert found["histograms"]["blocks"] == {"1": 1, "2": 1, "3": 1}
    assert found["histograms"]["facts"] == {"1": 1, "2": 0, "3": 0, "4": 1, "5": 0, "6": 0, "7": 1}
    assert sum(found["blog"]["counts"]["scope"].values()) == found["blog"]["questions"] == 1_144
    assert sum(found["blog"]["counts"]["difficulty"].values()) == 1_144
    nothing = recalling.composition([])
    assert nothing["total"]["facts"]["mean"] is None
    assert nothing["histograms"]["facts"] == {}


def test_the_page_shows_the_published_figures_as_the_blog_s(whole):
    page = soup(whole)
    made_of = cells(page, "benchmark")
    name = f"DeepCodeBench{blog.REPOSITORIES} repositories"
    assert made_of[name][:3] == ["1,144", "59852.3\xa0%", "54647.7\xa0%"]
    assert made_of[name][-1] == "6.581 to 35"
    assert "Qodo’s blog" in page.find(id="agents").text
    assert cells(page, "agents", 2)["Codex CLI"] == ["0.74"]
    assert len(page.find(id="benchmark").find_all("svg")) == 3
    assert page.find(class_="notice").text == "large: made up."


def test_true_answers_that_are_not_found_are_a_warning(tmp_path):
    rows = [question(number) for number in range(12)]
    fine = report(tmp_path, rows, *graded(rows, setting=GROUND_TRUTH, model=GROUND_TRUTH))
    assert not soup(fine).find(class_="notice")
    assert "1.000" in soup(fine).find(id="truth").text
    assert "No agent was asked" in soup(fine).find(id="agents").text
    poor = report(tmp_path, rows, *graded(rows, [True, False], setting=GROUND_TRUTH, model=GROUND_TRUTH))
    page = soup(poor)
    assert "finds only 0.500 of the facts" in page.find(class_="notice").text
    assert [link["href"] for link in page.select("#truth a")] == [f"#row=q{number:04}" for number in range(12)]


def test_what_has_no_grade_is_told_with_its_reason(tmp_path):
    rows = [question(number) for number in range(3)]
    given, found = graded(rows)
    given[1] |= {"status": "failed", "reason": "error: time-out after 900 s"}
    found[1] = unanswered(given[1])
    found[2] = recall(rows[2], [None, True], given[2])
    data = report(tmp_path, rows, given, found)
    page = soup(data)
    assert cells(page, "agents", 1) == {"small retrieval": ["ungraded", "the judge", "1"]}
    assert [(each["fate"], each["reason"]) for each in data["unusable"]] == [
        ("failed", "error: time-out after N s"),
        ("ungraded", "the judge"),
    ]
    assert [(run["fate"], run["found"], run["recall"]) for run in data["runs"]] == [
        ("graded", [True, True], 1.0),
        ("failed", [None, None], None),
        ("ungraded", [None, True], None),
    ]


def test_losses_are_told_by_stage_and_repository(whole):
    found = whole["losses"]
    assert found["stages"] == ["pulls", "context", "questions", "checked", "answered", "facts"]
    for each in found["repositories"]:
        assert list(each["passed"].values()) == sorted(each["passed"].values(), reverse=True)
        assert each["passed"]["facts"] == 20
    lost = sum(row["rows"] for row in found["reasons"] if row["repository"] == "cli")
    assert lost == found["repositories"][0]["given"] - 20
    stages = {stage["stage"]: stage for stage in whole["funnel"]}
    assert list(stages) == [*found["stages"], "predictions", "recalled"]
    assert stages["facts"]["by_status"]["ok"] == 60
    assert all(stage["rows"] == sum(stage["by_status"].values()) for stage in stages.values())


def test_an_answer_is_cut_and_facts_keep_their_order(tmp_path):
    row = question(0, ["vital", "okay", "vital"])
    given = prediction(row, answer="x" * 2_000)
    found = recall(row, [False, True, False], given)
    found["facts"].reverse()
    data = report(tmp_path, [row], [given], [found])
    (run,) = data["runs"]
    assert run["found"] == [False, True, False]
    assert run["why"] == ["", "It is said so.", ""]
    assert (len(run["answer"]), run["left_out"]) == (1_500, 500)
    assert not any("text" in block for block in data["rows"][0]["context"])


def test_tables_are_read_as_the_page_needs_them(tmp_path):
    row = question(0)
    given = prediction(row, repeat=2)
    for name, rows in (
        ("repository_benchmark", [row]),
        ("predictions", [given]),
        ("recalled", [recall(row, [True, False], given)]),
    ):
        tables.write(rows, name, tmp_path / name)
    found = recalled.browsed(
        recalled.read_benchmark(tmp_path / "repository_benchmark"),
        [("retrieval", "small")],
        recalled.read_predictions(tmp_path / "predictions"),
        recalled.read_recalled(tmp_path / "recalled"),
    )
    assert found == recalled.browsed([row], [("retrieval", "small")], [given], [recall(row, [True, False], given)])
    assert found["runs"][0]["repeat"] == 2


def test_an_empty_benchmark_says_so(tmp_path):
    data = report(tmp_path, [], [], [])
    page = soup(data)
    assert "The benchmark is empty" in page.text
    assert not page.find(id="browser")


def hostile(folder):
    """A report with hostile text in every place that a text can be in."""
    text = HOSTILE[0]
    rows = [
        question(
            number,
            **dict.fromkeys(("question", "answer", "title", "name", "scope", "difficulty"), HOSTILE[number % 5]),
            url="javascript:document.title='owned'//github.com/a/b",
            context=[block(0) | {"node": text, "path": HOSTILE[1]}],
        )
        | {"facts": [{"number": 1, "fact": text, "importance": "vital"}]}
        for number in range(12)
    ]
    given, found = graded(rows, answer=text, model="<b>small</b>")
    given[0] |= {"status": "failed", "reason": text}
    found[1] = found[1] | {"status": "rejected", "recall": None, "reason": text}
    return report(folder, rows, given, found, [text])


def test_texts_stay_texts(tmp_path):
    page = pages.pull_requests_page(hostile(tmp_path)).decode()
    assert "<script>document" not in page
    assert not BeautifulSoup(page, "lxml").find_all("img")
    assert HOSTILE[0] in BeautifulSoup(page, "lxml").find(class_="notice").text


def test_a_histogram_has_a_bar_for_each_number_and_one_for_all_that_is_beyond():
    chart = BeautifulSoup(plots.histogram({"1": 3, "2": 0, "3": 5}, "facts", "Facts"), "xml").svg
    told = [text.text for text in chart.find_all("text")]
    assert {"1", "2", "3", "facts", "questions"} <= set(told)
    assert len(chart.find_all("path", fill="var(--correct)")) == 3
    long = BeautifulSoup(plots.histogram({str(n): n for n in range(1, 101)}, "facts", "Facts"), "xml").svg
    told = [text.text for text in long.find_all("text")]
    assert {"1", "5", "25", "31+"} <= set(told)
    assert not {"2", "30", "100"} & set(told)
    assert plots.histogram({}, "facts", "Facts") == ""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A browser's page, for several tests."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def address(tmp_path_factory, whole):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_bytes(pages.pull_requests_page(whole))
    return path.as_uri()


def filtered(page, **values):
    """What the browser of questions says, and how many it shows, with its fields set so."""
    return page.evaluate(
        f"""(() => {{ const form = document.querySelector("form");
        for (const [name, value] of Object.entries({json.dumps(values)})) form.elements[name].value = value;
        form.dispatchEvent(new Event("input"));
        return [document.querySelector("#browser > .found").textContent, document.querySelectorAll("article").length];
        }})()"""
    )


def test_questions_are_filtered_by_what_agents_found(whole, page, address):
    page.look(1400)
    page.open(address)
    assert filtered(page) == ["1–20 of 60 questions", 20]
    deep = sum(row["scope"] == "deep" for row in whole["rows"])
    assert filtered(page, scope="deep")[0].endswith(f"of {deep} questions")
    filtered(page, scope="")
    place = next(place for place, each in enumerate(whole["agents"]) if each["setting"] == "no_context")
    recalls = {}
    for run in whole["runs"]:
        if run["agent"] == place and run["fate"] == "graded":
            recalls.setdefault(run["row"], []).append(run["recall"])
    none = sum(not any(values) for values in recalls.values())
    assert 0 < none < 60
    assert filtered(page, agent=str(place), outcome="no fact")[0].endswith(f"of {none} questions")
    assert page.evaluate('document.querySelectorAll("article:first-of-type .found-facts thead th").length') == 2
    assert filtered(page, agent="", outcome="", text="FACT 1 OF QUESTION 7.") == ["1–1 of 1 questions", 1]
    assert filtered(page, text="no such words") == ["0 questions", 0]


def test_a_question_shows_facts_by_agent_and_answers_when_they_are_opened(whole, page, address):
    page.open(address)
    row = whole["rows"][3]
    filtered(page, text=row["id"])
    texts = """(selector) => [...document.querySelectorAll("article:first-of-type " + selector)].map(
        (each) => each.textContent)"""
    heads = page.evaluate(f"({texts})('.found-facts thead th')")
    assert len(heads) == 1 + len(whole["agents"])
    facts = page.evaluate(f"({texts})('.found-facts tbody th')")
    assert [fact.removesuffix(" okay") for fact in facts] == [fact["fact"] for fact in row["facts"]]
    shown = page.evaluate(f"({texts})('.found-facts tbody tr:first-child td')")
    for place, cell in enumerate(shown):
        own = [
            run["found"][0]
            for run in whole["runs"]
            if run["row"] == 3 and run["agent"] == place and run["fate"] == "graded"
        ]
        assert cell == (f"{sum(own)}/{len(own)}" if len(own) > 1 else "–" if not own else "✓" if own[0] else "✗")
    assert page.evaluate(f"({texts})('.answer')") == []
    page.evaluate('document.querySelectorAll("article details").forEach((each) => { each.open = true; })')
    page.evaluate("new Promise((done) => setTimeout(done, 50))")
    assert len(page.evaluate(f"({texts})('.answer')")) == sum(run["row"] == 3 for run in whole["runs"])
    links = page.evaluate('[...document.querySelectorAll("article:first-of-type .nodes a")].map((each) => each.href)')
    first = row["context"][0]
    assert links[0] == f"https://github.com/acme/{row['repository']}/blob/{row['commit']}/{first['path']}#L1-L9"
    assert len(page.evaluate(f"({texts})('.rests')")) == 1


def test_one_question_has_an_address(whole, page, address):
    page.open(f"{address}#row={whole['rows'][5]['id']}")
    assert page.evaluate('document.querySelector("#browser > .found").textContent') == "1–1 of 1 questions"
    assert page.evaluate('document.querySelector("form").hidden')
    page.open(f"{address}#row=nothing%2")
    assert page.evaluate('document.querySelector("#browser > .found").textContent') == "0 questions"


@NEEDS_CHROMIUM
def test_nothing_of_the_data_runs(tmp_path, page):
    path = tmp_path / "report.html"
    path.write_bytes(pages.pull_requests_page(hostile(tmp_path)))
    page.open(path.as_uri())
    page.evaluate('document.querySelectorAll("details").forEach((each) => { each.open = true; })')
    page.evaluate("new Promise((done) => setTimeout(done, 50))")
    assert page.evaluate("document.title") == "DevQA – questions from pull requests"
    assert page.evaluate("document.querySelectorAll('img, article a[href^=javascript]').length") == 0
    assert page.evaluate("document.querySelector('.nodes code').textContent") == HOSTILE[0]
    assert page.logged() == []


LOOKS = pytest.mark.parametrize(
    ("width", "dark"), [(1400, False), (1400, True), (390, False)], ids=["light", "dark", "narrow"]
)


@NEEDS_CHROMIUM
def test_long_words_fit_a_narrow_window(tmp_path, page):
    word = "w" * 200
    rows = [question(0, pull_id=f"{word}@{'c0ffee' * 7}", number=None, title=word, question=word, answer=word, url="")]
    rows[0] |= {"repository": word, "name": word, "difficulty": word, "scope": word}
    rows[0]["facts"][0]["fact"] = word
    path = tmp_path / "report.html"
    given, found = graded(rows, answer=word, model=word)
    statistics = score(rows, given, found)
    data = recalling.recalling_data(rows, statistics, given, found, [], {}, [word])
    path.write_bytes(pages.pull_requests_page(data))
    page.look(390)
    page.open(path.as_uri())
    page.evaluate('document.querySelectorAll("details").forEach((each) => { each.open = true; })')
    page.evaluate("new Promise((done) => setTimeout(done, 50))")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@LOOKS
def test_the_page_fits_the_window_and_its_own_policy(page, address, width, dark):
    page.look(width, dark)
    page.open(address)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.logged() == []


@pytest.mark.skipif(AXE is None, reason="axe is not installed")
@LOOKS
def test_axe_finds_no_serious_fault(page, address, width, dark):
    page.look(width, dark)
    page.open(address)
    # All questions are made alike.
    filtered(page, text="q0003")
    page.evaluate('document.querySelectorAll("details").forEach((each) => { each.open = true; })')
    page.evaluate((Path(AXE.origin).parent / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate(
        "axe.run().then((results) => ({violations: results.violations, passes: results.passes.length}))"
    )
    serious = [each for each in found["violations"] if each["impact"] in ("serious", "critical")]
    assert found["passes"] > 10
    assert not serious, json.dumps(serious, indent=1)[:4000]
