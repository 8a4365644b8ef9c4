"""The search engine that the configuration names, opened for a job."""

import os
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING

from devqa import tables
from devqa.errors import UserError
from devqa.web.engines.base import Engine
from devqa.web.engines.brave import BraveEngine
from devqa.web.engines.google import GoogleEngine
from devqa.web.engines.local import LocalEngine
from devqa.web.engines.searxng import SearxngEngine
from devqa.web.engines.serper import SerperEngine
from devqa.web.engines.sites import Sites
from devqa.web.engines.tavily import TavilyEngine
from devqa.web.pace import Pace
from devqa.web.store import Store

if TYPE_CHECKING:
    from devqa.job import Job

_ONLINE = {engine.name: engine for engine in (SearxngEngine, BraveEngine, SerperEngine, TavilyEngine, GoogleEngine)}


def open_engine(this: "Job") -> Engine:
    """The engine of section `search` of the configuration, with its key from the environment.

    Raises:
        UserError: the table of the local corpus can't be read, or the key is missing.
    """
    # Validated by the Snakefile, defaults filled in.
    search = SimpleNamespace(**this.config["search"])
    sites = Sites(tuple(search.include_sites), tuple(search.exclude_sites))
    if search.engine == "local":
        columns = ["url", "title", "text", "words", "status"]
        rows = (row for batch in tables.batches(this.corpus(), "corpus", 500, columns) for row in batch)
        return LocalEngine(rows, sites)
    kind = _ONLINE[search.engine]
    if kind is GoogleEngine:
        kind = partial(GoogleEngine, search.engine_id)
    store = Store(this.cache / "web")
    if this.offline:
        return kind(search.url, search.timeout_s, store, True, sites=sites)
    pace = Pace(this.cache / "pace")
    rate = search.requests_per_second
    return kind(
        search.url,
        search.timeout_s,
        store,
        key=_key(search.api_key_env),
        sites=sites,
        wait=partial(pace.wait, f"search {search.engine}", rate) if rate else None,
        purse=_purse(this) if search.price_per_request > 0 else None,
    )


def _key(variable: str | None) -> str:
    if variable is None:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UserError(f"search.api_key_env: the environment variable {variable} is not set: export it")
    if not (key.isascii() and key.isprintable()):
        raise UserError(f"search.api_key_env: the environment variable {variable} does not hold an API key")
    return key


def _purse(this: "Job"):
    from devqa.web.purse import open_purse

    return open_purse(this)
