"""Fetching pages from a server on loopback."""

import gzip
import json
import socket
import ssl
import threading
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urljoin

import pytest

from devqa.web.fetching import connection, requesting
from devqa.web.fetching.fetch import Fetched, LocalFetcher, WebFetcher, open_fetcher
from devqa.web.store import NotKept, Store
from fetching import OPTIONS, Site, answer, fetcher, redirect

_CERTIFICATE = Path(__file__).parents[1] / "untrusted.pem"
_PAGE = "<p>Привет".encode("cp1251")


@pytest.fixture
def site():
    with Site({"/page": answer(_PAGE, kind="text/html; charset=windows-1251", ETag='"1"')}) as site:
        yield site


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(requesting, "WAIT_INITIAL_S", 0.001)
    monkeypatch.setattr(requesting, "WAIT_JITTER_S", 0.001)


def _outcome(page: Fetched) -> tuple[str, int | None, str]:
    return page.status, page.http_status, page.reason


def test_a_page_comes_as_its_raw_bytes_and_is_asked_for_once(site, store):
    url = site.url("/page")
    page = fetcher(store, contact="https://e.example/bot").fetch(url + "#part")
    assert page == Fetched(url, 200, "text/html; charset=windows-1251", _PAGE, "ok", "", page.fetched)
    assert page.fetched.startswith("20") and page.fetched.endswith("+00:00")
    assert fetcher(store).fetch(url) == page
    assert site.asked["/page"] == 1
    kept = json.loads(store.get(f"url:{url}"))
    assert store.get_page(kept["sha256"]) == _PAGE
    assert (kept["etag"], kept["fetched"]) == ('"1"', page.fetched)
    assert site.requests[0].headers["user-agent"] == "devqa-test/1.0 (+https://e.example/bot)"
    assert site.requests[0].headers["accept-encoding"] == "gzip"


def test_the_environment_sets_no_proxy_and_no_password(site, store, monkeypatch, tmp_path):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    assert fetcher(store).fetch(site.url("/page")).status == "ok"
    assert "authorization" not in site.requests[0].headers


def test_entries_of_earlier_versions_are_read(store):
    sha256 = store.put_page(b"old")
    entry = {"final_url": "http://e/", "http_status": 200, "content_type": "text/html", "status": "ok", "reason": ""}
    store.put("url:http://e/", json.dumps({**entry, "sha256": sha256, "fetched": "2026-01-01T00:00:00+00:00"}).encode())
    gone = {**entry, "http_status": 404, "status": "rejected", "reason": "HTTP 404", "sha256": None}
    store.put("url:http://e/gone", json.dumps({**gone, "fetched": "2026-01-01T00:00:00+00:00"}).encode())
    assert fetcher(store).fetch("http://e/").content == b"old"
    assert fetcher(store).fetch("http://e/gone").reason == "HTTP 404"


def test_a_damaged_page_is_fetched_again(site, store, tmp_path):
    page = fetcher(store).fetch(site.url("/page"))
    for file in tmp_path.rglob("*.zst"):
        file.write_bytes(b"damaged")
    assert fetcher(store).fetch(site.url("/page")).content == page.content
    assert fetcher(store).fetch(site.url("/page")).content == page.content
    assert site.asked["/page"] == 2


def test_redirects_are_followed_by_hand(site, store):
    site.pages |= {f"/{number}": redirect(f"/{number - 1}") for number in range(2, 6)}
    site.pages["/1"] = redirect("page#there", 308)
    page = fetcher(store).fetch(site.url("/3"))
    assert (page.final_url, page.content) == (site.url("/page"), _PAGE)
    assert _outcome(fetcher(store).fetch(site.url("/4"))) == ("rejected", None, "more than 3 redirects")
    assert site.asked["/page"] == 1


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("http://localhost:9000/", "the address is not public"),
        ("http://[::1]/", "the address is not public"),
        ("http://169.254.169.254/latest/meta-data/", "the address is not public"),
        ("//10.0.0.1/", "the address is not public"),
        ("file:///etc/passwd", "not a web address: file"),
        ("javascript:alert(1)", "not a web address: javascript"),
        ("http://user:secret@127.0.0.1/", "the address holds a name or a password"),
        ("http://a.example:22/", "no port of a web server: 22"),
        ("http://[::", "redirected to no web address"),
    ],
)
def test_redirects_are_checked_like_the_address_itself(site, store, target, reason):
    site.pages["/away"] = redirect(target)
    addresses = {"localhost": "127.0.0.1", "127.0.0.1": "127.0.0.1"}
    more = {"resolver": lambda host: [addresses.get(host, host)]}
    page = fetcher(store, more=more).fetch(site.url("/away"))
    assert (page.status, page.reason) == ("rejected", reason)
    # The row says which address it was.
    assert page.final_url == (site.url("/away") if reason.startswith("redirected") else urljoin(site.url("/"), target))


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\n\r\n<p>", b"HT"])
def test_a_dripping_server_is_left_at_the_deadline_and_not_asked_again(site, store, head):
    site.pages["/drip"] = site.drip(head)
    # So that robots.txt is there, however slow the machine is.
    fetcher(store).fetch(site.url("/page"))
    page = fetcher(store, timeout_s=0.3).fetch(site.url("/drip"))
    assert (page.status, page.reason, page.reached) == ("failed", "time-out: no whole answer within 0.3 s", True)
    assert site.left.wait(10)
    assert site.asked["/drip"] == 1


def test_redirects_and_tries_share_the_time(site, store):
    def late(raw: bytes):
        def send(connection: socket.socket) -> None:
            site.stopped.wait(0.25)
            connection.sendall(raw)

        return send

    site.pages |= {"/a": late(redirect("/b")), "/b": late(redirect("/c")), "/c": late(answer(b"late"))}
    assert fetcher(store, timeout_s=0.6).fetch(site.url("/a")).reason.startswith("time-out")
    assert fetcher(store, timeout_s=5).fetch(site.url("/a")).status == "ok"


def test_waiting_for_a_host_takes_nothing_of_the_time(site, store):
    class Slow:
        def wait(self, host: str, per_second: float) -> None:
            site.stopped.wait(0.3)

    fetcher(store).fetch(site.url("/none"))
    site.pages["/away"] = redirect("/page")
    assert fetcher(store, timeout_s=0.5, more={"pace": Slow()}).fetch(site.url("/away")).status == "ok"


def test_every_single_request_waits_for_its_hosts_turn(site, store):
    class Pace:
        asked: list = []

        def wait(self, host: str, per_second: float) -> None:
            self.asked.append((host, per_second, sum(site.asked.values())))

    site.pages |= {"/a": [answer(b"", 503), redirect(site.url("/page", "other.test"))]}
    one = fetcher(store, names=("other.test",), host_requests_per_second=2, more={"pace": Pace()})
    assert one.fetch(site.url("/a")).status == "ok"
    # robots.txt, the page twice, robots.txt of the other host, the page there: each after its own turn.
    assert Pace.asked == [(host, 2, n) for n, host in enumerate(["127.0.0.1"] * 3 + ["other.test"] * 2)]
    assert sum(site.asked.values()) == 5


def test_a_page_that_another_job_had_while_this_one_waited_is_not_sent_for(site, store):
    class Slow:
        """The host's turn comes when another job is done with the page."""

        def wait(self, host, per_second):
            assert fetcher(store).fetch(site.url("/page")).status == "ok"

    assert fetcher(store, more={"pace": Slow()}).fetch(site.url("/page")).status == "ok"
    assert site.asked["/page"] == 1


def test_a_job_opens_it_with_its_configuration_and_the_name_of_its_run(site, tmp_path, monkeypatch):
    monkeypatch.setenv("DEVQA_RUN", "r1")
    this = SimpleNamespace(corpus=lambda: None, cache=tmp_path, offline=False, config={"fetch": OPTIONS})
    assert open_fetcher(this).fetch(site.url("/page")).content == _PAGE
    assert json.loads(Store(tmp_path / "web").get(f"url:{site.url('/page')}"))["run"] == "r1"
    assert len(list((tmp_path / "pace").iterdir())) == 1
    for offline in (open_fetcher(this, offline=True), open_fetcher(SimpleNamespace(**{**vars(this), "offline": True}))):
        assert offline.fetch(site.url("/page")).content == _PAGE
        with pytest.raises(NotKept):
            offline.fetch(site.url("/other"))


def test_a_name_that_is_not_resolved_in_time(store):
    never = threading.Event()
    page = fetcher(store, timeout_s=0.1, more={"resolver": lambda host: never.wait(20)}).fetch("http://e.example/")
    assert _outcome(page) == (
        "failed",
        None,
        "the host can't be reached: its name can't be resolved in time",
    )
    never.set()


def test_names_keep_their_host_header_though_the_connection_goes_to_the_checked_address(site, store):
    page = fetcher(store, names=("Docs.Example",)).fetch(site.url("/page", "docs.example"))
    assert page.content == _PAGE
    assert site.requests[0].headers["host"] == f"docs.example:{site.port}"


def test_a_closed_port_and_an_unknown_name_fail_at_once(store):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    page = fetcher(store).fetch(f"http://127.0.0.1:{port}/?key=secret")
    assert page.reason == "the host can't be reached: ConnectionRefusedError"
    assert page.reached is False
    asked = []

    def unknown(host: str) -> list[str]:
        asked.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    page = fetcher(store, more={"resolver": unknown}).fetch("http://no.example/")
    assert page.reason == "the host can't be reached: no such name"
    assert asked == ["no.example"]


def test_a_name_server_out_of_order_is_asked_again(site, store):
    answers = iter([socket.gaierror(socket.EAI_AGAIN, "later"), ["127.0.0.1"], ["127.0.0.1"]])

    def resolver(host: str) -> list[str]:
        found = next(answers)
        if isinstance(found, Exception):
            raise found
        return found

    assert fetcher(store, more={"resolver": resolver}).fetch(site.url("/page")).status == "ok"


def test_offline_nothing_is_sent_and_what_was_kept_last_is_the_outcome(site, store):
    site.pages["/bad"] = answer(b"", 500)
    for path in ("/page", "/bad", "/none"):
        fetcher(store, retries=0).fetch(site.url(path))
    asked = dict(site.asked)
    never = {"offline": True, "resolver": None}
    offline = WebFetcher({**OPTIONS, "max_bytes": 1}, store, **never)
    assert _outcome(offline.fetch(site.url("/page"))) == ("ok", 200, "")
    assert _outcome(offline.fetch(site.url("/bad"))) == ("failed", 500, "HTTP 500")
    assert _outcome(offline.fetch(site.url("/none"))) == ("rejected", 404, "HTTP 404")
    with pytest.raises(NotKept):
        offline.fetch(site.url("/other"))
    with pytest.raises(NotKept):
        offline.look_again(site.url("/page"))
    assert offline.fetch("file:///etc/passwd").status == "rejected"
    assert site.asked == asked


def test_looking_again_asks_whether_the_page_has_changed_and_changes_nothing(site, store, tmp_path):
    url = site.url("/page")
    site.pages["/page"] = answer(_PAGE, ETag='"1"', Last_Modified="Mon, 02 Nov 2026 10:00:00 GMT")
    site.pages["/moved"] = redirect("/page")
    for path in ("/page", "/moved"):
        fetcher(store).fetch(site.url(path))
    before = {file: file.read_bytes() for file in tmp_path.rglob("*.zst")}
    site.requests.clear()
    site.pages["/page"] = answer(b"", 304)
    for path in ("/page", "/moved"):
        same = fetcher(store).look_again(site.url(path))
        assert (same.status, same.http_status, same.content, same.final_url) == ("ok", 304, _PAGE, url)
    asked = [request.headers for request in site.requests]
    assert [headers.get("if-none-match") for headers in asked] == ['"1"', None, '"1"']
    assert asked[0]["if-modified-since"] == "Mon, 02 Nov 2026 10:00:00 GMT"
    site.pages["/page"] = answer(b"another one")
    assert fetcher(store).look_again(url).content == b"another one"
    site.pages["/page"] = answer(b"", 404)
    assert _outcome(fetcher(store).look_again(url)) == ("rejected", 404, "HTTP 404")
    assert {file: file.read_bytes() for file in tmp_path.rglob("*.zst")} == before


@pytest.mark.parametrize("etag", ['"\xe9"', '"' + "x" * 5_000 + '"'])
def test_marks_that_can_t_be_sent_back_are_not_kept(site, store, etag):
    site.pages["/page"] = answer(_PAGE, kind="text/html;\r\n x=" + "y" * 5_000, ETag=etag)
    page = fetcher(store).fetch(site.url("/page"))
    assert page.content_type.startswith("text/html; x=y") and len(page.content_type) == 200
    site.requests.clear()
    assert fetcher(store).look_again(site.url("/page")).content == _PAGE
    assert "if-none-match" not in site.requests[0].headers


def test_looking_again_at_a_page_that_was_never_had(site, store):
    assert fetcher(store).look_again(site.url("/page")).content == _PAGE
    assert "if-none-match" not in site.requests[0].headers
    assert store.get(f"url:{site.url('/page')}") is None


@pytest.fixture
def safe_site():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_CERTIFICATE)
    with Site({"/page": answer(b"secret"), "/drip": lambda connection: None}) as site:
        site.socket = context.wrap_socket(site.socket, server_side=True)
        site.pages["/drip"] = site.drip(b"HTTP/1.1 200 OK\r\n")
        yield site


def test_a_certificate_that_is_trusted_and_the_deadline_over_it(safe_site, store, monkeypatch):
    monkeypatch.setattr(connection, "_trust", lambda: ssl.create_default_context(cafile=_CERTIFICATE))
    one = fetcher(store, timeout_s=1)
    assert one.fetch(f"https://127.0.0.1:{safe_site.port}/page").content == b"secret"
    assert one.fetch(f"https://127.0.0.1:{safe_site.port}/drip").reason.startswith("time-out")


def test_an_untrusted_certificate_is_refused(safe_site, store):
    page = fetcher(store).fetch(f"https://127.0.0.1:{safe_site.port}/page")
    assert page.reason.startswith("robots.txt can't be had: no safe connection: SSLCertVerificationError")
    assert safe_site.asked == {}


def test_the_local_corpus():
    row = {"url": "https://a.example/p", "content": b"x", "content_type": "text/html", "status": "ok"}
    local = LocalFetcher([row, {**row, "content": b"second"}, {**row, "url": "u", "status": "rejected"}])
    assert local.fetch("https://a.example/p#top") == Fetched("https://a.example/p", 200, "text/html", b"x", "ok", "")
    assert local.fetch("u").reason == local.fetch("v").reason == "not in the local corpus"


def test_a_compressed_page(site, store):
    packed = gzip.compress(b"<p>a" * 100) + gzip.compress(b"b" * 10)
    site.pages["/gzip"] = answer(packed, Content_Encoding="GZip")
    assert fetcher(store).fetch(site.url("/gzip")).content == b"<p>a" * 100 + b"b" * 10
