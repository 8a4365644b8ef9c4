"""How many requests each step will send, from what the steps before it do."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.bill.dialogues import Dialogues
from devqa.bill.flow import RULES, SEARCHING, Line, flow
from devqa.bill.meter import Altered, Missing, Reading
from devqa.bill.plan import Planned
from devqa.bill.rates import Rates
from devqa.bill.spent import Earlier
from devqa.llm.cache import Cache
from devqa.recipe import asked_models

CONFIG = {
    "dialogues": {"mine": {"shards": 2}},
    "search": {"results": 10},
    "steps": {"generate": {"pairs": 3}, "verify": {"pages": 5}, "difficulty": {"models": ["weak", "strong"]}},
    "evaluation": {"benchmark": None, "rag": {"pages": 5}},
}
ENGINE = "search:brave"
PLAYERS = {
    **{rule: {rule: "worker"} for rule in ("queries", "condense", "generate", "check", "verify")},
    "difficulty": {"answer": ["weak", "strong"], "judge": "judge"},
    "domains": {"domains": "worker"},
    "answer": {"answer": "new"},
    "judge": {"judge": "judge"},
    **{rule: {rule: ENGINE} for rule in SEARCHING},
}
REQUESTS = {"queries": 1, "condense": 2, "generate": 1, "check": 3, "verify": 4, "difficulty": 2, "answer": 2}
RATES = Rates(REQUESTS | {"search": 3, "evidence": 2, "retrieve": 2}, frozenset(["check"]))
MISSING = Missing(1_000, 300, 100, True)
SAME = Altered(0, 0)


def asked(label: str) -> dict[str, Any]:
    pages = {"usually": 1, "at_most": 2} if label == ENGINE else {}
    return {"label": label, "endpoint": "e", "model": label, **pages}


def job(
    rule: str,
    basis: str = "exact",
    *,
    setting: str = "plain",
    players: dict[str, Any] | None = None,
    unsettled: bool = False,
    repeats: int = 1,
) -> Planned:
    """A job of `rule`; of the rules in which a model answers or is graded, about the one named "new"."""
    if rule == "answer" and setting != "plain":
        players = {setting: "new"}
    models = {
        role: [asked(each) for each in label] if isinstance(label, list) else asked(label)
        for role, label in (players or PLAYERS[rule]).items()
    }
    run = {"model": "new", "setting": setting}
    output = {"answers" if rule == "answer" else "grades": [str(number) for number in range(repeats)]}
    return Planned(rule, run, {}, output, json.dumps({"models": models}), 1, {}, True, basis, unsettled)


def reading(
    rule: str,
    cached: int,
    missing: int,
    altered: Altered | None = SAME,
    *,
    part: tuple[str, str] | None = None,
    name: str = "",
    further: float = 0,
    most: int = 0,
) -> Reading:
    role, label = part or (rule, "worker")
    known = [f"{name or rule}-{role}-{number}" for number in range(cached)]
    unknown = [f"{name or rule}-{role}-new-{number}" for number in range(missing)]
    keys = (*known, *unknown)
    told = dict.fromkeys(unknown, MISSING)
    return Reading(rule, role, label, "e", label, keys, frozenset(known), told, further, most, not most, altered)


THIRTY = Dialogues(30, 0, 0, True)


def run(
    *measured,
    dialogues: Dialogues = THIRTY,
    kept: dict[tuple[str, str], int] | None = None,
    rows: int | None = None,
    config: dict[str, Any] = CONFIG,
):
    earlier = Earlier()
    for (label, step), count in (kept or {}).items():
        for _ in range(count):
            record = {"outcome": "ok", "step": step, "input_tokens": 1, "output_tokens": 1}
            earlier.add(Cache("").shelf("e", label).folder.name, record)
    lines = flow(measured, dialogues, RATES, earlier, config, rows)
    return {(line.rule, line.role, line.label): line for line in lines}


def figures(line: Line) -> tuple[int, int, float, float, float]:
    return len(line.sure), len(line.likely), line.cached, line.further, line.most


def test_a_step_whose_tables_stay_is_counted_to_the_request():
    lines = run((job("check"), [reading("check", 60, 30, Altered(30, 10))]))
    line = lines["check", "check", "worker"]
    assert figures(line) == (30, 0, 60, 0, 0)
    assert line.bases == {"exact"}


def test_the_same_request_in_two_jobs_is_sent_once():
    twice = [reading("check", 0, 5, name="same")]
    lines = run((job("check"), twice), (job("check"), twice))
    assert figures(lines["check", "check", "worker"])[:2] == (5, 0)


def test_after_a_check_that_changes_its_mind_nothing_is_certain():
    """Here all pairs had passed: none can come to that, but some may go."""
    lines = run(
        (job("check"), [reading("check", 0, 90, Altered(90, 30))]),
        (job("verify", "present"), [reading("verify", 85, 5), reading("verify", 60, 0, name="second")]),
    )
    line = lines["verify", "verify", "worker"]
    assert figures(line) == (0, 5, 145, 0, 0)
    assert line.bases == {"present"}


def test_pairs_that_were_rejected_may_pass_a_new_check():
    lines = run(
        (job("check"), [reading("check", 0, 90, Altered(90, 30))]),
        (job("verify", "present"), [reading("verify", 60, 0)]),
    )
    # Thirty more pairs, each with an answer and a comparison.
    assert figures(lines["verify", "verify", "worker"]) == (0, 0, 60, 0, 60)


def test_new_pairs_are_asked_about_anew():
    lines = run(
        (job("generate"), [reading("generate", 0, 30, Altered(90, 30))]),
        (job("check", "present"), [reading("check", 80, 0)]),
        (job("verify", "missing"), []),
    )
    # The text of every pair is new: as many as there are in the one shard, and at most three for each dialogue.
    assert figures(lines["check", "check", "worker"]) == (0, 0, 0, 80, 90)
    verify = lines["verify", "verify", "worker"]
    # The rate is for all dialogues, but those of one shard alone have no table yet.
    assert figures(verify) == (0, 0, 0, 60, 180)
    assert verify.bases == {"paper"}


def test_one_new_dialogue_among_thirty():
    lines = run(
        (job("queries"), [reading("queries", 30, 1, Altered(1, 1))]),
        (job("generate", "present"), [reading("generate", 30, 0)]),
        (job("generate", "present"), [reading("generate", 0, 0)]),
        (job("check", "present"), [reading("check", 90, 0)]),
        (job("check", "present"), [reading("check", 0, 0)]),
        dialogues=Dialogues(31, 1, 1, True),
    )
    assert figures(lines["queries", "queries", "worker"]) == (1, 0, 30, 0, 0)
    generate, check = lines["generate", "generate", "worker"], lines["check", "check", "worker"]
    assert generate.further == pytest.approx(1, abs=0.05)
    assert check.further == pytest.approx(3, abs=0.1)
    assert (generate.cached, check.cached) == (30, 90)
    # The source and the queries' table each name it.
    assert (generate.most, check.most) == (2, 6)


def test_where_no_table_comes_out_otherwise_all_is_certain():
    lines = run(
        (job("generate"), [reading("generate", 30, 0)]),
        (job("check", "present"), [reading("check", 85, 5)]),
    )
    assert figures(lines["check", "check", "worker"]) == (5, 0, 85, 0, 0)


def test_code_that_changes_a_table_without_a_request_makes_the_next_step_uncertain():
    lines = run(
        (job("generate"), [reading("generate", 30, 0, Altered(9, 3))]),
        (job("check", "present"), [reading("check", 90, 0)]),
    )
    assert figures(lines["check", "check", "worker"]) == (0, 0, pytest.approx(81), pytest.approx(9), pytest.approx(9))


def test_a_table_of_other_code_before_a_step_may_change_everything():
    measured = [(job("verify", "present", unsettled=True), [reading("verify", 60, 0)])] * 2
    assert figures(run(*measured)["verify", "verify", "worker"]) == (0, 0, 120, 0, 180)


def test_a_fresh_project_is_reckoned_from_its_dialogues():
    shards = [(job(rule, "missing"), []) for rule in ("condense", "generate", "check", "verify", "difficulty")] * 2
    whole = [(job("answer", "missing"), []), (job("judge", "missing"), [])]
    lines = run(
        (job("queries"), [reading("queries", 0, 30, None)]), *shards, *whole, dialogues=Dialogues(30, 30, 30, True)
    )
    sent = {key: line.sent for key, line in lines.items()}
    assert sent == {
        ("queries", "queries", "worker"): 30,
        ("condense", "condense", "worker"): 60,
        ("generate", "generate", "worker"): 30,
        ("check", "check", "worker"): 90,
        ("verify", "verify", "worker"): 120,
        ("difficulty", "answer", "weak"): 60,
        ("difficulty", "answer", "strong"): 60,
        ("difficulty", "judge", "judge"): 120,
        ("answer", "answer", "new"): 60,
        ("judge", "judge", "judge"): 60,
    }
    most = {rule: line.sent_most for (rule, role, _), line in lines.items() if role != "answer"}
    assert most == {
        "queries": 30,
        "condense": 300,
        "generate": 30,
        "check": 90,
        "verify": 180,
        "difficulty": 180,
        "judge": 90,
    }
    assert lines["check", "check", "worker"].bases == {"earlier"}
    assert lines["verify", "verify", "worker"].bases == {"paper"}


def test_deleted_tables_are_taken_to_be_in_the_cache():
    lines = run(
        (job("queries"), [reading("queries", 30, 0, None)]),
        (job("check", "missing"), []),
        (job("check", "missing"), []),
        kept={("worker", "check"): 80},
    )
    assert figures(lines["check", "check", "worker"]) == (0, 0, 80, 10, 90)


def test_a_judge_is_asked_about_every_new_answer():
    both = reading("answer", 0, 180, Altered(180, 90), part=("answer", "new"))
    answers = [(job("answer", repeats=2), [both])]
    lines = run(*answers, (job("judge", "missing"), []), kept={("judge", "judge"): 500})
    assert figures(lines["judge", "judge", "judge"]) == (0, 0, 0, 180, 180)
    # Where the answers were others before, their grades are of no use.
    part = ("judge", "judge")
    lines = run(*answers, (job("judge", "present"), [reading("judge", 90, 0, part=part)]))
    assert figures(lines["judge", "judge", "judge"]) == (0, 0, 0, 180, 180)


@pytest.mark.parametrize("rows", [None, 70])
def test_answers_are_expected_once_for_each_repeat(rows):
    one, three = (
        run((job("answer", "missing", repeats=repeats), []), rows=rows)["answer", "answer", "new"] for repeats in (1, 3)
    )
    assert figures(three) == tuple(3 * figure for figure in figures(one))
    assert three.sent > 0


def test_a_judge_of_answers_that_stay_is_asked_about_none():
    lines = run(
        (job("answer"), [reading("answer", 90, 0, part=("answer", "new"))]),
        (job("judge", "present"), [reading("judge", 80, 10, part=("judge", "judge"))]),
    )
    assert figures(lines["judge", "judge", "judge"]) == (10, 0, 80, 0, 0)


def test_requests_that_depend_on_answers_of_the_same_job_are_expected():
    first = reading("verify", 10, 20, Altered(20, 7))
    second = reading("verify", 8, 0, name="second", further=16, most=20)
    line = run((job("verify"), [first, second]))["verify", "verify", "worker"]
    assert figures(line) == (20, 0, 18, 16, 20)
    assert line.bases == {"exact", "present"}


def answers(setting: str, basis: str = "exact", cached: int = 0, missing: int = 0, **more):
    """A job with the answers of "new" in a setting, and what it was found to ask."""
    role = "answer" if setting == "plain" else setting
    altered = Altered(missing, missing)
    read = reading("answer", cached, missing, altered, part=(role, "new"), name=setting)
    return job("answer", basis, setting=setting, **more), [] if basis == "missing" else [read]


def test_each_setting_has_a_line_of_its_own_and_its_answers_a_judge():
    lines = run(
        answers("plain", cached=80, missing=10),
        answers("confidence", missing=90),
        (job("judge", "present", setting="plain"), [reading("judge", 80, 0, part=("judge", "judge"))]),
        (job("judge", "missing", setting="confidence"), []),
    )
    assert figures(lines["answer", "answer", "new"])[:3] == (10, 0, 80)
    assert figures(lines["answer", "confidence", "new"])[:3] == (90, 0, 0)
    assert lines["judge", "judge", "judge"].further == 10 + 90


def test_the_first_answers_from_passages_are_asked_about_every_row_that_is_known():
    """Passages are still to be found, so no request is known to the letter, but their number is."""
    lines = run(
        answers("rag", "missing"),
        answers("rag", "missing"),
        (job("judge", "missing", setting="rag"), []),
        # Answers of the same model in another setting, and of the same judge, are of no use.
        kept={("new", "answer"): 500, ("judge", "judge"): 500},
        rows=70,
    )
    assert figures(lines["answer", "rag", "new"]) == (0, 0, 0, 140, 140)
    assert figures(lines["judge", "judge", "judge"]) == (0, 0, 0, 140, 140)
    assert lines["answer", "rag", "new"].bases == {"present"}


def test_answers_from_passages_that_are_kept_are_asked_for_once():
    lines = run(answers("rag", "missing"), kept={("new", "rag"): 60}, rows=70)
    assert figures(lines["answer", "rag", "new"]) == (0, 0, 60, 10, 70)


def test_after_another_search_every_passage_is_taken_to_be_new():
    lines = run(
        answers("plain", cached=90),
        answers("rag", "present", cached=65, missing=5, unsettled=True),
        kept={("new", "rag"): 65},
        rows=70,
    )
    assert figures(lines["answer", "answer", "new"]) == (0, 0, 90, 0, 0)
    assert figures(lines["answer", "rag", "new"]) == (0, 5, 0, 65, 65)


def test_each_judge_of_a_panel_is_asked_about_every_new_answer():
    grading = (
        (job("judge", "missing", setting="confidence", players={"judge": judge}), []) for judge in ("judge", "second")
    )
    lines = run(answers("confidence", missing=90), *grading)
    assert {label: line.further for (rule, _, label), line in lines.items() if rule == "judge"} == {
        "judge": 90,
        "second": 90,
    }


def test_domains_are_asked_for_once_for_each_row_and_unsettle_nothing():
    lines = run(
        (job("domains"), [reading("domains", 10, 80, Altered(90, 90))]),
        answers("plain", cached=90),
        (job("judge", "present"), [reading("judge", 90, 0, part=("judge", "judge"))]),
    )
    assert figures(lines["domains", "domains", "worker"])[:3] == (80, 0, 10)
    assert figures(lines["judge", "judge", "judge"]) == (0, 0, 90, 0, 0)
    fresh = run((job("domains", "missing"), []), rows=70)["domains", "domains", "worker"]
    assert figures(fresh) == (0, 0, 0, 70, 70)
    # Without a benchmark they are reckoned from the dialogues, at the rate of one model's answers.
    fresh = run((job("domains", "missing"), []))["domains", "domains", "worker"]
    assert (fresh.further, fresh.bases) == (60, {"paper"})


def test_answers_from_elsewhere_wait_for_the_benchmark_and_are_reckoned():
    imported = Planned(
        *("judge", {}, {}, {"grades": ["1", "2"]}, json.dumps({"models": {"judge": asked("judge")}})),
        *(1, {}, True, "missing", False),
    )
    line = run((imported, []))["judge", "judge", "judge"]
    assert (line.further, line.most, line.bases) == (120, 180, {"paper"})


def test_a_benchmark_from_elsewhere_needs_no_dialogues():
    lines = run(
        answers("plain", missing=70),
        answers("rag", "missing"),
        (job("judge", "missing"), []),
        (job("judge", "missing", setting="rag"), []),
        dialogues=Dialogues(0, 0, 0, True),
        rows=70,
    )
    assert {key: line.sent for key, line in lines.items()} == {
        ("answer", "answer", "new"): 70,
        ("answer", "rag", "new"): 70,
        ("judge", "judge", "judge"): 140,
    }


counts = st.integers(0, 40)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(RULES),
            st.sampled_from(["exact", "present", "missing"]),
            st.sampled_from(["plain", "rag", "confidence"]),
            st.booleans(),
            counts,
            counts,
        ),
        max_size=14,
    ),
    counts,
    counts,
    st.booleans(),
    st.none() | counts,
)
def test_no_figure_is_ever_impossible(steps, new, altered, read, rows):
    measured = []
    for rule, basis, setting, unsettled, cached, missing in steps:
        planned = job(rule, basis, setting=setting, unsettled=unsettled)
        altered_rows = Altered(missing, min(missing, 40))
        parts = [(each["role"], each["label"]) for each in asked_models(planned.recipe)]
        all_of_it = [reading(rule, cached, missing, altered_rows, part=part) for part in parts]
        measured.append((planned, [] if basis == "missing" else all_of_it))
    for line in run(*measured, dialogues=Dialogues(40, min(new, altered), altered, read), rows=rows).values():
        assert line.cached >= -1e-9
        assert line.further >= 0
        assert line.sent <= line.sent_most + 1e-9
        assert line.bases or not line.sent_most
