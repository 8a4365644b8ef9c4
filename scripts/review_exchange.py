"""Tasks to Label Studio or Argilla, and decisions from there (docs/exchange.md). Run it in the project's folder."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from devqa.config.commands import configuration
from devqa.config.root import Config
from devqa.errors import UserError
from devqa.files import replacing
from devqa.review import items
from devqa.review.decisions import decisions
from devqa.review.exchange import argilla, label_studio
from devqa.review.exchange.asking import asking
from devqa.review.exchange.people import People, utc
from devqa.review.exchange.taking import take_in, things
from devqa.tables import Row


def main(arguments: Sequence[str]) -> int:
    """Do what the command line says: 0, or 1 with one line about what has to be mended."""
    said = _parser().parse_args(arguments)
    try:
        said.do(said, configuration(said.configfile))
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def export_label_studio(said: argparse.Namespace, config: Config) -> None:
    """Write the tasks, and the labelling configuration that shows them."""
    asked, rows = asking(said.kind, config), _things(said.kind, config)
    _write(said.tasks, _json(label_studio.tasks(asked, rows)))
    _write(said.labelling, label_studio.labelling(asked))
    sys.stdout.write(f"{len(rows):,} tasks: {said.tasks}   labelling configuration: {said.labelling}\n")


def export_argilla(said: argparse.Namespace, config: Config) -> None:
    """Write the records, and the settings of a dataset that they fit."""
    asked, rows = asking(said.kind, config), _things(said.kind, config)
    _write(said.records, _json(argilla.records(asked, rows)))
    _write(said.settings, _json(argilla.settings(asked, config.review.annotators)))
    sys.stdout.write(f"{len(rows):,} records: {said.records}   settings: {said.settings}\n")


def import_label_studio(said: argparse.Namespace, config: Config) -> None:
    """Take in the decisions of exported tasks."""
    asked, people = asking(said.kind, config), _people(said)
    _take_in(said, config, lambda file: label_studio.decisions(asked, _read(file), people))


def import_argilla(said: argparse.Namespace, config: Config) -> None:
    """Take in the decisions of exported records. They do not say when: by default when the file was written."""
    asked, people = asking(said.kind, config), _people(said)

    def found(file: str) -> list[Row]:
        exported = _read(file)
        at = said.decided_at or datetime.fromtimestamp(int(Path(file).stat().st_mtime), UTC).isoformat()
        return argilla.decisions(asked, exported, people, utc(at, "--decided-at"))

    _take_in(said, config, found)


def import_parquet(said: argparse.Namespace, config: Config) -> None:
    """Take in decisions from another project's files."""
    table = items.KINDS[said.kind].decisions
    _take_in(said, config, lambda file: decisions(file, table))


def _take_in(said: argparse.Namespace, config: Config, read: Callable[[str], list[Row]]) -> None:
    found = []
    for file in said.files:
        try:
            found += [(file, row) for row in read(file)]
        except UserError as error:
            told = str(error) if str(error).startswith(file) else f"{file}: {error}; nothing was changed"
            raise UserError(told) from error
    kind = items.KINDS[said.kind]
    file = take_in(kind, found, items.sources(config)[said.kind], config.review)
    sys.stdout.write(f"{len(found):,} decisions taken in: {file}\n")


def _things(kind: str, config: Config) -> list[Row]:
    return things(items.KINDS[kind], items.sources(config)[kind])


def _people(said: argparse.Namespace) -> People:
    return People(dict(said.name), said.adjudicators)


def _read(file: str) -> Any:
    try:
        return json.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"can't be read ({error.strerror})") from error
    except ValueError as error:
        raise UserError(f"is no JSON ({error})") from error


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _write(file: str, text: str) -> None:
    with replacing(file) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _named(text: str) -> tuple[str, str]:
    account, _, name = text.partition("=")
    if not (account and name):
        raise argparse.ArgumentTypeError(f"{text!r}: write it as 3=ann")
    return account, name


def _names(text: str) -> list[str]:
    return [name for each in text.split(",") if (name := each.strip())]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(do: Callable, *files: str, several: bool = False) -> argparse.ArgumentParser:
        added = commands.add_parser(do.__name__.replace("_", "-"), help=do.__doc__, description=do.__doc__)
        added.set_defaults(do=do)
        added.add_argument("--configfile", action="append", default=[], help="as Snakemake's; may come again")
        added.add_argument("--kind", choices=items.KINDS, default="pairs", help="what is decided (default: pairs)")
        for file in files:
            added.add_argument(file, nargs="+" if several else None)
        return added

    command(export_label_studio, "tasks", "labelling")
    command(export_argilla, "records", "settings")
    for do in (import_label_studio, import_argilla, import_parquet):
        taking = command(do, "files", several=True)
        if do is import_parquet:
            continue
        taking.add_argument("--name", type=_named, action="append", default=[], help="who an account is here: 3=ann")
        taking.add_argument("--adjudicators", type=_names, default=[], help="who settles disputes: eve,joe")
        if do is import_argilla:
            taking.add_argument("--decided-at", help="a time with its zone (default: when the file was written)")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
