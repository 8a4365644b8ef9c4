"""The tools of the setting `agentic`: searching the web and reading a page, as a model calls them.

Nothing is asked for twice: the store keeps what engines and servers answer. What they did not answer is kept too, for
the conversation in which a model was told so: what it said next was paid for, and a rerun must come to it.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from devqa.prompts import inert
from devqa.tokens import cut, estimate
from devqa.web.engines.base import Engine, Hit, SearchFailed
from devqa.web.fetching.fetched import without_page
from devqa.web.fetching.turns import in_turns
from devqa.web.merging import merge
from devqa.web.store import NotKept, Store

if TYPE_CHECKING:
    from devqa.job import Job
    from devqa.web.fetching.fetched import Fetched, Fetcher

OK = "ok"
_LONGEST_SNIPPET = 500
_LONGEST_TITLE = 200
# Pages that are in memory at the same time as they came.
_PORTION = 50
# What stands between these tags is data: no page may end it.
_TAGS = ("page", "results")
_ADDRESS = re.compile(r"https?://[^\s<>\"'`|\\^{}]+")
_OFFLINE = "offline, and it is not in the cache"
_CUT = "\n[cut off here: there is no room for more]"


@dataclass(frozen=True)
class Search:
    """Look for pages; `language` is ISO 639-1 or "" where it is not known."""

    query: str
    language: str = ""


@dataclass(frozen=True)
class Open:
    """Show part `part` of the page at `url`; the first one is 1."""

    url: str
    part: int = 1


class Order(NamedTuple):
    """A call to carry out; `call` tells it apart from all others: what was said before it, and its place."""

    wanted: Search | Open
    call: str


@dataclass(frozen=True)
class Result:
    """What a call gave.

    Attributes:
        outcome: `ok`, or why it gave nothing.
        text: what the model wants to read, with `before` and `after` around it.
        url, title: of the page that is shown; "" where none is.
        found: the addresses of the pages that a search found.
    """

    outcome: str
    before: str = ""
    text: str = ""
    after: str = ""
    url: str = ""
    title: str = ""
    found: tuple[str, ...] = ()

    @property
    def whole(self) -> str:
        """All that the model reads."""
        return f"{self.before}{self.text}{self.after}"

    @property
    def links(self) -> set[str]:
        """The addresses that stand in `text`, without fragments."""
        links = {url for url in self.found if url in self.text}
        if self.url:
            for address in _ADDRESS.findall(self.text):
                # Of what ends a sentence or a link nobody knows whether it belongs to the address.
                bare = address.partition("#")[0]
                links |= {bare, bare.rstrip(".,;:!?*_"), bare.rstrip(".,;:!?*_)]")}
        return links

    def fitting(self, tokens: int) -> "Result":
        """The same in at most about `tokens` tokens; what is cut off says so."""
        if estimate(self.whole) <= tokens:
            return self
        around = estimate(self.before) + estimate(self.after) + estimate(_CUT)
        return replace(self, text=cut(self.text, max(0, tokens - around)), after=_CUT + self.after)


def nothing(outcome: str, told: str = "") -> Result:
    """The result of a call that gave nothing; `told` is what the model reads in place of the outcome."""
    return Result(outcome, before=f"No result: {told or outcome}.")


class _Page(NamedTuple):
    """A page in parts; without any `outcome` says why. `passing`: another time it may be another."""

    title: str
    parts: tuple[str, ...]
    outcome: str
    passing: bool


class Tools:
    """What carries out the calls of many conversations at a time.

    Args:
        engine, fetcher: of the workflow, within their own bounds: only public addresses are asked for pages.
        store: where failures are kept.
        cleaning: section `clean` of the configuration.
        results: pages that a search gives.
        page_tokens: tokens of a part of a page.
        searching, fetching, workers: how many searches, pages and cleaned pages at a time.
        local: pages come from a table, in which nothing will be found another time either.
        terms: what else a result depends on, as plain JSON values: a failure under other terms is none.
        lacks: nothing may be sent and nothing kept; to be called for each conversation that therefore can't go on.
    """

    def __init__(
        self,
        engine: Engine,
        fetcher: "Fetcher",
        store: Store,
        *,
        cleaning: Mapping[str, Any],
        results: int,
        page_tokens: int,
        searching: int = 1,
        fetching: int = 1,
        workers: int = 1,
        local: bool = False,
        terms: Mapping[str, Any] | None = None,
        lacks: Callable[[], None] | None = None,
    ):
        self._engine = engine
        self._fetcher = fetcher
        self._store = store
        self._cleaning = dict(cleaning)
        self._results = results
        self._page_tokens = page_tokens
        self._searching, self._fetching, self._workers = searching, fetching, workers
        self._terms = orjson.dumps([results, page_tokens, terms], option=orjson.OPT_SORT_KEYS)
        self._local = local
        self.lacks = lacks
        self._searches: dict[Search, list[Hit] | SearchFailed | NotKept] = {}
        self._pages: dict[str, _Page | NotKept] = {}

    def carry_out(self, orders: Sequence[Order]) -> list[Result | None]:
        """What each of `orders` gives; None where it is not known and nothing may be sent.

        Raises:
            UserError: the search engine needs setting up.
        """
        told = [self._told(order) for order in orders]
        wanted = [order.wanted for order, result in zip(orders, told, strict=True) if result is None]
        self._search(each for each in wanted if isinstance(each, Search))
        self._read(each.url for each in wanted if isinstance(each, Open))
        return [result or self._result(order) for order, result in zip(orders, told, strict=True)]

    def _search(self, wanted: Iterable[Search]) -> None:
        new = [each for each in dict.fromkeys(wanted) if each not in self._searches]
        with ThreadPoolExecutor(self._searching) as pool:
            self._searches.update(zip(new, pool.map(self._hits, new), strict=True))

    def _hits(self, wanted: Search) -> list[Hit] | SearchFailed | NotKept:
        try:
            found = self._engine.search(wanted.query, wanted.language, self._results)
        except SearchFailed as fault:
            return fault
        except NotKept as fault:
            return fault if self.lacks else SearchFailed(_OFFLINE)
        # Merged though it is one list: a page that is found under several fragments is one page.
        return merge([found.hits], self._results)

    def _read(self, urls: Iterable[str]) -> None:
        new = [url for url in dict.fromkeys(urls) if url not in self._pages]
        for start in range(0, len(new), _PORTION):
            portion = new[start : start + _PORTION]
            self._pages |= self._cleaned(in_turns(portion, self._fetched, self._fetching))

    def _fetched(self, url: str) -> "Fetched | NotKept":
        try:
            return self._fetcher.fetch(url)
        except NotKept as fault:
            return fault if self.lacks else without_page(url, "failed", _OFFLINE)

    def _cleaned(self, fetched: "Mapping[str, Fetched | NotKept]") -> dict[str, _Page | NotKept]:
        from devqa.web.cleaning.clean import clean_each
        from devqa.web.cleaning.texts import Texts

        there = {url: page for url, page in fetched.items() if not isinstance(page, NotKept) and page.status == "ok"}
        items = ((page.content, page.content_type, url) for url, page in there.items())
        kept = Texts(self._store, self._cleaning)
        texts = clean_each(items, self._cleaning, self._workers, kept)
        pages: dict[str, _Page | NotKept] = {
            url: page if isinstance(page, NotKept) else _Page("", (), page.reason, passing=not self._local)
            for url, page in fetched.items()
            if url not in there
        }
        for url, text in zip(there, texts, strict=True):
            parts = self._parts(text.text) if text.status == "ok" else ()
            pages[url] = _Page(text.title, parts, text.reason, passing=text.status == "failed")
        return pages

    def _parts(self, text: str) -> tuple[str, ...]:
        from devqa.web.passages import passages

        return tuple(passages(text, self._page_tokens))

    def _result(self, order: Order) -> Result | None:
        wanted = order.wanted
        found = self._searches[wanted] if isinstance(wanted, Search) else self._pages[wanted.url]
        if isinstance(found, NotKept):
            return None
        if isinstance(found, SearchFailed):
            # Its words may name our own server: they are for the log.
            return self._failed(order, nothing(f"the search failed: {found}", "the search failed"))
        if isinstance(found, list):
            return _listed(found)
        if not found.parts:
            result = nothing(f"the page can't be shown: {found.outcome}")
            return self._failed(order, result) if found.passing else result
        return _shown(wanted, found)

    def _failed(self, order: Order, result: Result) -> Result:
        """Keep a failure that may be none at another time."""
        if self.lacks is None:
            self._store.put(self._key(order), orjson.dumps([result.outcome, result.before]))
        return result

    def _told(self, order: Order) -> Result | None:
        """The failure that the model was told before at this call; None if there was none."""
        kept = self._store.get(self._key(order))
        return Result(*orjson.loads(kept)) if kept else None

    def _key(self, order: Order) -> str:
        return f"told:{hashlib.sha256(self._terms + order.call.encode()).hexdigest()}"


def open_tools(this: "Job") -> Tools:
    """The tools of a job of the setting `agentic`, with the engine and the bounds that the configuration names.

    The job's options are those of the configuration's section `evaluation.agentic`, and what searching, fetching and
    cleaning depend on.

    Raises:
        UserError: the table of the local corpus can't be read.
    """
    from devqa.web.engines.opening import open_engine
    from devqa.web.fetching.fetch import open_fetcher

    own = ("difficulties", "rounds", "calls", "results", "page_tokens")
    return Tools(
        open_engine(this),
        open_fetcher(this),
        Store(this.cache / "web"),
        cleaning=this.config["clean"],
        results=this.options["results"],
        page_tokens=this.options["page_tokens"],
        searching=this.config["search"]["concurrency"],
        fetching=this.config["fetch"]["concurrency"],
        workers=this.threads,
        local=this.corpus() is not None,
        terms={name: value for name, value in this.options.items() if name not in own},
        lacks=this.lacks,
    )


def _listed(hits: Sequence[Hit]) -> Result:
    """The results of a search, numbered."""
    if not hits:
        return nothing("the search found nothing")
    lines = []
    for number, hit in enumerate(hits, 1):
        lines += [f"{number}. {_line(hit.title, _LONGEST_TITLE)}", f"   {_inert(hit.url)}"]
        if snippet := _line(hit.snippet, _LONGEST_SNIPPET):
            lines.append(f"   {snippet}")
    return Result(OK, "<results>\n", "\n".join(lines), "\n</results>", found=tuple(hit.url for hit in hits))


def _shown(wanted: Open, page: _Page) -> Result:
    """A part of a page."""
    count = len(page.parts)
    if wanted.part > count:
        return nothing(f"the page has {count} part{'s' if count > 1 else ''}")
    title = _line(page.title, _LONGEST_TITLE)
    head = f'<page url="{_quoted(wanted.url)}" title="{_quoted(title)}" part="{wanted.part} of {count}">\n'
    return Result(OK, head, _inert(page.parts[wanted.part - 1]), "\n</page>", wanted.url, page.title)


def _line(text: str, characters: int) -> str:
    return _inert(" ".join(text.split())[:characters])


def _quoted(text: str) -> str:
    return _inert(text).replace('"', "'")


def _inert(text: str) -> str:
    return inert(text, _TAGS, opening=True)
