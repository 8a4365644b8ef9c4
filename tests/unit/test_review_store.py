"""The store of people's work: nothing is lost, nothing comes twice, and nobody sees what they should not."""

import json
import multiprocessing
import os
import signal
import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotating import ACCEPT, ANN, BOB, EVE, REJECT, decided, pair, stocked
from devqa import tables
from devqa.errors import UserError
from devqa.review import acting, exporting
from devqa.review.deciding import state
from devqa.review.items import KINDS, items
from devqa.review.locking import alone, note
from devqa.review.people import Person, admit, everybody, holder
from devqa.review.store import Store, opened

BOTH = Person("zoe", True, True)


@pytest.fixture
def store(tmp_path):
    made = stocked(tmp_path, 4)
    yield made
    made.close()


def act(store, person, content=ACCEPT):
    """`person` decides what they have before them; its key."""
    task = acting.current(store, person, "pairs")
    acting.decide(store, person, task, content)
    return task.payload["pair_id"]


def take_in(store, folder, numbers, **columns):
    """Make these pairs the things that there are."""
    tables.write((pair(number, **columns) for number in numbers), "review", folder / "again.parquet")
    store.take_in("pairs", items(KINDS["pairs"], folder / "again.parquet"))


def test_two_who_agree_settle_a_pair_and_a_third_settles_what_is_disputed(store):
    assert act(store, ANN) == act(store, BOB) == "pair-00000"
    assert act(store, ANN) == act(store, BOB, REJECT) == "pair-00001"
    assert acting.progress(store, EVE, "pairs") == acting.Progress(mine=0, left=1, settled=1, disputed=1, all=4)
    assert act(store, EVE, REJECT) == "pair-00001"
    assert acting.current(store, EVE, "pairs") is None
    assert acting.progress(store, ANN, "pairs") == acting.Progress(mine=2, left=2, settled=2, disputed=0, all=4)
    rows = store.rows("pairs")
    assert [(row["pair_id"], row["annotator"], row["role"], row["decision"]) for row in rows] == [
        ("pair-00000", "ann", "annotator", "accept"),
        ("pair-00000", "bob", "annotator", "accept"),
        ("pair-00001", "ann", "annotator", "accept"),
        ("pair-00001", "bob", "annotator", "reject"),
        ("pair-00001", "eve", "adjudicator", "reject"),
    ]
    assert sorted(rows[0]) == sorted(tables.SCHEMAS["pair_decisions"].names)


def test_only_an_adjudicator_sees_what_others_have_decided(store):
    act(store, ANN)
    assert acting.current(store, BOB, "pairs").others == []
    act(store, BOB, REJECT)
    assert acting.current(store, ANN, "pairs").others == []
    assert acting.current(store, EVE, "pairs").others == [ACCEPT, REJECT]
    task = acting.current(store, EVE, "pairs").id
    assert acting.shown(store, ANN, "pairs", task, "adjudicator") is None
    assert acting.shown(store, EVE, "pairs", task, "annotator") is None


def test_who_has_annotated_a_pair_does_not_adjudicate_it(store):
    act(store, BOTH)
    act(store, ANN, REJECT)
    assert acting.current(store, BOTH, "pairs").role == "annotator"
    act(store, ANN)
    act(store, BOB, REJECT)
    task = acting.current(store, BOTH, "pairs")
    assert (task.role, task.payload["pair_id"]) == ("annotator", "pair-00001")
    acting.skip(store, BOTH, task.id)
    assert acting.progress(store, BOTH, "pairs").left == 3


def test_who_has_seen_decisions_about_a_pair_does_not_annotate_it(store):
    act(store, ANN)
    act(store, BOB, REJECT)
    assert acting.current(store, BOTH, "pairs").role == "adjudicator"
    acting.undo(store, BOB, "pairs")
    task = acting.current(store, BOTH, "pairs")
    assert (task.role, task.payload["pair_id"]) == ("annotator", "pair-00001")


def test_two_adjudicators_do_not_settle_the_same_pair(store):
    act(store, ANN)
    act(store, BOB, REJECT)
    fay = Person("fay", False, True)
    one, other = acting.current(store, EVE, "pairs"), acting.current(store, fay, "pairs")
    assert one.id == other.id
    acting.decide(store, EVE, one, ACCEPT)
    with pytest.raises(acting.TooLate, match="settled by now"):
        acting.decide(store, fay, other, REJECT)
    assert len(store.rows("pairs")) == 3


def test_a_pair_is_decided_once_by_each(store):
    task = acting.current(store, ANN, "pairs")
    acting.decide(store, ANN, task, ACCEPT)
    with pytest.raises(acting.TooLate, match="already"):
        acting.decide(store, ANN, task, REJECT)
    assert [row["decision"] for row in store.rows("pairs")] == ["accept"]


def test_undo_goes_back_one_by_one_and_brings_the_form_as_it_was(store):
    with pytest.raises(acting.TooLate, match="nothing here yet"):
        acting.undo(store, ANN, "pairs")
    first, second = act(store, ANN), act(store, ANN, REJECT)
    acting.undo(store, ANN, "pairs")
    assert acting.current(store, ANN, "pairs").payload["pair_id"] == second
    assert acting.current(store, ANN, "pairs").draft == REJECT
    acting.undo(store, ANN, "pairs")
    assert acting.current(store, ANN, "pairs").payload["pair_id"] == first
    assert store.rows("pairs") == []
    assert act(store, ANN) == first
    # What was undone before comes next: it is begun.
    assert acting.current(store, ANN, "pairs").payload["pair_id"] == second


def test_what_an_adjudicator_has_settled_is_not_taken_back_by_others(store):
    act(store, ANN)
    act(store, BOB, REJECT)
    act(store, EVE)
    with pytest.raises(acting.TooLate, match="adjudicator has settled"):
        acting.undo(store, BOB, "pairs")
    acting.undo(store, EVE, "pairs")
    acting.undo(store, BOB, "pairs")
    assert [row["annotator"] for row in store.rows("pairs")] == ["ann"]


def test_the_first_own_answer_stays(store):
    task = acting.current(store, ANN, "pairs")
    assert task.own_answer is None
    acting.answer_first(store, ANN, task.id, "one", {"answer": "one"})
    acting.answer_first(store, ANN, task.id, "other", {"answer": "other"})
    again = acting.current(store, ANN, "pairs")
    assert (again.id, again.own_answer, again.draft) == (task.id, "one", {"answer": "one"})
    assert acting.current(store, BOB, "pairs").own_answer is None


def test_a_draft_stays_through_a_new_start_and_ends_with_the_decision(store, tmp_path):
    task = acting.current(store, ANN, "pairs")
    acting.keep_draft(store, ANN, task.id, {"reason": "half a se"})
    store.close()
    store = Store(tmp_path / "review.sqlite", 2, "adjudicated")
    again = acting.current(store, ANN, "pairs")
    assert (again.id, again.draft) == (task.id, {"reason": "half a se"})
    acting.decide(store, ANN, again, ACCEPT)
    # It was on its way when the decision came.
    acting.keep_draft(store, ANN, task.id, {"reason": "late"})
    assert store.one("SELECT count(*) AS number FROM drafts")["number"] == 0
    acting.keep_draft(store, ANN, 999, {})
    assert store.one("SELECT count(*) AS number FROM drafts")["number"] == 0
    store.close()


def test_a_new_run_adds_pairs_and_keeps_decisions_about_those_that_are_gone(store, tmp_path):
    gone = act(store, ANN)
    kept = act(store, ANN, REJECT)
    take_in(store, tmp_path, [5, 3, 1], question="another text")
    assert acting.progress(store, ANN, "pairs") == acting.Progress(mine=1, left=2, settled=0, disputed=0, all=3)
    assert {row["pair_id"] for row in store.rows("pairs")} == {gone, kept}
    task = acting.current(store, BOB, "pairs")
    assert (task.payload["pair_id"], task.payload["question"]) == (kept, "another text")
    acting.undo(store, ANN, "pairs")
    with pytest.raises(acting.TooLate, match="nothing here yet"):
        acting.undo(store, ANN, "pairs")
    take_in(store, tmp_path, range(4))
    assert acting.progress(store, ANN, "pairs").mine == 1


def test_another_rule_settles_anew(store, tmp_path):
    act(store, ANN)
    act(store, BOB, REJECT)
    assert acting.progress(store, EVE, "pairs").disputed == 1
    store.close()
    for annotators, rejection in ((2, "final"), (1, "adjudicated")):
        store = Store(tmp_path / "review.sqlite", annotators, rejection)
        assert acting.progress(store, EVE, "pairs").settled == 1
        store.close()


def test_decisions_of_files_are_taken_in_once_and_the_later_one_holds(store):
    rows = [decided(1, "ann"), decided(1, "bob", "reject"), decided(77, "ann")]
    assert store.take_in_decisions("pairs", rows) == 3
    assert store.take_in_decisions("pairs", rows) == 0
    assert store.rows("pairs") == sorted(rows, key=lambda row: (row["pair_id"], row["annotator"]))
    assert acting.progress(store, EVE, "pairs").disputed == 1
    later = decided(1, "bob", decided_at="2026-12-01T00:00:00.000Z")
    assert store.take_in_decisions("pairs", [later, rows[1]]) == 1
    assert acting.progress(store, EVE, "pairs") == acting.Progress(0, 0, settled=1, disputed=0, all=4)
    # Known only from the file: there is nothing that could be shown of it.
    assert acting.shown(store, ANN, "pairs", 5, "annotator") is None


def test_two_who_settle_the_same_in_a_file_are_refused_and_nothing_is_taken_in(store):
    thirds = [decided(1, name, role="adjudicator") for name in ("eve", "fay")]
    with pytest.raises(UserError, match="fay settles .*pair-00001"):
        store.take_in_decisions("pairs", [decided(0, "ann"), *thirds])
    assert store.rows("pairs") == []


def test_what_was_taken_back_does_not_come_again_from_a_file(store, tmp_path):
    act(store, ANN)
    exporter = exporting.Exporter(store, tmp_path)
    exporter.write()
    acting.undo(store, ANN, "pairs")
    # The process ended here, before the file was written again.
    assert exporting.Exporter(store, tmp_path).take_in() == 0
    assert store.rows("pairs") == []


def test_files_are_written_where_there_are_decisions_and_only_if_they_changed(store, tmp_path):
    exporter = exporting.Exporter(store, tmp_path)
    exporter.write()
    assert not list(tmp_path.glob("pairs*"))
    act(store, ANN)
    exporter.write()
    file = tmp_path / "pairs.parquet"
    assert tables.read(file, "pair_decisions") == store.rows("pairs")
    os.utime(file, (1, 1))
    exporter.write()
    exporting.Exporter(store, tmp_path).write()
    assert file.stat().st_mtime == 1
    acting.undo(store, ANN, "pairs")
    exporter.write()
    assert tables.read(file, "pair_decisions") == []


def test_the_background_writes_after_a_change_and_at_the_end(store, tmp_path):
    exporter = exporting.Exporter(store, tmp_path)
    exporter.start()
    act(store, ANN)
    exporter.changed("pairs")
    act(store, BOB)
    exporter.stop()
    assert len(tables.read(tmp_path / "pairs.parquet", "pair_decisions")) == 2


def test_a_lost_store_is_made_again_from_the_files(store, tmp_path):
    for person in (ANN, BOB):
        act(store, person)
    rows = store.rows("pairs")
    exporting.Exporter(store, tmp_path).write()
    store.close()
    for file in tmp_path.glob("review.sqlite*"):
        file.unlink()
    with opened(tmp_path, 2, "adjudicated", "a test") as again:
        assert exporting.Exporter(again, tmp_path).take_in() == 2
        assert again.rows("pairs") == rows


def test_tokens_let_in_whom_they_were_made_for_and_are_not_kept(store, tmp_path):
    tokens = admit(store, ["ann", "bob"], ["eve"])
    assert holder(store, tokens["ann"]) == Person("ann", True, False)
    assert holder(store, tokens["eve"]) == Person("eve", False, True)
    assert holder(store, "") is holder(store, "x" * 32) is None
    for file in tmp_path.glob("review.sqlite*"):
        assert not any(token.encode() in file.read_bytes() for token in tokens.values())
    assert admit(store, [], []) == {}
    assert admit(store, ["zoe"], ["ann"]).keys() == {"zoe"}
    assert holder(store, tokens["ann"]) == Person("ann", False, True)
    renewed = admit(store, [], [], ["ann"])
    assert holder(store, tokens["ann"]) is None
    assert holder(store, renewed["ann"]).name == "ann"
    assert [person.name for person in everybody(store)] == ["ann", "bob", "eve", "zoe"]


def test_without_names_there_are_as_many_people_as_a_pair_needs(store):
    assert admit(store, [], []).keys() == {"annotator-1", "annotator-2", "adjudicator"}


@pytest.mark.parametrize("name", ["", " ", "a\nb", "<b>", "x" * 61, "-a"])
def test_odd_names_are_refused(store, name):
    with pytest.raises(UserError, match="can't be a person's name"):
        admit(store, [name], [])


def test_a_token_is_renewed_for_known_people_only(store):
    with pytest.raises(UserError, match="no 'bob'.*known: nobody"):
        admit(store, [], ["eve"], ["bob"])
    assert everybody(store) == []


def _hold(folder, ready, end):
    with alone(folder, "the page is being opened"):
        note(folder, "the page is open already at http://127.0.0.1:1")
        ready.set()
        end.wait(60)


def test_a_second_process_is_told_who_has_the_decisions_and_a_killed_one_holds_nothing(tmp_path):
    context = multiprocessing.get_context("spawn")
    ready, end = context.Event(), context.Event()
    process = context.Process(target=_hold, args=(tmp_path, ready, end))
    process.start()
    try:
        assert ready.wait(60)
        with pytest.raises(UserError) as error, alone(tmp_path, "an import"):
            pass
        assert f"open already at http://127.0.0.1:1 (process {process.pid} on " in str(error.value)
        assert "\n" not in str(error.value)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.join()
    with alone(tmp_path, "an import"):
        assert "an import (process" in (tmp_path / "review.lock").read_text()


def test_a_damaged_store_is_named_and_left_as_it_is(tmp_path):
    (tmp_path / "review.sqlite").write_bytes(b"no database" * 1000)
    with pytest.raises(UserError, match=r"review\.sqlite can't be used.*move it away"):
        Store(tmp_path / "review.sqlite", 2, "adjudicated")
    assert (tmp_path / "review.sqlite").read_bytes() == b"no database" * 1000


def test_the_store_of_another_version_is_left_alone(store, tmp_path):
    store.close()
    connection = sqlite3.connect(tmp_path / "review.sqlite")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(UserError, match="another version of DevQA"):
        Store(tmp_path / "review.sqlite", 2, "adjudicated")


ACTS = st.lists(
    st.tuples(st.sampled_from([ANN, BOB, Person("cid", True, False), EVE, BOTH]), st.sampled_from("arusd")), max_size=40
)


@settings(max_examples=40)
@given(ACTS, st.integers(1, 2), st.sampled_from(["adjudicated", "final"]))
def test_whatever_people_do_the_store_says_what_the_decisions_come_to(tmp_path_factory, acts, annotators, rejection):
    store = stocked(tmp_path_factory.mktemp("store"), 3, annotators, rejection)
    try:
        for person, what in acts:
            _do(store, person, what)
        rows = store.rows("pairs")
        by_pair = {}
        for row in rows:
            by_pair.setdefault(row["pair_id"], []).append(row)
        for task in store.all("SELECT key, state, decided FROM tasks"):
            about = by_pair.get(json.loads(task["key"])[0], [])
            assert task["state"] == state(about, "pair_decisions", annotators, rejection).kind
            assert task["decided"] == sum(row["role"] == "annotator" for row in about)
            assert len({row["annotator"] for row in about}) == len(about)
            assert sum(row["role"] == "adjudicator" for row in about) <= 1
    finally:
        store.close()


def _do(store, person, what):
    try:
        if what == "u":
            acting.undo(store, person, "pairs")
        elif task := acting.current(store, person, "pairs"):
            if what == "s":
                acting.skip(store, person, task.id)
            elif what == "d":
                acting.keep_draft(store, person, task.id, REJECT)
            else:
                acting.decide(store, person, task, ACCEPT if what == "a" else REJECT)
    except acting.TooLate:
        pass
