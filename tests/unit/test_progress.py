"""Progress lines: not too many, and one at the end whatever happens."""

import logging

import pytest

from devqa.progress import Progress


def test_a_line_every_few_seconds_and_one_at_the_end(caplog):
    now = [100.0]
    with caplog.at_level(logging.INFO), Progress("verify with m", 8, every_s=5, clock=lambda: now[0]) as progress:
        progress.advance(2, cached=2)
        for _ in range(6):
            now[0] += 2
            progress.advance(failed=1, usd=0.25)
    lines = [record.message for record in caplog.records]
    assert lines == [
        "verify with m: 5 of 8 done, 0.5/s, 2 from the cache, 3 failed, 0.7500 USD",
        "verify with m: 8 of 8 done, 0.5/s, 2 from the cache, 6 failed, 1.5000 USD",
        "verify with m: 8 of 8 done, 0.5/s, 2 from the cache, 6 failed, 1.5000 USD",
    ]


def test_broken_work_still_says_how_far_it_came(caplog):
    with caplog.at_level(logging.INFO), pytest.raises(ZeroDivisionError), Progress("x", 3) as progress:
        progress.advance()
        raise ZeroDivisionError
    assert caplog.records[-1].message.startswith("x: 1 of 3 done")


def test_on_a_terminal_the_line_is_also_on_the_screen(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with Progress("x", 1) as progress:
        progress.advance()
    assert "x: 1 of 1 done" in capsys.readouterr().err


def test_without_a_terminal_the_screen_stays_clean(capsys):
    with Progress("x", 1) as progress:
        progress.advance()
    assert capsys.readouterr().err == ""
