"""Which thing a person gets next."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotating import ACCEPT, ANN, BOB, REJECT, stocked
from devqa.review import acting
from devqa.review.assigning import is_free, left, next_task
from devqa.review.people import Person

CID = Person("cid", True, False)


@pytest.fixture
def store(tmp_path):
    made = stocked(tmp_path, 4)
    yield made
    made.close()


def before(store, person):
    return acting.current(store, person, "pairs").payload["pair_id"]


def decide(store, person, content=ACCEPT):
    acting.decide(store, person, acting.current(store, person, "pairs"), content)


def test_the_order_is_the_tables(store):
    for number in range(4):
        assert before(store, ANN) == f"pair-{number:05}"
        decide(store, ANN)
    assert acting.current(store, ANN, "pairs") is None
    assert acting.current(store, ANN, "grades") is None


def test_what_somebody_has_decided_comes_first(store):
    acting.skip(store, ANN, acting.current(store, ANN, "pairs").id)
    decide(store, ANN)
    assert before(store, BOB) == "pair-00001"


def test_one_keeps_what_one_has_before_one(store):
    assert before(store, BOB) == "pair-00000"
    acting.skip(store, ANN, 1)
    decide(store, ANN)
    assert before(store, BOB) == "pair-00000"


def test_what_another_has_before_them_comes_last_but_comes(store):
    assert before(store, ANN) == "pair-00000"
    assert before(store, BOB) == "pair-00001"
    for _ in range(3):
        decide(store, BOB)
    assert before(store, BOB) == "pair-00000"


def test_what_was_left_open_for_long_is_not_worked_on(store):
    assert before(store, ANN) == "pair-00000"
    with store.changing() as connection:
        connection.execute("UPDATE opened SET at = '2020-01-01T00:00:00.000Z'")
    assert before(store, BOB) == "pair-00000"


def test_what_is_skipped_comes_later_the_first_one_first(store):
    for number in (0, 1):
        assert before(store, ANN) == f"pair-{number:05}"
        acting.skip(store, ANN, acting.current(store, ANN, "pairs").id)
    order = []
    for _ in range(4):
        order.append(before(store, ANN)[-1])
        decide(store, ANN)
    assert order == ["2", "3", "0", "1"]


def test_nothing_more_is_handed_out_than_is_needed(store):
    for person in (ANN, BOB):
        for _ in range(4):
            decide(store, person)
    assert acting.current(store, CID, "pairs") is None
    assert left(store, "cid", "pairs", "annotator") == 0


def test_a_late_decision_is_kept_though_it_is_not_needed(store):
    late = acting.current(store, CID, "pairs")
    for person in (ANN, BOB):
        for _ in range(4):
            decide(store, person)
    acting.decide(store, CID, late, REJECT)
    assert len(store.rows("pairs")) == 9
    assert acting.progress(store, CID, "pairs").settled == 4


def test_with_final_rejections_a_rejected_pair_is_handed_to_nobody(tmp_path):
    store = stocked(tmp_path, 2, rejection="final")
    decide(store, ANN, REJECT)
    assert before(store, BOB) == "pair-00001"
    store.close()


PEOPLE = ("ann", "bob", "cid")
PLACES = st.tuples(st.sampled_from(PEOPLE), st.integers(1, 5))


@settings(max_examples=60)
@given(
    st.sets(PLACES, max_size=8),
    st.lists(PLACES, max_size=4, unique=True),
    st.sets(PLACES, max_size=4),
    st.dictionaries(st.sampled_from(PEOPLE), st.integers(1, 5)),
    st.lists(st.sampled_from(["open", "disputed", "settled"]), min_size=5, max_size=5),
    st.sampled_from(["annotator", "adjudicator"]),
)
def test_the_next_one_is_the_first_by_all_that_counts(tmp_path_factory, decided, skipped, drafts, opened, states, role):
    store = stocked(tmp_path_factory.mktemp("store"), 5)
    with store.changing() as connection:
        for person, task in sorted(decided):
            connection.execute(
                "INSERT INTO decisions (task, kind, person, role, content, decided_at) "
                "VALUES (?, 'pairs', ?, 'annotator', '{}', '')",
                (task, person),
            )
        connection.executemany("INSERT INTO skipped (person, task) VALUES (?, ?)", skipped)
        connection.executemany("INSERT INTO drafts (person, task, content) VALUES (?, ?, '{}')", sorted(drafts))
        connection.executemany("INSERT INTO opened VALUES (?, 'pairs', ?, '9999')", opened.items())
        counts = {task: sum(place[1] == task for place in decided) for task in range(1, 6)}
        for task, state in enumerate(states, 1):
            connection.execute("UPDATE tasks SET state = ?, decided = ? WHERE id = ?", (state, counts[task], task))

    def rank(task):
        return (
            any(other == task and person != "ann" for person, other in opened.items()),
            skipped.index(("ann", task)) if ("ann", task) in skipped else -1,
            ("ann", task) not in drafts,
            -counts[task],
            task,
        )

    wanted = {"annotator": "open", "adjudicator": "disputed"}[role]
    free = [task for task in range(1, 6) if states[task - 1] == wanted and ("ann", task) not in decided]
    assert next_task(store, "ann", "pairs", role) == min(free, key=rank, default=None)
    assert left(store, "ann", "pairs", role) == len(free)
    assert [task for task in range(1, 6) if is_free(store, task, "ann", "pairs", role)] == free
    store.close()
