"""Which addresses may be asked. Only numeric forms are resolved here, so no name server hears of it."""

import socket

import pytest

from devqa.web.fetching.addresses import web_address
from devqa.web.fetching.connection import Refused, is_public
from devqa.web.fetching.fetch import Fetched, WebFetcher
from devqa.web.store import Store
from fetching import OPTIONS, Site, answer, fetcher, redirect


class Recorder:
    """Stands in for name resolution and connections: notes what is asked for, and connects to nothing."""

    def __init__(self, *answers: list[str]):
        self.answers = iter(answers)
        self.names: list[str] = []
        self.connections: list[tuple[str, int]] = []

    def resolve(self, host: str) -> list[str]:
        self.names.append(host)
        return next(self.answers, [host])

    def connect(self, address: tuple[str, int], timeout_s: float) -> socket.socket:
        self.connections.append(address)
        raise ConnectionRefusedError

    def fetch(self, tmp_path, url: str, **options: object) -> Fetched:
        options = {**OPTIONS, "retries": 0, **options}
        return WebFetcher(options, Store(tmp_path), resolver=self.resolve, connector=self.connect).fetch(url)


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
        "192.0.0.8",
        "192.0.0.192",
        "192.0.2.1",
        "192.88.99.1",
        "168.63.129.16",
        "240.0.0.1",
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
        "2001:20::1",
        "3fff::1",
        "5f00::1",
        "100::1",
        "fe80::1%eth0",
        "fec0::1",
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
    ["127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0x7f.1", "0", "[::1]", "[::ffff:7f00:1]", "10.1"]
    + [
        "127.0.0.1.",
        "[::]",
        "0.0.0.0",
        "１２７.0.0.1",
        "127。0。0。1",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::7f00:1]",
    ],
)
def test_every_way_to_write_an_inside_address_is_refused_before_a_connection(tmp_path, host):
    recorder = Recorder()
    recorder.resolve = lambda name: _numeric(name.strip("[]"))
    page = recorder.fetch(tmp_path, f"http://{host}/latest/meta-data/", private_hosts=[])
    assert page.status == "rejected"
    # requests takes no full-width digits for a name.
    assert page.reason == "the address is not public" or not host.isascii()
    assert recorder.connections == []


@pytest.mark.parametrize(
    "addresses", [["93.184.216.34", "10.0.0.1"], ["2606:2800:220:1::1", "::1"], ["not an address"]]
)
def test_one_inside_address_among_public_ones_is_enough(tmp_path, addresses):
    recorder = Recorder(addresses)
    page = recorder.fetch(tmp_path, "https://rebound.example/")
    assert (page.reason, recorder.connections) == ("the address is not public", [])


def test_the_connection_goes_to_the_address_that_was_checked(tmp_path):
    recorder = Recorder(["93.184.216.34"], ["127.0.0.1"])
    page = recorder.fetch(tmp_path, "http://rebound.example:8081/")
    assert recorder.connections == [("93.184.216.34", 8081)]
    assert (page.status, page.reason) == ("failed", "the host can't be reached: ConnectionRefusedError")


def test_a_name_that_leads_inside_after_robots_txt(tmp_path):
    with Site({"/robots.txt": answer(b"", 404)}) as site:
        recorder = Recorder(["93.184.216.34"], ["10.0.0.1"])

        def connect(address: tuple[str, int], timeout_s: float) -> socket.socket:
            recorder.connections.append(address)
            return socket.create_connection(("127.0.0.1", site.port), timeout_s)

        recorder.connect = connect
        page = recorder.fetch(tmp_path, "http://rebound.example/page")
        assert site.asked == {"/robots.txt": 1}
    assert (page.status, page.reason) == ("rejected", "the address is not public")
    assert recorder.connections == [("93.184.216.34", 80)]


def test_all_addresses_of_a_host_are_tried(tmp_path):
    recorder = Recorder(["93.184.216.34", "2606:2800:220:1::1"])
    recorder.fetch(tmp_path, "http://two.example/")
    assert recorder.connections == [("93.184.216.34", 80), ("2606:2800:220:1::1", 80)]


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://a.example/",
        "gopher://a.example/",
        "data:text/html,<p>x",
        "//a.example",
        "http://",
        "http:///path",
        "x",
        "http://[a",
        "http://./",
        "http://a:99999/",
        "http://a:b/",
        "http://a.example/\r\nHost: inside",
        "http://a.example\t/",
        "http://\x00a.example/",
        "http://a b.example/",
    ],
)
def test_only_web_addresses(tmp_path, url):
    recorder = Recorder()
    page = recorder.fetch(tmp_path, url)
    assert (page.status, page.reason[:17]) == ("rejected", "not a web address")
    assert recorder.names == []


def test_a_name_that_can_t_be_one(tmp_path):
    recorder = Recorder()
    recorder.resolve = _numeric
    page = recorder.fetch(tmp_path, f"http://{'a' * 70}.example/")
    assert (page.status, page.reason) == ("rejected", "not a web address: its host can't be a name")


def test_credentials_are_refused_and_not_repeated(tmp_path):
    recorder = Recorder()
    for url in ("http://u:pw@a.example/", "http://pw@a.example/", "https://a.example:pw@b.example/"):
        page = recorder.fetch(tmp_path, url)
        assert page.reason == "the address holds a name or a password"
    assert recorder.names == []


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://EXAMPLE.com.:80/", "example.com"),
        ("http://good.example\\@evil.example/", "good.example"),
        ("http://bücher.example/", "xn--bcher-kva.example"),
        ("http://a.example?@b.example", "a.example"),
        ("http://[2606:2800:220:1::1]:8080/", "2606:2800:220:1::1"),
    ],
)
def test_the_host_that_is_checked_is_the_one_that_is_asked(tmp_path, url, host):
    recorder = Recorder(["93.184.216.34"])
    assert web_address(url).host == host
    recorder.fetch(tmp_path, url)
    assert recorder.names == [host]


@pytest.mark.parametrize("port", [1, 21, 22, 25, 81, 445, 587, 993])
def test_ports_of_other_services_are_refused(tmp_path, port):
    recorder = Recorder(["93.184.216.34"])
    page = recorder.fetch(tmp_path, f"http://a.example:{port}/")
    assert (page.status, page.reason) == ("rejected", f"no port of a web server: {port}")
    assert recorder.names == []


@pytest.mark.parametrize("port", [80, 443, 1024, 8080, 65535])
def test_ports_of_web_servers(tmp_path, port):
    recorder = Recorder(["93.184.216.34"])
    recorder.fetch(tmp_path, f"http://a.example:{port}/")
    assert recorder.connections == [("93.184.216.34", port)]


def test_private_hosts_open_themselves_and_nothing_else(tmp_path):
    with Site({"/page": answer(b"inside"), "/away": redirect("http://other.intern/")}) as site:
        one = fetcher(Store(tmp_path), names=("Wiki.Intern.",))
        assert one.fetch(site.url("/page", "wiki.intern")).content == b"inside"
        assert one.fetch(site.url("/page", "WIKI.intern.")).content == b"inside"
        for url in (
            site.url("/page", "other.intern"),
            site.url("/page", "a.wiki.intern"),
            site.url("/away", "wiki.intern"),
        ):
            page = one.fetch(url)
            assert (page.status, page.reason) == ("rejected", "the address is not public")
        assert site.asked["/page"] == 2


def test_refused_is_no_network_error():
    # urllib3 would wrap or retry those.
    assert not issubclass(Refused, OSError)
