"""Which addresses may be asked. Only numeric forms are resolved here, so no name server hears of it."""

import socket

import pytest

from devqa.web.connection import Refused, is_public
from devqa.web.fetch import WebFetcher
from devqa.web.store import Store

_OPTIONS = {"timeout_s": 5, "max_bytes": 1_000, "max_redirects": 5, "user_agent": "test"}


def _numeric(host: str) -> list[str]:
    """What the system makes of a host that is a number in some form."""
    return [entry[4][0] for entry in socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST)]


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.255.255.254",
        "0.0.0.0",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2001:0:7f00:1::",
        "fe80::1%eth0",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "2001:db8::1",
    ],
)
def test_addresses_of_the_inside(address):
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "2606:2800:220:1::1", "64:ff9b::5db8:d822", "::ffff:93.184.216.34"]
)
def test_public_addresses(address):
    assert is_public(address)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0x7f.1", "0", "[::1]", "[::ffff:7f00:1]", "10.1"],
)
def test_every_way_to_write_an_inside_address_is_refused_before_a_connection(tmp_path, monkeypatch, host):
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("a connection was opened"))
    fetcher = WebFetcher(_OPTIONS, Store(tmp_path), resolver=lambda name: _numeric(name.strip("[]")))
    page = fetcher.fetch(f"http://{host}/latest/meta-data/")
    assert (page.status, page.reason) == ("rejected", "the address is not public")


def test_one_inside_address_among_public_ones_is_enough(tmp_path, monkeypatch):
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("a connection was opened"))
    fetcher = WebFetcher(_OPTIONS, Store(tmp_path), resolver=lambda _: ["93.184.216.34", "10.0.0.1"])
    assert fetcher.fetch("https://rebound.example/").status == "rejected"


def test_the_connection_goes_to_the_address_that_was_checked(tmp_path, monkeypatch):
    asked, answers = [], iter([["93.184.216.34"], ["127.0.0.1"]])

    def connect(address: tuple[str, int], **_: object) -> socket.socket:
        asked.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", connect)
    page = WebFetcher(_OPTIONS, Store(tmp_path), resolver=lambda _: next(answers)).fetch("http://rebound.example:81/")
    assert asked == [("93.184.216.34", 81)]
    assert page.status == "failed"


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://a.example/",
        "//a.example",
        "http://",
        "x",
        "http://[a",
        "http://a:99999/",
        "http://a:b/",
    ],
)
def test_only_web_addresses(tmp_path, url):
    page = WebFetcher(_OPTIONS, Store(tmp_path), resolver=lambda _: pytest.fail("a name was resolved")).fetch(url)
    assert (page.status, page.reason[:17]) == ("rejected", "not a web address")


def test_credentials_are_refused_and_not_repeated(tmp_path):
    page = WebFetcher(_OPTIONS, Store(tmp_path), resolver=lambda _: pytest.fail("resolved")).fetch(
        "http://u:pw@a.example/"
    )
    assert page.status == "rejected"
    assert "pw" not in page.reason


def test_refused_is_no_network_error():
    # requests would wrap or retry those.
    assert not issubclass(Refused, OSError)
