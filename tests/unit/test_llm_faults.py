"""Whatever an endpoint does: what is tried again, what fails a row, what stops the job; `faults` is the catalogue."""

import datetime as dt
import re
import socket
import ssl
from contextlib import contextmanager
from email.utils import format_datetime
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faults
from devqa.errors import UserError
from devqa.llm import health
from devqa.llm.chat import Request
from devqa.llm.faults import NoStructuredOutput, Passing, RowFault, raise_of_status, retry_after_s
from scripted import Reply, ScriptedEndpoint

TESTS = Path(__file__).parents[1]
pytestmark = pytest.mark.usefixtures("no_waiting")


def ask(text="hello", schema=None):
    return Request(({"role": "user", "content": text},), schema)


def text_of(body):
    return body["messages"][0]["content"]


def once(*replies):
    """A reply function that gives `replies` one after the other and then "ok"."""
    left = list(replies)
    return lambda body: left.pop(0) if left else "ok"


def limits(fault, **more):
    """Short time-outs for what never comes, long ones for all else: the machine may be busy."""
    return {"timeout_s": 0.3 if fault.says == "no answer within" else 60, **more}


def cases(*groups):
    merged = {name: fault for group in groups for name, fault in group.items()}
    return pytest.mark.parametrize("fault", merged.values(), ids=merged)


@cases(faults.PASSING)
def test_a_passing_fault_is_tried_again(fault, tmp_path):
    with (
        ScriptedEndpoint(once(fault.reply, fault.reply)) as server,
        server.chat(tmp_path, limits=limits(fault)) as chat,
    ):
        (answer,) = chat.ask([ask()])
    assert (answer.outcome, answer.text) == ("ok", "ok")
    assert server.count == 3
    assert chat.unanswered == 0


@cases(faults.PASSING)
def test_a_lasting_fault_fails_its_row_after_the_retries_and_no_other(fault, tmp_path, monkeypatch):
    monkeypatch.setattr(health, "LIMITED_S", 0.1)
    with (
        ScriptedEndpoint(lambda body: fault.reply if text_of(body) == "bad" else "ok") as server,
        server.chat(tmp_path, limits=limits(fault, retries=2, concurrency=2)) as chat,
    ):
        *good, bad = chat.ask([*(ask(str(n)) for n in range(5)), ask("bad")])
        tried = [text_of(body) for body in server.requests].count("bad")
        assert [answer.outcome for answer in good] == ["ok"] * 5
        assert (bad.outcome, chat.unanswered) == ("error", 1)
        assert bad.reason.startswith(f"given up after {tried} attempts: ")
        assert fault.says in bad.reason
        assert tried >= 3
        # The next run asks for it again, and for nothing else.
        server.clear()
        server.reply = lambda body: "ok"
        assert [answer.outcome for answer in chat.ask([*(ask(str(n)) for n in range(5)), ask("bad")])] == ["ok"] * 6
        assert server.count == 1


@cases(faults.ROW)
def test_a_refused_request_fails_its_row_at_once_with_the_endpoints_message(fault, tmp_path):
    with (
        ScriptedEndpoint(lambda body: fault.reply if text_of(body) == "bad" else "ok") as server,
        server.chat(tmp_path) as chat,
    ):
        good, bad = chat.ask([ask("good"), ask("bad")])
    assert (good.outcome, bad.outcome) == ("ok", fault.outcome)
    assert fault.says in bad.reason
    assert (server.count, chat.unanswered) == (2, 0)


@cases(faults.STOP)
def test_a_fault_of_all_requests_stops_the_job_and_names_the_key(fault, tmp_path):
    with ScriptedEndpoint(lambda body: fault.reply if text_of(body) == "bad" else "ok") as server:
        with server.chat(tmp_path, limits={"concurrency": 1}) as chat, pytest.raises(UserError) as error:
            chat.ask([ask("first"), ask("bad"), *(ask(f"later {n}") for n in range(20))])
        assert fault.says in str(error.value)
        assert "models.scripted" in str(error.value)
        assert "kept" in str(error.value)
        assert server.count == 2
        with server.chat(tmp_path) as chat:
            assert chat.ask([ask("first")])[0].cached


@cases(faults.ANSWERS)
def test_an_answer_has_its_outcome(fault, tmp_path):
    request = ask(schema=faults.GRADE if fault.schema else None)
    with (
        ScriptedEndpoint(lambda body: fault.reply) as server,
        server.chat(tmp_path, structured="json_schema") as chat,
    ):
        (answer,) = chat.ask([request])
    assert answer.outcome == fault.outcome
    assert fault.says in answer.reason
    assert bool(answer.reason) == (answer.outcome != "ok")
    assert answer.data == ({"grade": "A"} if fault.schema and fault.outcome == "ok" else None)
    assert (server.count, chat.unanswered) == (1, 0)


def unlike(fault):
    """A server that takes only the prompt's word, or gives a good answer at the second time of asking."""

    def reply(body):
        if len(body["messages"]) > 1:
            return {"grade": "A"}
        if fault.says == "no answer that follows the schema":
            return {"grade": "A"} if "JSON Schema" in text_of(body) else fault.reply
        return fault.reply if "response_format" in body else {"grade": "A"}

    return reply


@cases(faults.REASKED)
def test_what_can_be_asked_in_another_way_is(fault, tmp_path):
    with ScriptedEndpoint(unlike(fault)) as server, server.chat(tmp_path) as chat:
        (answer,) = chat.ask([ask(schema=faults.GRADE)])
    assert (answer.outcome, answer.data) == ("ok", {"grade": "A"})
    assert server.count > 1


@cases(faults.REASKED)
def test_where_that_does_not_help_the_row_fails_with_what_was_said(fault, tmp_path):
    with ScriptedEndpoint(lambda body: fault.reply) as server, server.chat(tmp_path) as chat:
        (answer,) = chat.ask([ask(schema=faults.GRADE)])
    assert (answer.outcome, chat.unanswered) == ("error", 0)
    assert fault.says in answer.reason
    if fault.reply.status == 200:
        assert answer.raw == fault.reply.text or answer.raw == orjson.dumps(fault.reply.text).decode()
    assert server.count <= 4


@contextmanager
def refused(monkeypatch):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with ScriptedEndpoint() as server:
        server.port, port = port, server.port
        yield server
        server.port = port


@contextmanager
def unknown_host(monkeypatch):
    """No name server is asked: the look-up is the test's."""

    def look_up(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with ScriptedEndpoint() as server:
        monkeypatch.setattr(socket, "getaddrinfo", look_up)
        monkeypatch.setattr(ScriptedEndpoint, "base_url", "http://no-such-host.invalid/v1")
        yield server
        monkeypatch.undo()


@contextmanager
def untrusted(monkeypatch):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TESTS / "untrusted.pem")
    with ScriptedEndpoint(tls=context) as server:
        yield server


@contextmanager
def silent(monkeypatch):
    with ScriptedEndpoint(lambda body: Reply(fault="hang"), models=Reply(fault="hang")) as server:
        yield server


@contextmanager
def failing(monkeypatch):
    with ScriptedEndpoint(lambda body: Reply(status=503)) as server:
        yield server


@contextmanager
def limiting(monkeypatch):
    monkeypatch.setattr(health, "LIMITED_S", 0.5)
    with ScriptedEndpoint(lambda body: Reply(status=429)) as server:
        yield server


SERVERS = dict(zip(faults.UNREACHABLE, (refused, unknown_host, untrusted, silent, failing, limiting), strict=True))


@pytest.mark.parametrize("rows", [2, 2000])
@pytest.mark.parametrize("name", SERVERS)
def test_a_server_that_is_of_no_use_stops_the_job_with_one_message(name, rows, tmp_path, monkeypatch):
    with SERVERS[name](monkeypatch) as server:
        with (
            server.chat(tmp_path, limits={"down_after_s": 0.5, "retries": 1}) as chat,
            pytest.raises(UserError, match=rf"models\.scripted\.\w+.*{faults.ALL[name].says}"),
        ):
            chat.ask([ask(str(n)) for n in range(rows)])
        # Not all were tried.
        assert len({text_of(body) for body in server.requests}) < 200


def table(text):
    """The cells of the rows of the first table in a Markdown text, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


AGAIN = {"again": "yes", "stop": "yes", "row": "no", "reask": "no", "taken": "no"}


def test_the_table_in_the_docs_is_the_catalogue():
    text = (TESTS.parent / "docs/faults.md").read_text(encoding="utf-8")
    rows = {cells[0]: cells[1:] for cells in table(text.split("\n## ")[1])}
    assert list(rows) == list(faults.ALL)
    for name, fault in faults.ALL.items():
        done, says, again = rows[name]
        if fault.then in ("row", "taken"):
            assert f"(`{fault.outcome}`)" in done, name
        if fault.then != "reask":
            assert fault.says in says, name
        assert again == ("is kept" if fault.outcome == "ok" else AGAIN[fault.then]), name


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b'{"error": {"message": "m", "type": "t", "code": null}}', "m"),
        (b'{"object": "error", "message": "m", "type": "BadRequestError", "code": 400}', "m"),
        (b'{"error": "m"}', "m"),
        (b'{"error": null, "message": "m"}', "m"),
        (b'[{"error": {"code": 400, "message": "m", "status": "INVALID_ARGUMENT"}}]', "m"),
        (b'{"detail": "m"}', "m"),
        (b'{"detail": [{"loc": ["body"], "msg": "m", "type": "t", "input": "secret"}]}', "['body']: m (t)"),
        (b"<p>\n m</p>", "<p> m</p>"),
        (b"", "the address answered 400"),
        (b"\xff\xfe", "\ufffd"),
        (b'"m"', "m"),
        (b"[]", "[]"),
    ],
)
def test_errors_come_in_many_shapes(body, says):
    with pytest.raises(RowFault) as fault:
        raise_of_status(400, {}, body, "label", "the address")
    assert says in str(fault.value)
    assert "secret" not in str(fault.value)


@pytest.mark.parametrize(
    ("status", "message", "sets"),
    [
        (400, "Unsupported parameter: 'max_completion_tokens'", "max_tokens_key: max_tokens"),
        (
            400,
            "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
            "omit: [reasoning_effort]",
        ),
        (422, "['body', 'seed']: Extra inputs are not permitted (extra_forbidden)", "omit: [seed]"),
        (400, "Unknown parameter: 'top_p'.", "omit: [top_p]"),
        (400, "Unknown parameter: 'min_p'.", "extra_body"),
        (400, "Your credit balance is too low to access the API", "quota is used up"),
        (501, "Not Implemented", "is not the address of a chat endpoint"),
    ],
)
def test_what_no_request_would_fare_better_with_names_the_key(status, message, sets):
    with pytest.raises(UserError, match=re.escape(sets)):
        raise_of_status(status, {}, orjson.dumps({"error": {"message": message}}), "label", "the address")


@pytest.mark.parametrize("word", ["insufficient_quota", "safety", "response_format"])
def test_words_in_the_address_and_in_the_prompt_mean_nothing(word):
    body = orjson.dumps({"detail": [{"loc": ["body"], "msg": "too short", "type": "t", "input": word}]})
    with pytest.raises(RowFault) as fault:
        raise_of_status(422, {}, body, "label", f"http://{word}/v1")
    assert fault.value.outcome == "error"
    with pytest.raises(UserError, match="refuses the key"):
        raise_of_status(403, {}, b"", "label", f"http://{word}/v1")


def test_a_quota_that_is_reset_every_minute_is_no_quota():
    """Gemini says this for its limits by the minute too."""
    body = b'[{"error": {"code": 429, "message": "You exceeded your current quota", "status": "RESOURCE_EXHAUSTED"}}]'
    with pytest.raises(Passing) as fault:
        raise_of_status(429, {}, body, "label", "the address")
    assert fault.value.limited


def test_a_limit_by_the_headers_says_how_long_to_wait():
    headers = {
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "1m0s",
    }
    with pytest.raises(Passing) as fault:
        raise_of_status(429, headers, b"", "label", "the address")
    assert fault.value.wait_s == 1.0


@given(
    st.integers(300, 599),
    st.dictionaries(
        st.sampled_from(["retry-after", "retry-after-ms", "location", "x-should-retry"])
        | st.sampled_from(
            [f"x-ratelimit-{a}-{b}" for a in ("limit", "remaining", "reset") for b in ("requests", "tokens")]
        ),
        st.text(max_size=20) | st.sampled_from(["0", "1e999", "nan", "-1", "5", "Wed, 21 Oct 99999 07:28:00 GMT"]),
    ),
    st.binary(max_size=40)
    | st.recursive(
        st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=9),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["error", "message", "code", "type", "param", "detail"]), inner, max_size=4
            )
        ),
    ).map(orjson.dumps),
)
def test_any_response_is_one_of_the_faults(status, headers, body):
    with pytest.raises((Passing, RowFault, NoStructuredOutput, UserError)) as fault:
        raise_of_status(status, headers, body, "label", "the address")
    if isinstance(fault.value, Passing):
        assert fault.value.wait_s is None or 0 <= fault.value.wait_s <= 300


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
