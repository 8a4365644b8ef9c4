"""The definitions in a source file: functions, methods and classes, with their lines."""

import importlib
import re
from collections import Counter
from functools import cache
from pathlib import PurePosixPath
from typing import NamedTuple

from tree_sitter import Language, Node, Parser, Query, QueryCursor

from devqa.pull_requests.code.aside import quiet
from devqa.pull_requests.code.grammars import GRAMMARS
from devqa.pull_requests.code.mending import mended

# Deeper ones belong to what they are nested in: nobody writes them, and each repeats all names around it.
_DEEPEST = 30
_MOST = 20_000
_EXTENSIONS = {
    "python": ".py .pyi .pyw",
    "javascript": ".js .mjs .cjs .jsx",
    "typescript": ".ts .mts .cts .tsx",
    "java": ".java",
    "go": ".go",
    "rust": ".rs",
    "c": ".c .h",
    "cpp": ".cc .cpp .cxx .c++ .hpp .hh .hxx .h++ .ipp .inl .tpp .txx",
    "csharp": ".cs",
}
_LANGUAGES = {extension: language for language, all_ in _EXTENSIONS.items() for extension in all_.split()}
# What no C header says outside of comments, or only very rarely.
_CPP_HEADER = re.compile(
    rb"^[ \t]*(?:template\s*<|namespace\b|(?:enum\s+)?class\s+\w+|using\s+\w|(?:public|private|protected)\s*:)"
    rb"|\bstd::|\bconstexpr\b",
    re.MULTILINE,
)
# Captures that are no definition by themselves.
_PARTS = ("name", "inner", "outer")
# What gives its name to definitions in it, and is none for the comments and imports there.
_AROUND = ("namespace", "scope", "rest")
# Nodes of one match of a query, by the names of the captures.
_Captures = dict[str, list[Node]]
# Blank lines between two overloads, at most.
_BETWEEN_OVERLOADS = 2
_NUMBER = re.compile(r"#\d+$")


class Definition(NamedTuple):
    """A function, method or class (`kind`) in lines `start_line` to `end_line`, which count from 1 and belong to it.

    `name` is qualified: `Class.method`. The second of the same name is `Class.method#2`. `parent` is the index of the
    definition that it stands in, None at the top of the file. Decorators, attributes and comments directly above belong
    to it.
    """

    name: str
    kind: str
    start_line: int
    end_line: int
    parent: int | None


class Read(NamedTuple):
    """What a file holds: its definitions, and runs of lines outside of them (first and last) that say nothing of their
    own, such as comments and imports. What stands in a namespace alone stands outside of definitions.
    """

    definitions: list[Definition]
    quiet: list[tuple[int, int]]


class _Found(NamedTuple):
    """What the query found: bytes [start, end), kind, and the parts of its name; lines count from 0."""

    start: int
    end: int
    kind: str
    parts: list[str]
    first: int
    last: int


def language_of(path: str) -> str | None:
    """The language of a file by its extension, None where it is none of ours; of a header, C."""
    return _LANGUAGES.get(PurePosixPath(path).suffix.lower())


def grammar_of(path: str, content: bytes) -> str | None:
    """What `definitions` is to read a file with: its language, but a header's by its content, and `tsx` for .tsx."""
    suffix = PurePosixPath(path).suffix.lower()
    if suffix == ".tsx":
        return "tsx"
    if suffix == ".h" and _CPP_HEADER.search(content):
        return "cpp"
    return _LANGUAGES.get(suffix)


def language_of_grammar(grammar: str) -> str:
    """The language as tables name it."""
    return "typescript" if grammar == "tsx" else grammar


def node_id(name: str, path: str) -> str:
    """What stands for a definition: `Class.method (path)`; without a name, for the whole file, its path."""
    return f"{name} ({path})" if name else path


def name_of(node: str, path: str) -> str:
    """The definition's name in a `node_id` of a file; "" for the file as a whole."""
    return "" if node == path else node.removesuffix(f" ({path})")


def unnumbered(name: str) -> str:
    """A definition's name without the number that tells it from others of the same name."""
    return _NUMBER.sub("", name)


def definitions(content: bytes, language: str) -> list[Definition]:
    """All definitions in a source file, in the order of table `blocks`: by first line, the longer one first.

    Of broken syntax, what can be parsed. Those nested deeper than 30 are left out, and all after the first 20,000.

    Args:
        content: the file's bytes, of any encoding that has ASCII in it.
        language: a key of `GRAMMARS`.
    """
    content = _decodable(content)
    matches, _ = _matches(content, language)
    return _sorted(_nested(_all(matches, content, language)))


def read(content: bytes, language: str) -> Read:
    """The same and what else is asked of a file, parsed once."""
    content = _decodable(content)
    matches, quieting = _matches(content, language)
    found = _all(matches, content, language)
    owned = [(each.first, each.last) for each in found if each.kind not in _AROUND]
    asides, directives = (_captured(quieting, name) for name in ("aside", "directive"))
    return Read(_sorted(_nested(found)), quiet(content, asides, directives, owned))


def _decodable(content: bytes) -> bytes:
    """What tree-sitter's predicates can look at. Lines stay as they are."""
    return content.decode("utf-8", "replace").encode()


def _matches(content: bytes, language: str) -> tuple[list[_Captures], list[_Captures]]:
    """What the language's query captures, in the file as it is; or as it is mended, if fewer errors are left then. And
    what it captures in both: conditionals and the branches of `#else` are in the first one only.
    """
    parser, query = _tools(language)
    root = parser.parse(content).root_node
    matches = [captures for _, captures in QueryCursor(query).matches(root)]
    if root.has_error and (other := mended(content, language)) is not None:
        again = [captures for _, captures in QueryCursor(query).matches(parser.parse(other).root_node)]
        if len(_captured(again, "error")) < len(_captured(matches, "error")):
            return again, matches + again
    return matches, matches


def _captured(matches: list[_Captures], name: str) -> list[Node]:
    return [node for captures in matches for node in captures.get(name, ())]


def _all(matches: list[_Captures], content: bytes, language: str) -> list[_Found]:
    """The definitions and scopes, in the order in which they begin; the outer one first."""
    above = _Above(matches, content)
    found = [_found(captures, above, language, len(content)) for captures in matches if "name" in captures]
    # A node that two patterns match is one definition.
    once = {each[:3]: each for each in found if each}
    return sorted(once.values(), key=lambda each: (each.start, -each.end))


def _sorted(made: list[Definition]) -> list[Definition]:
    """Definitions in the order of table `blocks`; of those that share a line, a long one comes first."""
    order = sorted(range(len(made)), key=lambda index: (made[index].start_line, -made[index].end_line))
    places = {index: place for place, index in enumerate(order)}
    return [made[index]._replace(parent=places.get(made[index].parent)) for index in order]


@cache
def _tools(language: str) -> tuple[Parser, Query]:
    grammar = GRAMMARS[language]
    loaded = Language(getattr(importlib.import_module(grammar.package), grammar.function)())
    return Parser(loaded), Query(loaded, f"{grammar.query} (ERROR) @error (MISSING) @error")


class _Above:
    """What belongs to definitions though it stands around or above them."""

    def __init__(self, matches: list[_Captures], content: bytes):
        # What wraps a node, by the node.
        self._outers: dict[int, Node] = {}
        # Overloads without a body.
        self._signatures: set[int] = set()
        # By the last line: the first line, its column, and the name that the definition must have.
        self._leads: dict[int, tuple[int, int, bytes | None]] = {}
        for captures in matches:
            self._outers.update((node.id, captures["outer"][0]) for node in captures.get("inner", ()))
            for node in captures.get("signature", ()):
                self._signatures.add(node.id)
                # One that is exported is captured with its export first, then alone.
                self._leads.setdefault(_last_line(node), (*node.start_point, captures["of"][0].text))
            for node in captures.get("lead", ()):
                row, column = node.start_point
                if not content[node.start_byte - column : node.start_byte].strip():
                    self._leads[_last_line(node)] = (row, column, None)

    def whole(self, node: Node) -> Node | None:
        """The definition with what wraps it; None for an overload without a body."""
        while node.id in self._outers:
            node = self._outers[node.id]
        return None if node.id in self._signatures else node

    def first_line(self, node: Node, name: bytes) -> int:
        """The first line of what stands above a whole definition and belongs to it."""
        first, column = node.start_point
        while True:
            lead = self._leads.get(first - 1)
            if not lead or lead[1:] != (column, None):
                near = (self._leads.get(line) for line in range(first - 1, first - 2 - _BETWEEN_OVERLOADS, -1))
                lead = next((each for each in near if each and each[1:] == (column, name)), None)
            if not lead:
                return first
            first = lead[0]


def _last_line(node: Node) -> int:
    """The last line in which a node has anything: some nodes end with the end of their line."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point.row else row


def _found(captures: _Captures, above: _Above, language: str, size: int) -> _Found | None:
    """One definition or scope, with all that belongs to it; None where it has no body."""
    kind = next(key for key in captures if key not in _PARTS)
    node, name = captures[kind][0], captures["name"][0]
    whole = above.whole(node)
    if whole is None:
        return None
    end = size if kind == "rest" else whole.end_byte
    parts = GRAMMARS[language].parts(node, name)
    return _Found(whole.start_byte, end, kind, parts, above.first_line(whole, name.text), _last_line(whole))


def _nested(found: list[_Found]) -> list[Definition]:
    """The definitions among what was found, which is in the order of its beginnings."""
    made: list[Definition] = []
    numbers: Counter[str] = Counter()
    # What the next one may stand in: its end, the parts of its name, the index of its definition, and its kind.
    around: list[tuple[int, list[str], int | None, str]] = []
    for each in found:
        while around and around[-1][0] <= each.start:
            around.pop()
        if len(around) >= _DEEPEST or len(made) >= _MOST:
            continue
        _, outer_parts, parent, outer_kind = around[-1] if around else (0, [], None, "")
        parts = [*outer_parts, *each.parts]
        if each.kind in ("scope", "rest"):
            around.append((each.end, parts, parent, outer_kind))
            continue
        name = ".".join(parts)
        numbers[name] += 1
        numbered = name if numbers[name] == 1 else f"{name}#{numbers[name]}"
        kind = "method" if each.kind == "function" and (outer_kind == "class" or len(each.parts) > 1) else each.kind
        around.append((each.end, parts, len(made), each.kind))
        reported = "class" if kind == "namespace" else kind
        made.append(Definition(numbered, reported, each.first + 1, each.last + 1, parent))
    return made
