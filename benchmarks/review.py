"""The page on which people decide: how long the next thing takes, and two people who send at the same time.

    .venv/bin/python benchmarks/review.py [--tasks 10000] [--asked 200] [--sent 500]

The first table is one person's time over the network of this machine, from sending a decision to having the next form,
and that of the next form alone: the store empty of decisions, half full, and with all but a few decided by that person,
which is the most to look through. Beside it is what the same server takes for a file, in the same run. The second
counts what two people have sent at the same time and what the store and the Parquet file have in the end.
"""

import argparse
import http.client
import os
import re
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

import waitress

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

from devqa import tables  # noqa: E402
from devqa.review.app import Desk, create_app  # noqa: E402
from devqa.review.exporting import Exporter  # noqa: E402
from devqa.review.items import KINDS, Item  # noqa: E402
from devqa.review.people import admit  # noqa: E402
from devqa.review.store import Store, now  # noqa: E402

TEXT = "The reflog lists commits that no branch reaches any more. " * 20
FORM = {"decision": "reject", "act": "reject", "reason": "vague", "role": "annotator", "stage": "first"}


def item(number: int) -> Item:
    """A pair with three references and five passages of a kilobyte each."""
    page = {"url": f"https://docs.example/{number}", "title": "Manual", "text": TEXT}
    row = {
        **dict.fromkeys(KINDS["pairs"].shown),
        "pair_id": f"{number:08}",
        "language": "en",
        "question": f"Which command lists lost commits? ({number})",
        "answer": "git reflog",
        "references": [page] * 3,
        "passages": [{**page, "score": 1.0}] * 5,
    }
    return Item(KINDS["pairs"].key(row), KINDS["pairs"].payload(row))


def fill(store: Store, people: list[str], count: int) -> None:
    """Let each of `people` have decided the first `count` pairs."""
    content = {**dict.fromkeys(KINDS["pairs"].labels, ""), "decision": "reject", "reason": "x"}
    content |= {"failed_criteria": [], "evidence_urls": []}
    rows = [
        {"pair_id": f"{number:08}", "annotator": name, "role": "annotator", **content, "decided_at": now()}
        for name in people
        for number in range(count)
    ]
    store.take_in_decisions("pairs", rows)


class Client:
    """A person who sends forms over one connection."""

    def __init__(self, port: int, token: str):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        _, headers = self._ask("GET", f"/enter/{token}")
        self._cookie = headers["Set-Cookie"].split(";")[0]
        self.page, _ = self._ask("GET", "/pairs")

    def look(self) -> float:
        """Seconds for a page without a thing."""
        start = time.perf_counter()
        self._ask("GET", "/static/review.css")
        return time.perf_counter() - start

    def decide(self) -> tuple[float, float]:
        """Seconds from sending a decision to having the next thing, and those of the latter alone."""
        token = re.search(r'name="form_token" value="(\w+)"', self.page)[1]
        address = re.search(r'action="(/pairs/\d+/answer)"', self.page)[1]
        start = time.perf_counter()
        self._ask("POST", address, urlencode({**FORM, "form_token": token}))
        kept = time.perf_counter()
        self.page, _ = self._ask("GET", "/pairs")
        end = time.perf_counter()
        return end - start, end - kept

    def _ask(self, method: str, address: str, body: str = "") -> tuple[str, http.client.HTTPMessage]:
        headers = {"Cookie": getattr(self, "_cookie", ""), "Content-Type": "application/x-www-form-urlencoded"}
        self._connection.request(method, address, body, headers)
        answer = self._connection.getresponse()
        text = answer.read().decode()
        if answer.status >= 400:
            raise RuntimeError(f"{method} {address}: {answer.status}\n{text}")
        return text, answer.headers


def on_the_page(tasks: int, work: Callable[[Store, Exporter, int], None]) -> None:
    """Let `work` run while the page on `tasks` pairs is open: with its store, what writes the file, and its port."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "review.sqlite", 2, "adjudicated")
        store.take_in("pairs", map(item, range(tasks)))
        exporter = Exporter(store, folder)
        exporter.start()
        app = create_app(Desk(store, ("pairs",), changed=exporter.changed))
        server = waitress.create_server(app, host="127.0.0.1", port=0)
        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(work, store, exporter, server.effective_port)
            # It serves in the main thread, as it does for people, and ends as it does for them.
            done.add_done_callback(lambda _: os.kill(os.getpid(), signal.SIGINT))
            server.run()
        server.close()
        exporter.stop()
        store.close()
        done.result()


def waits(tasks: int, asked: int, share: float) -> None:
    """A line of the first table: one person has decided a `share` of the pairs before."""
    decided = int((tasks - asked - 1) * share)

    def work(store: Store, _: Exporter, port: int) -> None:
        fill(store, ["ann"], decided)
        client = Client(port, admit(store, ["ann", "bob"], [])["ann"])
        client.decide()
        both, forms = map(sorted, zip(*(client.decide() for _ in range(asked)), strict=True))
        bare = statistics.median(client.look() for _ in range(asked))
        figures = [
            figure for times in (both, forms) for figure in (times[asked // 2], times[int(asked * 0.95)], times[-1])
        ]
        line([f"{decided:,} of {tasks:,}", *(f"{s * 1000:.1f}" for s in [*figures, bare])])

    on_the_page(tasks, work)


def both(tasks: int, sent: int) -> None:
    """The second table."""

    def work(store: Store, exporter: Exporter, port: int) -> None:
        tokens = admit(store, ["ann", "bob"], [])
        clients = [Client(port, tokens[name]) for name in ("ann", "bob")]
        start = time.perf_counter()
        with ThreadPoolExecutor(2) as people:
            list(people.map(lambda client: [client.decide() for _ in range(sent)], clients))
        seconds = time.perf_counter() - start
        exporter.write()
        stored = len(store.rows("pairs"))
        written = len(tables.read(store.path.parent / "pairs.parquet", "pair_decisions"))
        lost = 2 * sent - min(stored, written)
        line([f"{2 * sent:,}", f"{stored:,}", f"{written:,}", str(lost), f"{2 * sent / seconds:.0f}"])

    on_the_page(tasks, work)


def line(cells: list[str]) -> None:
    """A line of a Markdown table."""
    sys.stdout.write(f"| {' | '.join(cells)} |\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--asked", type=int, default=200)
    parser.add_argument("--sent", type=int, default=500)
    options = parser.parse_args()
    asked = min(options.asked, options.tasks - 1)
    ways = [f"{what}, {which} ms" for what in ("send and next", "next") for which in ("median", "95th", "longest")]
    line(["decided before", *ways, "a file, median ms"])
    line(["---", *["---:"] * 7])
    for part in (0.0, 0.5, 1.0):
        waits(options.tasks, asked, part)
    sys.stdout.write("\n")
    line(["sent by two", "in the store", "in the file", "lost", "a second"])
    line(["---:"] * 5)
    both(options.tasks, min(options.sent, options.tasks))
