"""Connections that can't reach the inside of a network and that end in time.

A page's address comes from a search engine, a redirect or a dialogue: somebody else's input. So a name is resolved
here, refused unless every address is public, and the connection goes to exactly the address that was checked: a name
server can't give another one in between. A wall-clock deadline shuts the socket, because time-outs of single reads
never end a server that sends one byte a second.
"""

import ipaddress
import socket
import threading
from collections.abc import Callable, Collection

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

Resolver = Callable[[str], list[str]]

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# Addresses that wrap an IPv4 address for a relay that is long gone.
_REFUSED = tuple(ipaddress.ip_network(block) for block in ("2002::/16", "2001::/32", "::/96", "64:ff9b:1::/48"))


class Refused(Exception):
    """The address is not one to fetch from; the message says why."""


def resolve(host: str) -> list[str]:
    """The addresses of `host`, IPv4 first (many machines have IPv6 addresses and no way out).

    Raises:
        OSError: the name is unknown or can't be resolved now.
    """
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    return [str(entry[4][0]) for entry in sorted(found, key=lambda entry: entry[0] != socket.AF_INET)]


def is_public(address: str) -> bool:
    """Is `address` (in any form of IPv4 or IPv6) one of the public internet?"""
    ip = ipaddress.ip_address(address.split("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped:
            ip = ip.ipv4_mapped
        elif ip in _NAT64:
            ip = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        elif any(ip in block for block in _REFUSED):
            return False
    return ip.is_global and not ip.is_multicast


class Deadline:
    """Shuts every socket that it was given after `seconds`; a context manager."""

    def __init__(self, seconds: float):
        self._timer = threading.Timer(seconds, self._shut)
        self._timer.daemon = True
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


class GuardedAdapter(HTTPAdapter):
    """Opens connections to public addresses only, and hands each to `deadline`.

    `permitted` hosts may have any address. `resolver` gives the addresses of a host.
    """

    def __init__(self, deadline: Deadline, timeout_s: float, permitted: Collection[str], resolver: Resolver):
        self._deadline = deadline
        self._connect_s = timeout_s
        self._permitted = permitted
        self._resolver = resolver
        super().__init__(max_retries=0)

    def init_poolmanager(self, *args: object, **options: object) -> None:
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = _pools(self._connect)

    def _connect(self, host: str, port: int) -> socket.socket:
        addresses = self._resolver(host)
        if host not in self._permitted and not all(map(is_public, addresses)):
            raise Refused("the address is not public")
        error: OSError = OSError("the name has no address")
        for address in addresses:
            try:
                connection = socket.create_connection((address, port), timeout=self._connect_s)
            except OSError as problem:
                error = problem
            else:
                self._deadline.watch(connection)
                return connection
            if self._deadline.passed:
                break
        raise error


def _pools(connect: Callable[[str, int], socket.socket]) -> dict[str, type[HTTPConnectionPool]]:
    """urllib3's pools with connections that `connect` opens; it is where urllib3's own SOCKS support hooks in."""

    class Http(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return connect(self.host, self.port)

    class Https(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return connect(self.host, self.port)

    class HttpPool(HTTPConnectionPool):
        ConnectionCls = Http

    class HttpsPool(HTTPSConnectionPool):
        ConnectionCls = Https

    return {"http": HttpPool, "https": HttpsPool}
