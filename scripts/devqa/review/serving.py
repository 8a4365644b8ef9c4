"""From the configuration to the open page, until it is told to end."""

import errno
import logging
import signal
import sys
from collections.abc import Collection, Sequence

import waitress

from devqa.config.root import Config
from devqa.errors import UserError
from devqa.review.app import Desk, create_app
from devqa.review.exporting import Exporter
from devqa.review.items import KINDS, items, sources
from devqa.review.locking import note
from devqa.review.people import admit, everybody
from devqa.review.store import Store, opened
from devqa.study import UNRELATED

HOST = "127.0.0.1"
_THREADS = 8


def annotate(
    config: Config,
    *,
    port: int,
    kinds: Sequence[str],
    annotators: Collection[str],
    adjudicators: Collection[str],
    renewed: Collection[str],
    only_export: bool,
) -> None:
    """Open the page for the project in the working directory, and keep it open until SIGINT, SIGTERM or SIGHUP.

    Args:
        port: on which it is served on this machine; 0 for any that is free.
        kinds: the kinds of things that are decided.
        annotators, adjudicators, renewed: who is let in, and who gets a new token (`devqa.review.people`).
        only_export: write the files of decisions and end.

    Raises:
        UserError: it is open already, there is nothing to decide, the port is taken, or a file can't be used.
    """
    review = config.review
    with opened(review.folder, review.annotators, review.rejection, "the page is being opened") as store:
        exporter = Exporter(store, review.folder)
        exporter.take_in()
        exporter.write()
        if only_export:
            return
        served = _take_in(store, config, kinds)
        server = _server(_desk(store, config, served, exporter), port)
        # Tokens are shown once: not before it is sure that they will be.
        tokens = admit(store, annotators, adjudicators, renewed)
        address = f"http://{HOST}:{server.effective_port}"
        note(review.folder, f"the page is open already at {address}")
        exporter.start()
        try:
            _end_when_told()
            sys.stdout.write(_greeting(store, served, address, tokens))
            sys.stdout.flush()
            # Told to end, it lets what is under way come to its end.
            server.run()
        finally:
            server.close()
            exporter.stop()


def _take_in(store: Store, config: Config, kinds: Sequence[str]) -> list[str]:
    """Take in what is to be decided; the kinds of which there is something, now or from before."""
    found = {kind: path for kind, path in sources(config).items() if kind in kinds}
    for kind, path in found.items():
        if path.exists():
            store.take_in(kind, items(KINDS[kind], path))
    there = [kind for kind in found if store.one("SELECT 1 FROM tasks WHERE kind = :kind AND gone = 0", kind=kind)]
    if not there:
        raise UserError(
            f"there is nothing to decide: {', '.join(map(str, found.values())) or 'no kind of things'} should hold "
            "something; run the workflow first, and start this in the project's folder with the same configuration"
        )
    return there


def _desk(store: Store, config: Config, kinds: Sequence[str], exporter: Exporter) -> Desk:
    tasks = config.study.tasks if config.study else None
    return Desk(
        store,
        tuple(kinds),
        tasks={**tasks.categories, UNRELATED: "nothing to do with software development"} if tasks else {},
        knowledge=tasks.knowledge if tasks else None,
        domains=config.evaluation.domains.names if config.evaluation.domains else {},
        changed=exporter.changed,
    )


def _server(desk: Desk, port: int) -> waitress.server.BaseWSGIServer:
    # That requests wait for a free thread for a moment is no news.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    try:
        return waitress.create_server(create_app(desk), host=HOST, port=port, threads=_THREADS, ident=None)
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        cause = "is taken by another program" if taken else f"can't be used ({error.strerror})"
        raise UserError(f"port {port} {cause}: give another one with --port") from error


def _greeting(store: Store, kinds: Sequence[str], address: str, tokens: dict[str, str]) -> str:
    """What is printed when the page is open."""
    counts = {
        row["kind"]: row["number"]
        for row in store.all("SELECT kind, count(*) AS number FROM tasks WHERE gone = 0 GROUP BY kind")
    }
    lines = [f"Open at {address}: " + ", ".join(f"{counts[kind]} {kind}" for kind in kinds) + "."]
    for person in everybody(store):
        roles = ["annotator"] * person.annotates + ["adjudicator"] * person.adjudicates
        entrance = (
            f"{address}/enter/{tokens[person.name]}"
            if person.name in tokens
            else f"the address from before (--renew '{person.name}' makes a new one)"
        )
        lines.append(f"  {person.name} ({', '.join(roles)}): {entrance}")
    lines.append("Give each person their own address. Ctrl-C ends the page; nothing that was sent is lost.")
    return "".join(f"{line}\n" for line in lines)


def _end_when_told() -> None:
    """Let SIGINT, SIGTERM and SIGHUP raise `SystemExit`; once, so that impatience breaks off no writing of files."""
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def end(number: int, frame: object) -> None:
        for each in signals:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit

    for each in signals:
        signal.signal(each, end)
