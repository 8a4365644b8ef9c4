"""GitHub's REST API: pages, limits, refusals, tokens and certificates."""

import logging
import ssl
from email.utils import formatdate
from pathlib import Path

import pytest
import stamina

from devqa.errors import UserError
from devqa.pull_requests.listing.github.client import Client
from devqa.pull_requests.listing.github.exchange import same_server, wait_s
from devqa.pull_requests.listing.github.opening import open_client
from devqa.web.store import NotKept, Store
from hub import NAME, TOKEN, Hub, pull
from searching import Response, Service, failing

KEY = "pull_requests.repositories.zoo"
LIST = f"/repos/{NAME}/pulls"
CERTIFICATE = Path(__file__).parents[1] / "untrusted.pem"


@pytest.fixture(autouse=True)
def no_waiting():
    stamina.set_testing(True, attempts=3, cap=True)
    yield
    stamina.set_testing(False)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "github")


@pytest.fixture
def waits():
    return []


@pytest.fixture
def hub():
    with Hub() as running:
        yield running


@pytest.fixture
def client(hub, store, waits):
    return Client(hub.url, KEY, store, sleep=waits.append)


def everything(store):
    return b"".join(path.read_bytes() for path in store._folder.rglob("*") if path.is_file())


def test_a_next_page_on_another_server_is_not_asked_for(hub, client):
    with Service(lambda asked: b"[]") as other:
        hub.answers = [Response(200, b"[]", {"Link": f'<{other.url}/steal>; rel="next"'})]
        assert list(client.pages(LIST, {})) == [[]]
        assert other.asked == []


@pytest.mark.parametrize(
    "named",
    ["http://LOCALHOST:{port}", "https://github.intern.example/api/v3", "http://127.0.0.1:1", "HTTP://localhost"],
)
def test_all_pages_come_whatever_the_server_calls_itself(hub, client, named, monkeypatch):
    """Behind a proxy or at the end of a tunnel it has another name, or another port."""
    monkeypatch.setattr(hub, "known_as", named.format(port=hub.server_port))
    hub.pulls = [pull(number, None) for number in range(1, 8)]
    pages = list(client.pages(LIST, {"per_page": 3}))
    assert [each["number"] for page in pages for each in page] == list(range(1, 8))
    assert hub.paths() == [LIST, f"{LIST} 2", f"{LIST} 3"]


@pytest.mark.parametrize("link", ["http://[bad?page=2", "http://x:port/?page=2", "http://x:99999/?page=2"])
def test_a_next_page_that_is_nowhere_is_no_end(hub, client, link):
    hub.answers = [Response(200, b"[]", {"Link": f'<{link}>; rel="next"'})]
    with pytest.raises(UserError, match=r"zoo\.api: .* did not answer as .*HTTP 200, which leads to an address that"):
        list(client.pages(LIST, {}))


def test_pages_that_lead_in_a_circle_end(hub, client):
    hub.reply = lambda asked: Response(200, b"[]", {"Link": f'<{hub.url}{LIST}?page=2>; rel="next"'})
    assert len(list(client.pages(LIST, {"page": 1}))) == 2


@pytest.mark.parametrize("same", [True, False])
def test_a_renamed_repository_is_followed_on_the_same_server_only(hub, store, same):
    with Service(lambda asked: b"[1]") as other:
        where = hub.url if same else other.url
        hub.answers = [Response(301, b"{}", {"Location": f"{where}/repositories/7/pulls"})]
        hub.answers += [Response(200, b"[1]")]
        client = Client(hub.url, KEY, store, TOKEN)
        if same:
            assert client.get(LIST) == [1]
            assert hub.paths() == [LIST, "/repositories/7/pulls"]
        else:
            with pytest.raises(UserError, match="did not answer as GitHub's REST API does .HTTP 301"):
                client.get(LIST)
            assert other.asked == []


SERVERS = [
    ("https://api.example/a", "HTTPS://API.example:443/b?c", True),
    ("http://api.example:80", "http://api.example", True),
    ("http://api.example:8080", "http://api.example", False),
    ("http://api.example", "https://api.example", False),
    ("https://api.example", "https://api.example.evil.example", False),
    ("https://api.example", "https://api.example@evil.example", False),
    ("https://api.example", "https://me:pw@api.example", False),
    ("http://[::1]:80", "http://[::1]", True),
]


@pytest.mark.parametrize(("one", "other", "same"), SERVERS)
def test_what_is_one_server(one, other, same):
    assert same_server(one, other) == same_server(other, one) == same


@pytest.mark.parametrize("target", ["http://[bad", "http://x:port"])
def test_a_redirect_to_nowhere_is_refused(hub, client, target):
    hub.answers = [Response(301, b"{}", {"Location": target})]
    with pytest.raises(UserError, match=r"zoo\.api: .*HTTP 301, which leads to an address that is none"):
        client.get(LIST)
    assert len(hub.asked) == 1


def test_redirects_without_end_are_refused(hub, client):
    hub.reply = lambda asked: Response(302, b"", {"Location": asked.path})
    with pytest.raises(UserError, match="HTTP 302"):
        client.get(LIST)


LIMITS = [
    # The primary limit, over long since.
    (403, {"x_ratelimit_remaining": "0", "x_ratelimit_reset": "900"}, [1.0]),
    # Secondary ones.
    (403, {"retry_after": "7"}, [7.0]),
    (429, {"retry_after": "7", "x_ratelimit_remaining": "0", "x_ratelimit_reset": "9999999999"}, [7.0]),
    (429, {}, [60.0]),
    (403, {"x_ratelimit_remaining": "55"}, [60.0]),
]


@pytest.mark.parametrize(("status", "headers", "expected"), LIMITS)
def test_rate_limits_are_waited_for(hub, client, waits, caplog, status, headers, expected):
    hub.pulls = [pull(1, None)]
    hub.answers = [failing(status, {"message": "You have exceeded a secondary rate limit"}, **headers)]
    with caplog.at_level(logging.WARNING):
        assert len(client.get(LIST)) == 1
    assert waits == expected
    assert "token_env" in caplog.text


@pytest.mark.parametrize(("reset", "expected"), [("1030", 31.0), ("1000", 1.0), ("900", 1.0), ("soon", None)])
def test_a_limit_ends_by_the_servers_own_clock(reset, expected):
    date = formatdate(1000, usegmt=True)
    assert wait_s({"x-ratelimit-remaining": "0", "x-ratelimit-reset": reset, "date": date}) == expected


def test_patience_grows_and_ends(hub, client, waits):
    hub.reply = lambda asked: failing(429, {"message": "rate limit"})
    with pytest.raises(UserError, match="allows nothing more"):
        client.get(LIST)
    assert waits == [60.0, 120.0, 240.0, 480.0, 960.0, 1920.0]
    # Who has waited asks.
    assert len(hub.asked) == len(waits) + 1


def test_nobody_waits_for_a_day(hub, client, waits):
    hub.answers = [failing(429, {"message": "rate limit"}, retry_after="86400")]
    with pytest.raises(UserError, match="asks to wait 86,400 s"):
        client.get(LIST)
    assert waits == []


@pytest.mark.parametrize("fault", [failing(500), failing(502), failing(408), Response(200, b"[1", drop=True)])
def test_faults_that_pass_are_tried_again(hub, client, fault):
    hub.answers = [fault, fault]
    hub.pulls = [pull(1, None)]
    assert len(client.get(LIST)) == 1
    hub.answers = [fault] * 3
    with pytest.raises(UserError, match=r"repositories\.zoo: .* gave no answer .*give the same command again"):
        client.get(LIST)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            failing(401, {"message": "Bad credentials"}),
            r"zoo\.token_env: .* refuses the token .HTTP 401 Bad credentials",
        ),
        (failing(403, {"message": "Resource not accessible"}), r"zoo\.token_env: .* does not allow it"),
        (failing(404, {"message": "Not Found"}), r"zoo: .* has no such repository.*owner/name"),
        (failing(410, {"message": "Gone"}), r"zoo: .* has removed what is asked for .HTTP 410 Gone.*pulls: history"),
        (failing(422), r"zoo: .* does not take what is asked of it .HTTP 422.*latest"),
        (
            failing(451, {"message": "Repository access blocked"}),
            r"zoo: .*legal reasons .HTTP 451 Repository.*leave it",
        ),
        (failing(418), r"zoo\.api: .* did not answer as GitHub's REST API does .HTTP 418"),
        (Response(200, b"<html>hello</html>"), r"zoo\.api: .* did not answer as"),
        (Response(304, b""), r"zoo\.api: .* did not answer as"),
    ],
)
def test_refusals_name_the_key(hub, store, answer, said):
    hub.answers = [answer]
    with pytest.raises(UserError, match=said):
        Client(hub.url, KEY, store, TOKEN).get(LIST)
    assert len(hub.asked) == 1


def test_without_a_token_none_is_refused(hub, client):
    hub.answers = [failing(401, {"message": "Requires authentication"})]
    with pytest.raises(UserError, match=r"zoo\.token_env: .* wants a token .HTTP 401 Requires.*name the variable"):
        client.get(LIST)


def test_where_nobody_answers_the_network_is_named(store):
    with pytest.raises(UserError, match=r"zoo: http://127\.0\.0\.1:9 can't be reached .*network"):
        Client("http://127.0.0.1:9", KEY, store).get(LIST)


@pytest.fixture
def safe_hub(hub):
    """It speaks HTTPS, with a certificate that nobody knows."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    hub.socket = context.wrap_socket(hub.socket, server_side=True)
    hub.reply = lambda asked: b"[]"
    return f"https://127.0.0.1:{hub.server_port}"


def test_an_untrusted_certificate_names_the_variable_to_set(safe_hub, hub, tmp_path, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with pytest.raises(UserError, match="has a certificate that is not trusted: .* SSL_CERT_FILE"):
        open_client("zoo", safe_hub, None, tmp_path, False).get(LIST)
    assert hub.asked == []


def test_a_certificate_that_the_variable_names_is_trusted(safe_hub, tmp_path, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    assert open_client("zoo", safe_hub, None, tmp_path, False).get(LIST) == []


def test_authorities_that_are_not_there_are_said(tmp_path, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "nothing.pem"))
    with pytest.raises(UserError, match=r"zoo\.api: .* SSL_CERT_FILE names no file: .*nothing\.pem"):
        open_client("zoo", "https://x", None, tmp_path, False)
    open_client("zoo", "https://x", None, tmp_path, True)


def test_no_proxy_of_the_environment_is_asked(hub, client, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    hub.pulls = [pull(1, None)]
    assert len(client.get(LIST)) == 1


def test_the_token_goes_to_the_api_and_is_written_nowhere(hub, store, monkeypatch, tmp_path, caplog):
    monkeypatch.setenv("ZOO_TOKEN", f" {TOKEN}\n")
    client = open_client("zoo", hub.url, "ZOO_TOKEN", tmp_path, False)
    hub.token = TOKEN
    hub.pulls = [pull(1, None, body=f"I lost {TOKEN}")]
    assert client.get(LIST)[0]["body"] == "I lost ***"
    assert TOKEN.encode() not in everything(Store(tmp_path / "github"))
    hub.token = "another"
    with pytest.raises(UserError) as refused:
        client.get(LIST + "/7")
    assert TOKEN not in str(refused.value) + caplog.text
    assert "***" in str(refused.value)


def test_a_token_that_is_missing_is_said(monkeypatch, tmp_path):
    monkeypatch.delenv("ZOO_TOKEN", raising=False)
    with pytest.raises(UserError, match=r"zoo\.token_env: the environment variable ZOO_TOKEN is not set"):
        open_client("zoo", "http://x", "ZOO_TOKEN", tmp_path, False)
    open_client("zoo", "http://x", "ZOO_TOKEN", tmp_path, True)
    monkeypatch.setenv("ZOO_TOKEN", "two\nlines")
    with pytest.raises(UserError, match="does not hold a token"):
        open_client("zoo", "http://x", "ZOO_TOKEN", tmp_path, False)


def test_an_enterprise_servers_path_is_kept(hub, store):
    hub.reply = lambda asked: b"[]"
    Client(f"{hub.url}/api/v3/", KEY, store).get(LIST)
    assert hub.paths() == [f"/api/v3{LIST}"]


def test_a_damaged_page_is_asked_for_again(hub, client, store):
    hub.pulls = [pull(1, None)]
    client.get(LIST)
    (file,) = (path for path in store._folder.rglob("*.zst"))
    file.write_bytes(b"damaged")
    assert len(client.get(LIST)) == 1
    with pytest.raises(NotKept):
        Client(hub.url, KEY, store, offline=True).get(LIST + "/9")
