"""Asking: the cache, and what is sent how often."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from devqa.llm.chat import Request, usage
from faults import GRADE
from scripted import Reply, ScriptedEndpoint

pytestmark = pytest.mark.usefixtures("no_waiting")


def ask(text="hello", **more):
    return Request(({"role": "user", "content": text},), **more)


def text_of(body):
    return body["messages"][-1]["content"]


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
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert completed.returncode == 0, completed.stderr


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=400),
        Reply(None),
        Reply("x", finish_reason="length"),
        Reply(None, refusal="no"),
        Reply(tool_call=True),
    ],
    ids=["error", "empty", "truncated", "refused", "a tool"],
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
    (row,) = usage("m", answers)
    assert (row["model"], row["calls"], row["input_tokens"], row["output_tokens"]) == ("m", 3, 33, 21)
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
