"""The page without a browser: what it shows and takes, from whom, and in what order."""

import re
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.datastructures import MultiDict

from annotating import ACCEPT, DOMAINS, EVIDENCE, TASKS, pair, stocked, write_things
from devqa import tables
from devqa.review import forms, pages
from devqa.review.app import Desk, create_app
from devqa.review.deciding import LABELS
from devqa.review.items import KINDS, items
from devqa.review.people import admit
from devqa.steps.check import CRITERIA

KNOWLEDGE = "Dev Knowledge QA"
ASPECTS = dict.fromkeys(forms.ASPECTS, "yes")
HOSTILE = [
    "<script>document.title = 'run'</script>",
    '"><img src=x onerror="document.title = 1">',
    "<svg onload=alert(1)>",
    "</textarea><style>* { display: none }</style>",
    "{{ 7 * 191 }}",
    "javascript:alert(1)",
]


class Visitor:
    """Somebody with a browser without scripts. `page` is what they have before them."""

    def __init__(self, app, token):
        self.client = app.test_client()
        self.client.get(f"/enter/{token}")
        self.page = None

    def open(self, address):
        answer = self.client.get(address)
        self.page = BeautifulSoup(answer.text, "lxml")
        return answer

    def send(self, form, **values):
        """Send `form` with `values` over what it holds already; the answer, after redirects."""
        fields = MultiDict()
        for field in self.page.select(f'form[action$="{form}"] [name]'):
            kind = field.get("type", "")
            if field.name == "textarea":
                fields.add(field["name"], field.text)
            elif kind == "hidden" or field.has_attr("checked"):
                fields.add(field["name"], field["value"])
        for name, value in values.items():
            fields.setlist(name, value if isinstance(value, list) else [value])
        address = self.page.select_one(f'form[action$="{form}"]')["action"]
        answer = self.client.post(address, data=fields, follow_redirects=True)
        if answer.mimetype == "text/html":
            self.page = BeautifulSoup(answer.text, "lxml")
        return answer

    def problems(self):
        return [each.text for each in self.page.select(".notice p")]


@pytest.fixture
def made(tmp_path):
    """A desk with four things of each kind, and people before it."""
    store = stocked(tmp_path, 4)
    write_things(tmp_path, 4)
    for kind, path in {
        "grades": "results/review_grades.parquet",
        "dialogues": "results/study/classified.parquet",
        "domains": "results/questions.parquet",
    }.items():
        store.take_in(kind, items(KINDS[kind], tmp_path / path))
    changed = []
    app = create_app(Desk(store, tuple(KINDS), TASKS, KNOWLEDGE, DOMAINS, changed.append))
    tokens = admit(store, ["ann", "bob"], ["eve"])
    people = {name: Visitor(app, token) for name, token in tokens.items()}
    yield SimpleNamespace(store=store, app=app, tokens=tokens, changed=changed, **people)
    store.close()


def answer(visitor, **values):
    """Give an own answer to the pair that is before the visitor."""
    visitor.open("/pairs")
    return visitor.send("answer", act="answer", **{"own_answer": "mine", "urls": "\n".join(EVIDENCE), **values})


def test_the_answer_and_what_models_said_come_after_the_own_answer(made):
    made.ann.open("/pairs")
    row = pair(0)
    hidden = ["git reflog", "told-by", "contradicted", "depends on the version", "hard"]
    assert row["question"] in made.ann.page.text
    assert not [text for text in hidden if text in str(made.ann.page)]
    assert answer(made.ann).status_code == 200
    assert not [text for text in hidden if text not in made.ann.page.text]
    assert made.ann.page.select_one("mark").text == row["supports"][0]["span"]
    assert made.ann.page.select_one("[name=urls]").text.split() == EVIDENCE
    assert made.ann.page.select_one("[name=answer]").text.strip() == "mine"
    made.bob.open("/pairs")
    assert not [text for text in hidden if text in str(made.bob.page)]


def test_the_texts_of_pages_are_shown_without_marks_or_order(made):
    made.ann.open("/pairs/1/texts")
    assert [each.text for each in made.ann.page.select("h2")] == [
        "A file of the corpus",
        "Manual 0",
        "Evidence",
        "More evidence",
    ]
    assert "git reflog" not in made.ann.page.text and not made.ann.page.select("mark")
    assert made.ann.open("/grades/5/texts").status_code == 404


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"own_answer": " "}, "Your own answer is missing."),
        ({"urls": EVIDENCE[0]}, "At least 2 addresses of different pages that show the answer are needed."),
        ({"urls": f"{EVIDENCE[0]} http://www.docs.example/one/#part"}, "At least 2 addresses"),
        ({"urls": "https://a.example ftp://b"}, "This is no address on the web: ftp://b."),
        ({"urls": "https://a.example javascript:alert(1)"}, "no address on the web: javascript"),
        ({"failed_criteria": "verifiable"}, "A pair that fails a criterion is rejected"),
    ],
)
def test_an_own_answer_lacks_nothing(made, values, problem):
    assert answer(made.ann, **values).status_code == 422
    assert any(each.startswith(problem) or problem in each for each in made.ann.problems())
    assert "told-by" not in str(made.ann.page)
    # What was typed is still there.
    form = made.ann.page.select_one("form[action$=answer]")
    assert form.select_one("[name=urls]").text.split() == values.get("urls", " ".join(EVIDENCE)).split()


def test_picked_addresses_count_as_typed_ones_do(made):
    picks = [f"https://docs.example/0/{number}" for number in (0, 1)]
    assert answer(made.ann, urls="", pick=picks).status_code == 200
    assert [each["value"] for each in made.ann.page.select("[name=pick][checked]")] == picks
    made.ann.send("decide", decision="accept")
    assert made.store.rows("pairs")[0]["evidence_urls"] == picks


def test_the_own_answer_stays_as_it_was_first_sent(made):
    answer(made.ann)
    first = made.ann.page.select_one("form[action$=decide]")
    made.ann.client.post(
        "/pairs/1/answer",
        data={
            "act": "answer",
            "own_answer": "better",
            "urls": " ".join(EVIDENCE),
            "form_token": first.select_one("[name=form_token]")["value"],
        },
    )
    made.ann.open("/pairs")
    made.ann.send("decide", decision="accept", own_answer="better still")
    assert made.store.rows("pairs")[0]["own_answer"] == "mine"


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({}, "Choose: accept, correct or reject."),
        ({"decision": "perhaps"}, "Choose: accept, correct or reject."),
        ({"decision": "reject"}, "To reject, mark a criterion that fails, or give a reason."),
        ({"decision": "reject", "failed_criteria": "ugly"}, "To reject, mark a criterion"),
        ({"decision": "correct", "answer": " "}, "The correct answer is missing."),
        ({"decision": "accept", "urls": ""}, "At least 2 addresses"),
        ({"decision": "correct", "urls": EVIDENCE[1]}, "At least 2 addresses"),
    ],
)
def test_a_decision_lacks_nothing(made, values, problem):
    answer(made.ann)
    assert made.ann.send("decide", **values).status_code == 422
    assert made.ann.problems()[0].startswith(problem)
    assert made.store.rows("pairs") == []


def test_nothing_is_accepted_before_an_own_answer(made):
    made.ann.open("/pairs")
    token = made.ann.page.select_one("[name=form_token]")["value"]
    sent = {"form_token": token, "role": "annotator", "decision": "accept", "urls": " ".join(EVIDENCE)}
    assert made.ann.client.post("/pairs/1/decide", data=sent).status_code == 422
    assert made.store.rows("pairs") == []


def test_a_decision_holds_what_belongs_to_it(made):
    said = {"reason": "typed", "answer": "right", "failed_criteria": ["verifiable", "unambiguous"]}
    for decision in ("accept", "correct", "reject"):
        answer(made.ann)
        assert made.ann.send("decide", decision=decision, **said).status_code == 200
        assert made.ann.page.select_one("[role=status]").text == "Kept."
    accepted, corrected, rejected = made.store.rows("pairs")
    base = {"own_answer": "mine", "evidence_urls": EVIDENCE}
    expected = {**base, "decision": "accept", "failed_criteria": [], "reason": "", "answer": ""}
    assert expected.items() <= accepted.items()
    assert {**expected, "decision": "correct", "answer": "right"}.items() <= corrected.items()
    failed = ["unambiguous", "verifiable"]
    assert {**expected, "decision": "reject", "failed_criteria": failed, "reason": "typed"}.items() <= rejected.items()
    assert made.changed == ["pairs"] * 3


def test_a_pair_is_rejected_without_an_own_answer(made):
    made.ann.open("/pairs")
    assert made.ann.send("answer", act="reject").status_code == 422
    assert made.ann.send("answer", act="reject", failed_criteria="complex_enough").status_code == 200
    assert made.store.rows("pairs")[0]["failed_criteria"] == ["complex_enough"]
    assert pair(1)["question"] in made.ann.page.text


def test_an_adjudicator_sees_both_decisions_without_names_and_settles(made):
    for visitor, decision in ((made.ann, "accept"), (made.bob, "correct")):
        answer(visitor, own_answer=f"as-said-by-{decision}", urls=f"https://{decision}.example/1 https://x.example/")
        visitor.send("decide", decision=decision)
    made.eve.open("/pairs")
    text = made.eve.page.text
    assert "Decision 1: accept" in text and "Decision 2: correct" in text
    assert "as-said-by-accept" in text and "told-by-check-0" in text
    assert "ann" not in re.findall(r"\w+", text) and "bob" not in re.findall(r"\w+", text)
    offered = [each["value"] for each in made.eve.page.select("[name=pick]")]
    assert offered[-3:] == ["https://accept.example/1", "https://x.example/", "https://correct.example/1"]
    made.eve.send("decide", decision="correct", answer="really", pick=offered[-2:])
    row = next(row for row in made.store.rows("pairs") if row["annotator"] == "eve")
    assert (row["role"], row["answer"], row["own_answer"]) == ("adjudicator", "really", "")
    assert "Nothing is left for you here" in made.eve.page.text


def test_nobody_takes_a_role_that_is_not_theirs(made):
    made.ann.open("/pairs")
    token = made.ann.page.select_one("[name=form_token]")["value"]
    for role in ("adjudicator", "king", ""):
        sent = {"form_token": token, "role": role, "act": "reject", "reason": "x"}
        assert made.ann.client.post("/pairs/1/decide", data=sent).status_code == 404
    assert made.store.rows("pairs") == []


def test_grades_are_given_blind(made):
    made.ann.open("/grades")
    assert not [text for text in ("secret-model", "told-by-judge") if text in str(made.ann.page)]
    assert not made.ann.page.select(".decision [checked]")
    assert made.ann.send("decide").status_code == 422
    assert made.ann.send("decide", grade="GOOD").status_code == 422
    made.ann.send("decide", grade="NOT_ATTEMPTED")
    row = made.store.rows("grades")[0]
    assert (row["id"], row["model"], row["repeat"], row["grade"]) == ("row-00000", "secret-model", 1, "NOT_ATTEMPTED")


def test_a_dialogue_is_a_task_and_a_knowledge_question_has_aspects(made):
    made.ann.open("/dialogues")
    assert made.ann.send("decide", task=KNOWLEDGE, code_centred="yes", timeless="maybe").status_code == 422
    assert made.ann.problems() == ["Answer all four questions about it with yes or no."]
    made.ann.send("decide", task=KNOWLEDGE, **{**ASPECTS, "timeless": "no"})
    made.ann.send("decide", task="Code Generation", **ASPECTS)
    first, second = made.store.rows("dialogues")
    assert [first[name] for name in LABELS["dialogue_decisions"]] == [KNOWLEDGE, True, True, False, True]
    assert [second[name] for name in LABELS["dialogue_decisions"]] == ["Code Generation", None, None, None, None]


def test_a_question_belongs_to_one_of_the_domains(made):
    made.ann.open("/domains")
    assert [each["value"] for each in made.ann.page.select("[name=domain]")] == list(DOMAINS)
    made.ann.send("decide", domain="Databases")
    assert made.store.rows("domains")[0]["domain"] == "Databases"


def test_an_adjudicator_sees_others_labels(made):
    for visitor, grade in ((made.ann, "CORRECT"), (made.bob, "INCORRECT")):
        visitor.open("/grades")
        visitor.send("decide", grade=grade)
    for visitor, task in ((made.ann, KNOWLEDGE), (made.bob, "Code Generation")):
        visitor.open("/dialogues")
        visitor.send("decide", task=task, **ASPECTS)
    made.eve.open("/grades")
    assert [each.text for each in made.eve.page.select(".other li")] == ["CORRECT", "INCORRECT"]
    made.eve.open("/dialogues")
    assert [each.text.split(":")[0] for each in made.eve.page.select(".other li")] == [KNOWLEDGE, "Code Generation"]


def test_undo_skip_and_progress(made):
    made.ann.open("/grades")
    made.ann.send("decide", grade="CORRECT")
    assert "3 left for you · 1 decided by you · 0 of 4 complete" in made.ann.page.text
    made.ann.send("undo")
    assert made.ann.page.select_one("[checked]")["value"] == "CORRECT"
    assert "4 left for you · 0 decided by you" in made.ann.page.text
    assert made.ann.page.select_one('form[action$="undo"] button').has_attr("disabled")
    made.ann.send("skip")
    assert "(1)" in made.ann.page.text
    assert made.ann.send("undo").status_code == 409
    assert made.ann.problems() == ["You have decided nothing here yet."]
    made.ann.open("/")
    assert [each.text for each in made.ann.page.select("dd")][:4] == ["4", "0", "0 of 4", "4"]


def test_annotators_do_not_learn_from_figures_what_others_decided(made):
    for visitor, grades in ((made.ann, ("CORRECT", "CORRECT")), (made.bob, ("CORRECT", "INCORRECT"))):
        visitor.open("/grades")
        for grade in grades:
            visitor.send("decide", grade=grade)
    assert "2 of 4 complete" in made.bob.page.text
    assert "disputed" not in made.bob.page.text and "settled" not in made.bob.page.text
    assert made.bob.open("/agreement").status_code == 404
    made.bob.open("/")
    assert "disputed" not in made.bob.page.text and not made.bob.page.select('[href="/agreement"]')
    made.eve.open("/grades")
    assert "1 of 4 settled · 1 disputed" in made.eve.page.text
    made.eve.open("/agreement")
    assert [each.text for each in made.eve.page.select("h2")] == ["Graded answers"]
    first, *_ = made.eve.page.select("tbody tr")
    assert [cell.text for cell in first.select("th, td")] == ["grade", "2", "0.00", "1.00", "–"]
    made.eve.open("/grades")
    made.eve.send("decide", grade="CORRECT")
    made.eve.open("/agreement")
    people = made.eve.page.select("details table")[0].select("tbody tr")
    assert [[cell.text for cell in row.select("th, td")][1:4] for row in people] == [
        ["ann", "2", "1.00"],
        ["bob", "2", "0.50"],
    ]


def test_what_was_sent_twice_is_said_and_not_taken(made):
    made.ann.open("/grades")
    old = made.ann.page
    made.ann.send("decide", grade="CORRECT")
    made.ann.page = old
    assert made.ann.send("decide", grade="INCORRECT").status_code == 409
    assert "already" in made.ann.problems()[0]
    assert [row["grade"] for row in made.store.rows("grades")] == ["CORRECT"]


def test_drafts_are_kept_and_those_from_before_the_own_answer_come_too_late(made):
    made.ann.open("/pairs")
    form = made.ann.page.select_one("form[data-draft]")
    sent = {field["name"]: field["value"] for field in form.select("[type=hidden]")}
    sent |= {"own_answer": "half an ans", "failed_criteria": "verifiable", "urls": "https://a.exam"}
    assert made.ann.client.post(form["data-draft"], data=sent).status_code == 204
    made.ann.open("/pairs")
    assert made.ann.page.select_one("[name=own_answer]").text.strip() == "half an ans"
    assert made.ann.page.select_one("[name=urls]").text.strip() == "https://a.exam"
    assert made.ann.page.select_one("[name=failed_criteria][checked]")["value"] == "verifiable"
    made.bob.open("/pairs/1/texts")
    assert "half an ans" not in str(made.bob.page)
    answer(made.ann, failed_criteria=[])
    assert made.ann.client.post(form["data-draft"], data=sent).status_code == 204
    made.ann.open("/pairs")
    assert made.ann.page.select_one("[name=urls]").text.split() == EVIDENCE


def test_only_who_has_a_token_gets_in(made):
    stranger = made.app.test_client()
    for address in ("/", "/pairs", "/pairs/1/texts", "/enter/wrong", "/nothing"):
        said = stranger.get(address)
        assert said.status_code == 401
        assert "git reflog" not in said.text and "Which command" not in said.text
    assert stranger.post("/pairs/undo").status_code == 401
    assert stranger.get("/static/review.css").status_code == stranger.get("/look.css").status_code == 200
    entered = stranger.get(f"/enter/{made.tokens['ann']}")
    cookie = entered.headers["Set-Cookie"]
    assert (entered.status_code, entered.headers["Location"]) == (302, "/")
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Max-Age" in cookie


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "127.0.0.2", ""])
def test_another_host_name_is_refused(made, host):
    made.ann.client.set_cookie(made.app.config["COOKIE"], made.tokens["ann"], domain=host.split(":")[0])
    assert made.ann.client.get("/pairs", headers={"Host": host}).status_code == 400
    assert made.ann.client.get(f"/enter/{made.tokens['ann']}", headers={"Host": host}).status_code == 400


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:9000", "localhost"])
def test_this_machine_and_the_end_of_a_tunnel_are_let_in(made, host):
    made.ann.client.set_cookie(made.app.config["COOKIE"], made.tokens["ann"], domain=host.split(":")[0])
    assert made.ann.client.get("/pairs", headers={"Host": host}).status_code == 200


def test_forms_of_other_sites_are_refused(made):
    made.ann.open("/grades")
    form = {"role": "annotator", "grade": "CORRECT"}
    token = made.ann.page.select_one("[name=form_token]")["value"]
    made.bob.open("/grades")
    others = made.bob.page.select_one("[name=form_token]")["value"]
    number = re.search(r"/grades/(\d+)/decide", str(made.ann.page))[1]
    for sent, headers in (
        (form, {}),
        ({**form, "form_token": ""}, {}),
        ({**form, "form_token": "ü"}, {}),
        ({**form, "form_token": others}, {}),
        ({**form, "form_token": token}, {"Origin": "https://evil.example"}),
        ({**form, "form_token": token}, {"Origin": "http://localhost:1"}),
        ({**form, "form_token": token}, {"Origin": "null"}),
    ):
        for act in ("decide", "skip", "draft"):
            said = made.ann.client.post(f"/grades/{number}/{act}", data=sent, headers=headers)
            assert said.status_code == 403
    assert made.store.rows("grades") == []
    said = made.ann.client.post(
        f"/grades/{number}/decide", data={**form, "form_token": token}, headers={"Origin": "http://localhost"}
    )
    assert said.status_code == 302


def test_every_answer_says_what_browsers_must_not_do(made):
    policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"
    stranger = made.app.test_client()
    for said in (
        made.ann.client.get("/pairs"),
        made.ann.client.get("/nothing"),
        stranger.get("/"),
        stranger.get("/static/review.js"),
        stranger.get("/", headers={"Host": "evil.example"}),
    ):
        assert said.headers["Content-Security-Policy"].startswith(policy)
        assert said.headers["X-Content-Type-Options"] == "nosniff"
        assert said.headers["Cache-Control"] == "no-store"


def test_a_form_that_is_too_large_is_refused(made):
    made.ann.open("/pairs")
    assert made.ann.send("answer", own_answer="x" * 2_000_000).status_code == 413
    made.ann.open("/pairs")
    assert made.ann.send("answer", own_answer="x" * 600_000, act="answer").status_code == 422


@pytest.mark.parametrize(
    "address",
    ["/nothing", "/pairs/99/texts", f"/pairs/{10**30}/texts", "/pairs/x/texts", "/PAIRS", "/domains/1/texts"],
)
def test_what_is_not_there_is_not_found(made, address):
    assert made.ann.open(address).status_code == 404
    assert made.ann.page.h1.text == "Not Found"


def test_a_store_that_cannot_be_written_says_that_nothing_was_kept(made):
    made.ann.open("/grades")
    made.store.all("PRAGMA query_only = ON")
    assert made.ann.send("decide", grade="CORRECT").status_code == 500
    assert "Nothing of this was kept" in made.ann.page.text
    made.store.all("PRAGMA query_only = OFF")
    assert made.store.rows("grades") == []
    made.ann.open("/grades")
    made.ann.send("decide", grade="CORRECT")
    assert len(made.store.rows("grades")) == 1


def test_hostile_texts_are_texts(made, tmp_path):
    text = "".join(HOSTILE)
    row = pair(0, question=text, answer=text, verdict=text, evidence_answer=text, explanation=text, language='"><b>')
    row["references"] = [{"url": "javascript:alert(1)", "title": text, "text": text}]
    row["supports"] = [{"reference": 1, "span": HOSTILE[1], "match": "exact"}]
    row["passages"] = [{"url": f"https://x.example/{text}", "title": text, "text": text, "score": 1.0}]
    row["criteria"] = [{"criterion": text, "passed": True, "reason": text}]
    tables.write([row], "review", tmp_path / "hostile.parquet")
    made.store.take_in("pairs", items(KINDS["pairs"], tmp_path / "hostile.parquet"))
    made.ann.open("/pairs")
    first = made.ann.page
    answer(made.ann, own_answer=text, reason=text)
    assert made.ann.send("decide", answer=text, reason=text, urls=text).status_code == 422
    second = made.ann.page
    made.ann.open("/pairs/1/texts")
    for page in (first, second, made.ann.page):
        assert not page.select("img, svg, style, b > b, script:not([src])")
        assert not page.select("[onerror], [onload]")
        assert all(link["href"].startswith(("/", "https://")) for link in page.select("a"))
        assert text in page.text
        outside = [link for link in page.select("a") if link["href"].startswith("https:")]
        assert all({"noopener", "noreferrer"} <= set(link["rel"]) for link in outside)
        assert "1337" not in page.text
    assert second.select_one("mark").text == HOSTILE[1]


def test_labels_for_people_cover_all_that_there_is(made):
    assert [
        label for kind in KINDS.values() for label in LABELS.get(kind.decisions, ()) if label not in kind.labels
    ] == []
    made.ann.open("/pairs")
    assert [each["value"] for each in made.ann.page.select("[name=failed_criteria]")] == list(CRITERIA)


def test_a_store_without_one_kind_does_not_show_it(made):
    app = create_app(Desk(made.store, ("pairs",)))
    visitor = Visitor(app, made.tokens["ann"])
    assert visitor.open("/grades").status_code == 404
    visitor.open("/")
    assert [link["href"] for link in visitor.page.select("nav a")] == ["/", "/pairs"]


@given(st.text("ab .", max_size=40), st.lists(st.text("ab .", max_size=8), max_size=4))
def test_marked_pieces_are_the_text_and_marks_cover_the_spans(text, spans):
    pieces = pages.marked(text, spans)
    assert "".join(piece for piece, _ in pieces) == text
    assert all(piece for piece, _ in pieces)
    covered = [mark for piece, mark in pieces for _ in piece]
    for span in filter(None, spans):
        if (start := text.find(span)) >= 0:
            assert all(covered[start : start + len(span)])
    known = set().union(*(set(range(at, at + len(s))) for s in spans if s and (at := text.find(s)) >= 0))
    assert {place for place, mark in enumerate(covered) if mark} == known


def test_references_say_which_sentences_do_not_stand_in_them():
    row = pair(0, supports=[{"reference": 1, "span": "elsewhere", "match": "near"}])
    first, second = pages.references(row)
    assert (first["astray"], second["astray"]) == (["elsewhere"], [])
    assert all(not mark for _, mark in first["pieces"])
    empty = pair(0, supports=None, references=None, passages=None, cited=None)
    assert pages.references(empty) == pages.passages(empty) == pages.documents(empty) == pages.picks(empty, []) == []


def test_many_addresses_have_keys_as_long_as_there_are_letters():
    row = pair(0, references=[{"url": f"https://x.example/{n:02}", "title": "", "text": ""} for n in range(30)])
    keys = [pick["key"] for pick in pages.picks({**row, "passages": []}, [])]
    taken = set("enorstuwy")
    assert "".join(keys) == pages.LETTERS and not taken & set(pages.LETTERS)
    assert len(keys) == 30


def test_a_decision_of_the_fixture_is_complete():
    assert forms.problems_of_pair(ACCEPT, answered=True) == []


def test_pages_of_the_local_corpus_are_evidence_too():
    row = {**pair(1), "passages": [], "references": [{"url": "file:a.md", "title": "", "text": "x"}]}
    assert [pick["url"] for pick in pages.picks(row, [])] == ["file:a.md"]
    content = {"failed_criteria": [], "own_answer": "x", "evidence_urls": ["file:a.md", "file:b/c.md"]}
    assert forms.problems_of_answer(content) == []
    assert "At least 2" in forms.problems_of_answer({**content, "evidence_urls": ["file:a.md", "file:a.md"]})[0]
