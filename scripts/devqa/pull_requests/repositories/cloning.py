"""Clones of addresses and bundles in the cache, made and brought up to date by the git binary.

    <cache>/repositories/<label>-<hash of the address>.git

Each has all branches and tags under their own names, and nothing else: what is in no branch, such as the heads of pull
requests that were not merged, is not fetched. It appears whole or not at all. git is kept from asking anybody
anything, from running hooks and from transports that run commands (`ext::`).
"""

import hashlib
import logging
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pygit2

from devqa.errors import UserError
from devqa.files import unique_name
from devqa.pull_requests.repositories import pinning
from devqa.pull_requests.repositories.addresses import all_shown, shown
from devqa.pull_requests.repositories.commits import is_commit

_log = logging.getLogger(__name__)

_TRANSPORTS = ("https", "http", "ssh", "git", "file")
_SETTINGS = {
    # What a pinned commit needs is never thrown away.
    "gc.auto": "0",
    "maintenance.auto": "false",
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    # A server that falls silent: less than a kilobyte a second for a minute.
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "60",
}
# Of the environment: what would make git work on another repository, ask somebody or fill its messages.
_LEFT_OUT = re.compile(
    "GIT_(DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|PREFIX|GRAFT_FILE"
    "|SHALLOW_FILE|REPLACE_REF_BASE|TEMPLATE_DIR|ASKPASS|CURL_VERBOSE|TRACE.*)|SSH_ASKPASS.*"
)
_UNREACHABLE = re.compile(
    "could not resolve|failed to connect|couldn't connect|connection (timed out|refused|reset)|network is unreachable"
    "|no route to host|operation too slow|operation timed out|temporary failure in name resolution",
    re.IGNORECASE,
)
_ABSENT = re.compile(
    "not found|does not exist|does not appear to be a git repository|could not read (username|password)"
    "|authentication failed|permission denied|error: 40[134]",
    re.IGNORECASE,
)
# As libgit2 names settings.
_PROMISED = re.compile(r"extensions\.partialclone|remote\..*\.promisor", re.DOTALL)
_LONGEST_MESSAGE = 300
_REFS = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")


class Clone(NamedTuple):
    """A clone that has the pinned `commit`, and its default branch ("" where HEAD is on none)."""

    git: pygit2.Repository
    commit: str
    branch: str


def cloned(origin: Mapping[str, str], commit: str, cache: Path, offline: bool) -> Clone:
    """The clone of `origin` that has `commit` ("": what HEAD is at): at its path, or in the cache, where it is made if
    it is missing.

    Args:
        origin: `label`, `path` and `url` of the configuration.
        cache: the folder that holds the folder of clones.
        offline: nothing is fetched.

    Raises:
        UserError: there is no such repository or commit, or it can't be fetched.
    """
    label, path, url = origin["label"], origin["path"], origin["url"]
    key = f"pull_requests.repositories.{label}"
    if path and not Path(path).is_file():
        key, where, git = f"{key}.path", path, pinning.clone_at(label, path)
    else:
        if path:
            key, where, of = f"{key}.path", path, pinning.bundle(label, path).beginning
        else:
            key, where, of = f"{key}.url", shown(url), _allowed(f"{key}.url", url).encode()
        folder = cache / "repositories" / f"{label}-{hashlib.sha256(of).hexdigest()[:16]}.git"
        if not folder.is_dir():
            _refuse_offline(key, where, offline and not path, "it is not in the cache")
            _clone(key, path or url, folder)
        git = pinning.clone_at(label, str(folder))
        if commit and url and not is_commit(git.odb, commit):
            _refuse_offline(key, where, offline, f"commit {commit} is not in the clone that the cache holds")
            _fetch(key, folder, commit)
            git = pinning.clone_at(label, str(folder))
    if commit and not is_commit(git.odb, commit):
        raise UserError(
            f"{key.rpartition('.')[0]}.commit: {where} has no commit {commit}: is it of another repository, or was the "
            "branch rewritten? Name one that is there, or leave it out"
        )
    return Clone(git, commit or pinning.head_of_clone(key, where, git), _branch(git))


def is_partial(git: pygit2.Repository) -> bool:
    """Was it cloned with a filter? Then git fetches files when it wants them. It stays so marked when all are there."""
    if any(_PROMISED.fullmatch(entry.name) and entry.value != "false" for entry in git.config):
        return True
    # A linked worktree says where the repository is whose objects it uses.
    common = Path(git.path, "commondir")
    shared = Path(git.path, common.read_text().strip()) if common.is_file() else Path(git.path)
    return any((shared / "objects/pack").glob("*.promisor"))


def _branch(git: pygit2.Repository) -> str:
    target = git.lookup_reference("HEAD").raw_target
    prefix = b"refs/heads/"
    return target.removeprefix(prefix).decode("utf-8", "replace") if isinstance(target, bytes) else ""


def _allowed(key: str, url: str) -> str:
    found = re.match(r"([A-Za-z0-9+.-]+)(://|::)", url)
    if found and (found[2] == "::" or found[1].lower() not in _TRANSPORTS):
        raise UserError(
            f"{key}: nothing is fetched from {found[1]}{found[2]}…, for which git runs commands: "
            f"taken are {', '.join(f'{name}://' for name in _TRANSPORTS)}"
        )
    return url


def _refuse_offline(key: str, where: str, offline: bool, why: str) -> None:
    if offline:
        raise UserError(
            f"{key}: offline, and {why} ({where}): set offline to false, or name the folder of a clone (path)"
        )


def _clone(key: str, source: str, folder: Path) -> None:
    """Clone `source`. Of two jobs that do so at the same time, the first one's is taken."""
    temporary = folder.with_name(f".{folder.name}.{unique_name()}")
    _log.info("cloning %s", shown(source))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        arguments = ["clone", "--bare", "--no-local", "--template=", "--quiet", "--", source, str(temporary)]
        _git(key, source, arguments)
        if not folder.is_dir():
            temporary.rename(folder)
    except OSError as error:
        if not folder.is_dir():
            raise UserError(f"{folder} can't be made ({error.strerror}): make room or mend the permissions") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _fetch(key: str, folder: Path, commit: str) -> None:
    """Bring a clone up to date, and where no branch leads to `commit` (any more), ask for it by itself."""
    url = pygit2.Repository(str(folder)).remotes["origin"].url
    _log.info("fetching what is new in %s", shown(url))
    _git(key, url, ["-C", str(folder), "fetch", "--quiet", "--prune", "--no-write-fetch-head", "origin", *_REFS])
    if not is_commit(pygit2.Repository(str(folder)).odb, commit):
        try:
            _git(key, url, ["-C", str(folder), "fetch", "--quiet", "--no-write-fetch-head", "origin", commit])
        except UserError as error:
            # Servers need not give what no branch leads to; it is said by who looks for it.
            _log.info("%s", error)


def _git(key: str, source: str, arguments: Sequence[str]) -> None:
    """Run git, and say what went wrong.

    Raises:
        UserError: it did.
    """
    settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
    environment = {name: value for name, value in os.environ.items() if not _LEFT_OUT.fullmatch(name)} | {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": ":".join(_TRANSPORTS),
        "LC_ALL": "C",
    }
    with tempfile.TemporaryFile() as said:
        try:
            environment |= _quiet_ssh(environment)
            process = subprocess.Popen(  # noqa: S603 -- the address follows `--`, and none runs a command
                ["git", *settings, *arguments],  # noqa: S607 -- the user's git
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                env=environment,
                # So it has no terminal to ask on, and its helpers end with it.
                start_new_session=True,
            )
        except OSError as error:
            raise UserError(f"{key}: git can't be run ({error.strerror}): install it") from None
        try:
            code = process.wait()
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        if code:
            said.seek(max(0, said.seek(0, os.SEEK_END) - 10_000))
            raise UserError(_explained(key, source, said.read().decode("utf-8", "replace")))


def _quiet_ssh(environment: Mapping[str, str]) -> dict[str, str]:
    """Keeps git's own ssh from asking. One that the user has chosen is left alone: this would go before all of them."""
    if "GIT_SSH_COMMAND" in environment or "GIT_SSH" in environment:
        return {}
    # Of no repository, such as the one in which the workflow runs.
    asked = ["git", f"--git-dir={os.devnull}", "config", "core.sshCommand"]
    chosen = subprocess.run(asked, env=environment, capture_output=True, check=False)  # noqa: S603 -- nothing of others'
    return {} if chosen.returncode == 0 else {"GIT_SSH_COMMAND": "ssh -o BatchMode=yes"}


def _explained(key: str, source: str, said: str) -> str:
    lines = [" ".join(line.split()) for line in said.splitlines()]
    # What the other side says is what happened; the rest follows from it.
    remote = [line for line in lines if line.startswith(("remote: fatal:", "remote: error:"))]
    fatal = [line for line in lines if line.startswith(("fatal:", "ERROR:", "error:"))]
    fatal = remote or fatal or lines[-1:] or ["no word"]
    cause = "".join(letter for letter in all_shown(fatal[0], source) if letter.isprintable())[:_LONGEST_MESSAGE]
    source = shown(source)
    if _UNREACHABLE.search(said):
        return f"{key}: {source} can't be reached ({cause}): is the network there? Then give the same command again"
    if _ABSENT.search(said):
        return (
            f"{key}: there is no repository at {source}, or it is not for everybody ({cause}): mend the address, or "
            "let git read it (a credential helper, an ssh key)"
        )
    return f"{key}: git can't fetch {source} ({cause})"
