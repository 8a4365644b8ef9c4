"""What people have decided, in the index."""

import json

import pytest
from bs4 import BeautifulSoup

from devqa.config.evaluation import DOMAIN_GROUPS
from devqa.reporting import beside, pages, reviewing
from people import decided, pairs, reviewed
from reported import HOSTILE, bench, index, stage


def soup(**more):
    benchmark = [bench(n, domain="System design") for n in range(4)]
    data = index(benchmark, {"m": {"fates": ["CORRECT"]}}) | more
    return BeautifulSoup(pages.index_page(data), "lxml")


def test_things_are_counted_by_where_they_stand():
    rows = [*pairs(10, wrong_from=8), decided("pair_decisions", "ann", 99, pair_id="p11", decision="accept")]
    rows += [
        decided("pair_decisions", name, 99, pair_id="p12", decision=decision)
        for name, decision in (("ann", "accept"), ("bob", "reject"))
    ]
    there = [*reviewed(10), *({"pair_id": f"p{number}", "decision": ""} for number in (10, 11, 12))]
    found = reviewing.review({"pairs": rows, "domains": []}, 2, "adjudicated", there)
    assert list(found) == ["pairs"]
    assert found["pairs"]["states"] == {"settled": 10, "adjudicated": 2, "disputed": 1, "open": 1}
    assert found["pairs"]["pairs"] == {"accepted": 10, "corrected": 0, "rejected": 0, "open": 3}
    assert found["pairs"]["people"] == 3
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_decisions_about_pairs_that_are_gone_count_nowhere():
    assert reviewing.review({"pairs": pairs(10)}, 2, "adjudicated", []) == {}
    found = reviewing.review({"pairs": pairs(10)}, 2, "adjudicated", reviewed(4))
    assert found["pairs"]["states"]["settled"] == 4
    assert found["pairs"]["criteria"][0]["things"] == 4


def test_the_index_says_how_far_people_agree_and_who_drifts():
    found = reviewing.review({"pairs": pairs()}, 2, "adjudicated", reviewed(60))
    page = soup(review=found)
    section = page.find(id="people")
    assert "accepted 60" in " ".join(section.find(class_="legend").text.split())
    assert "60 settled, 20 of them by a third" in section.text
    (notice,) = section.find_all(class_="notice")
    assert notice.text.strip().startswith("bob agrees less than before: 0.0\xa0% of the latest 20 decisions")
    (row,) = [row for row in section.find("table").find_all("tr") if row.th.text == "decision"]
    cells = [cell.text for cell in row.find_all("td")]
    assert cells[0] == "60"
    assert cells[2].startswith("0.833")
    assert cells[3].startswith("0.500")
    assert "0.908" in section.text
    assert page.find("a", href="#people")


def test_without_decisions_there_is_no_such_section():
    page = soup()
    assert not page.find(id="people")
    assert not page.find("a", href="#people")
    assert "Beside SimpleDevQA" not in page.text


def test_names_and_criteria_stay_texts():
    found = reviewing.review({"pairs": pairs(names=(HOSTILE[0], HOSTILE[1]))}, 2, "adjudicated", reviewed(60))
    section = soup(review=found).find(id="people")
    assert HOSTILE[0] in section.text
    assert HOSTILE[1] in section.find(class_="notice").text
    assert not section.find_all(["script", "img"])


def test_the_index_shows_the_paper_s_funnel_and_domains_beside_one_s_own():
    steps = beside.steps([stage("dialogues", "ok", "", 10, 9), stage("pairs", "ok", "", 27, 18)], [], [])
    benchmark = [{"domain": "System design"}] * 4
    page = soup(steps=steps, knowledge=beside.knowledge(benchmark, DOMAIN_GROUPS))
    rows = {row.th.text: [cell.text for cell in row.find_all("td")] for row in page.find(id="funnel").find_all("tr")}
    assert rows["Question–answer pairs"] == ["18", "2.0", "9,000", "3.0", "per dialogue"]
    assert rows["Hard, and kept by people"] == ["–", "–", "2,740", "84.8\xa0%", "of hard"]
    table = page.find(id="benchmark").find(class_="grouped")
    rows = {row.th.text: [cell.text for cell in row.find_all("td")] for row in table.find_all("tr") if row.td}
    assert rows["semantic"][:2] == ["4", "100.0\xa0%"]
    assert rows["semantic"][-2:] == ["435", "15.9\xa0%"]
    assert rows["APIs & Frameworks"][-2:] == ["1,764", "64.4\xa0%"]
    assert "2,739" in page.find(id="benchmark").text
    # The same domains are not shown twice.
    assert not page.find("caption", string="By domain")


@pytest.mark.parametrize("people", [1, 2])
def test_a_person_alone_agrees_with_nobody(people):
    rows = [decided("grade_decisions", "ann", n, id=f"r{n}", grade="CORRECT") for n in range(30)]
    found = reviewing.review({"grades": rows}, people, "adjudicated")["grades"]
    assert found["pairs"] is None
    assert found["criteria"][0]["alpha"]["value"] is None
    assert found["states"]["settled" if people == 1 else "open"] == 30
    assert "1 person has taken part" in soup(review={"grades": found}).find(id="people").text
