"""Pull requests and definitions of made-up repositories, followed to the pinned version; for tests."""

from contextlib import closing, contextmanager, nullcontext

from devqa import tables
from devqa.pull_requests import LANGUAGES
from devqa.pull_requests.code.blocks import blocks, measured
from devqa.pull_requests.code.parsing import Parsers
from devqa.pull_requests.context.assembling import Contexts
from devqa.pull_requests.context.pinned import Pinned
from devqa.pull_requests.context.timeline import File, Timeline
from devqa.pull_requests.context.tracking import Past, Tracker
from devqa.pull_requests.context.versions import Versions, found
from devqa.pull_requests.repositories.repository import open_repository

OPTIONS = {"languages": list(LANGUAGES), "blocks": 40, "block_tokens": 2_000, "tokens": 16_000}


def contexts_of(grown, tmp_path, *pairs, **options):
    """The rows of table `context`, written and read, for pull requests that go from one commit to another."""
    with (
        open_repository(grown.origin, "", tmp_path, True) as repository,
        Parsers(measured, 1) as measurers,
        Parsers(options.pop("read", found), 1) as parsers,
        closing(Timeline(repository, [head for _, head in pairs])) as timeline,
    ):
        languages = options.get("languages", LANGUAGES)
        tables.write(blocks(repository, languages, [], measurers), "blocks", tmp_path / "blocks.parquet")
        pinned = Pinned(tmp_path / "blocks.parquet")
        versions = Versions(repository, pinned, parsers)
        pulls = []
        for base, head in pairs:
            changes = [change.new or change.old for change in repository.changes(base, head)]
            files = [{"path": entry.path, "counts_as": options.get("counts_as", "code")} for entry in changes]
            pulls.append(
                {"pull_id": f"grown@{head}", "title": "T", "body": "B", "base": base, "head": head, "files": files}
            )
        given = OPTIONS | options
        tracker = Tracker(timeline, versions, pinned, given["languages"])
        contexts = Contexts(repository, timeline, versions, tracker, given)
        with options.pop("watch", nullcontext)():
            tables.write(contexts.rows(pulls), "context", tmp_path / "context.parquet")
    return tables.read(tmp_path / "context.parquet", "context")


def hunks(row):
    """What became of each hunk: lines, what it was, outcome, what it is."""
    return [(each["start_line"], each["end_line"], each["was"], each["outcome"], each["node"]) for each in row["hunks"]]


def nodes(row):
    """The nodes of the blocks."""
    return [block["node"] for block in row["blocks"]]


@contextmanager
def tracking(grown, tmp_path, heads=(), read=found, languages=LANGUAGES):
    """A tracker of the repository as it has grown, and how to get a definition at a commit."""
    with (
        open_repository(grown.origin, "", tmp_path, True) as repository,
        Parsers(measured, 1) as measurers,
        Parsers(read, 1) as parsers,
        closing(Timeline(repository, [grown.commits[0], *heads])) as timeline,
    ):
        tables.write(blocks(repository, languages, [], measurers), "blocks", tmp_path / "blocks.parquet")
        pinned = Pinned(tmp_path / "blocks.parquet")
        versions = Versions(repository, pinned, parsers)

        def past(path, name, commit=None):
            commit = commit or grown.commits[0]
            entry = next(each for each in repository.files(commit) if each.path == path)
            file = File(entry.path, entry.blob, entry.size)
            those = {each.name: each for each in versions.defined(file).definitions}
            return Past(file, timeline.place(commit), those[name] if name else None)

        yield Tracker(timeline, versions, pinned, languages), past


def where(now):
    """Outcome, path and name."""
    if now.file is None:
        return now.outcome
    name = "" if now.index is None else now.file.definitions[now.index].name
    return now.outcome, now.file.path, name
