"""Hostile and broken answers on the whole way: each page gets its outcome in time and in bounds, and the others come.

All servers are on loopback. What leads elsewhere meets a resolver and a connector that note it and send nothing.
"""

import re
import socket
from pathlib import Path

import pytest

from devqa.steps.clean import clean
from devqa.steps.fetch import fetch
from devqa.web.fetching.fetch import WebFetcher
from devqa.web.fetching.turns import in_turns
from devqa.web.store import Store
from fetching import OPTIONS, Site, answer
from hostile import ATTRIBUTES, CASES, CLEAN, FETCH, PROSE, page
from standins import assert_sound

_GOOD = 3
_MOST_GROWTH_MB = 120


class Internet:
    """Names that all lead to this machine, addresses that are what they are, and no way to any other machine."""

    def __init__(self):
        self.elsewhere: list[tuple[str, int]] = []

    def resolve(self, host: str) -> list[str]:
        if host.endswith(".test"):
            return ["127.0.0.1"]
        # Numbers in whatever form; nothing here asks a name server.
        return [str(entry[4][0]) for entry in socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST)]

    def connect(self, address: tuple[str, int], timeout_s: float) -> socket.socket:
        if address[0] != "127.0.0.1":
            self.elsewhere.append(address)
            raise ConnectionRefusedError
        return socket.create_connection(address, timeout=timeout_s)


def _peak_mb() -> float:
    """The most memory that this process ever had since `_forget_peak`."""
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1024


def _forget_peak() -> float:
    Path("/proc/self/clear_refs").write_text("5")
    return _peak_mb()


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """All hostile pages and some good ones in one shard, fetched and cleaned; rows by the name of the case."""
    names = [*CASES, *[f"good-{number}" for number in range(_GOOD)]]
    internet, store = Internet(), Store(tmp_path_factory.mktemp("store"))
    hosts = {name: f"{name}.test" for name in names}
    options = {**OPTIONS, **FETCH, "private_hosts": list(hosts.values())}
    with Site({"/good": answer(page(PROSE)), **{f"/good-{n}": answer(page(PROSE)) for n in range(_GOOD)}}) as site:
        site.pages |= {f"/{name}": case.raw(site) for name, case in CASES.items()}
        results = [
            {"rank": rank, "url": site.url(f"/{name}", hosts[name]), "title": ""} for rank, name in enumerate(names, 1)
        ]
        # So that robots.txt is there, however slow the machine is: pages have little time.
        patient = WebFetcher({**options, "timeout_s": 20}, store, resolver=internet.resolve, connector=internet.connect)
        in_turns([site.url("/none", host) for host in hosts.values()], patient.fetch, 8)
        before = _forget_peak()
        fetcher = WebFetcher(options, store, resolver=internet.resolve, connector=internet.connect)
        pages = fetch([{"dialogue_id": "d", "results": results}], fetcher, store, 8)
    references = list(clean([row for row in pages if row["status"] == "ok"], store, CLEAN, 2))
    growth = _peak_mb() - before
    assert_sound(pages, "pages")
    assert_sound(references, "references")
    rows = {row["rank"]: row for row in [*pages, *references]}
    return {name: rows[rank] for rank, name in enumerate(names, 1)}, internet, growth


def test_there_are_sixty_of_them():
    assert len(CASES) >= 60


@pytest.mark.parametrize("name", CASES)
def test_every_answer_has_its_outcome(outcomes, name):
    case, row = CASES[name], outcomes[0][name]
    assert (row["status"], row["reason"][: len(case.reason)]) == (case.status, case.reason), row["reason"]
    if case.status == "ok":
        assert case.text in row["text"]
        assert len(row["text"]) <= CLEAN["max_characters"]


def test_good_pages_in_the_same_shard_come(outcomes):
    for number in range(_GOOD):
        row = outcomes[0][f"good-{number}"]
        assert (row["status"], "max_connections" in row["text"]) == ("ok", True)


@pytest.mark.slow
def test_a_page_that_takes_too_long_to_clean_is_left_and_the_next_one_comes(tmp_path):
    store = Store(tmp_path)
    pages = []
    for rank, text in enumerate((ATTRIBUTES, page(PROSE)), 1):
        url = f"http://e/{rank}"
        row = {"dialogue_id": "d", "rank": rank, "url": url, "final_url": url, "title": "", "content_type": "text/html"}
        pages.append({**row, "sha256": store.put_page(text.encode())})
    slow, good = clean(pages, store, {**CLEAN, "timeout_s": 4}, 1)
    assert good["status"] == "ok"
    # An extractor that is quick about it would be just as good.
    assert slow["status"] == "ok" or (slow["status"], slow["reason"]) == ("failed", "cleaning took longer than 4 s")


def test_nothing_was_sent_anywhere_else(outcomes):
    assert outcomes[1].elsewhere == []


def test_bombs_fill_no_memory(outcomes):
    """Unpacked, several of them have 200 MB each."""
    assert outcomes[2] < _MOST_GROWTH_MB
