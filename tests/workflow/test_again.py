"""Rows that were given up for faults that may pass are asked about again by the next run, and only they."""

import pytest

from replies import reply, step_of
from scripted import Reply


@pytest.mark.slow
def test_what_was_given_up_is_asked_by_the_next_run_and_nothing_else(fresh):
    for model in fresh.config["models"].values():
        model["limits"] = {"retries": 0}

    def unwell(body):
        if step_of(body) == "check" and "case" in str(body) and hash_of(body) % 5 == 0:
            return Reply(status=503, error="overloaded")
        return reply(body)

    fresh.endpoint.reply = unwell
    first = fresh.run()
    assert first.code == 0, first.output
    failed = [row for row in fresh.table("checked") if row["status"] == "failed"]
    assert 0 < len(failed) < len(fresh.table("checked"))
    assert "FAILED  checked" in first.output
    assert "What was given up is asked again by the next run" in first.output

    fresh.endpoint.reply = reply
    fresh.endpoint.clear()
    second = fresh.run()
    assert second.code == 0, second.output
    assert fresh.asked()["check"] == len(failed)
    assert not {"queries", "condense", "generate"} & set(fresh.asked())
    assert all(row["status"] != "failed" for row in fresh.table("checked"))

    fresh.endpoint.clear()
    third = fresh.run()
    assert (third.code, third.rules, fresh.endpoint.count) == (0, {}, 0)


def hash_of(body) -> int:
    """A number that is the same for the same request."""
    return sum(body["messages"][-1]["content"].encode())
