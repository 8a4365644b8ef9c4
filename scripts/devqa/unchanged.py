"""A job that finds its recipe and its inputs as it left them takes what it made then, and does nothing else.

Snakemake runs a job when one of its inputs was made again, also where the same bytes came out: an edit of a prompt that
changes no answer would run all that follows. This ends the chain there (the "early cutoff" of build systems; Mokhov
et al., "Build Systems à la Carte", 2018, section 2.3).

    .snakemake/devqa/made/<rule>/<wildcards>/made     of what, and the hash of each output
                                             0, 1 …   the outputs, as hard links: Snakemake removes its own names

Whatever was removed, or is forced to run, is made anew: `forget` is called for such jobs before a run starts. What
can't be linked or read is only made again.

A job that is forced finds a mark, until its body has run through:

    .snakemake/devqa/forced/<rule>/<wildcards>/mark   its time is when
"""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from devqa.errors import UserError
from devqa.files import of_job, replacing

FOLDER = Path(".snakemake/devqa/made")
FORCED = Path(".snakemake/devqa/forced")

# Reading more than this to tell whether it has changed costs about as much as most jobs do.
_LARGE_BYTES = 1_000_000_000


class Made:
    """What the job of `rule` with `wildcards` has made of `recipe` and the files `inputs`, all at paths `outputs`."""

    def __init__(
        self, rule: str, wildcards: Mapping[str, str], recipe: str, inputs: Sequence[str], outputs: Sequence[str]
    ):
        self._folder = of_job(FOLDER, rule, wildcards)
        self._outputs = outputs
        self._of = _digest(recipe, inputs, outputs) if outputs else None

    def take(self) -> bool:
        """Put all outputs in their places, if the job has made them of just this, and they are still what it made."""
        kept = self._read()
        if not kept or kept["of"] != self._of:
            return False
        try:
            if [_sha256(self._file(number)) for number in range(len(self._outputs))] != kept["sha256"]:
                return False
            for number, output in enumerate(self._outputs):
                _link(self._file(number), Path(output))
                # Newer than the inputs, as Snakemake wants it.
                os.utime(output)
        except (OSError, UserError):
            return False
        return True

    def keep(self) -> None:
        """Note what is at the paths of all outputs as made of this."""
        if not self._of:
            return
        with suppress(OSError, UserError):
            for number, output in enumerate(self._outputs):
                _link(Path(output), self._file(number))
            hashes = [_sha256(Path(output)) for output in self._outputs]
            with replacing(self._folder / "made") as temporary:
                temporary.write_text(json.dumps({"of": self._of, "sha256": hashes}), encoding="ascii")

    def _file(self, number: int) -> Path:
        return self._folder / str(number)

    def _read(self) -> dict | None:
        with suppress(OSError, ValueError):
            kept = json.loads((self._folder / "made").read_text(encoding="ascii"))
            if self._of and isinstance(kept, dict) and kept.keys() == {"of", "sha256"}:
                return kept
        return None


def forget(rule: str, wildcards: Mapping[str, str]) -> None:
    """See to it that the job of `rule` with `wildcards` does all its work when it runs."""
    shutil.rmtree(of_job(FOLDER, rule, wildcards), ignore_errors=True)


def force(rule: str, wildcards: Mapping[str, str]) -> None:
    """Mark the job of `rule` with `wildcards` as forced. A mark of before stays: that run was broken off, and goes on.

    Raises:
        UserError: the mark can't be written.
    """
    mark = _mark(rule, wildcards)
    if not mark.exists():
        with replacing(mark) as temporary:
            temporary.touch()


def unforce(rule: str, wildcards: Mapping[str, str]) -> None:
    """Take the mark away: the job has run through, or is run for another reason now."""
    _mark(rule, wildcards).unlink(missing_ok=True)


def forced_at(rule: str, wildcards: Mapping[str, str]) -> float | None:
    """When the job was forced, in seconds since 1970; None if it was not."""
    try:
        return _mark(rule, wildcards).stat().st_mtime
    except OSError:
        return None


def _mark(rule: str, wildcards: Mapping[str, str]) -> Path:
    return of_job(FORCED, rule, wildcards) / "mark"


def _digest(recipe: str, inputs: Sequence[str], outputs: Sequence[str]) -> str | None:
    """One hash for all that a job depends on; None where an input can't be read, or they are large."""
    try:
        if sum(Path(file).stat().st_size for file in inputs) > _LARGE_BYTES:
            return None
        contents = [[file, _sha256(Path(file))] for file in inputs]
    except OSError:
        return None
    return hashlib.sha256(json.dumps([recipe, contents, list(outputs)]).encode()).hexdigest()


def _sha256(file: Path) -> str:
    with file.open("rb", buffering=0) as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _link(file: Path, name: Path) -> None:
    """Give `file` another `name`, in place of whatever has it."""
    with replacing(name) as temporary:
        temporary.hardlink_to(file)
