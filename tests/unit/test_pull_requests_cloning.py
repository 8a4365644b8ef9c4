"""Clones at paths, in bundles and from addresses, and the commit that they are pinned to."""

import os
import re
import subprocess
import threading
from pathlib import Path

import pygit2
import pytest

from committing import Made, Object
from devqa.errors import UserError
from devqa.pull_requests.repositories import cloning
from devqa.pull_requests.repositories.cloning import cloned, is_partial
from devqa.pull_requests.repositories.identity import identified
from devqa.pull_requests.repositories.pinning import pinned

NOWHERE = "http://127.0.0.1:9/x.git"


@pytest.fixture
def made(tmp_path):
    found = Made(tmp_path / "made.git")
    found.commit({"a.py": "1"})
    found.commit({"a.py": "2"})
    return found


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def git(*arguments, cwd=None):
    subprocess.run(["git", *map(str, arguments)], check=True, cwd=cwd, capture_output=True)


def tip(made):
    return str(made.git.head.target)


def origin(path="", url="", **more):
    return {"label": "zoo", "path": str(path), "url": url, "name": "", **more}


def address(made):
    return origin(url=f"file://{made.folder}")


def kept(cache):
    return [path for path in (cache / "repositories").iterdir() if not path.name.startswith(".")]


def test_what_is_configured_is_pinned():
    assert pinned("zoo", "/nowhere", "1" * 40) == "1" * 40
    assert pinned("zoo", "", "") == ""


def test_a_clone_is_pinned_to_where_it_is(made, tmp_path):
    git("clone", made.folder, tmp_path / "clone")
    git("worktree", "add", "--detach", tmp_path / "tree", "HEAD~1", cwd=tmp_path / "clone")
    assert pinned("zoo", str(made.folder), "") == tip(made)
    assert pinned("zoo", str(tmp_path / "clone"), "") == tip(made)
    assert pinned("zoo", str(tmp_path / "tree"), "") == str(made.git[tip(made)].parent_ids[0])
    assert cloned(origin(tmp_path / "tree"), "", tmp_path, True).git.odb.exists(made.git.head.target)


@pytest.mark.parametrize("path", ["clone/sub", "empty"])
def test_only_the_path_itself_is_a_clone(made, tmp_path, path):
    git("clone", made.folder, tmp_path / "clone")
    (tmp_path / "clone/sub").mkdir()
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"pull_requests\.repositories\.zoo\.path: there is no git repository at"):
        pinned("zoo", str(tmp_path / path), "")


def test_a_clone_without_a_commit_is_at_none(tmp_path):
    folder = Made(tmp_path / "new").folder
    with pytest.raises(UserError, match=r"zoo\.path: HEAD of .* is at no commit.*zoo\.commit"):
        pinned("zoo", str(folder), "")


def test_a_detached_head_is_on_no_branch(made, cache):
    made.git.set_head(made.git.head.target)
    assert cloned(origin(made.folder), "", cache, True).branch == ""
    made.git.set_head("refs/heads/main")
    assert cloned(origin(made.folder), "", cache, True).branch == "main"


def test_a_bundle_is_as_good_as_a_clone(made, tmp_path, cache):
    bundle = tmp_path / "zoo.bundle"
    git("bundle", "create", bundle, "HEAD", "main", cwd=made.folder)
    first = tip(made)
    assert pinned("zoo", str(bundle), "") == first
    found = cloned(origin(bundle), "", cache, True)
    assert (found.commit, found.branch) == (first, "main")
    second = made.commit({"a.py": "3"})
    git("bundle", "create", bundle, "HEAD", "main", cwd=made.folder)
    assert pinned("zoo", str(bundle), "") == second
    assert cloned(origin(bundle), second, cache, True).commit == second
    assert len(kept(cache)) == 2


def test_a_bundle_without_head_must_be_pinned(made, tmp_path, cache):
    bundle = tmp_path / "zoo.bundle"
    git("bundle", "create", bundle, "main", cwd=made.folder)
    with pytest.raises(UserError, match="names no HEAD"):
        pinned("zoo", str(bundle), "")
    assert cloned(origin(bundle), tip(made), cache, True).commit == tip(made)


def test_bundles_of_a_part_and_other_files_are_refused(made, tmp_path):
    git("bundle", "create", tmp_path / "part", "HEAD~1..HEAD", cwd=made.folder)
    with pytest.raises(UserError, match="holds a part of the history only"):
        pinned("zoo", str(tmp_path / "part"), "")
    (tmp_path / "text").write_bytes(b"x" * 100_000)
    with pytest.raises(UserError, match="is no bundle of git"):
        pinned("zoo", str(tmp_path / "text"), "")


def test_an_address_is_cloned_once(made, cache):
    found = cloned(address(made), "", cache, False)
    assert (found.commit, found.branch) == (tip(made), "main")
    made.commit({"a.py": "3"})
    assert cloned(address(made), "", cache, True).commit == found.commit
    assert re.fullmatch(r"zoo-[0-9a-f]{16}\.git", kept(cache)[0].name)
    assert len(list((cache / "repositories").iterdir())) == 1


def test_a_pinned_commit_that_is_new_is_fetched(made, cache):
    cloned(address(made), "", cache, False)
    newer = made.commit({"a.py": "3"})
    with pytest.raises(UserError, match=f"offline, and commit {newer} is not in the clone"):
        cloned(address(made), newer, cache, True)
    assert cloned(address(made), newer, cache, False).commit == newer
    assert cloned(address(made), newer, cache, True).commit == newer


def test_heads_of_pull_requests_are_not_fetched(made, cache):
    """Hubs have one for each that was ever opened."""
    for name in ("refs/pull/1/head", "refs/tags/v1"):
        made.git.references.create(name, tip(made))
    found = cloned(address(made), "", cache, False)
    assert sorted(found.git.references) == ["refs/heads/main", "refs/tags/v1"]
    newer = made.commit({"a.py": "3"})
    made.git.references.create("refs/heads/next", newer)
    assert sorted(cloned(address(made), newer, cache, False).git.references)[:2] == [
        "refs/heads/main",
        "refs/heads/next",
    ]


def test_a_commit_to_which_no_branch_leads_is_asked_for(made, cache):
    made.git.config["uploadpack.allowAnySHA1InWant"] = "true"
    hidden = made.commit({"b": "1"}, parents=[], branch="gone")
    made.git.references.delete("refs/heads/gone")
    assert cloned(address(made), hidden, cache, False).commit == hidden


@pytest.mark.parametrize("where", ["path", "url"])
def test_a_commit_that_is_nowhere_is_said(made, cache, where):
    source = address(made) if where == "url" else origin(made.folder)
    with pytest.raises(UserError, match=rf"repositories\.zoo\.commit: .* has no commit {'4' * 40}"):
        cloned(source, "4" * 40, cache, False)
    blob = made.blob("no commit")
    with pytest.raises(UserError, match="has no commit"):
        cloned(source, blob, cache, False)


def test_jobs_at_the_same_time_do_not_hurt_each_other(made, cache):
    found, started = [], threading.Barrier(4)

    def one():
        started.wait()
        found.append(cloned(address(made), "", cache, False).commit)

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [tip(made)] * 4
    assert len(list((cache / "repositories").iterdir())) == 1


def test_a_broken_clone_leaves_nothing_behind(tmp_path, cache):
    with pytest.raises(UserError, match=r"zoo\.url: there is no repository at file:///"):
        cloned(origin(url=f"file://{tmp_path}/nothing.git"), "", cache, False)
    assert list((cache / "repositories").iterdir()) == []


def test_offline_nothing_is_fetched(made, cache):
    with pytest.raises(UserError, match=r"zoo\.url: offline, and it is not in the cache"):
        cloned(address(made), "", cache, True)
    assert not cache.exists()


def test_where_nobody_answers_the_network_is_named(cache):
    with pytest.raises(UserError, match=r"zoo\.url: http://127\.0\.0\.1:9/x\.git can't be reached .*network"):
        cloned(origin(url=NOWHERE), "", cache, False)


@pytest.mark.parametrize("url", ["ext::sh -c touch% {mark}", "fd::17", "hg::http://x", "evil://x", "ext://x"])
def test_transports_that_run_commands_are_refused(tmp_path, cache, url):
    with pytest.raises(UserError, match=r"zoo\.url: nothing is fetched from"):
        cloned(origin(url=url.format(mark=tmp_path / "mark")), "", cache, False)
    assert not (tmp_path / "mark").exists()


def test_the_users_settings_do_not_lead_to_such_a_transport(tmp_path, cache, monkeypatch):
    settings = tmp_path / "gitconfig"
    mark = tmp_path / "mark"
    settings.write_text(
        f'[url "ext::touch {mark} # "]\n\tinsteadOf = "https://zoo.invalid/"\n[protocol]\n\tallow = always\n'
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    with pytest.raises(UserError, match="transport 'ext' not allowed"):
        cloned(origin(url="https://zoo.invalid/x.git"), "", cache, False)
    assert not mark.exists()


def test_neither_hooks_nor_templates_nor_the_callers_repository_have_a_say(made, tmp_path, cache, monkeypatch):
    mark, template = tmp_path / "mark", tmp_path / "template"
    for name in ("post-checkout", "reference-transaction", "pre-auto-gc"):
        hook = template / "hooks" / name
        hook.parent.mkdir(parents=True, exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
        hook.chmod(0o755)
    settings = tmp_path / "gitconfig"
    settings.write_text(f"[init]\n\ttemplateDir = {template}\n[core]\n\thooksPath = {template}/hooks\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(template))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path / "objects"))
    found = cloned(address(made), "", cache, False)
    newer = made.commit({"a.py": "3"})
    assert cloned(address(made), newer, cache, False).commit == newer
    assert found.commit == str(made.git[newer].parent_ids[0])
    assert not mark.exists()
    assert not (tmp_path / "objects").exists()
    assert not (kept(cache)[0] / "hooks").exists()


def test_git_asks_nobody(cache, tmp_path, monkeypatch):
    """A program that is asked for a password would leave a mark."""
    mark = tmp_path / "mark"
    asking = tmp_path / "ask"
    asking.write_text(f"#!/bin/sh\ntouch {mark}\n")
    asking.chmod(0o755)
    monkeypatch.setenv("GIT_ASKPASS", str(asking))
    monkeypatch.setenv("SSH_ASKPASS", str(asking))
    with _Unauthorized() as url, pytest.raises(UserError, match="there is no repository at .* let git read it"):
        cloned(origin(url=url), "", cache, False)
    assert not mark.exists()


class _Unauthorized:
    """A server that wants a password for everything."""

    def __enter__(self):
        from searching import Service, failing

        self._service = Service(lambda asked: failing(401, WWW_Authenticate='Basic realm="x"'))
        return f"{self._service.__enter__().url}/x.git"

    def __exit__(self, *error):
        self._service.__exit__(*error)


def test_git_that_is_not_there_is_said(made, cache, monkeypatch):
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(UserError, match="git can't be run .*install it"):
        cloned(address(made), "", cache, False)


def test_work_that_is_stopped_ends_git(cache, made, monkeypatch):
    processes = []

    class Interrupted(subprocess.Popen):
        def wait(self, timeout=None):
            if "clone" in self.args:
                processes.append(self)
                if len(processes) == 1:
                    raise KeyboardInterrupt
            return super().wait(timeout)

    monkeypatch.setattr(cloning.subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        cloned(address(made), "", cache, False)
    assert processes[0].returncode is not None
    assert list((cache / "repositories").iterdir()) == []


def test_who_a_repository_is(made, cache, tmp_path):
    options = {**origin(made.folder), "commit": ""}
    found = {"repository": "zoo", "name": "zoo", "url": "", "commit": tip(made), "branch": "main"}
    assert identified(options, cache, True) == found
    made.git.remotes.create("origin", "https://token@git.example/ann/zoo.git")
    known = {"name": "ann/zoo", "url": "https://git.example/ann/zoo.git"}
    assert identified(options, cache, True) == found | known
    assert identified({**options, "name": "bob/zoo"}, cache, True)["name"] == "bob/zoo"
    assert identified({**address(made), "commit": ""}, cache, False) == found


def test_a_partial_clone_that_has_what_is_pinned_is_taken_with_a_warning(made, cache, tmp_path, caplog):
    """Mirrors carry the mark though they lack nothing, or a file or two of the past."""
    made.git.config["uploadpack.allowFilter"] = "true"
    git("clone", "--filter=blob:none", f"file://{made.folder}", tmp_path / "partial")
    assert identified({**origin(tmp_path / "partial"), "commit": tip(made)}, cache, True)["commit"] == tip(made)
    assert "zoo: the clone is a partial one" in caplog.text


@pytest.mark.parametrize("how", [["--bare"], ["--no-checkout"]])
def test_a_partial_clone_without_the_pinned_files_is_refused(made, cache, tmp_path, how):
    made.git.config["uploadpack.allowFilter"] = "true"
    git("clone", "--filter=blob:none", *how, f"file://{made.folder}", tmp_path / "partial")
    with pytest.raises(UserError, match=r"zoo: the clone lacks \d+ files of commit .* without --filter"):
        identified({**origin(tmp_path / "partial"), "commit": tip(made)}, cache, True)


@pytest.mark.parametrize("left", ["promisor", "extension", "pack", "pack of a linked worktree"])
def test_each_mark_of_a_partial_clone_will_do(made, tmp_path, left):
    made.git.config["uploadpack.allowFilter"] = "true"
    clone = tmp_path / "clone"
    git("clone", *(["--filter=blob:none"] if "pack" in left else []), f"file://{made.folder}", clone)
    assert is_partial(pygit2.Repository(clone)) == ("pack" in left)
    if "pack" in left:
        git("config", "--unset-all", "remote.origin.promisor", cwd=clone)
    else:
        name = {"promisor": "remote.Origin.promisor", "extension": "extensions.partialClone"}[left]
        git("config", name, "true", cwd=clone)
    if "worktree" in left:
        git("worktree", "add", "--detach", tmp_path / "tree", cwd=clone)
    assert is_partial(pygit2.Repository(tmp_path / "tree" if "worktree" in left else clone))


def test_a_clone_that_lacks_files_is_refused(made, cache):
    commit = made.commit({"a.py": Object("2" * 40)})
    with pytest.raises(UserError, match=rf"zoo: the clone lacks 1 files of commit {commit}: .*git fsck.*--refetch"):
        identified({**origin(made.folder), "commit": ""}, cache, True)


@pytest.fixture
def ssh(tmp_path):
    """A program in place of ssh, which leaves a mark; and the mark."""
    program, mark = tmp_path / "my-ssh", tmp_path / "called"
    program.write_text(f'#!/bin/sh\necho "$0 $@" >> {mark}\nexit 1\n')
    program.chmod(0o755)
    return program, mark


@pytest.mark.parametrize("how", ["GIT_SSH", "GIT_SSH_COMMAND", "core.sshCommand", "of no repository", "nowhere"])
def test_the_users_own_ssh_is_used(cache, tmp_path, monkeypatch, ssh, how):
    program, mark = ssh
    settings = tmp_path / "gitconfig"
    settings.write_text(f"[core]\n\tsshCommand = {program} -i key\n" if how == "core.sshCommand" else "")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.delenv("GIT_SSH", raising=False)
    monkeypatch.delenv("GIT_SSH_COMMAND", raising=False)
    if how.startswith("GIT_SSH"):
        monkeypatch.setenv(how, str(program))
    # Without one, that of the path; whatever the repository says in which the workflow runs.
    program.with_name("bin").mkdir()
    program.with_name("bin").joinpath("ssh").symlink_to(program)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    git("init", tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    if how == "of no repository":
        git("config", "core.sshCommand", "false")
    with pytest.raises(UserError, match=r"zoo\.url: git can't fetch ssh://git@127\.0\.0\.1"):
        cloned(origin(url="ssh://git@127.0.0.1:9/x.git"), "", cache, False)
    called = mark.read_text().splitlines()[-1]
    own = how in ("GIT_SSH", "GIT_SSH_COMMAND", "core.sshCommand")
    assert called.startswith(f"{program} " if own else f"{tmp_path}/bin/ssh ")
    assert ("BatchMode=yes" in called) == (not own)


def test_what_is_in_the_way_is_said(made, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/repositories").write_text("a file")
    with pytest.raises(UserError, match="can't be made"):
        cloned(address(made), "", Path(tmp_path / "cache"), False)
