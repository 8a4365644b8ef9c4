"""What the Batch API's endpoint does wrong, what it may see, and what the log says."""

import logging
import os
import threading

import pytest

from devqa.errors import UserError
from devqa.llm.batches import desk, service
from devqa.llm.chat import Request
from patience import until
from scripted import Reply, ScriptedEndpoint
from scripted_batch import ScriptedBatches, tickets

KEY = "sk-secret-0123456789"


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(service, "_WAIT_INITIAL_S", 0.01)


def ask(text="hello"):
    return Request(({"role": "user", "content": str(text)},))


def echo(body):
    return f"re: {body['messages'][-1]['content']}"


def test_an_endpoint_without_batches_is_named(tmp_path):
    says = r"models.scripted.mode: batch: http\S+ has no Batch API .*: use mode: online"
    with (
        ScriptedEndpoint() as server,
        server.chat(tmp_path, mode="batch") as chat,
        pytest.raises(UserError, match=says),
    ):
        chat.ask([ask()])
    assert not tickets(tmp_path)


def test_a_file_that_is_too_large_for_the_endpoint_names_the_key_to_lower(tmp_path):
    says = r"models.scripted.batch.requests: .*POST /v1/files answers 413\): lower it"
    with (
        ScriptedBatches(before=lambda deed: Reply(status=413)) as server,
        server.batching(tmp_path) as chat,
        pytest.raises(UserError, match=says),
    ):
        chat.ask([ask()])
    assert not tickets(tmp_path)


def test_an_endpoint_that_is_down_stops_the_job_before_anything_is_sent(tmp_path):
    with ScriptedEndpoint() as server:
        chat = server.chat(tmp_path, mode="batch", limits={"down_after_s": 0.05})
    with chat, pytest.raises(UserError, match="models.scripted.base_url: .* takes no batch"):
        chat.ask([ask()])
    assert not tickets(tmp_path)


def test_faults_on_the_way_are_borne(tmp_path):
    """Also garbage in place of results: they are fetched again, and nothing is sent again."""
    faults = [
        Reply(status=503),
        Reply(status=429, headers={"Retry-After": "0"}),
        Reply(fault="close"),
        Reply(body=b"<p>"),
    ]
    left = {deed: list(faults) for deed in ("upload", "create", "retrieve", "content")}
    with ScriptedBatches(echo, before=lambda deed: left.get(deed) and left[deed].pop()) as server:
        with server.batching(tmp_path, limits={"down_after_s": 5}) as chat:
            assert [answer.text for answer in chat.ask([ask(1), ask(2)])] == ["re: 1", "re: 2"]
        assert len(server.batches) == 1
    assert not any(left.values())


def test_a_batch_that_was_created_without_our_knowing_is_not_created_again(tmp_path):
    left = [Reply(fault="close"), Reply(status=500)]
    with ScriptedBatches(echo, after=lambda deed: left.pop() if deed == "create" and left else None) as server:
        with server.batching(tmp_path) as chat:
            assert chat.ask([ask()])[0].text == "re: hello"
        assert len(server.batches) == 1
        assert server.deeds["list"] == 1


def test_a_download_that_breaks_off_is_begun_again(tmp_path):
    left = [Reply(body=b'{"custom_id": "x"}\n' * 1000, fault="half")]
    with ScriptedBatches(echo, after=lambda deed: left.pop() if deed == "content" and left else None) as server:
        with server.batching(tmp_path) as chat:
            assert chat.ask([ask()])[0].text == "re: hello"
        assert len(server.batches) == 1


@pytest.mark.parametrize("deed", ["upload", "create", "retrieve", "content"])
def test_a_refused_key_stops_the_job_and_is_written_nowhere(deed, tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("SOME_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    refusal = Reply(status=401, error=f"Incorrect API key provided: {KEY}")
    with ScriptedBatches(echo, api_key=KEY, before=lambda asked: refusal if asked == deed else None) as server:
        with server.batching(tmp_path, api_key_env="SOME_KEY") as chat:
            with pytest.raises(UserError, match="models.scripted.api_key_env: the endpoint refuses the key") as caught:
                chat.ask([ask()])
            server.before = lambda asked: None
            assert chat.ask([ask()])[0].outcome == "ok"
        assert server.unauthorised == 0
    assert set(server.executed.values()) == {1}
    assert KEY not in str(caught.value) + caplog.text
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_only_the_configuration_says_where_requests_go(tmp_path, monkeypatch):
    for name in ("BASE_URL", "ORG_ID", "PROJECT_ID", "API_KEY", "CUSTOM_HEADERS"):
        monkeypatch.setenv(f"OPENAI_{name}", "x-from: environment")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with ScriptedBatches(echo) as server, server.batching(tmp_path) as chat:
        assert chat.ask([ask()])[0].outcome == "ok"
    assert server.headers
    assert not [value for headers in server.headers for value in headers.values() if "environment" in value]
    assert os.environ["OPENAI_ORG_ID"] == "x-from: environment"


def test_redirects_are_not_followed(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_KEY", KEY)
    with ScriptedBatches(echo) as elsewhere:
        away = Reply(status=307, headers={"Location": f"{elsewhere.base_url}/files?key={KEY}"})
        with (
            ScriptedBatches(before=lambda deed: away) as server,
            server.batching(tmp_path, api_key_env="SOME_KEY") as chat,
            pytest.raises(UserError, match="models.scripted.base_url .* redirects to ") as caught,
        ):
            chat.ask([ask()])
        assert not elsewhere.headers
        assert KEY not in str(caught.value)


def test_the_log_says_what_is_going_on(tmp_path, caplog):
    caplog.set_level(logging.INFO, "devqa")
    with ScriptedBatches(echo) as server:
        server.running.clear()
        follow = threading.Thread(target=lambda: until(lambda: server.deeds["retrieve"] > 2) or server.running.set())
        follow.start()
        with server.batching(tmp_path) as chat:
            chat.ask([ask(1), ask(2)])
        follow.join()
        (name,) = server.batches
    said = [record.getMessage() for record in caplog.records if record.name == desk.__name__]
    assert said == [
        f"test with scripted: batch {name} submitted: 2 requests",
        f"test with scripted: batch {name}: in_progress, 0 of 2 done, 0 failed",
        f"test with scripted: batch {name}: completed, 2 of 2 done, 0 failed",
    ]
