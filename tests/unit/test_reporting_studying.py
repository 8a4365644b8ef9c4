"""The report of the study: the way to the sample, tasks beside the paper's, and a page that holds texts as texts."""

import importlib.util
import json
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from browser.chromium import CHROMIUM
from browser.devtools import browser
from devqa.config.study import TASKS
from devqa.reporting import pages, plots, reviewing, studying
from devqa.study import figures
from devqa.tables import SCHEMAS
from reported import HOSTILE, stage

AXE = importlib.util.find_spec("axe_playwright_python")
SAMPLE = {"confidence": 0.95, "interval": 0.01, "strata": ["language", "length", "model"], "seed": 1}
FUNNEL = [
    stage("scanned", "ok", "", 1_000, 400),
    stage("scanned", "rejected", "off topic", 1_000, 600),
    stage("unique", "ok", "", 400, 300),
    stage("unique", "rejected", "duplicate of a file", 400, 100),
    stage("filtered", "ok", "", 300, 150),
    stage("filtered", "rejected", HOSTILE[0], 300, 150),
    stage("sampled", "ok", "", 150, 60),
    stage("sampled", "rejected", "not drawn", 150, 90),
    stage("classified", "ok", "", 60, 60),
]


def sample(count=60, categories=TASKS):
    tasks = [*categories]
    return [
        {
            "dialogue_id": f"d{number}",
            "weight": 2.5,
            "task": (task := tasks[number % 3]),
            "status": "ok",
            **dict.fromkeys(("code_centred", *figures.CRITERIA), number % 2 == 0 if task == tasks[0] else None),
        }
        for number in range(count)
    ]


def decided(rows, names=("ann", "bob")):
    labels = ("task", "code_centred", *figures.CRITERIA)
    made = []
    for number, row in enumerate(rows):
        for name in names:
            own = {label: row[label] for label in labels}
            if number % 10 == 0 and name == names[1]:
                own["task"] = "Code Translation"
            base = dict.fromkeys(SCHEMAS["dialogue_decisions"].names) | {"dialogue_id": row["dialogue_id"]}
            at = f"2026-11-01T00:{number:02}:00Z"
            made.append(base | {"annotator": name, "role": "annotator", "decided_at": at} | own)
    return made


def study(categories=TASKS, funnel=FUNNEL, rows=None, people=None, decisions=(), language="zh"):
    rows = sample(categories=categories) if rows is None else rows
    drawn = [{"language": language, "characters": 900, "model": HOSTILE[1], "status": "ok"} for _ in rows]
    return studying.study_data(
        funnel,
        SAMPLE,
        figures.population(drawn),
        figures.findings(figures.labelled(rows, people or {}), categories, next(iter(categories))),
        figures.model_against_people(rows, people or {}),
        reviewing.review({"dialogues": decisions}, 2, "adjudicated"),
    )


def soup(data):
    return BeautifulSoup(pages.study_page(data), "lxml")


def table(page, section):
    found = page.find(id=section).find("table")
    return {row.th.text: [cell.text for cell in row.find_all("td")] for row in found.find_all("tr")}


def whole():
    """A report with everything in it."""
    rows = sample()
    return study(rows=rows, people={row["dialogue_id"]: row for row in rows[:30]}, decisions=decided(rows[:30]))


def test_the_data_is_json_with_the_paper_s_figures_beside_one_s_own():
    found = whole()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    printed = {each["task"]: each["paper"] for each in found["tasks"]}
    assert [printed[task] for task in TASKS] == [0.396, 0.323, 0.089, 0.068, 0.017, 0.1, 0.004, 0.003]
    shares = [each["share"]["value"] for each in found["tasks"]]
    assert shares == sorted(shares, reverse=True)
    assert found["code_centred"]["paper"] == 0.275
    assert [each["paper"] for each in found["suitable"]] == [None, None, None, 0.1711]
    assert [(each["own"], each["paper"]) for each in found["way"]] == [
        (1_000, 1_000_000),
        (400, 376_888),
        (300, None),
        (150, 103_112),
        (60, 8_786),
    ]
    rates = [each["paper_rate"] for each in found["way"]]
    assert rates[1:] == [
        pytest.approx(0.376888),
        None,
        pytest.approx(103_112 / 376_888),
        pytest.approx(8_786 / 103_112),
    ]


def test_the_page_shows_the_way_the_tasks_and_what_suits():
    page = soup(whole())
    way = table(page, "way")
    assert way["Raw dialogues"] == ["1,000", "", "1,000,000", ""]
    assert way["Without duplicates"] == ["300", "75.0\xa0%", "–", "–"]
    assert way["Drawn"] == ["60", "40.0\xa0%", "8,786", "8.5\xa0%"]
    tasks = table(page, "tasks")
    assert tasks["Code Generation"][0] == "20"
    assert tasks["Code Generation"][1].startswith("33.3\xa0%")
    assert tasks["Code Generation"][2] == "32.3\xa0%"
    assert "30 by people, 30 by the model alone" in page.find(id="tasks").text
    suitable = table(page, "suitability")
    assert suitable["suitable: all three"][0] == "20"
    assert suitable["suitable: all three"][1].startswith("50.0\xa0%")
    assert suitable["suitable: all three"][2] == "17.1\xa0%"
    assert "2,870" in page.find(id="suitability").text
    assert table(page, "people")["task"][0] == "30"
    assert "0.908" in page.find(id="people").text
    assert len(page.find(id="tasks").find_all("svg")) == 1


def test_categories_of_one_s_own_have_no_share_of_the_paper():
    page = soup(study({"asking": "", HOSTILE[0]: "", "fixing": ""}))
    assert {cells[-1] for name, cells in table(page, "tasks").items() if name != "Task"} == {"–"}
    assert not page.find_all("img")
    assert not [script for script in page.find_all("script") if "owned" in script.text]


def test_an_empty_study_says_so():
    page = soup(study(rows=[], funnel=[stage("scanned", "rejected", "off topic", 5, 5)]))
    assert "No dialogue is about software development" in page.find(id="population").text
    assert not page.find(id="tasks").find("svg")
    assert not page.find(id="people")
    assert table(page, "way")["Without duplicates"][:2] == ["0", "–"]


def test_hostile_texts_are_shown_as_they_are():
    text = pages.study_page(study(language=HOSTILE[0])).decode()
    assert "<script>document" not in text
    assert HOSTILE[0] in BeautifulSoup(text, "lxml").find(id="population").text


def test_the_chart_has_a_dot_and_the_paper_s_diamond_for_each_task():
    rows = [
        {"task": "one", "share": {"value": 0.4, "low": 0.3, "high": 0.5}, "paper": 0.35},
        {"task": HOSTILE[0], "share": {"value": 0.1, "low": None, "high": None}, "paper": None},
    ]
    chart = BeautifulSoup(plots.tasks(rows, "share", "Tasks"), "xml").svg
    told = [text.text for text in chart.find_all("text")]
    assert {"one", "40.0 %", "10.0 %"} <= set(told)
    assert len(chart.find_all("path", stroke="var(--correct)")) == 2
    assert len(chart.find_all("path", stroke="var(--incorrect)")) == 1
    assert len([line for line in chart.find_all("line") if line["stroke"] == "var(--correct)"]) == 1
    nothing = {"task": "one", "share": {"value": None, "low": None, "high": None}, "paper": 0.35}
    assert plots.tasks([nothing], "share", "Tasks") == ""


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """The page in a browser."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "report.html").write_bytes(pages.study_page(whole()))
    with browser(tmp_path_factory.mktemp("profile")) as page:
        yield page, (folder / "report.html").as_uri()


LOOKS = pytest.mark.parametrize(
    ("width", "dark"), [(1400, False), (1400, True), (390, False)], ids=["light", "dark", "narrow"]
)


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")
@LOOKS
def test_the_page_fits_the_window_and_its_own_policy(opened, width, dark):
    page, address = opened
    page.look(width, dark)
    page.open(address)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.logged() == []


@pytest.mark.skipif(CHROMIUM is None or AXE is None, reason="there is no Chromium, or axe is not installed")
@LOOKS
def test_axe_finds_no_serious_fault(opened, width, dark):
    page, address = opened
    page.look(width, dark)
    page.open(address)
    page.evaluate('document.querySelectorAll("details").forEach((each) => { each.open = true; })')
    page.evaluate((Path(AXE.origin).parent / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate(
        "axe.run().then((results) => ({violations: results.violations, passes: results.passes.length}))"
    )
    serious = [each for each in found["violations"] if each["impact"] in ("serious", "critical")]
    assert found["passes"] > 10
    assert not serious, json.dumps(serious, indent=1)[:4000]
