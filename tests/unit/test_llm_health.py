"""When an endpoint counts as down: soon where it is, never where it is only slow or a few requests fail."""

import math
import os
import time
from contextlib import suppress

import pytest

from devqa.errors import UserError
from devqa.llm import health
from devqa.llm.faults import Passing
from devqa.llm.health import Health

REFUSED = Passing("connection refused", unreachable=True)
RESET = Passing("connection reset")
BROKEN = Passing("answered 503", heard=True)
LIMITED = Passing("answered 429", heard=True, limited=True)
MINUTE = 60


class Endpoint:
    """A `Health` on a clock of the test's own, and an endpoint that gives a sign of life or not."""

    def __init__(self, folder, down_after_s=40.0, retrying=False, alive=True):
        self.now = 1000.0
        self.alive = alive
        self.asked = 0
        self.fresh = True
        self.oldest = math.inf
        self.health = Health("m", "http://x/v1", down_after_s, folder, retrying, lambda: self.now)

    async def sign_of_life(self, within_s):
        self.asked += 1
        if not self.alive:
            self.now += within_s
        return self.alive

    def check(self):
        # Nothing in it really waits, so no event loop is needed.
        with suppress(StopIteration):
            self.health.check(self.sign_of_life, self.fresh, self.oldest).send(None)

    def wait(self, seconds, fault=None, every_s=1, first=True):
        """Let time pass, with a check every second and a `fault` now and then; how many seconds it took to stop."""
        began = self.now
        while self.now < began + seconds:
            self.now += 1
            if fault and (self.now - began) % every_s == 0:
                self.health.failed(fault, first)
            try:
                self.check()
            except UserError as error:
                self.error = str(error)
                return self.now - began
        return None


@pytest.mark.parametrize("fault", [REFUSED, RESET, BROKEN], ids=str)
@pytest.mark.parametrize("fresh", [True, False], ids=["2000 rows", "2 rows"])
def test_an_endpoint_at_which_nothing_succeeds_is_down_within_a_minute(fault, fresh, tmp_path):
    endpoint = Endpoint(tmp_path)
    endpoint.fresh = fresh
    assert endpoint.wait(MINUTE, fault, every_s=2 if fresh else 4) < MINUTE
    assert "models.m.base_url" in endpoint.error
    assert str(fault) in endpoint.error
    assert ("nothing answers at" if fault is REFUSED else "no request succeeds at") in endpoint.error


def test_an_endpoint_that_hangs_is_down_within_a_minute(tmp_path):
    endpoint = Endpoint(tmp_path, alive=False)
    endpoint.oldest = endpoint.now
    assert endpoint.wait(MINUTE) < MINUTE
    assert "nothing answers at" in endpoint.error
    assert "limits.down_after_s" in endpoint.error


def test_a_slow_endpoint_that_gives_a_sign_of_life_is_not_down(tmp_path):
    endpoint = Endpoint(tmp_path)
    endpoint.oldest = endpoint.now
    assert endpoint.wait(20 * MINUTE) is None
    assert 20 <= endpoint.asked <= 40


def test_failing_requests_beside_slow_ones_are_no_outage(tmp_path):
    """The first good answer takes 90 seconds; others fail at once, again and again."""
    endpoint = Endpoint(tmp_path)
    endpoint.health.failed(BROKEN, True)
    endpoint.oldest = endpoint.now + 1
    assert endpoint.wait(90, BROKEN) is None
    endpoint.health.served()
    endpoint.oldest = math.inf
    assert endpoint.wait(30, BROKEN) is None


def test_slow_requests_put_off_the_verdict_only_for_the_time_that_they_are_allowed(tmp_path):
    endpoint = Endpoint(tmp_path)
    endpoint.oldest = endpoint.now + 1
    assert endpoint.wait(120, BROKEN) is None
    # They timed out; what is under way now went out when nothing had succeeded for long.
    endpoint.oldest = endpoint.now
    assert endpoint.wait(2, BROKEN) is not None


def test_requests_that_time_out_together_are_no_outage_while_others_are_answered(tmp_path):
    endpoint = Endpoint(tmp_path)
    endpoint.health.served()
    endpoint.wait(120)
    for _ in range(64):
        endpoint.health.failed(RESET, True)
    assert endpoint.wait(10) is None
    endpoint.health.served()
    assert endpoint.wait(MINUTE) is None


@pytest.mark.parametrize("fault", [RESET, BROKEN], ids=str)
def test_requests_that_failed_before_say_nothing_about_the_endpoint(fault, tmp_path):
    endpoint = Endpoint(tmp_path, retrying=True)
    assert endpoint.wait(20 * MINUTE, fault) is None
    assert 20 <= endpoint.asked <= 40
    assert endpoint.health.blames(fault, endpoint.now - 70, endpoint.now - 30, True)


@pytest.mark.parametrize("fault", [RESET, BROKEN], ids=str)
def test_the_last_requests_of_many_say_nothing_about_the_endpoint(fault, tmp_path):
    endpoint = Endpoint(tmp_path)
    endpoint.health.served()
    endpoint.fresh = False
    endpoint.now += 1
    assert endpoint.wait(20 * MINUTE, fault) is None
    assert endpoint.health.blames(fault, endpoint.now - 70, endpoint.now - 30, False)


@pytest.mark.parametrize("fault", [REFUSED, RESET, BROKEN], ids=str)
def test_without_a_sign_of_life_they_do(fault, tmp_path):
    endpoint = Endpoint(tmp_path, retrying=True, alive=False)
    assert endpoint.wait(MINUTE, fault) < MINUTE
    assert "nothing answers at" in endpoint.error


def test_a_request_is_given_up_where_others_were_answered_meanwhile(tmp_path):
    endpoint = Endpoint(tmp_path)
    began = endpoint.now
    assert not endpoint.health.blames(BROKEN, began, began, True)
    endpoint.now += 1
    endpoint.health.served()
    assert endpoint.health.blames(BROKEN, began, began, True)
    # Between its last two attempts nothing was answered: it may not be its own fault.
    assert not endpoint.health.blames(BROKEN, began, endpoint.now + 1, True)


def test_few_requests_that_fail_are_no_outage_however_often_they_are_tried(tmp_path):
    endpoint = Endpoint(tmp_path)
    for _ in range(19):
        endpoint.health.failed(BROKEN, True)
    assert endpoint.wait(20 * MINUTE, BROKEN, first=False) is None
    assert not endpoint.health.blames(BROKEN, endpoint.now - 70, endpoint.now - 30, True)
    assert endpoint.wait(20 * MINUTE, BROKEN, first=False) is None
    # One more of those that were not tried before makes them many.
    endpoint.health.failed(BROKEN, True)
    assert endpoint.wait(2) is not None


def test_no_request_is_to_blame_that_no_connection_is_made(tmp_path):
    endpoint = Endpoint(tmp_path, retrying=True)
    began = endpoint.now
    endpoint.health.failed(REFUSED, True)
    assert not endpoint.health.blames(REFUSED, began, began, False)
    # But if GET /models is answered all the time, there must be an end.
    assert endpoint.wait(80, REFUSED) is None
    assert endpoint.health.blames(REFUSED, began, began + 1, False)


def test_one_request_that_runs_out_of_retries_is_enough(tmp_path):
    """With few retries that take long, five faults would take too long."""
    endpoint = Endpoint(tmp_path)
    endpoint.fresh = False
    endpoint.health.failed(RESET, True)
    assert endpoint.wait(MINUTE) is None
    assert not endpoint.health.blames(RESET, endpoint.now - 50, endpoint.now - 50, False)
    assert endpoint.wait(2) is not None


def test_an_endpoint_that_only_limits_stops_the_job_after_a_while(tmp_path):
    endpoint = Endpoint(tmp_path)
    assert endpoint.wait(health.LIMITED_S - 10, LIMITED) is None
    assert endpoint.wait(30, LIMITED) is not None
    assert "models.m.limits" in endpoint.error


def test_a_limit_is_a_sign_that_the_endpoint_is_well(tmp_path):
    endpoint = Endpoint(tmp_path)
    assert endpoint.wait(35, BROKEN) is None
    endpoint.health.failed(LIMITED, True)
    assert endpoint.wait(35, BROKEN) is None


def test_a_request_that_is_always_limited_is_given_up_in_the_end(tmp_path):
    endpoint = Endpoint(tmp_path)
    began = endpoint.now
    endpoint.now += health.LIMITED_S - 1
    endpoint.health.served()
    assert not endpoint.health.blames(LIMITED, began, began, True)
    endpoint.now += 1
    assert endpoint.health.blames(LIMITED, began, began, True)


def test_a_job_that_starts_while_the_endpoint_is_known_to_be_down_looks_only_shortly(tmp_path):
    def seconds():
        endpoint = Endpoint(tmp_path)
        for _ in range(30):
            endpoint.health.failed(REFUSED, True)
        return endpoint.wait(MINUTE)

    assert seconds() > 30
    assert seconds() < 10
    old = time.time() - 600
    os.utime(tmp_path / "down", (old, old))
    assert seconds() > 30


def test_once_answered_it_looks_as_long_as_ever(tmp_path):
    Endpoint(tmp_path).wait(MINUTE, REFUSED)
    endpoint = Endpoint(tmp_path)
    endpoint.health.served()
    assert not (tmp_path / "down").exists()
    assert endpoint.wait(30, BROKEN) is None


def test_that_no_word_can_be_left_hides_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    endpoint = Endpoint(tmp_path / "file")
    assert endpoint.wait(MINUTE, REFUSED) < MINUTE
    assert "nothing answers at" in endpoint.error
