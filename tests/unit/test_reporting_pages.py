"""The reports in a browser: the browser of rows, sorting, filtering, colours, print, and what axe finds."""

import importlib.util
import json
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

import made_up
from browser.chromium import CHROMIUM, dom, driven
from browser.devtools import browser
from devqa.config.evaluation import DOMAIN_GROUPS
from devqa.reporting import beside, pages, reviewing
from people import pairs, reviewed
from reported import HOSTILE, bench, hostile_pages, index, report, stage

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")
AXE = importlib.util.find_spec("axe_playwright_python")


def soup(page):
    return BeautifulSoup(page, "lxml")


def rich_pages():
    """A report and an index with every section."""
    benchmark = made_up.questions(60, dialogues=30)
    models = [
        made_up.Model(name, skill, benchmark, {"plain": 2, "rag": 1, "confidence": 1, "agentic": 1})
        for name, skill in (("a", 0.3), ("b", 0.5), ("c", 0.7))
    ]
    graded = made_up.people(models, 40)
    roles = [{"role": "judge", "model": "a", "family": "a", "same_model": True}]
    families = [{"model": "a", "family": "a", "roles": roles}]
    one = made_up.report(models[0], graded, families=families, note="A note.")
    funnel = [stage("dialogues", "ok", "", 10, 9), stage("pairs", "ok", "", 27, 18)]
    all_models = made_up.index(models, graded, {"a": 0.2, "b": 0.4, "c": 0.9}, families, funnel)
    beside_it = {
        "review": reviewing.review({"pairs": pairs()}, 2, "adjudicated", reviewed(60)),
        "steps": beside.steps(funnel, [], []),
        "knowledge": beside.knowledge(benchmark, DOMAIN_GROUPS),
    }
    return pages.model_report(one), pages.index_page(all_models | beside_it)


@pytest.fixture(scope="module")
def rich(tmp_path_factory):
    """The folder with report.html and index.html."""
    folder = tmp_path_factory.mktemp("rich")
    for name, page in zip(("report", "index"), rich_pages(), strict=True):
        (folder / f"{name}.html").write_bytes(page)
    return folder


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A browser's page, for several tests."""
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def test_rows_render_and_nothing_of_the_data_runs(tmp_path):
    path = tmp_path / "report.html"
    path.write_bytes(hostile_pages()[0])
    page = soup(dom(path, tmp_path / "profile"))
    assert page.title.text == "m-1 – DevQA report"
    assert len(page.select("article.row")) == 20
    assert page.select_one(".question").text == HOSTILE[0]
    assert not page.find_all("img")
    outside = {link["href"] for link in page.select("article a") if not link["href"].startswith("#row=")}
    assert outside == {"https://docs.example/a?b=1&c=2"}
    assert all("noopener" in link["rel"] for link in page.select("article dd a"))
    assert len(page.select("article li pre, article li .text")) > 0


def test_rows_are_filtered_and_paged(tmp_path):
    texts = ["git stash", "左前缀", "Read Committed"]
    benchmark = [bench(n, texts[n % 3], ["en", "zh", "ru"][n % 3]) for n in range(3000)]
    path = tmp_path / "report.html"
    path.write_bytes(pages.model_report(report(benchmark)))
    steps = """
    const form = page.querySelector("form");
    const count = () => page.querySelectorAll("article").length;
    const note = () => said.push(page.querySelector("#browser > .found").textContent + "; " + count());
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


def filtered(page, name, value):
    """How many answers the browser of rows says are left."""
    page.evaluate(
        f"""{{ const form = document.querySelector("form"); form.elements[{name!r}].value = {value!r};
        form.dispatchEvent(new Event("input")); }}"""
    )
    return page.evaluate('document.querySelector("#browser > .found").textContent')


def test_rows_show_evidence_calls_confidence_and_every_judge(rich, page):
    page.open((rich / "report.html").as_uri())
    shown = 'document.querySelector("article dl").innerText'
    filtered(page, "setting", "rag")
    assert "3 passages" in page.evaluate(shown)
    assert page.evaluate('document.querySelectorAll("article details li a[href^=https]").length') > 0
    filtered(page, "setting", "agentic")
    page.evaluate('document.querySelectorAll("article details").forEach((each) => { each.open = true; })')
    told = page.evaluate(shown)
    assert "Round 2: open" in told
    assert "more characters, which the tables hold" in told
    filtered(page, "setting", "confidence")
    assert "confidence " in page.evaluate('document.querySelector("#browser .rows").innerText')
    assert all(f" by {judge}" in told for judge in ("judge", "second", "third"))


def test_rows_are_filtered_by_all_that_tells_them_apart(rich, page):
    page.open((rich / "report.html").as_uri())
    assert filtered(page, "fate", "") == "1–20 of 300 answers"
    assert filtered(page, "domain", "web") == "1–20 of 60 answers"
    assert filtered(page, "source", "wildchat") == "1–20 of 30 answers"
    assert filtered(page, "repeat", "2") == "1–6 of 6 answers"
    assert filtered(page, "difficulty", "easy") == "1–2 of 2 answers"


def test_a_row_has_an_address(rich, page):
    page.open((rich / "report.html").as_uri() + "#row=q00003")
    assert page.evaluate('document.querySelectorAll("article").length') == 5
    assert set(page.evaluate('[...document.querySelectorAll("article .facts a")].map((link) => link.text)')) == {
        "q00003"
    }
    assert page.evaluate('document.querySelector("form").hidden')
    # The way back, and another row without loading the page again.
    step = 'new Promise((done) => { addEventListener("hashchange", () => setTimeout(done)); location.hash = "%s"; })'
    page.evaluate(step % "browser")
    assert page.evaluate('document.querySelector("#browser > .found").textContent') == "1–20 of 300 answers"
    page.evaluate(step % "row=nothing%2")
    assert page.evaluate('document.querySelector(".single code").textContent') == "nothing%2"
    assert page.evaluate('document.querySelector("#browser > .found").textContent') == "0 answers"


def test_the_leaderboard_sorts_with_undefined_last(tmp_path):
    benchmark = [bench(n) for n in range(8)]
    shares = {"b": ["INCORRECT"], "c": ["CORRECT", "INCORRECT"], "a": ["CORRECT"], "d": ["ungraded"]}
    path = tmp_path / "index.html"
    path.write_bytes(pages.index_page(index(benchmark, {name: {"fates": fates} for name, fates in shares.items()})))
    steps = """
    const table = page.querySelector(".sortable");
    const links = () => [...table.querySelectorAll("tbody a")];
    const order = () => said.push(links().map((link) => link.textContent).join(""));
    const heads = table.querySelectorAll("th button");
    order();
    for (const column of [1, 1, 2, 2]) { heads[column].click(); order(); }
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


def test_long_tables_are_filtered_by_every_word(tmp_path, page):
    benchmark = [bench(n) for n in range(2)]
    models = {f"model-{n}": {"fates": ["CORRECT"]} for n in range(13)}
    path = tmp_path / "index.html"
    path.write_bytes(pages.index_page(index(benchmark, models)))
    page.open(path.as_uri())
    left = """(text) => {
      const label = document.querySelector("label.narrow");
      label.querySelector("input").value = text;
      label.querySelector("input").dispatchEvent(new Event("input"));
      const rows = [...label.nextElementSibling.querySelectorAll("tbody tr")];
      return [rows.filter((row) => !row.hidden).length, label.querySelector(".found").textContent, label.hidden];
    }"""
    assert page.evaluate(f"({left})('MODEL-1')") == [4, "4 of 13 rows", False]
    assert page.evaluate(f"({left})(' model-1  1.000 ')") == [4, "4 of 13 rows", False]
    assert page.evaluate(f"({left})('nothing')") == [0, "0 of 13 rows", False]
    assert page.evaluate(f"({left})('')") == [13, "", False]


def test_heads_work_from_the_keyboard(rich, page):
    page.open((rich / "index.html").as_uri())
    page.evaluate('document.querySelector(".sortable th:nth-child(2) button").focus()')
    for kind in ("keyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r", windowsVirtualKeyCode=13)
    assert page.evaluate('document.querySelector(".sortable th:nth-child(2)").getAttribute("aria-sort")') == "ascending"


def test_charts_follow_light_and_dark(rich, page):
    colours = """[...document.querySelectorAll(".drawn text, .drawn path[stroke]")].map(
      (each) => getComputedStyle(each).fill + getComputedStyle(each).stroke)"""
    found = {}
    for dark in (False, True):
        page.look(1400, dark)
        page.open((rich / "index.html").as_uri())
        found[dark] = page.evaluate(colours)
    assert found[False]
    assert all(one != other for one, other in zip(found[False], found[True], strict=True))
    font = "getComputedStyle(document.querySelector(%r)).fontFamily"
    assert page.evaluate(font % ".drawn text") == page.evaluate(font % "body")


@pytest.mark.parametrize("name", ["report", "index"])
@pytest.mark.parametrize("width", [1400, 390])
def test_pages_fit_the_window_and_their_own_policy(rich, page, name, width):
    page.look(width)
    page.open((rich / f"{name}.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.logged() == []


@pytest.mark.parametrize("name", ["report", "index"])
def test_everything_is_printed_but_the_controls(rich, page, name):
    page.open((rich / f"{name}.html").as_uri())
    page.call("Emulation.setEmulatedMedia", media="print")
    seen = "getComputedStyle(document.querySelector(%r)).display"
    assert page.evaluate(seen % ".contents") == "none"
    shown = '[...document.querySelectorAll("section details table")].every((each) => each.checkVisibility())'
    assert page.evaluate(shown)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.call("Emulation.setEmulatedMedia", media="")


@pytest.mark.skipif(AXE is None, reason="axe is not installed")
@pytest.mark.parametrize("name", ["report", "index"])
@pytest.mark.parametrize(
    ("width", "dark"), [(1400, False), (1400, True), (390, False)], ids=["light", "dark", "narrow"]
)
def test_axe_finds_no_serious_fault(rich, page, name, width, dark):
    page.look(width, dark)
    page.open((rich / f"{name}.html").as_uri())
    page.evaluate('document.querySelectorAll("details").forEach((each) => { each.open = true; })')
    page.evaluate((Path(AXE.origin).parent / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate(
        "axe.run().then((results) => ({violations: results.violations, passes: results.passes.length}))"
    )
    serious = [each for each in found["violations"] if each["impact"] in ("serious", "critical")]
    assert found["passes"] > 10
    assert not serious, json.dumps(serious, indent=1)[:4000]
