"""Asking: outcomes, structured output, the cache, and what is sent how often."""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from devqa.config.models import Model, Sampling, asked_with
from devqa.llm import endpoints
from devqa.llm.chat import Request, body, key, usage
from scripted import Reply, ScriptedEndpoint

GRADE = {
    "type": "object",
    "properties": {"grade": {"type": "string", "enum": ["A", "B"]}},
    "required": ["grade"],
    "additionalProperties": False,
}


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(endpoints, "WAIT_INITIAL_S", 0.001)
    monkeypatch.setattr(endpoints, "WAIT_JITTER_S", 0.0)


def ask(text="hello", **more):
    return Request(({"role": "user", "content": text},), **more)


def text_of(body):
    return body["messages"][-1]["content"]


def answered(tmp_path, reply, request=None, **model):
    with ScriptedEndpoint(lambda body: reply) as server, server.chat(tmp_path, **model) as chat:
        return chat.ask([request or ask()])[0]


@pytest.mark.parametrize(
    ("reply", "outcome", "text", "raw"),
    [
        (Reply("  fine "), "ok", "fine", ""),
        (Reply("<think>hm</think>fine"), "ok", "fine", ""),
        (Reply("fine", reasoning="hm"), "ok", "fine", ""),
        (Reply("half a \ud83d pair"), "ok", "half a \ufffd pair", ""),
        (Reply("fine", usage=None), "ok", "fine", ""),
        (Reply("fine", usage={"prompt_tokens": None}), "ok", "fine", ""),
        (Reply(None), "empty", "", ""),
        (Reply(""), "empty", "", ""),
        (Reply(" \n"), "empty", "", " \n"),
        (Reply("<think>hm</think>"), "empty", "", "<think>hm</think>"),
        (Reply(None, reasoning="hm"), "empty", "", ""),
        (Reply("fine, but", finish_reason="length"), "truncated", "fine, but", "fine, but"),
        (Reply("<think>hm", finish_reason="length"), "truncated", "", "<think>hm"),
        (Reply("fi", finish_reason="content_filter"), "refused", "fi", "fi"),
        (Reply(None, finish_reason="content_filter"), "refused", "", ""),
        (Reply(None, refusal="I can't help"), "refused", "I can't help", "I can't help"),
        (Reply(tool_call=True, finish_reason="tool_calls"), "error", "", ""),
        (Reply(choices=False), "error", "", ""),
        (Reply(body=b"[]"), "error", "", ""),
        (Reply(body=b'{"error": {"message": "upstream is down", "code": 502}}'), "error", "", ""),
        (Reply(body=b'{"choices": [{"message": {"content": [{"type": "text", "text": "a"}]}}]}'), "ok", "a", ""),
        (Reply(body=b'{"choices": [{}]}'), "empty", "", ""),
        (Reply(body=b'{"choices": [null]}'), "error", "", ""),
    ],
)
def test_outcomes(reply, outcome, text, raw, tmp_path):
    answer = answered(tmp_path, reply)
    assert (answer.outcome, answer.text, answer.raw) == (outcome, text, raw)
    assert bool(answer.reason) == (outcome != "ok")
    assert not answer.cached


def test_an_upstream_error_with_status_200_is_named(tmp_path):
    reply = Reply(body=b'{"error": {"message": "upstream is down", "code": 502}}')
    assert "upstream is down" in answered(tmp_path, reply).reason


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ('{"grade": "A"}', "ok"),
        ('<think>{"grade": "B"}</think>{"grade": "A"}', "ok"),
        ('```json\n{"grade": "A"}\n```', "ok"),
        ('Sure! {"grade": "A",}', "ok"),
        ('{"grade": "Z"}', "error"),
        ("A", "error"),
    ],
)
def test_structured_answers_are_parsed_and_validated(text, outcome, tmp_path):
    answer = answered(tmp_path, Reply(text), ask(schema=GRADE))
    assert answer.outcome == outcome
    assert answer.data == ({"grade": "A"} if outcome == "ok" else None)
    assert answer.raw == ("" if outcome == "ok" else text)


def test_a_truncated_answer_stays_truncated_though_it_could_be_mended(tmp_path):
    answer = answered(tmp_path, Reply('{"grade": "A"', finish_reason="length"), ask(schema=GRADE))
    assert (answer.outcome, answer.data, answer.raw) == ("truncated", None, '{"grade": "A"')


def test_tokens_are_the_endpoints_count(tmp_path):
    answer = answered(tmp_path, Reply("x", usage={"prompt_tokens": 11, "completion_tokens": 7}))
    assert (answer.input_tokens, answer.output_tokens) == (11, 7)


def asked(structured="json_schema", sampling=None, **more):
    model = Model(base_url="http://x/v1", structured=structured, sampling=Sampling(**(sampling or {})), **more)
    return asked_with("label", model)


def test_the_body_holds_the_sampling_and_the_models_own_name():
    sampling = {"temperature": 0.5, "top_p": 0.9, "max_tokens": 50, "seed": 7, "reasoning_effort": "low"}
    sent = body(asked(sampling=sampling, model="their-name", extra_body={"top_k": 5}), ask("q", repeat=2))
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
    sent = body(asked(sampling={"max_tokens": 50}, max_tokens_key="max_completion_tokens"), ask())
    assert sent["max_completion_tokens"] == 50
    assert "max_tokens" not in sent


def test_the_schema_travels_as_the_endpoint_wants_it():
    strict, loose, bare = (
        body(asked(kind), ask("q", schema=GRADE)) for kind in ("json_schema", "json_object", "prompt")
    )
    assert strict["response_format"]["json_schema"] == {"name": "answer", "strict": True, "schema": GRADE}
    assert text_of(strict) == "q"
    assert loose["response_format"] == {"type": "json_object"}
    assert "response_format" not in bare
    for sent in (loose, bare):
        assert text_of(sent).startswith("q\n\n")
        assert json.loads(text_of(sent).splitlines()[-1]) == GRADE
    assert "response_format" not in body(asked(), ask("q"))


def key_of(request, **model):
    what = asked(**model)
    return key(what, request, body(what, request))


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
    asked_here, asked_there = (
        asked_with("m", Model(base_url=f"http://127.0.0.1:{port}/v1", identity="my server")) for port in (1, 2)
    )
    assert key(asked_here, ask(), body(asked_here, ask())) == key(asked_there, ask(), body(asked_there, ask()))


def test_answers_come_in_the_order_of_the_requests(tmp_path):
    def reply(body):
        return Reply(text_of(body).upper(), delay_s=0.05 if text_of(body) == "a" else 0)

    with ScriptedEndpoint(reply) as server, server.chat(tmp_path) as chat:
        assert [answer.text for answer in chat.ask([ask(text) for text in "abcd"])] == ["A", "B", "C", "D"]


def test_no_requests_no_answers(tmp_path):
    with ScriptedEndpoint() as server, server.chat(tmp_path) as chat:
        assert chat.ask([]) == []
    assert server.count == 0


def test_equal_requests_are_sent_once_and_repeats_are_not_equal(tmp_path):
    with ScriptedEndpoint() as server, server.chat(tmp_path) as chat:
        answers = chat.ask([ask("a"), ask("b"), ask("a"), ask("a", repeat=1)])
    assert [answer.outcome for answer in answers] == ["ok"] * 4
    assert server.count == 3


def test_what_was_answered_is_not_sent_again(tmp_path):
    requests = [ask(str(n), schema=GRADE) for n in range(20)]
    with ScriptedEndpoint(lambda body: {"grade": "A"}) as server:
        with server.chat(tmp_path) as chat:
            first = chat.ask(requests)
        with server.chat(tmp_path) as chat:
            again = chat.ask([*requests, ask("new", schema=GRADE)])
        assert server.count == 21
    assert not any(answer.cached for answer in first)
    assert [answer.cached for answer in again] == [True] * 20 + [False]
    assert [answer.data for answer in again] == [{"grade": "A"}] * 21
    assert usage("m", first) == usage("m", again[:20])


def test_what_is_wholly_cached_loads_no_client_and_needs_no_endpoint(tmp_path):
    with ScriptedEndpoint() as server, server.chat(tmp_path, identity="fixed") as chat:
        chat.ask([ask()])
    code = (
        "import sys; from devqa.config.models import Model, asked_with; from devqa.llm.cache import Cache\n"
        "from devqa.llm.chat import Chat, Request\n"
        "model = Model(base_url='http://127.0.0.1:9/v1', identity='fixed', api_key_env='NOT_SET')\n"
        f"with Chat(asked_with('scripted', model), model.model_dump(), Cache({str(tmp_path)!r}), 'test') as chat:\n"
        "    answer, = chat.ask([Request(({'role': 'user', 'content': 'hello'},))])\n"
        "assert answer.cached and answer.text == 'ok'\n"
        "assert not {'openai', 'aiohttp', 'jsonschema', 'json_repair'} & set(sys.modules)\n"
    )
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=_environment())
    assert completed.returncode == 0, completed.stderr


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=400),
        Reply(None),
        Reply("x", finish_reason="length"),
        Reply(None, refusal="no"),
        Reply(choices=False),
    ],
    ids=["error", "empty", "truncated", "refused", "no choices"],
)
def test_only_good_answers_are_served_again(reply, tmp_path):
    replies = [reply]
    with ScriptedEndpoint(lambda body: replies.pop() if replies else "ok") as server, server.chat(tmp_path) as chat:
        assert chat.ask([ask()])[0].outcome != "ok"
        assert chat.ask([ask()])[0].outcome == "ok"
        assert chat.ask([ask()])[0].cached
    assert server.count == 2


def test_an_answer_that_another_job_gave_meanwhile_is_the_one_that_counts(tmp_path):
    """Two jobs answer the same request at the same time: both return what the cache will serve from then on."""
    with ScriptedEndpoint(lambda body: "theirs") as other:

        def reply(body):
            with other.chat(tmp_path, identity="shared") as chat, ThreadPoolExecutor() as thread:
                thread.submit(chat.ask, [ask()]).result()
            return "ours"

        with ScriptedEndpoint(reply) as server, server.chat(tmp_path, identity="shared") as chat:
            assert chat.ask([ask()])[0].text == "theirs"
            assert chat.ask([ask()])[0].text == "theirs"


def test_lone_surrogates_can_be_asked(tmp_path):
    with ScriptedEndpoint() as server, server.chat(tmp_path) as chat:
        assert chat.ask([ask("half a \ud83d pair")])[0].outcome == "ok"
    assert text_of(server.requests[0]) == "half a \ufffd pair"


def test_usage_adds_up_by_model(tmp_path):
    reply = Reply("x", usage={"prompt_tokens": 11, "completion_tokens": 7})
    with ScriptedEndpoint(lambda body: reply) as server, server.chat(tmp_path) as chat:
        answers = chat.ask([ask("a"), ask("b"), ask("a")])
    assert usage("m", answers) == [{"model": "m", "calls": 3, "input_tokens": 33, "output_tokens": 21}]
    assert usage("m", []) == []


def test_progress_tells_cached_failed_and_cost(tmp_path, caplog):
    def reply(body):
        if text_of(body) == "bad":
            return Reply(status=400)
        return Reply("x", usage={"prompt_tokens": 1_000_000, "completion_tokens": 1_000_000})

    price = {"input": 0.25, "output": 0.5}
    with (
        caplog.at_level("INFO"),
        ScriptedEndpoint(reply) as server,
        server.chat(tmp_path, "verify", price=price) as chat,
    ):
        chat.ask([ask("a")])
        chat.ask([ask("a"), ask("b"), ask("bad")])
    line = caplog.records[-1].message
    assert line.startswith("verify with scripted: 3 of 3 done")
    assert line.endswith("1 from the cache, 1 failed, 0.7500 USD")


_CHILD = """
import sys
from devqa.config.models import Model, asked_with
from devqa.llm.cache import Cache
from devqa.llm.chat import Chat, Request
model = Model(base_url=sys.argv[1], limits={"concurrency": 4})
requests = [Request(({"role": "user", "content": str(n)},)) for n in range(int(sys.argv[3]), int(sys.argv[4]))]
with Chat(asked_with("scripted", model), model.model_dump(), Cache(sys.argv[2]), "child") as chat:
    assert all(answer.outcome == "ok" for answer in chat.ask(requests))
"""


def _environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def child(server, cache, start, stop):
    arguments = [sys.executable, "-c", _CHILD, server.base_url, str(cache), str(start), str(stop)]
    return subprocess.Popen(arguments, env=_environment())


def test_after_kill_9_only_what_was_not_answered_is_sent(tmp_path):
    process = []

    def reply(body):
        if server.count > 40 and process[0].poll() is None:
            os.kill(process[0].pid, signal.SIGKILL)
            process[0].wait()
        return "ok"

    with ScriptedEndpoint(reply, delay_s=0.005) as server:
        process.append(child(server, tmp_path, 0, 100))
        assert process[0].wait() == -signal.SIGKILL
        server.reply = lambda body: "ok"
        before = server.count
        with server.chat(tmp_path, limits={"concurrency": 4}) as chat:
            answers = chat.ask([ask(str(n)) for n in range(100)])
        assert [answer.outcome for answer in answers] == ["ok"] * 100
        sent_twice = server.count - 100
        cached = sum(answer.cached for answer in answers)
    # Lost at the kill: at most what was under way in four slots.
    assert before > 40
    assert cached >= before - 4
    assert 0 <= sent_twice <= 4


def test_two_processes_share_a_cache(tmp_path):
    with ScriptedEndpoint(lambda body: text_of(body)) as server:
        children = [child(server, tmp_path, 0, 150), child(server, tmp_path, 50, 200)]
        assert [process.wait() for process in children] == [0, 0]
        sent = server.count
        assert 200 <= sent <= 300
        with server.chat(tmp_path) as chat:
            answers = chat.ask([ask(str(n)) for n in range(200)])
        assert server.count == sent
    assert [answer.text for answer in answers] == [str(n) for n in range(200)]
