"""HTTP: what is sent, what is read from the environment, and that the key stays where it belongs."""

import asyncio
import json
import logging
import ssl
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.errors import UserError
from devqa.llm.access import api_key, checked_address, quoted
from devqa.llm.chat import Request
from devqa.llm.faults import Passing
from devqa.llm.transport import Transport
from scripted import Reply, ScriptedEndpoint

KEY = "sk-secret/0123+456=789"
BODY = b'{"model": "m", "messages": [{"role": "user", "content": "hello"}]}'
CLOSED = "http://127.0.0.1:9/v1"
pytestmark = pytest.mark.usefixtures("no_waiting")


def posted(server, timeout_s=60.0, key_variable=None, address=None):
    async def post():
        async with Transport("m", address or server.base_url, key_variable, timeout_s) as transport:
            return await transport.post(BODY)

    return asyncio.run(post())


def test_a_body_goes_out_as_it_is_and_the_response_comes_back(monkeypatch):
    monkeypatch.setenv("SOME_KEY", f" {KEY}\n")
    with ScriptedEndpoint(lambda body: Reply("fine", headers={"X-Header": "value"}), api_key=KEY) as server:
        response = posted(server, key_variable="SOME_KEY")
    assert server.requests == [json.loads(BODY)]
    assert (response.status, response.headers["x-header"]) == (200, "value")
    assert json.loads(response.body)["choices"][0]["message"]["content"] == "fine"


def test_an_error_is_a_response_like_any_other():
    with ScriptedEndpoint(lambda body: Reply(status=418, body=b"tea", headers={"Retry-After": "7"})) as server:
        response = posted(server)
    assert (response.status, response.body, response.headers["retry-after"]) == (418, b"tea", "7")


def test_redirects_are_not_followed():
    with ScriptedEndpoint() as elsewhere:
        location = {"Location": f"{elsewhere.base_url}/chat/completions"}
        with ScriptedEndpoint(lambda body: Reply(status=307, headers=location)) as server:
            assert posted(server).status == 307
    assert elsewhere.count == 0


@pytest.mark.parametrize(
    ("fault", "says", "unreachable"),
    [
        (Reply(fault="close"), "Server disconnected", False),
        (Reply(fault="half"), "payload is not completed", False),
        (Reply(fault="garbage"), "Bad status line", False),
        (Reply(fault="hang"), "no answer within 0.3 s", False),
        (Reply(fault="drip"), "no answer within 0.3 s", False),
        (Reply(headers={"X-Long": "x" * 100_000}), "ClientResponseError", False),
        (None, "Cannot connect", True),
    ],
)
def test_what_is_no_response_may_pass(fault, says, unreachable):
    with ScriptedEndpoint(lambda body: fault) as server, pytest.raises(Passing, match=says) as raised:
        posted(server, 0.3, address=None if fault else CLOSED)
    assert raised.value.unreachable == unreachable
    assert not raised.value.heard
    assert len(str(raised.value)) <= 500


def test_no_connection_within_the_time_is_unreachable_too(monkeypatch):
    """A host that drops packets instead of refusing them."""
    from devqa.llm import transport

    async def never(*_, **__):
        await asyncio.sleep(3600)

    monkeypatch.setattr(transport, "_CONNECT_S", 0.1)
    monkeypatch.setattr("aiohttp.connector.aiohappyeyeballs.start_connection", never)
    with pytest.raises(Passing) as raised:
        posted(None, address=CLOSED)
    assert raised.value.unreachable


def test_an_untrusted_certificate_names_the_variable_to_set():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(__file__).parents[1] / "untrusted.pem")
    with ScriptedEndpoint(tls=context) as server, pytest.raises(UserError, match="SSL_CERT_FILE"):
        posted(server)
    assert server.count == 0


def test_a_certificate_that_the_variable_names_is_trusted(monkeypatch):
    certificate = Path(__file__).parents[1] / "untrusted.pem"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    # aiohttp makes its contexts when it is imported, which in a job is later.
    monkeypatch.setattr("aiohttp.connector._SSL_CONTEXT_VERIFIED", ssl.create_default_context())
    with ScriptedEndpoint(tls=context) as server:
        assert posted(server).status == 200


@pytest.mark.parametrize(
    ("models", "alive"),
    [
        (None, True),
        (Reply(status=404), True),
        (Reply(status=401), True),
        (Reply(status=500), True),
        (Reply(status=502), False),
        (Reply(status=503), False),
        (Reply(status=504), False),
        (Reply(fault="close"), False),
        (Reply(fault="garbage"), False),
        (Reply(fault="hang"), False),
    ],
)
def test_any_response_is_a_sign_of_life_but_a_gateway_s_excuse(models, alive):
    async def look(server):
        async with Transport("m", server.base_url, None, 60) as transport:
            return await transport.alive(0.3)

    with ScriptedEndpoint(models=models) as server:
        assert asyncio.run(look(server)) == alive
    assert server.looks
    assert server.count == 0


def test_where_nothing_listens_is_no_sign_of_life():
    async def look():
        async with Transport("m", CLOSED, None, 60) as transport:
            return await transport.alive(0.3)

    assert not asyncio.run(look())


@pytest.mark.parametrize("address", ["127.0.0.1:9/v1", "ftp://127.0.0.1/v1", "nonsense", "http://", ""])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(UserError, match=r"models\.m\.base_url"):
        checked_address("m", address)


def test_a_slash_at_the_end_makes_no_difference():
    assert checked_address("m", "http://localhost:8000/v1/") == "http://localhost:8000/v1"


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_key_names_the_variable(value, monkeypatch):
    monkeypatch.delenv("SOME_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("SOME_KEY", value)
    with pytest.raises(UserError, match=r"models\.m\.api_key_env.*SOME_KEY is not set"):
        api_key("m", "SOME_KEY")


@pytest.mark.parametrize("value", ["sk-\u00e9", "sk-1\nX-Header: 2", "sk\t1"])
def test_what_can_be_no_key_is_not_shown(value, monkeypatch):
    monkeypatch.setenv("SOME_KEY", value)
    with pytest.raises(UserError, match="SOME_KEY does not hold an API key") as error:
        api_key("m", "SOME_KEY")
    assert value not in str(error.value)


def test_a_wrong_key_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_KEY", "sk-wrong")
    with (
        ScriptedEndpoint(api_key=KEY) as server,
        server.chat(tmp_path, api_key_env="SOME_KEY") as chat,
        pytest.raises(UserError, match=r"models\.scripted\.api_key_env"),
    ):
        chat.ask([Request(({"role": "user", "content": "hello"},))])
    assert server.unauthorised == 1


def test_the_environment_redirects_nothing(tmp_path, monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    netrc = tmp_path / "netrc"
    netrc.write_text(f"machine 127.0.0.1 login someone password {KEY}\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "someone")
    with ScriptedEndpoint() as server:
        assert posted(server).status == 200
    sent = {name.lower(): value for name, value in server.headers[0].items()}
    assert sent["content-type"] == "application/json"
    assert "authorization" not in sent
    assert KEY not in repr(sent)


ASCII = st.characters(min_codepoint=33, max_codepoint=126)


@given(st.text(ASCII, min_size=8, max_size=20), st.data())
def test_the_key_is_found_in_whatever_way_json_writes_it(key, data):
    def written(letter):
        ways = (
            [letter] if letter.isalnum() else [letter, "\\" + letter, f"\\u{ord(letter):04x}", f"\\u{ord(letter):04X}"]
        )
        return data.draw(st.sampled_from(ways))

    text = "".join(written(letter) for letter in key)
    assert quoted(key).sub(b"***", f'{{"error": "{text}"}}'.encode()) == b'{"error": "***"}'
    assert quoted(key).sub(b"***", json.dumps(key).encode()) == b'"***"'


@pytest.mark.parametrize(
    "key", ["one\ntwo\tthree", "clé-de-zèbre", "key of 🦓🦓🦓", "\\" * 200 + "key", "\\/é\x01" * 50]
)
@pytest.mark.parametrize("is_ascii", [True, False])
def test_whatever_a_secret_is_made_of_it_is_found_in_json_at_once(key, is_ascii, no_deadlock):
    said = json.dumps(key, ensure_ascii=is_ascii).encode()
    assert quoted(key).sub(b"***", said) == b'"***"'
    assert quoted(key).sub(b"***", key.encode()) == b"***"
    # All but its end, and what it begins with again and again.
    assert not quoted(f"{key}!").search(said)
    assert not quoted(key).search(said[1:9] * 500)


def escaped(text):
    """As .NET and PHP write JSON."""
    return text.replace("/", "\\/").replace("+", "\\u002B").replace("=", "\\u003d")


def test_the_key_is_sent_and_shows_nowhere(tmp_path, monkeypatch, caplog, capfd):
    monkeypatch.setenv("SCRIPTED_KEY", KEY)
    bare = f'{{"error": {{"message": "Incorrect API key: {escaped(KEY)}"}}}}'.encode()
    cases = [
        Reply(status=400, error=f"bad request with key {KEY}"),
        Reply(status=400, body=bare),
        Reply(status=307, headers={"Location": f"https://elsewhere.example/?key={KEY}"}),
        Reply(status=500, error=f"crashed with key {KEY}"),
        Reply(status=200, body=b"no JSON but " + KEY.encode()),
        Reply(f"no answer but {KEY}", finish_reason="length"),
        Reply(status=401, error=f"Incorrect API key provided: {KEY}"),
        Reply(status=401, body=bare),
        Reply(fault="garbage"),
    ]
    seen = []
    limits = {"retries": 1, "down_after_s": 0.2}
    with caplog.at_level(logging.DEBUG), ScriptedEndpoint(api_key=KEY) as server:
        for n, case in enumerate(cases):
            server.reply = lambda body, case=case: case
            with server.chat(tmp_path, api_key_env="SCRIPTED_KEY", limits=limits) as chat:
                try:
                    seen += [repr(answer) for answer in chat.ask([Request(({"role": "user", "content": str(n)},))])]
                except UserError as error:
                    seen.append(repr(error))
    assert server.unauthorised == 0
    assert len(seen) == len(cases)
    written = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    everything = "".join([*seen, *written, caplog.text, *capfd.readouterr()])
    assert "***" in everything
    for text in (KEY, escaped(KEY), KEY[3:12]):
        assert text not in everything


@pytest.mark.parametrize("key", ["x", "none", "EMPTY"])
def test_a_word_that_is_no_secret_is_not_taken_out_of_answers(tmp_path, monkeypatch, key):
    monkeypatch.setenv("SOME_KEY", key)
    said = f"an {key}thing, complex_enough"
    with ScriptedEndpoint(lambda body: said) as server, server.chat(tmp_path, api_key_env="SOME_KEY") as chat:
        assert chat.ask([Request(({"role": "user", "content": "q"},))])[0].text == said
