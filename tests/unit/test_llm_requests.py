"""Requests: the body that is sent, and the key under which the answer is kept."""

import json

from hypothesis import given
from hypothesis import strategies as st

from devqa.config.models import Model, Sampling, asked_with
from devqa.llm.requests import Request, body, key
from faults import GRADE


def ask(text="hello", **more):
    return Request(({"role": "user", "content": text},), **more)


def text_of(body):
    return body["messages"][-1]["content"]


def asked(sampling=None, **more):
    return asked_with("label", Model(base_url="http://x/v1", sampling=Sampling(**(sampling or {})), **more))


def test_the_body_holds_the_sampling_and_the_models_own_name():
    sampling = {"temperature": 0.5, "top_p": 0.9, "max_tokens": 50, "seed": 7, "reasoning_effort": "low"}
    sent = body(asked(sampling, model="their-name", extra_body={"top_k": 5}), ask("q", repeat=2), "json_schema")
    assert sent == {
        "model": "their-name",
        "messages": [{"role": "user", "content": "q"}],
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 50,
        "seed": 9,
        "reasoning_effort": "low",
        "top_k": 5,
    }


def test_the_token_limit_goes_by_the_models_name_for_it():
    sent = body(asked({"max_tokens": 50}, max_tokens_key="max_completion_tokens"), ask(), "prompt")
    assert sent["max_completion_tokens"] == 50
    assert "max_tokens" not in sent


def test_what_a_model_refuses_is_not_sent():
    sent = body(asked({"temperature": 0.5, "seed": 1, "top_p": 0.5}, omit=["temperature", "seed"]), ask(), "prompt")
    assert sent.keys() == {"model", "messages", "top_p"}


def test_the_schema_travels_as_the_endpoint_wants_it():
    strict, loose, bare = (
        body(asked(), ask("q", schema=GRADE), kind) for kind in ("json_schema", "json_object", "prompt")
    )
    assert strict["response_format"]["json_schema"] == {"name": "answer", "strict": True, "schema": GRADE}
    assert text_of(strict) == "q"
    assert loose["response_format"] == {"type": "json_object"}
    assert "response_format" not in bare
    for sent in (loose, bare):
        assert text_of(sent).startswith("q\n\n")
        assert json.loads(text_of(sent).splitlines()[-1]) == GRADE
    assert "response_format" not in body(asked(), ask("q"), "json_schema")


def test_asking_changes_no_request():
    request = ask("q", schema=GRADE)
    body(asked(), request, "prompt")
    assert request == ask("q", schema=GRADE)


def key_of(request, **model):
    return key(asked(**model), request)


def test_the_key_is_what_was_asked():
    base = key_of(ask("q"))
    different = {
        "text": key_of(ask("p")),
        "role": key_of(Request(({"role": "system", "content": "q"},))),
        "schema": key_of(ask("q", schema=GRADE)),
        "structured": key_of(ask("q", schema=GRADE), structured="prompt"),
        "repeat": key_of(ask("q", repeat=1)),
        "sampling": key_of(ask("q"), sampling={"temperature": 0.5}),
        "extra_body": key_of(ask("q"), extra_body={"top_k": 1}),
        "model": key_of(ask("q"), model="other"),
        "endpoint": key_of(ask("q"), identity="elsewhere"),
    }
    assert len({base, *different.values()}) == len(different) + 1


def test_the_key_is_nothing_else():
    assert key_of(ask("q")) == key_of(
        ask("q"),
        limits={"concurrency": 99, "timeout_s": 1},
        price={"input": 1.0},
        api_key_env="SOME_KEY",
        note="words",
        context=1024,
    )
    reordered = {name: GRADE[name] for name in reversed(GRADE)}
    assert key_of(ask("q", schema=GRADE)) == key_of(ask("q", schema=reordered))


def test_a_served_model_keeps_its_key_though_its_address_changes():
    here, there = (
        asked_with("m", Model(base_url=f"http://127.0.0.1:{port}/v1", identity="my server")) for port in (1, 2)
    )
    assert key(here, ask()) == key(there, ask())


@given(st.text(st.characters(codec=None), max_size=20))
def test_any_text_can_be_asked(text):
    sent = body(asked(), ask(text), "prompt")
    assert text_of(sent).encode().decode() == text_of(sent)
    assert len(key_of(ask(text))) == 64
