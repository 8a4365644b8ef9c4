"""Whatever an endpoint does: what is tried again, what fails a row, what stops the job."""

import datetime as dt
import logging
import socket
from email.utils import format_datetime

import pytest

from devqa.errors import UserError
from devqa.llm import endpoints
from devqa.llm.chat import Request
from devqa.llm.faults import retry_after_s
from scripted import Reply, ScriptedEndpoint

KEY = "sk-secret-0123456789"


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(endpoints, "WAIT_INITIAL_S", 0.001)
    monkeypatch.setattr(endpoints, "WAIT_JITTER_S", 0.0)


def ask(text="hello"):
    return Request(({"role": "user", "content": text},))


def text_of(body):
    return body["messages"][-1]["content"]


def once(*replies):
    """A reply function that gives `replies` one after the other and then "ok"."""
    left = list(replies)
    return lambda body: left.pop(0) if left else "ok"


PASSING = {
    **{str(status): Reply(status=status) for status in (408, 409, 425, 429, 500, 502, 503, 504, 529)},
    "reset": Reply(fault="close"),
    "half a body": Reply("x" * 1000, fault="half"),
    "HTML instead of JSON": Reply(body=b"<html>Please wait</html>", headers={"Content-Type": "text/html"}),
    "an empty body": Reply(body=b""),
    "JSON cut short": Reply(body=b'{"choices": ['),
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_a_passing_fault_is_tried_again(fault, tmp_path):
    with ScriptedEndpoint(once(fault, fault)) as server, server.chat(tmp_path) as chat:
        (answer,) = chat.ask([ask()])
    assert (answer.outcome, answer.text) == ("ok", "ok")
    assert server.count == 3


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_a_lasting_fault_fails_its_row_after_the_retries_and_no_other(fault, tmp_path):
    with ScriptedEndpoint(lambda body: fault if text_of(body) == "bad" else "ok") as server:
        limits = {"retries": 2, "concurrency": 1}
        with server.chat(tmp_path, limits=limits) as chat:
            good, bad, late = chat.ask([ask("good"), ask("bad"), ask("late")])
    assert (good.outcome, bad.outcome, late.outcome) == ("ok", "error", "ok")
    assert bad.reason.startswith("given up after 3 attempts")
    assert [text_of(body) for body in server.requests].count("bad") == 3


def test_a_server_that_hangs_is_a_time_out(tmp_path):
    with (
        ScriptedEndpoint(lambda body: Reply(fault="hang") if text_of(body) == "bad" else "ok") as server,
        server.chat(tmp_path, limits={"retries": 1, "timeout_s": 0.5}) as chat,
    ):
        good, bad = chat.ask([ask("good"), ask("bad")])
    assert good.outcome == "ok"
    assert (bad.outcome, bad.reason) == ("error", "given up after 2 attempts: no answer within 0.5 s")
    assert [text_of(body) for body in server.requests].count("bad") == 2


TOO_LONG = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."


@pytest.mark.parametrize("status", [400, 413, 422, 418])
def test_a_refused_request_fails_its_row_at_once_with_the_endpoints_message(status, tmp_path):
    error = {"message": TOO_LONG, "code": "context_length_exceeded"}
    with (
        ScriptedEndpoint(lambda body: Reply(status=status, error=error) if text_of(body) == "bad" else "ok") as server,
        server.chat(tmp_path) as chat,
    ):
        good, bad = chat.ask([ask("good"), ask("bad")])
    assert (good.outcome, bad.outcome) == ("ok", "error")
    assert TOO_LONG in bad.reason
    assert str(status) in bad.reason
    assert server.count == 2


QUOTA = {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota"}


@pytest.mark.parametrize(
    ("fault", "names"),
    [
        (Reply(status=401, error="no such key"), ["models.scripted.api_key_env", "401", "no such key"]),
        (Reply(status=403, error="not for you"), ["models.scripted.api_key_env", "403", "not for you"]),
        (Reply(status=404, error="no model m"), ["models.scripted.model", "models.scripted.base_url", "no model m"]),
        (Reply(status=405), ["models.scripted.base_url"]),
        (Reply(status=307, headers={"Location": "https://elsewhere/v1"}), ["models.scripted.base_url", "elsewhere"]),
        (Reply(status=402, error="out of credits"), ["models.scripted.api_key_env", "quota", "out of credits"]),
        (Reply(status=429, error=QUOTA), ["models.scripted.api_key_env", "quota", "You exceeded"]),
    ],
)
def test_a_fault_of_all_requests_stops_the_job_and_names_the_key(fault, names, tmp_path):
    def reply(body):
        if text_of(body) == "bad":
            return fault
        return Reply("ok") if text_of(body) == "first" else Reply(fault="hang")

    with ScriptedEndpoint(reply) as server:
        with server.chat(tmp_path, limits={"concurrency": 1}) as chat, pytest.raises(UserError) as error:
            chat.ask([ask("first"), ask("bad"), *(ask(f"later {n}") for n in range(20))])
        for name in (*names, "kept"):
            assert name in str(error.value)
        # One slot: the bad one was the second, and at most the next had gone out when the job stopped.
        assert server.count <= 3
        with server.chat(tmp_path) as chat:
            assert chat.ask([ask("first")])[0].cached


def test_a_stop_cancels_what_is_under_way(tmp_path):
    """The others would be answered in ten minutes."""

    def reply(body):
        return Reply(status=401, delay_s=0.1) if text_of(body) == "bad" else Reply(fault="hang")

    with (
        ScriptedEndpoint(reply) as server,
        server.chat(tmp_path, limits={"timeout_s": 600}) as chat,
        pytest.raises(UserError, match="api_key_env"),
    ):
        chat.ask([ask("a"), ask("b"), ask("c"), ask("bad")])


def closed_port():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return unused.getsockname()[1]


def test_an_endpoint_that_cannot_be_reached_stops_the_job_with_one_message(tmp_path):
    with ScriptedEndpoint() as server:
        address = f"http://127.0.0.1:{closed_port()}/v1"
        with (
            server.chat(tmp_path, base_url=address, limits={"retries": 2}) as chat,
            pytest.raises(UserError, match=f"models.scripted.base_url: nothing answers at {address}"),
        ):
            chat.ask([ask(str(n)) for n in range(50)])
        assert server.count == 0


@pytest.mark.parametrize("address", ["127.0.0.1:9/v1", "ftp://127.0.0.1/v1", "nonsense"])
def test_an_address_that_is_none_stops_the_job(address, tmp_path):
    with (
        ScriptedEndpoint() as server,
        server.chat(tmp_path, base_url=address) as chat,
        pytest.raises(UserError, match=f"models.scripted.base_url.*{address}"),
    ):
        chat.ask([ask()])


def test_an_endpoint_that_stays_away_stops_the_job_before_the_retries_are_used_up(tmp_path, monkeypatch):
    monkeypatch.setattr(endpoints, "DOWN_AFTER_S", 0.0)
    monkeypatch.setattr(endpoints, "WAIT_INITIAL_S", 3600.0)
    with (
        ScriptedEndpoint() as server,
        server.chat(tmp_path, base_url=f"http://127.0.0.1:{closed_port()}/v1") as chat,
        pytest.raises(UserError, match="nothing answers at"),
    ):
        chat.ask([ask()])


def test_an_endpoint_that_only_fails_stops_the_job_after_some_requests(tmp_path):
    with (
        ScriptedEndpoint(lambda body: Reply(status=503, error="model is loading")) as server,
        server.chat(tmp_path, limits={"retries": 1, "concurrency": 2}) as chat,
        pytest.raises(UserError, match=r"no request succeeds at .*model is loading.*run again"),
    ):
        chat.ask([ask(str(n)) for n in range(500)])
    assert server.count < 100


def test_rows_that_fail_for_good_stop_no_job_while_others_are_answered(tmp_path):
    bad = {str(n) for n in range(60, 90)}
    with (
        ScriptedEndpoint(lambda body: Reply(status=500) if text_of(body) in bad else "ok") as server,
        server.chat(tmp_path, limits={"retries": 1, "concurrency": 8}) as chat,
    ):
        answers = chat.ask([ask(str(n)) for n in range(120)])
    assert [n for n, answer in enumerate(answers) if answer.outcome == "error"] == list(range(60, 90))


@pytest.mark.parametrize(
    "header",
    [
        {"Retry-After": "0.01"},
        {"retry-after-ms": "10"},
        {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"},
        {"Retry-After": "never", "retry-after-ms": "5"},
    ],
)
def test_retry_after_replaces_the_back_off(header, tmp_path, monkeypatch):
    # With the back-off's own hour this test would not end.
    monkeypatch.setattr(endpoints, "WAIT_INITIAL_S", 3600.0)
    monkeypatch.setattr(endpoints, "WAIT_LONGEST_S", 3600.0)
    with ScriptedEndpoint(once(Reply(status=429, headers=header))) as server, server.chat(tmp_path) as chat:
        assert chat.ask([ask()])[0].outcome == "ok"
    assert server.count == 2


def test_a_request_that_waits_for_its_retry_leaves_its_slot_to_others(tmp_path):
    first = [Reply(status=429, headers={"Retry-After": "0.5"})]
    with (
        ScriptedEndpoint(lambda body: first.pop() if first else "ok") as server,
        server.chat(tmp_path, limits={"concurrency": 1}) as chat,
    ):
        answers = chat.ask([ask("a"), ask("b"), ask("c")])
    assert [answer.outcome for answer in answers] == ["ok"] * 3
    assert [text_of(body) for body in server.requests] == ["a", "b", "c", "a"]


def test_an_endpoint_that_asks_for_an_hour_fails_the_row(tmp_path):
    with (
        ScriptedEndpoint(lambda body: Reply(status=429, headers={"Retry-After": "3600"})) as server,
        server.chat(tmp_path) as chat,
    ):
        (answer,) = chat.ask([ask()])
    assert (answer.outcome, server.count) == ("error", 1)
    assert "asks to wait 3,600 s" in answer.reason


NOW = dt.datetime(2025, 1, 1, 12, 0, 0, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": format_datetime(NOW + dt.timedelta(seconds=90), usegmt=True)}, 90.0),
        ({"retry-after": format_datetime(NOW - dt.timedelta(seconds=90), usegmt=True)}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
    ],
)
def test_retry_after_in_its_shapes(headers, seconds):
    assert retry_after_s(headers, NOW) == seconds


def test_never_more_requests_at_once_than_the_limit(tmp_path):
    with ScriptedEndpoint(delay_s=0.01) as server, server.chat(tmp_path, limits={"concurrency": 7}) as chat:
        chat.ask([ask(str(n)) for n in range(100)])
    assert server.peak == 7
    assert server.count == 100


def test_the_key_is_sent_and_shows_nowhere(tmp_path, monkeypatch, caplog, capfd):
    monkeypatch.setenv("SCRIPTED_KEY", KEY)
    cases = [
        Reply(status=400, error=f"bad request with key {KEY}"),
        Reply(status=500, error=f"crashed with key {KEY}"),
        Reply(status=200, body=b"no JSON but " + KEY.encode()),
        Reply(f"no answer but {KEY}", finish_reason="length"),
        Reply(status=401, error=f"Incorrect API key provided: {KEY}"),
    ]
    seen = []
    with caplog.at_level(logging.DEBUG), ScriptedEndpoint(api_key=KEY) as server:
        for n, case in enumerate(cases):
            server.reply = lambda body, case=case: case
            with server.chat(tmp_path, api_key_env="SCRIPTED_KEY", limits={"retries": 1}) as chat:
                try:
                    seen += [repr(answer) for answer in chat.ask([ask(str(n))])]
                except UserError as error:
                    seen.append(repr(error))
    assert server.unauthorised == 0
    assert len(seen) == len(cases)
    written = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert KEY not in "".join([*seen, *written, caplog.text, *capfd.readouterr()])


def test_a_wrong_key_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("SCRIPTED_KEY", "sk-wrong")
    with (
        ScriptedEndpoint(api_key=KEY) as server,
        server.chat(tmp_path, api_key_env="SCRIPTED_KEY") as chat,
        pytest.raises(UserError, match="models.scripted.api_key_env"),
    ):
        chat.ask([ask()])
    assert server.unauthorised == 1


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_key_names_the_variable(value, tmp_path, monkeypatch):
    monkeypatch.delenv("SCRIPTED_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("SCRIPTED_KEY", value)
    with (
        ScriptedEndpoint() as server,
        server.chat(tmp_path, api_key_env="SCRIPTED_KEY") as chat,
        pytest.raises(UserError, match="models.scripted.api_key_env.*SCRIPTED_KEY is not set"),
    ):
        chat.ask([ask()])
    assert server.count == 0


def test_the_environment_redirects_nothing(tmp_path, monkeypatch):
    elsewhere = f"http://127.0.0.1:{closed_port()}"
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, elsewhere)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "someone")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "something")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Custom: {KEY}")
    with ScriptedEndpoint() as server, server.chat(tmp_path) as chat:
        assert chat.ask([ask()])[0].outcome == "ok"
    sent = {name.lower(): value for name, value in server.headers[0].items()}
    assert sent["content-type"] == "application/json"
    assert not {"openai-organization", "openai-project", "x-custom"} & sent.keys()
    assert KEY not in repr(sent)
