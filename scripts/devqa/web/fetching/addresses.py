"""Addresses of pages, as strangers write them."""

import re
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import requests
import urllib3

from devqa.web.fetching.connection import Refused, bare

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PORTS = {"http": 80, "https": 443}
# Below it are services that are no web servers and can be made to do something by lines of a request.
_FIRST_FREE_PORT = 1024
_LONGEST_SCHEME = 20


class Address(NamedTuple):
    """A page's address as it is sent, and the parts of it that are decided on.

    Attributes:
        url: ASCII, with everything else percent-encoded or in Punycode, and without fragment.
        origin: scheme, host and port, as robots.txt belongs to.
        host: its name in small letters, without a dot at the end.
    """

    url: str
    origin: str
    host: str
    port: int


def web_address(url: str) -> Address:
    """The parts of `url`, as the library that sends the request reads them.

    Raises:
        Refused: another scheme than http and https, no host, a name and password, control characters.
    """
    url = without_fragment(url.strip())
    if _CONTROL.search(url):
        raise Refused("not a web address: control characters")
    try:
        # One reading for all that is decided: two parsers may see different hosts in one address.
        sent = requests.Request("GET", url).prepare().url or ""
        parts = urlsplit(sent)
        port = parts.port
    except requests.exceptions.MissingSchema as error:
        raise Refused("not a web address: no scheme") from error
    except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
        raise Refused(f"not a web address: {type(error).__name__}") from error
    if parts.scheme not in _PORTS:
        raise Refused(f"not a web address: {parts.scheme[:_LONGEST_SCHEME] or 'no scheme'}")
    if not parts.hostname or not bare(parts.hostname):
        raise Refused("not a web address: no host")
    if "@" in parts.netloc:
        raise Refused("the address holds a name or a password")
    port = _PORTS[parts.scheme] if port is None else port
    host = bare(parts.hostname)
    return Address(sent, f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}", host, port)


def check_port(address: Address) -> None:
    """Refuse ports of other services than web servers.

    Raises:
        Refused: the port is below 1024 and not one of http and https.
    """
    if address.port < _FIRST_FREE_PORT and address.port not in _PORTS.values():
        raise Refused(f"no port of a web server: {address.port}")


def redirected(base: str, location: str) -> str:
    """Where a redirect of the page at `base` to `location` (a header's value) leads.

    Raises:
        Refused: nowhere.
    """
    try:
        # Header values come as Latin-1 though servers write UTF-8 (as in requests' own redirects).
        target = location.encode("latin-1").decode("utf-8", "replace")
        return without_fragment(urljoin(base, target))
    except ValueError as error:
        raise Refused("redirected to no web address") from error


def without_fragment(url: str) -> str:
    """`url` without what is only for browsers."""
    return url.partition("#")[0]


def host_of(url: str) -> str:
    """The host of `url` as far as it can be seen, "" where there is none; for order only, no check."""
    try:
        return bare(urlsplit(url).hostname or "")
    except ValueError:
        return ""
