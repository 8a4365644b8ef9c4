"""The pace that all jobs keep together."""

import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from devqa.errors import UserError
from devqa.web.pace import Pace


class Clock:
    """A clock that tests set; sleeping sets it forward."""

    def __init__(self, time: float = 1_000_000.0):
        self.time, self.steady = time, 500.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.pass_(seconds)

    def pass_(self, seconds: float) -> None:
        self.time += seconds
        self.steady += seconds

    def pace(self, folder: Path) -> Pace:
        return Pace(folder, self.now, lambda: self.steady, self.sleep)


def test_requests_to_one_name_are_apart_and_names_don_t_wait_for_each_other(tmp_path):
    clock = Clock()
    pace = clock.pace(tmp_path)
    for _ in range(3):
        pace.wait("a", 0.5)
    assert clock.slept == [0, 2, 2]
    pace.wait("b", 0.5)
    assert clock.slept[-1] == 0
    clock.pass_(10)
    pace.wait("a", 0.5)
    assert clock.slept[-1] == 0


def test_jobs_take_turns(tmp_path):
    clock = Clock()
    jobs = [clock.pace(tmp_path) for _ in range(3)]
    waits = []
    for job in jobs:
        before = clock.time
        job.wait("a", 1)
        waits.append(clock.time - before)
        # The others came at the same moment.
        clock.time, clock.steady = 1_000_000.0, 500.0
    assert waits == [0, 1, 2]


def test_no_slot_is_given_twice_to_threads(tmp_path):
    pace = Pace(tmp_path, sleep=lambda seconds: None)
    threads = [threading.Thread(target=lambda: [pace.wait("a", 50) for _ in range(25)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Each call has a file of its own, and none is far enough in the past to be gone.
    (row,) = tmp_path.iterdir()
    assert len(list(row.iterdir())) == 200


def _ask(folder: str, count: int, moments) -> None:
    pace = Pace(Path(folder))
    for _ in range(count):
        pace.wait("a", 40)
        moments.put(time.time())


def test_several_processes_keep_the_pace_together(tmp_path):
    context = multiprocessing.get_context("fork")
    moments = context.Queue()
    jobs = [context.Process(target=_ask, args=(str(tmp_path), 8, moments)) for _ in range(3)]
    for job in jobs:
        job.start()
    times = sorted(moments.get(timeout=30) for _ in range(24))
    for job in jobs:
        job.join()
    (row,) = tmp_path.iterdir()
    slots = sorted(int(slot.name) for slot in row.iterdir())
    assert len(slots) == 24
    # None was sent before its time, however late the machine made them.
    assert all(moment >= slot / 40 - 0.002 for moment, slot in zip(times, slots, strict=True))


def _die(folder: str) -> None:
    Pace(Path(folder), sleep=lambda seconds: os.kill(os.getpid(), signal.SIGKILL)).wait("a", 1)


def test_a_job_that_dies_holds_nobody_up(tmp_path):
    job = multiprocessing.get_context("fork").Process(target=_die, args=(str(tmp_path),))
    job.start()
    job.join()
    assert job.exitcode == -signal.SIGKILL
    clock = Clock(time.time())
    clock.pace(tmp_path).wait("a", 1)
    # At most the slot that the dead one took, and what is left of the one before.
    assert clock.slept[0] <= 2


def test_a_clock_that_is_put_back_makes_nobody_wait_for_the_old_time(tmp_path):
    clock = Clock()
    pace = clock.pace(tmp_path)
    for _ in range(5):
        pace.wait("a", 1)
    clock.time -= 3600
    pace.wait("a", 1)
    pace.wait("a", 1)
    assert clock.slept[-2:] == [0, 1]


def test_a_clock_that_is_put_forward(tmp_path):
    clock = Clock()
    pace = clock.pace(tmp_path)
    pace.wait("a", 1)
    clock.time += 3600
    pace.wait("a", 1)
    pace.wait("a", 1)
    assert clock.slept[-2:] == [0, 1]


def test_a_clock_put_back_by_less_than_is_kept_waits_no_longer_than_that(tmp_path):
    clock = Clock()
    pace = clock.pace(tmp_path)
    for _ in range(50):
        pace.wait("a", 1)
    clock.time -= 30
    pace.wait("a", 1)
    assert 0 < clock.slept[-1] <= 31


def test_what_is_past_is_tidied_up(tmp_path):
    clock = Clock()
    pace = clock.pace(tmp_path)
    for _ in range(1000):
        pace.wait("a", 1)
    (row,) = tmp_path.iterdir()
    assert 60 <= len(list(row.iterdir())) <= 60 + 32 + 1


def test_names_that_nobody_asks_any_more_are_tidied_up(tmp_path):
    clock = Clock(time.time())
    pace = clock.pace(tmp_path)
    pace.wait("old", 1)
    (old,) = tmp_path.iterdir()
    os.utime(old, (clock.time - 2 * 24 * 3600,) * 2)
    pace.wait("new", 1)
    pace.tidy()
    assert len(list(tmp_path.iterdir())) == 1
    assert not old.exists()
    # Another job may be in the middle of it.
    pace.wait("old", 1)
    clock.pace(tmp_path / "none").tidy()


def test_a_folder_that_can_t_be_written_is_named(tmp_path):
    (tmp_path / "pace").write_text("a file")
    with pytest.raises(UserError, match="pace"):
        Pace(tmp_path / "pace").wait("a", 1)
