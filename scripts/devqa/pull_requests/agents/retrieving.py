"""What the setting `retrieval` shows: the blocks of a repository that fit a question best, by BM25.

Every line of a file belongs to one piece: to the outermost function that it stands in, else to a class without its
methods, else to the file without its definitions. Long pieces are cut into several, and so are long lines, so that
nothing of a file that is read is out of reach.
"""

import os
import re
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import BinaryIO, NamedTuple

import orjson

from devqa import tables
from devqa.pull_requests.repositories.repository import Missing, Repository, open_named
from devqa.tables import Row
from devqa.tokens import cut, estimate
from devqa.web import bm25
from devqa.web.words import words

_COLUMNS = ["node", "kind", "path", "language", "start_line", "end_line", "blob", "status"]
_SHOWN = ("node", "kind", "path", "language")
_AT_A_TIME = 10_000
_LETTERS = re.compile(r"[^\W_]{2,64}")
_WORD = re.compile(r"\w")
_WHOLE_WORDS = re.compile(r".*\W", re.DOTALL)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Piece(NamedTuple):
    """Lines `start_line` to `end_line` of a file, from 1 on, and the row of table `blocks` that they belong to.

    Of a line that is too long for one piece, the characters `begin` to `end`, from 0 on; `end` does not belong to it.
    """

    block: Row
    start_line: int
    end_line: int
    begin: int = 0
    end: int | None = None


class Index:
    """A repository's pieces, found by their words, names and paths. Use `indexed` to make one.

    Args:
        index: of the words of each piece.
        pieces: a file with a line of JSON for each piece, and where each line begins.
    """

    def __init__(self, index: bm25.Index, pieces: BinaryIO, starts: "array[int]", repository: Repository):
        self._index = index
        self._pieces = pieces
        self._starts = starts
        self._repository = repository

    def best(self, question: str, limit: int) -> list[Row]:
        """The `limit` best pieces for `question`, best first, as blocks with `score`."""
        return [
            {**self._piece(number), "score": score} for number, score in self._index.search(code_words(question), limit)
        ]

    def _piece(self, number: int) -> Row:
        self._pieces.seek(self._starts[number])
        piece = Piece(*orjson.loads(self._pieces.readline()))
        text = _text(_lines(self._repository.content(piece.block["blob"])), piece)
        shown = {name: piece.block[name] for name in _SHOWN}
        shown |= {"start_line": piece.start_line, "end_line": piece.end_line}
        return {**shown, "tokens": estimate(text), "cut": piece.end is not None, "text": text}


def retrieve(
    questions: Sequence[Row],
    origins: Mapping[str, Mapping[str, str]],
    tables_of_blocks: Mapping[str, str | os.PathLike],
    cache: Path,
    offline: bool,
    *,
    blocks: int,
    block_tokens: int,
) -> dict[str, list[Row]]:
    """The best `blocks` pieces of its repository for each of `questions`, by its id: blocks with `score`, best first.

    Args:
        questions: rows of table `repository_questions`.
        origins: by label, where each repository comes from (`repository.open_repository`).
        tables_of_blocks: by label, the file of table `blocks`.
        block_tokens: the most that a piece has.

    Raises:
        UserError: a repository can't be had, or a table not be read.
    """
    found: dict[str, list[Row]] = {}
    for label, commit in sorted({(row["repository"], row["commit"]) for row in questions}):
        with (
            open_named(origins, label, commit, cache, offline) as repository,
            indexed(tables_of_blocks[label], repository, block_tokens) as index,
        ):
            found |= {row["id"]: index.best(row["question"], blocks) for row in questions if row["repository"] == label}
    return found


@contextmanager
def indexed(blocks: str | os.PathLike, repository: Repository, block_tokens: int) -> Iterator[Index]:
    """An index of a repository, in a temporary folder as long as the block runs; one file is in memory at a time.

    Args:
        blocks: its table `blocks`, in which the definitions of a file follow it.
        block_tokens: the most that a piece has.

    Raises:
        UserError: the table can't be read.
    """
    with tempfile.TemporaryDirectory(prefix="devqa-") as folder, Path(folder, "pieces").open("wb+") as pieces:
        starts = array("q")

        def documents() -> Iterator[list[str]]:
            for piece, text in _pieces(blocks, repository, block_tokens):
                starts.append(pieces.tell())
                own = {name: piece.block[name] for name in (*_SHOWN, "blob")}
                pieces.write(orjson.dumps([own, *piece[1:]]) + b"\n")
                yield code_words(f"{piece.block['node']}\n{text}")

        # On disk: the words of a large repository don't fit into memory.
        place = Path(folder, "index")
        place.mkdir()
        yield Index(bm25.Index(documents(), place), pieces, starts, repository)


def code_words(text: str) -> list[str]:
    """The words of `text` (`devqa.web.words`), with those that make up names such as `maxRetries` beside the name."""
    names = {name for name in _LETTERS.findall(text) if not name.islower()}
    parts = (" ".join(each) for each in map(_HUMP.split, sorted(names)) if len(each) > 1)
    return words("\n".join([text, *parts]))


def partition(blocks: Sequence[Row], lines: int) -> list[Piece]:
    """The pieces of a file of so many `lines`, in its order: each line is in one of them.

    Args:
        blocks: the file's rows of table `blocks`, its own first; a definition in a function is part of that.
    """
    whole, *definitions = blocks
    owners: list[Row] = [whole] * lines
    function_end = 0
    for block in sorted(definitions, key=lambda block: (block["start_line"], -block["end_line"])):
        start, end = block["start_line"], min(block["end_line"], lines)
        if end <= function_end:
            continue
        if block["kind"] != "class":
            function_end = end
        owners[start - 1 : end] = [block] * (end - start + 1)
    pieces = []
    for _, run in groupby(range(lines), key=lambda place: id(owners[place])):
        places = list(run)
        pieces.append(Piece(owners[places[0]], places[0] + 1, places[-1] + 1))
    return pieces


def _pieces(blocks: str | os.PathLike, repository: Repository, most: int) -> Iterator[tuple[Piece, str]]:
    """All pieces of a repository that hold a word, none of more than `most` tokens, with their texts."""
    rows = (row for batch in tables.batches(blocks, "blocks", _AT_A_TIME, _COLUMNS) for row in batch)
    for of_file in _by_file(row for row in rows if row["status"] == "ok"):
        try:
            lines = _lines(repository.content(of_file[0]["blob"]))
        except Missing:
            continue
        for whole in partition(of_file, len(lines)):
            for piece in _parts(whole, lines, most):
                text = _text(lines, piece)
                if _WORD.search(text):
                    yield piece, text


def _by_file(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The rows of each file: the one of the file itself comes first."""
    group: list[Row] = []
    for row in rows:
        if row["kind"] == "file" and group:
            yield group
            group = []
        group.append(row)
    if group:
        yield group


def _parts(piece: Piece, lines: Sequence[str], most: int) -> Iterable[Piece]:
    """`piece` cut between lines, and within lines that are longer, so that each part has at most `most` tokens."""
    start, taken = piece.start_line, 0
    for number in range(piece.start_line, piece.end_line + 1):
        # With the line's end.
        tokens = estimate(lines[number - 1]) + 1
        if taken and taken + tokens > most:
            yield Piece(piece.block, start, number - 1)
            start, taken = number, 0
        if tokens > most + 1:
            yield from (Piece(piece.block, number, number, *part) for part in _within(lines[number - 1], most))
            start = number + 1
        else:
            taken += tokens
    if taken:
        yield Piece(piece.block, start, piece.end_line)


def _within(line: str, most: int) -> Iterator[tuple[int, int]]:
    """Where the parts of a long line begin and end: behind a word, if one ends within `most` tokens."""
    begin = 0
    while begin < len(line):
        part = cut(line[begin:], most)
        if begin + len(part) < len(line) and (whole_words := _WHOLE_WORDS.match(part)):
            part = whole_words[0]
        yield begin, begin + len(part)
        begin += len(part)


def _lines(content: bytes) -> list[str]:
    return [line.removesuffix("\r") for line in content.decode("utf-8", "replace").removesuffix("\n").split("\n")]


def _text(lines: Sequence[str], piece: Piece) -> str:
    return "\n".join(lines[piece.start_line - 1 : piece.end_line])[piece.begin : piece.end]
