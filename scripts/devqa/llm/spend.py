"""What the jobs of one run have spent, published without locks, on one machine or on a shared file system.

    <cache_dir>/spend/<run>/<unique name>.json

Each job owns one small file, replaced as a whole whenever its account has changed, and reads those of the others.
Amounts are whole picodollars, so that sums are exact.
"""

import os
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from devqa.errors import UserError
from devqa.files import content, replacing, unique_name

# The environment variable that holds the run's name: Snakemake's main process sets it, all jobs inherit it.
RUN = "DEVQA_RUN"

_PICODOLLARS = 10**12
# A job at work writes its account at least every ten seconds. One that did not for so long is dead.
DEAD_AFTER_S = 60.0
_KEPT_S = 7 * 24 * 3600


@dataclass(frozen=True)
class Account:
    """One job's account, or the sum of several, in picodollars.

    Attributes:
        spent: what answered requests have cost.
        claimed: what `spent` may come to with the requests that are under way.
        broken_off: what requests that were under way when their job ended may have cost at most.
    """

    spent: int = 0
    claimed: int = 0
    broken_off: int = 0

    def without_a_job(self) -> "Account":
        """The account of a job that is dead: what it had under way will never be settled."""
        return Account(self.spent, self.spent, self.broken_off + self.claimed - self.spent)


class Accounts:
    """The accounts of all jobs of one run.

    Args:
        folder: the run's, from `run_folder`; made when something is published.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._own = folder / f"{unique_name()}.json"
        self._seen: dict[str, tuple[tuple[int, int], Account]] = {}

    def publish(self, account: Account) -> None:
        """Make `account` this job's own.

        Raises:
            UserError: the disk is full, or the folder can't be written to.
        """
        with replacing(self._own) as temporary:
            temporary.write_bytes(orjson.dumps(asdict(account)))

    def others(self) -> Account:
        """The sum of all other accounts as they are now.

        Who is dead is told by the time of this job's own file, which the same file server has set, so clocks
        need not agree: this job must have published within a few seconds.

        Raises:
            UserError: an account can't be read.
        """
        try:
            alive_since = self._own.stat().st_mtime - DEAD_AFTER_S
            return _sum(
                self._account(entry) if entry.stat().st_mtime >= alive_since else self._account(entry).without_a_job()
                for entry in _files(self._folder)
                if entry.name != self._own.name
            )
        except OSError as error:
            raise UserError(f"{self._folder}, where the run's jobs keep account, can't be read: {error}") from error

    def _account(self, entry: os.DirEntry) -> Account:
        version = entry.stat().st_mtime_ns, entry.inode()
        if entry.name not in self._seen or self._seen[entry.name][0] != version:
            self._seen[entry.name] = version, _read(entry)
        return self._seen[entry.name][1]


def picodollars(usd: float) -> int:
    """An amount in USD as a whole number of picodollars."""
    return round(usd * _PICODOLLARS)


def dollars(amount: int) -> float:
    """An amount in USD."""
    return amount / _PICODOLLARS


def run_folder(cache_dir: str | os.PathLike, run: str) -> Path:
    """Where the jobs of a run publish what they spend."""
    return Path(cache_dir) / "spend" / run


def own_run_folder(cache_dir: str | os.PathLike, cap_usd: float | None) -> Path | None:
    """The `run_folder` of the run that this process belongs to; None where the run has neither a name nor a cap.

    Raises:
        UserError: there is a cap, but no name by which the run's jobs could find each other.
    """
    run = os.environ.get(RUN)
    if run is None and cap_usd is not None:
        raise UserError(
            f"budget_usd: the environment variable {RUN} has not reached this job: pass it on (--envvars {RUN})"
        )
    return None if run is None else run_folder(cache_dir, run)


def run_total(cache_dir: str | os.PathLike, run: str) -> Account:
    """What a run that has ended has spent, in all.

    Raises:
        UserError: an account can't be read.
    """
    return _sum(_read(entry).without_a_job() for entry in _files(run_folder(cache_dir, run)))


def remove_old(cache_dir: str | os.PathLike) -> None:
    """Remove the accounts of runs that published nothing for a week."""
    for folder in Path(cache_dir, "spend").glob("*"):
        # Another run may be removing it too.
        with suppress(FileNotFoundError):
            if folder.stat().st_mtime < time.time() - _KEPT_S:
                shutil.rmtree(folder, ignore_errors=True)


def _files(folder: Path) -> list[os.DirEntry]:
    try:
        with os.scandir(folder) as entries:
            # Names with a dot are accounts that are just being written.
            return [entry for entry in entries if entry.name.endswith(".json") and not entry.name.startswith(".")]
    except FileNotFoundError:
        return []


def _sum(accounts: Iterable[Account]) -> Account:
    accounts = list(accounts)
    return Account(
        *(sum(getattr(account, name) for account in accounts) for name in ("spent", "claimed", "broken_off"))
    )


def _read(entry: os.DirEntry) -> Account:
    try:
        return Account(**orjson.loads(content(entry)))
    except OSError as error:
        raise UserError(f"{entry.path} can't be read ({error.strerror}): mend its permissions") from error
    except (orjson.JSONDecodeError, TypeError) as error:
        raise UserError(f"{entry.path} is no account of what a run has spent: delete it") from error
