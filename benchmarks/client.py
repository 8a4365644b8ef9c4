"""Requests a second of our client and of its peers, measured side by side against one prepared server.

    .venv/bin/python benchmarks/client.py                                  # ours, bare aiohttp, the plain SDK
    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install -r benchmarks/requirements.txt
    .venv/bin/python benchmarks/client.py --peers /tmp/peers/bin/python    # and lm-eval, inspect-ai

The server (`server.py`) and every client run in processes of their own; all send the same prompts of about 1 kB and
get the same answer of about 300 tokens. Ours runs with everything on: cache, validation, progress. Only the sending of
requests is timed, connecting included. Of several repeats the fastest counts, for each client: what else the
machine does can only slow one down. Ratios within one run count more than figures. With the peers it takes
about a quarter of an hour.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
OWN = ["aiohttp", "ours", "sdk"]
PEERS = ["lm-eval", "inspect-ai"]

Figures = dict[str, float]


@contextmanager
def serving(delay_s: float) -> Iterator[str]:
    """The base URL of a server that answers after `delay_s`, in a process of its own."""
    command = [sys.executable, str(HERE / "server.py"), "--delay", str(delay_s)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603
        yield server.stdout.readline().strip()
        # Its standard input closes here, and that ends it.
        server.communicate()


def figures(python: str, script: str, client: str, url: str, in_flight: int, seconds: float) -> Figures:
    """What one client reached in a process of its own: `rate` in requests/s, `cpu_ms` per request.

    Raises:
        RuntimeError: it failed; with what it said last.
    """
    command = [python, str(HERE / script), client, url, str(in_flight), str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        raise RuntimeError(f"{client} failed: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def fastest(options: argparse.Namespace, url: str, in_flight: int) -> dict[str, Figures]:
    """The best figures of each client; the repeats go round all clients, so that all meet the same machine."""
    clients = [(sys.executable, "clients.py", client) for client in OWN]
    if options.peers:
        clients += [(options.peers, "peers.py", client) for client in PEERS]
    best: dict[str, Figures] = {}
    for _ in range(options.repeats):
        for python, script, client in clients:
            found = figures(python, script, client, url, in_flight, options.seconds)
            if client not in best or found["rate"] > best[client]["rate"]:
                best[client] = found
    return best


def row(in_flight: int, delay_s: float, best: dict[str, Figures]) -> list[str]:
    """One line of the table."""
    own, ideal = best["ours"]["rate"], in_flight / delay_s

    def ratio(client: str) -> str:
        return f"{own / best[client]['rate']:.2f}" if client in best else "–"

    def cell(client: str) -> str:
        return f"{best[client]['rate']:,.0f} ({best[client]['cpu_ms']:.2f})" if client in best else "–"

    rates = [cell(client) for client in (*OWN, *PEERS)]
    ratios = [f"{own / ideal:.2f}", f"{best['aiohttp']['rate'] / ideal:.2f}"]
    return [str(in_flight), f"{ideal:,.0f}", *rates, *ratios, *map(ratio, ("aiohttp", "lm-eval", "sdk"))]


def line(cells: list[str]) -> str:
    """A line of a Markdown table."""
    return "| " + " | ".join(cells) + " |\n"


def table(options: argparse.Namespace, delay_s: float) -> None:
    """Measure all clients at one delay and write their Markdown table, a line as soon as it is known."""
    heads = ["in flight", "ideal", "bare aiohttp", "ours", "plain SDK", *PEERS]
    heads += ["ours / ideal", "aiohttp / ideal", "ours / aiohttp", "ours / lm-eval", "ours / SDK"]
    sys.stdout.write(f"\nRequests/s (CPU ms per request); the server answers after {delay_s * 1000:.0f} ms\n\n")
    sys.stdout.write(line(heads) + line(["---"] * len(heads)))
    with serving(delay_s) as url:
        for in_flight in options.in_flight:
            sys.stdout.write(line(row(in_flight, delay_s, fastest(options, url, in_flight))))
            sys.stdout.flush()


def main() -> None:
    """Write one table per delay."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delays", type=float, nargs="+", default=[0.05, 0.5], help="seconds until the server answers")
    parser.add_argument("--in-flight", type=int, nargs="+", default=[32, 128, 512])
    parser.add_argument("--seconds", type=float, default=5.0, help="how long each client sends, about")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peers", metavar="PYTHON", help="interpreter of an environment with requirements.txt")
    options = parser.parse_args()
    if not options.peers:
        sys.stdout.write(f"Without {' and '.join(PEERS)}: --peers names the interpreter that has them.\n")
    for delay_s in options.delays:
        table(options, delay_s)


if __name__ == "__main__":
    main()
