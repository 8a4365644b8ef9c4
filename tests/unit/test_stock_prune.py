"""Pruning drops what nobody reads, and nothing else, whatever happens meanwhile."""

import multiprocessing
import os
import re
import signal

import pytest

from devqa.errors import UserError
from devqa.llm import segments
from devqa.llm.cache import Cache, Shelf, responses
from devqa.stock import prune
from devqa.stock.layout import WIDTH
from devqa.stock.prune import apply, prunings, report
from devqa.stock.verify import verified
from devqa.stock.wanted import wanted
from stocked import configuration, fill, job, key, reading, shelf


@pytest.fixture
def config(tmp_path):
    return configuration(tmp_path, cheap={}, other={"model": "org/other"})


def asks(config, *names, rule="queries", **more):
    """A job that asks `cheap` the requests `names`."""
    return job(config, rule, {rule: "cheap"}, **more), [reading(config, "cheap", *names)]


def reads(config, *jobs):
    return wanted(responses(config["cache_dir"]), jobs)


def kept(config, label="cheap"):
    """The requests that have an answer in the cache, as a process sees it that has just begun."""
    return {record["text"].removeprefix("answer ") for _, record in Shelf(shelf(config, label).folder).records()}


def segment_names(config, label="cheap"):
    return segments.listed(shelf(config, label).folder)


def test_what_no_job_asks_goes_and_the_rest_is_one_segment(config):
    fill(config, "cheap", "queries", "a", "b", "old")
    fill(config, "cheap", "queries", "c", "older", days=9)
    found = prunings(config, reads(config, asks(config, "a", "b", "c", "not yet answered")))
    text = report(config, found, reads(config))
    assert "cheap  queries                2                0        2 M         2 M  4.00" in text
    assert "3 answers stay" in text
    assert kept(config) == {"a", "b", "c", "old", "older"}
    freed = apply(found)
    assert kept(config) == {"a", "b", "c"}
    assert freed > 0
    assert len(segment_names(config)) == 1
    assert not verified(config).damages


def test_pruning_again_does_nothing(config):
    path = fill(config, "cheap", "queries", "a", "old")
    jobs = asks(config, "a")
    apply(prunings(config, reads(config, jobs)))
    (name,) = segment_names(config)
    assert name != path.name
    os.utime(shelf(config, "cheap").folder / name, (1, 1))
    found = prunings(config, reads(config, jobs))
    assert "No answer goes" in report(config, found, reads(config))
    assert apply(found) == 0
    assert segment_names(config) == [name]


def test_of_a_key_the_record_that_is_served_stays_and_failed_ones_go(config):
    fill(config, "cheap", "queries", "a", days=3)
    fill(config, "cheap", "queries", "a", days=9, input_tokens=7)
    fill(config, "cheap", "queries", "a", days=10, outcome="refused")
    before = shelf(config, "cheap").lookup([key("a")])
    found = prunings(config, reads(config, asks(config, "a")))
    assert "1 repeats" in report(config, found, reads(config))
    assert found[0].goes["queries"].failed == 1
    apply(found)
    assert shelf(config, "cheap").lookup([key("a")]) == before
    assert [record["input_tokens"] for _, record in shelf(config, "cheap").records()] == [7]


def test_a_model_that_is_configured_no_more_loses_all_and_its_cost_is_not_guessed(config):
    fill(config, "other", "check", "a")
    del config["models"]["other"]
    found = prunings(config, reads(config))
    text = report(config, found, reads(config))
    assert re.search(r"^org-other-\w{12}  check .*\?$", text, re.MULTILINE)
    assert "no price" in text
    apply(found)
    assert (
        segment_names(configuration(shelf(config, "cheap").folder.parents[2], other={"model": "org/other"}), "other")
        == []
    )


@pytest.mark.parametrize("basis", ["missing", "present"])
def test_what_cannot_be_told_is_kept_and_said(config, basis):
    fill(config, "cheap", "queries", "a", "old")
    fill(config, "cheap", "check", "b", "c")
    found_for = reads(config, asks(config, "a"), (job(config, "check", {"check": "cheap"}, basis), []))
    found = prunings(config, found_for)
    text = report(config, found, found_for)
    assert re.search(r"^cheap +check +check$", text, re.MULTILINE)
    apply(found)
    assert kept(config) == {"a", "b", "c"}


def test_what_may_follow_from_an_unusable_answer_is_kept_with_a_true_reason(config):
    fill(config, "cheap", "check", "b", "c")
    ran = job(config, "check", {"check": "cheap"}, runs=False)
    found_for = reads(config, (ran, [reading(config, "cheap", "a", "b", complete=False)]))
    found = prunings(config, found_for)
    assert "usable answers are missing" in report(config, found, found_for)
    apply(found)
    assert kept(config) == {"b", "c"}


def test_segments_to_which_somebody_may_be_writing_are_left_alone(config):
    young = fill(config, "cheap", "queries", "old", days=0)
    fill(config, "cheap", "queries", "a", "older")
    found = prunings(config, reads(config, asks(config, "a")))
    assert "1 segments that are younger" in report(config, found, reads(config))
    apply(found)
    assert kept(config) == {"a", "old"}
    assert young.name in segment_names(config)


def test_a_segment_that_grew_after_it_was_looked_at_stays(config):
    path = fill(config, "cheap", "queries", "a", "old")
    fill(config, "cheap", "queries", "b")
    found = prunings(config, reads(config, asks(config, "a", "b")))
    with path.open("ab") as file:
        file.write(segments.encode(key("new"), {"outcome": "ok", "text": "new", "step": "queries", "time": 1.0}))
    apply(found)
    assert path.name in segment_names(config)
    assert {"a", "b", "new"} <= kept(config)


def test_damaged_lines_go(config):
    path = fill(config, "cheap", "queries", "a", "b")
    path.write_bytes(path.read_bytes().replace(b"answer a", b"answer x"))
    os.utime(path, (1, 1))
    found = prunings(config, reads(config, asks(config, "a", "b")))
    assert "1 damaged" in report(config, found, reads(config))
    apply(found)
    assert kept(config) == {"b"}
    assert not verified(config).damages


def test_what_a_killed_pruning_has_left_goes_with_the_next(config):
    path = fill(config, "cheap", "queries", "a", "old")
    left = path.parent / ".host-1-abc.seg.host-1-def"
    left.write_bytes(b"half")
    os.utime(left, (1, 1))
    apply(prunings(config, reads(config, asks(config, "a"))))
    assert not left.exists()
    assert kept(config) == {"a"}


def test_two_prunings_at_once_lose_nothing(config):
    for n in range(4):
        fill(config, "cheap", "queries", n, f"old {n}")
    jobs = asks(config, *range(4))
    first, second = (prunings(config, reads(config, jobs)) for _ in range(2))
    apply(first)
    with pytest.raises(UserError, match="pruned by somebody else"):
        apply(second)
    assert kept(config) == {"0", "1", "2", "3"}
    assert not list(shelf(config, "cheap").folder.glob(".*"))


def test_a_table_fits_the_screen(config):
    label = "a-very-long-name-of-a-model-" * 5
    config = configuration(shelf(config, "cheap").folder.parents[2], **{label: {"model": "m" * 60}})
    fill(config, label, "queries", "a")
    unsure = reads(config, (job(config, "queries", {"queries": label}, "missing"), []))
    for wanted_now in (reads(config), unsure):
        text = report(config, prunings(config, wanted_now), wanted_now)
        assert max(map(len, text.splitlines())) <= WIDTH


def _prune_until_killed(config, folder, barrier):
    """In a process of its own: prune, and die before the `folder`-th file operation that changes something."""
    count = iter(range(100))

    def dying(function):
        def called(*arguments, **named):
            if next(count) == folder:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **named)

        return called

    for name in ("fsync", "replace", "unlink"):
        setattr(os, name, dying(getattr(os, name)))
    barrier.wait(30)
    prune.apply(prunings(config, reads(config, asks(config, *range(6)))))


@pytest.mark.parametrize("moment", range(6))
def test_a_kill_at_any_moment_loses_nothing(config, moment):
    for n in range(0, 6, 2):
        fill(config, "cheap", "queries", n, n + 1, f"old {n}")
    before = shelf(config, "cheap").lookup([key(n) for n in range(6)])
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(2)
    process = context.Process(target=_prune_until_killed, args=(config, moment, barrier))
    process.start()
    barrier.wait(30)
    process.join(30)
    assert process.exitcode == -signal.SIGKILL
    fresh = Cache(responses(config["cache_dir"]).folder).shelf("http://x/v1", "cheap")
    assert fresh.lookup([key(n) for n in range(6)]) == before
    assert not verified(config).damages


def _look_up(folder, stop, failures):
    """In a process of its own: look up the same keys again and again until told to stop."""
    keys = [key(n) for n in range(40)]
    reader = Cache(folder).shelf("http://x/v1", "cheap")
    rounds = 0
    while not stop.is_set() or rounds < 3:
        rounds += 1
        if len(reader.lookup(keys)) < 40 or len({name for name, _ in reader.records()} & set(keys)) < 40:
            failures.put(rounds)
            return


def test_readers_find_everything_while_it_is_pruned(config):
    for n in range(40):
        fill(config, "cheap", "queries", n, f"old {n}")
    context = multiprocessing.get_context("fork")
    stop, failures = context.Event(), context.Queue()
    reader = context.Process(target=_look_up, args=(responses(config["cache_dir"]).folder, stop, failures))
    reader.start()
    jobs = asks(config, *range(40))
    for _ in range(15):
        apply(prunings(config, reads(config, jobs)))
        for name in segment_names(config):
            os.utime(shelf(config, "cheap").folder / name, (1, 1))
        fill(config, "cheap", "queries", "old again")
    stop.set()
    reader.join(60)
    assert reader.exitcode == 0
    assert failures.empty()
