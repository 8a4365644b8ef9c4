"""What the report of questions from pull requests says of its own limits: no grades, few repositories, cut texts."""

import json

import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

from browser.chromium import CHROMIUM
from browser.devtools import browser
from devqa import tables
from devqa.pull_requests import GROUND_TRUTH
from devqa.pull_requests.figures.funnel import STAGES, funnel
from devqa.reporting import pages, recalled, recalling
from recalled import AGENTS, PRICES, answered, benchmark, prediction, question, recall, report, score, stages, written


def soup(data):
    return BeautifulSoup(pages.pull_requests_page(data), "lxml")


def graded_truth(folder, found):
    """A report of which the judge says so of each true answer (a list for each of its facts)."""
    rows = [question(number) for number in range(len(found))]
    given = [prediction(row, GROUND_TRUTH, GROUND_TRUTH) for row in rows]
    judged = [recall(row, each, of) for row, each, of in zip(rows, found, given, strict=True)]
    return report(folder, rows, given, judged)


def test_a_judge_that_grades_no_true_answer_is_a_warning(tmp_path):
    page = soup(graded_truth(tmp_path, [[None, None]] * 12))
    assert "has graded none of the 12 true answers" in page.find(class_="notice").text
    told = page.find(id="truth").text
    assert "has graded none of the 12 true answers" in told
    assert "–" not in told
    assert "fault of facts or judge" not in told


def test_true_answers_without_a_grade_are_counted(tmp_path):
    page = soup(graded_truth(tmp_path, [[True, True]] * 9 + [[None, True]] * 3))
    assert not page.find(class_="notice")
    told = page.find(id="truth").text
    assert "finds 1.000 of the facts" in told
    assert "9 of 12 true answers are graded; the other 3 are not in it" in told
    assert "are graded" not in soup(graded_truth(tmp_path, [[True, True]] * 12)).find(id="truth").text


@pytest.mark.parametrize(
    ("repositories", "says"),
    [
        (1, "A true difference in fact recall of 0."),
        (3, "With 3 repositories it can’t be said how small a difference in fact recall would be found"),
        (5, "between two agents would be found in four cases of five if just these two were compared"),
    ],
)
def test_how_small_a_difference_is_found_is_said_where_it_is_known(tmp_path, repositories, says):
    rows = benchmark(60, [f"r{place}" for place in range(repositories)])
    told = soup(report(tmp_path, rows, *answered(rows, dict(list(AGENTS.items())[:4])))).find(id="compared").text
    assert says in told
    assert told.count("would be found") == 1


def test_a_repository_without_a_question_is_told(tmp_path):
    rows = benchmark(12)
    parts = answered(rows, dict(list(AGENTS.items())[:2]))
    files = stages(tmp_path, rows) | written(tmp_path, *parts)
    for stage in STAGES:
        tables.write([], STAGES[stage], tmp_path / stage / "quiet.parquet")
        files[stage] = [*files[stage], str(tmp_path / stage / "quiet.parquet")]
    lost = funnel(files, len(rows), PRICES)
    data = recalling.recalling_data(rows, score(rows, *parts), *parts, lost, PRICES, [])
    page = soup(data)
    assert "· 3 of 4 repositories ·" in page.header.text
    table = page.find(id="funnel").find("h3", string="By repository").find_next("table")
    quiet = next(row for row in table.find_all("tr") if row.th.text == "quiet")
    assert [cell.text for cell in quiet.find_all("td")] == ["0"] * (1 + len(STAGES))
    assert "· 3 repositories ·" in soup(report(tmp_path / "others", rows, *parts)).header.text


TEXT = st.text("abc", max_size=60)
ANSWERS = st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=3, max_size=3), st.booleans()), min_size=1, max_size=8)


def shown(answers):
    """What is shown of answers to one question: each a text, what is said of each fact, and whether it is graded."""
    row = question(0, ["vital"] * 3)
    predictions = [prediction(row, repeat=repeat, answer=text) for repeat, (text, *_) in enumerate(answers, 1)]
    judged = []
    for of, (_, reasons, graded) in zip(predictions, answers, strict=True):
        judged.append(recall(row, [True if graded else None] * 3, of, **({} if graded else {"reason": "r" * 50})))
        for fact, reason in zip(judged[-1]["facts"], reasons, strict=True):
            fact["reason"] = reason
    return recalled.browsed([row], [("retrieval", "small")], predictions, judged)


def texts(run):
    return [run["answer"], run["reason"], *run["why"]]


@settings(max_examples=100, deadline=None)
@given(ANSWERS, st.integers(0, 2_000))
def test_texts_keep_within_the_page_s_budget_and_none_is_lost_silently(answers, budget):
    whole = shown(answers)
    assert whole["longest"] is None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recalled, "PAGE_CHARACTERS", budget)
        cut = shown(answers)
    size = sum(len(text) for run in whole["runs"] for text in texts(run))
    assert (cut["longest"] is None) == (size <= budget)
    assert sum(len(text) for run in cut["runs"] for text in texts(run)) <= budget
    for run, all_of_it in zip(cut["runs"], whole["runs"], strict=True):
        assert all(text.startswith(part) for part, text in zip(texts(run), texts(all_of_it), strict=True))
        assert run["left_out"] == sum(map(len, texts(all_of_it))) - sum(map(len, texts(run)))


def test_a_page_that_can_t_bear_all_answers_says_so(tmp_path, monkeypatch):
    rows = benchmark(12)
    parts = answered(rows, dict(list(AGENTS.items())[:4]))
    whole = report(tmp_path / "whole", rows, *parts)
    assert "more answers than a browser can bear" not in soup(whole).find(id="browser").text
    monkeypatch.setattr(recalled, "PAGE_CHARACTERS", 10_000)
    data = report(tmp_path / "cut", rows, *parts)
    assert f"at most {10_000 // len(data['runs'])} characters are shown" in soup(data).find(id="browser").text
    assert len(pages.pull_requests_page(data)) < len(pages.pull_requests_page(whole))
    assert json.loads(json.dumps(data)) == data


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")
def test_what_is_searched_is_got_ready_when_the_field_is_first_used(tmp_path):
    rows = benchmark(12)
    path = tmp_path / "report.html"
    path.write_bytes(pages.pull_requests_page(report(tmp_path, rows, *answered(rows, AGENTS))))
    with browser(tmp_path / "profile") as page:
        page.open(path.as_uri())
        page.evaluate(
            "(() => { const own = String.prototype.toLowerCase; window.lowered = 0;"
            "String.prototype.toLowerCase = function () { window.lowered += 1; return own.call(this); }; })()"
        )
        page.evaluate("new Promise((done) => setTimeout(done, 500))")
        assert page.evaluate("window.lowered") == 0
        for _ in range(2):
            # Without a window the page itself never has the focus.
            page.evaluate("document.querySelector('form').elements.text.dispatchEvent(new Event('focus'))")
            assert page.evaluate("window.lowered") == len(rows)
