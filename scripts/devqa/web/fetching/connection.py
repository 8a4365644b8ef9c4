"""Connections that can't reach the inside of a network and that end in time.

A page's address comes from a search engine, a redirect or a dialogue: somebody else's input. So a name is resolved
here, refused unless every address is public, and the connection goes to exactly the address that was checked: a name
server can't give another one in between. A wall-clock deadline shuts the socket, because time-outs of single reads
never end a server that sends one byte a second.
"""

import http.client
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Collection
from concurrent.futures import Future
from functools import cache

import requests.certs
from urllib3 import PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.util.ssl_ import create_urllib3_context

# The addresses of a host; OSError where there are none.
Resolver = Callable[[str], list[str]]
# Opens a connection to (address, port) within so many seconds; OSError where there is none.
Connector = Callable[[tuple[str, int], float], socket.socket]

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_IPV6_PUBLIC = ipaddress.ip_network("2000::/3")
# What Python's versions disagree about or take for public: protocol assignments and relays that are long gone
# (https://www.iana.org/assignments/iana-ipv6-special-registry), and Azure's metadata service.
_REFUSED = tuple(
    ipaddress.ip_network(block)
    for block in (
        "192.0.0.0/24",
        "192.88.99.0/24",
        "168.63.129.16/32",
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "3fff::/20",
    )
)
_SHORTEST_WAIT_S = 0.001


class Refused(Exception):
    """The address is not one to fetch from; the message says why."""


class Unreached(Exception):
    """No connection came about; the message says why. `passing`: at once it may go better."""

    def __init__(self, cause: str, passing: bool = False):
        super().__init__(f"the host can't be reached: {cause}")
        self.passing = passing


def resolve(host: str) -> list[str]:
    """The addresses of `host`, IPv4 first (many machines have IPv6 addresses and no way out).

    Raises:
        OSError: the name is unknown or can't be resolved now.
    """
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    return [str(entry[4][0]) for entry in sorted(found, key=lambda entry: entry[0] != socket.AF_INET)]


def connect(address: tuple[str, int], timeout_s: float) -> socket.socket:
    """A connection to (address, port).

    Raises:
        OSError: there is none within `timeout_s` seconds.
    """
    return socket.create_connection(address, timeout=timeout_s)


def is_public(address: str) -> bool:
    """Is `address` (in any form of IPv4 or IPv6) one of the public internet?"""
    try:
        ip = ipaddress.ip_address(address.split("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped:
            ip = ip.ipv4_mapped
        elif ip in _NAT64:
            ip = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        elif ip not in _IPV6_PUBLIC:
            return False
    usable = ip.is_global and not ip.is_multicast and not ip.is_reserved
    return usable and not any(ip in block for block in _REFUSED if block.version == ip.version)


def bare(host: str) -> str:
    """A host's name as it is compared: small letters, no dot at the end, no brackets."""
    return host.lower().strip("[]").rstrip(".")


class Deadline:
    """Shuts every socket that it was given after `seconds`; a context manager."""

    def __init__(self, seconds: float):
        self._timer = threading.Timer(seconds, self._shut)
        self._timer.daemon = True
        self._ends = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self.passed = False

    def __enter__(self) -> "Deadline":
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            for watched in self._sockets:
                watched.close()
            self._sockets.clear()

    @property
    def left_s(self) -> float:
        """Seconds until then; never quite 0, which means for ever or at once to those who take it."""
        return max(_SHORTEST_WAIT_S, self._ends - time.monotonic())

    def watch(self, connection: socket.socket) -> None:
        """End `connection` at the deadline; at once if that has passed."""
        with self._lock:
            # A duplicate: TLS takes the original's descriptor away, and shutting one shuts the connection.
            self._sockets.append(connection.dup())
        if self.passed:
            self._shut()

    def _shut(self) -> None:
        self.passed = True
        with self._lock:
            for watched in self._sockets:
                # The peer may have closed it already.
                try:
                    watched.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue


class Guard:
    """Opens connections to public addresses only.

    Hosts in `permitted` may have any address. `resolver` gives the addresses of a host, `connector` connects.
    """

    def __init__(self, permitted: Collection[str], resolver: Resolver = resolve, connector: Connector = connect):
        self._permitted = frozenset(map(bare, permitted))
        self._resolver = resolver
        self._connector = connector

    def pool(self, deadline: Deadline) -> PoolManager:
        """Connections that end at `deadline`. Requests over them raise `Refused` and `Unreached`."""
        pool = PoolManager(num_pools=1, ssl_context=_trust())
        pool.pool_classes_by_scheme = _pools(lambda host, port: self._open(host, port, deadline))
        return pool

    def permits(self, host: str) -> bool:
        """Is `host` one of those that may have any address?"""
        return bare(host) in self._permitted

    def _open(self, host: str, port: int, deadline: Deadline) -> socket.socket:
        addresses = self._addresses(host, deadline)
        if not self.permits(host) and not all(map(is_public, addresses)):
            raise Refused("the address is not public")
        cause: OSError = OSError("no address")
        for address in addresses:
            try:
                connection = self._connector((address, port), deadline.left_s)
            except OSError as error:
                cause = error
            else:
                deadline.watch(connection)
                return connection
            if deadline.passed:
                break
        raise Unreached("time-out" if isinstance(cause, TimeoutError) else type(cause).__name__) from cause

    def _addresses(self, host: str, deadline: Deadline) -> list[str]:
        try:
            return _within(deadline.left_s, lambda: self._resolver(host))
        except socket.gaierror as error:
            unknown = error.errno in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))
            raise Unreached("no such name" if unknown else "its name can't be resolved now", not unknown) from error
        except TimeoutError as error:
            raise Unreached("its name can't be resolved in time") from error
        except OSError as error:
            raise Unreached(f"its name can't be resolved: {type(error).__name__}") from error
        except UnicodeError as error:
            raise Refused("not a web address: its host can't be a name") from error


@cache
def _trust() -> ssl.SSLContext:
    """The authorities whose certificates count, as requests has them; loading them takes longer than a request."""
    context = create_urllib3_context()
    context.load_verify_locations(requests.certs.where())
    return context


def _within(seconds: float, call: Callable[[], list[str]]) -> list[str]:
    """What `call` returns, if it does so in time: name resolution can't be broken off, only left alone."""
    future: Future[list[str]] = Future()

    def work() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 (whatever it is, it belongs to who waits)
            future.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return future.result(seconds)


class _Response(http.client.HTTPResponse):
    """Answers whose chunks have a size: Python reads a chunk of -1 bytes to the end of the stream, into memory."""

    def _read_next_chunk_size(self) -> int:
        size = super()._read_next_chunk_size()
        if size < 0:
            raise ValueError("a chunk of negative size")
        return size


def _pools(connect: Callable[[str, int], socket.socket]) -> dict[str, type[HTTPConnectionPool]]:
    """urllib3's pools with connections that `connect` opens; it is where urllib3's own SOCKS support hooks in."""

    class Http(HTTPConnection):
        response_class = _Response

        def _new_conn(self) -> socket.socket:
            return connect(self.host, self.port)

    class Https(HTTPSConnection):
        response_class = _Response

        def _new_conn(self) -> socket.socket:
            return connect(self.host, self.port)

    class HttpPool(HTTPConnectionPool):
        ConnectionCls = Http

    class HttpsPool(HTTPSConnectionPool):
        ConnectionCls = Https

    return {"http": HttpPool, "https": HttpsPool}
