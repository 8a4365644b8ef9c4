"""The page on which people decide about pairs, graded answers, dialogues and domains (docs/review.md).

    .venv/bin/python scripts/annotate.py --configfile mine.yaml --annotators ann,bob --adjudicators eve

Run it in the project's folder. It prints an address for each person who is new.
"""

import argparse
import sys

from devqa.config.commands import configuration
from devqa.errors import UserError
from devqa.review.items import KINDS
from devqa.review.serving import annotate


def names(text: str) -> list[str]:
    """The names in a list with commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def kinds(text: str) -> list[str]:
    """Some kinds of things, for argparse."""
    if unknown := [name for name in names(text) if name not in KINDS]:
        raise argparse.ArgumentTypeError(f"there is no '{unknown[0]}': choose from {', '.join(KINDS)}")
    return names(text)


def port(text: str) -> int:
    """A number that a port may have, for argparse."""
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text} is no port: 0 (any that is free) to 65535")
    return int(text)


def options(arguments: list[str] | None = None) -> argparse.Namespace:
    """What was given on the command line, or in `arguments`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configfile", nargs="+", default=[], help="laid over config.yaml")
    parser.add_argument("--port", type=port, default=8765, help="0: any that is free (default: %(default)s)")
    parser.add_argument("--kinds", type=kinds, default=list(KINDS), help=f"some of {','.join(KINDS)}; all by default")
    parser.add_argument("--annotators", type=names, default=[], help="who decides, with commas: ann,bob")
    parser.add_argument("--adjudicators", type=names, default=[], help="who settles what is disputed")
    parser.add_argument("--renew", type=names, default=[], help="whose address was lost: they get new ones")
    parser.add_argument("--export", action="store_true", help="write the files of decisions, and end")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    given = options()
    try:
        annotate(
            configuration(given.configfile),
            port=given.port,
            kinds=given.kinds,
            annotators=given.annotators,
            adjudicators=given.adjudicators,
            renewed=given.renew,
            only_export=given.export,
        )
    except UserError as error:
        sys.exit(str(error))
