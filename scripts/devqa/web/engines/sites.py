"""The sites that are searched, and how that is said in a query."""

from collections.abc import Iterable
from dataclasses import dataclass

from devqa.web.urls import host_and_path


@dataclass(frozen=True)
class Sites:
    """Sections `search.include_sites` and `search.exclude_sites`: hosts with their subdomains, or parts of them.

    A site is `example.org` or `example.org/path`, which is that path and all below it.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def allow(self, url: str) -> bool:
        """Is the page at `url` of a site that is wanted? What is no web address is of no site."""
        if self.include and not _of_any(url, self.include):
            return False
        return not _of_any(url, self.exclude)


def hosts(sites: Iterable[str]) -> list[str]:
    """The hosts of `sites`, each once."""
    return list(dict.fromkeys(site.partition("/")[0] for site in sites))


def whole_hosts(sites: Iterable[str]) -> list[str]:
    """Those of `sites` that are hosts, and no part of one."""
    return [site for site in sites if "/" not in site.rstrip("/")]


@dataclass(frozen=True)
class Bounds:
    """The longest query that an engine takes, in characters and words."""

    characters: int
    words: int

    def hold(self, text: str) -> bool:
        """Is `text` within them?"""
        return len(text) <= self.characters and len(text.split()) <= self.words


def either(sites: Iterable[str]) -> str:
    """The search operators that ask for pages of any of `sites`."""
    return " OR ".join(f"site:{site}" for site in sites)


def none_of(sites: Iterable[str], negation: str = "-") -> str:
    """The search operators that ask for pages of none of `sites`."""
    return " ".join(f"{negation}site:{site}" for site in sites)


def worded(query: str, include: str, exclude: str, bounds: Bounds | None) -> str:
    """`query` with search operators, within `bounds`.

    Operators that would take more than half of the room are left out: results are filtered in any case. A longer
    query loses its end.
    """
    if bounds is None:
        return " ".join(part for part in (query, include, exclude) if part)
    half = Bounds(bounds.characters // 2, bounds.words // 2)
    operators = next(filter(half.hold, (f"{include} {exclude}".strip(), include, exclude)), "")
    if not operators:
        return _shortened(query, bounds)
    room = Bounds(bounds.characters - len(operators) - 1, bounds.words - len(operators.split()))
    return f"{_shortened(query, room)} {operators}"


def _shortened(query: str, bounds: Bounds) -> str:
    if bounds.hold(query):
        return query
    text = " ".join(query.split()[: bounds.words])
    if len(text) <= bounds.characters:
        return text
    text = text[: bounds.characters + 1]
    # Scripts without spaces have no better place.
    return text.rpartition(" ")[0] or text[: bounds.characters]


def _of_any(url: str, sites: Iterable[str]) -> bool:
    host, path = host_and_path(url)
    return any(_of(host, path, site) for site in sites)


def _of(host: str, path: str, site: str) -> bool:
    site_host, site_path = host_and_path(f"https://{site}")
    if host != site_host and not host.endswith(f".{site_host}"):
        return False
    below = site_path.rstrip("/")
    return not below or path == below or path.startswith(f"{below}/")
