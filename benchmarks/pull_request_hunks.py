"""Is the definition that holds a changed hunk the one that others find? Real hunks of repositories, by language.

    .venv/bin/python benchmarks/pull_request_hunks.py FOLDER [--hunks 40] [--all] [--typescript node_modules]

FOLDER holds clones: its subfolders that are git directories, or hold one (`.git`, `repo.git`). Of each language up to
`--hunks` hunks are taken, evenly from the newest to the oldest; those of tests, too, with `--all`. The reference for
Python is its own `ast`; for JavaScript and TypeScript their compiler, if `--typescript` says where npm has put it; else
Universal Ctags (https://ctags.io), whose tags of some languages have no end: there it is the bracket that closes the
first one. It sees neither functions in functions (Go, C#) nor anonymous classes (Java): there what these stand in is
compared. Writes a Markdown table, and every hunk on which the two differ.
"""

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

LANGUAGES = {
    "python": "Python",
    "javascript": "JavaScript",
    "typescript": "TypeScript",
    "tsx": "TypeScript",
    "java": "Java",
    "go": "Go",
    "rust": "Rust",
    "c": "C",
    "cpp": "C++",
    "csharp": "C#",
}
KINDS = {
    *("function", "func", "method", "generator", "getter", "setter", "singletonMethod", "property", "macro"),
    *("class", "struct", "interface", "enum", "union", "trait", "implementation", "type", "record", "delegate"),
    *("annotation", "namespace", "module", "alias"),
}
# Tags of these may be one line.
_ONE_LINE = {"type", "macro", "property"}
_STRINGS = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'|'(?:\\.|[^'\\\n])*'(?!\w)|`(?:\\.|[^`\\])*`",
    re.DOTALL,
)

_COMPILER = """
const ts = require("typescript"), text = require("fs").readFileSync(0, "utf8"), tags = [];
const file = ts.createSourceFile(process.argv[1], text, ts.ScriptTarget.Latest, true);
const line = (place) => file.getLineAndCharacterOfPosition(place).line + 1;
const code = (node) =>
  node && (ts.isArrowFunction(node) || ts.isFunctionExpression(node) || ts.isClassExpression(node));
const called = (node) => node && ts.isCallExpression(node) && node.arguments.some(code);
const top = (node) => node.parent.parent.parent.kind === ts.SyntaxKind.SourceFile;
function first(node) {
  const all = node.parent.statements || node.parent.members || [];
  let index = all.indexOf(node);
  while (index > 0 && !all[index - 1].body && all[index - 1].kind === node.kind && node.name
      && all[index - 1].name?.getText() === node.name.getText()) index--;
  return line((all[index] || node).getStart());
}
function visit(node) {
  let name, whole = node;
  if (ts.isVariableDeclaration(node)) {
    if (code(node.initializer) || (called(node.initializer) && top(node)))
      [name, whole] = [node.name, node.parent.parent];
  } else if (ts.isPropertyAssignment(node) || ts.isPropertyDeclaration(node)) {
    if (code(node.initializer)) name = node.name;
  } else if (ts.isBinaryExpression(node)) {
    if (node.operatorToken.kind === ts.SyntaxKind.EqualsToken && code(node.right))
      [name, whole] = [node.left, node.parent];
  } else if (ts.isExportAssignment(node)) {
    if (code(node.expression)) name = node.expression;
  } else if (node.body || ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isEnumDeclaration(node)
      || ts.isTypeAliasDeclaration(node)) {
    name = ts.isConstructorDeclaration(node) ? { getText: () => "constructor" } : node.name;
  }
  if (name) tags.push([name.getText().split(".").pop(), first(whole), line(whole.getEnd())]);
  ts.forEachChild(node, visit);
}
visit(file);
process.stdout.write(JSON.stringify(tags));
"""


class Hunk(NamedTuple):
    """Lines `first` to `last` of a version of a file."""

    repository: str
    commit: str
    path: str
    grammar: str
    first: int
    last: int
    content: bytes


class Tag(NamedTuple):
    """A definition as others see it."""

    name: str
    first: int
    last: int


def repositories(folder: Path) -> Iterator[tuple[str, Path]]:
    """The clones in a folder, by name."""
    for place in sorted(folder.iterdir()):
        for clone in (place, *sorted(place.glob("*"))):
            if (clone / "objects").is_dir() and (clone / "HEAD").is_file():
                yield place.name, clone
                break


def hunks(folder: Path, most: int, tests: bool) -> Iterator[Hunk]:
    """Up to `most` hunks of each language, as many of each repository."""
    from devqa.pull_requests.repositories.repository import open_repository

    found: dict[str, dict[str, list[Hunk]]] = {}
    for name, clone in repositories(folder):
        origin = {"label": name, "path": str(clone), "url": "", "name": name}
        with open_repository(origin, "", folder, True) as repository:
            line = repository.mainline()
            for step in range(len(line) - 1, 0, -max(1, len(line) // 400)):
                for hunk in changed(repository, name, line[step - 1], line[step], tests):
                    found.setdefault(hunk.grammar, {}).setdefault(name, []).append(hunk)
    for by_repository in found.values():
        for those in by_repository.values():
            count = max(1, most // len(by_repository))
            yield from those[:: max(1, len(those) // count)][:count]


def changed(repository, name: str, base: str, head: str, tests: bool) -> Iterator[Hunk]:
    """The hunks of a commit in source files, at most two of a file."""
    from devqa.pull_requests.code.definitions import grammar_of, language_of
    from devqa.pull_requests.listing.filters import HEAD_BYTES, counts_as

    for change in repository.difference(base, head):
        if not change.new or change.new.kind != "file" or not language_of(change.new.path):
            continue
        if not change.hunks or change.new.size > 500_000:
            continue
        content = repository.content(change.new.blob)
        if counts_as(change.new.path, content[:HEAD_BYTES], []) not in (["code", "test"] if tests else ["code"]):
            continue
        grammar = grammar_of(change.new.path, content)
        standing = [each for each in change.hunks if each.new_lines]
        for each in standing[:: max(1, len(standing) // 2)][:2]:
            last = each.new_start + each.new_lines - 1
            yield Hunk(name, head, change.new.path, grammar, each.new_start, last, content)


def ours(hunk: Hunk) -> Tag | None:
    """The innermost of our definitions that holds a hunk."""
    from devqa.pull_requests.code.definitions import definitions, unnumbered

    found = definitions(hunk.content, hunk.grammar)
    hidden: set[int] = set()
    for index, each in enumerate(found):
        outer = None if each.parent is None else found[each.parent]
        nested = outer and outer.kind != "class" and hunk.grammar in ("go", "java", "csharp")
        name = re.escape(unnumbered(each.name).rsplit(".", 1)[-1]).encode()
        anonymous = each.kind == "class" and re.search(rb"\b" + name + rb"\s*=\s*new\b", hunk.content)
        if nested or each.parent in hidden or (hunk.grammar == "java" and anonymous):
            hidden.add(index)
    seen = (each for index, each in enumerate(found) if index not in hidden)
    return innermost([Tag(unnumbered(each.name), each.start_line, each.end_line) for each in seen], hunk)


def reference(hunk: Hunk, typescript: Path | None) -> Tag | None:
    """The innermost definition that others find."""
    lines = hunk.content.decode("utf-8", "replace").split("\n")
    if hunk.grammar == "python":
        tags = of_ast(hunk.content)
    elif typescript and hunk.grammar in ("javascript", "typescript", "tsx"):
        tags = of_compiler(hunk, typescript)
    else:
        tags = of_ctags(hunk, lines)
    return innermost([with_head(tag, lines, hunk.grammar) for tag in tags], hunk)


def innermost(tags: Iterable[Tag], hunk: Hunk) -> Tag | None:
    """The shortest tag that holds a hunk; of several as short as it the last."""
    holding = [(tag.first - tag.last, number, tag) for number, tag in enumerate(tags) if holds(tag, hunk)]
    return max(holding)[2] if holding else None


def holds(tag: Tag, hunk: Hunk) -> bool:
    """Are all lines of the hunk in the tag's?"""
    return tag.first <= hunk.first and hunk.last <= tag.last


def of_ast(content: bytes) -> Iterator[Tag]:
    """The definitions that Python's own parser finds."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            yield Tag(node.name, first, node.end_lineno)


def of_compiler(hunk: Hunk, modules: Path) -> Iterator[Tag]:
    """The definitions that TypeScript's own parser finds."""
    environment = os.environ | {"NODE_PATH": str(modules.resolve())}
    command = ["node", "-e", _COMPILER, Path(hunk.path).name]
    done = subprocess.run(command, input=hunk.content, capture_output=True, check=True, env=environment)  # noqa: S603
    for name, first, last in json.loads(done.stdout):
        yield Tag(name, first, last)


def of_ctags(hunk: Hunk, lines: list[str]) -> Iterator[Tag]:
    """The definitions that ctags finds."""
    language = LANGUAGES[hunk.grammar]
    with tempfile.NamedTemporaryFile(suffix=Path(hunk.path).suffix) as file:
        file.write(hunk.content)
        file.flush()
        command = [
            "ctags",
            "--output-format=json",
            "--fields=+neKS",
            "-o",
            "-",
            f"--language-force={language}",
            file.name,
        ]
        written = subprocess.run(command, capture_output=True, text=True, errors="replace", check=True).stdout  # noqa: S603
    blank = _STRINGS.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), "\n".join(lines)).split("\n")
    for line in written.splitlines():
        tag = json.loads(line)
        # A constant's macro, a module in a file of its own and what has no name are no definitions here.
        if tag["name"].startswith("__anon"):
            continue
        if tag["kind"] in KINDS and (tag["kind"] != "macro" or "signature" in tag) and not elsewhere(tag, blank):
            last = tag.get("end") or (tag["line"] if tag["kind"] in _ONE_LINE else closing(blank, tag["line"]))
            yield Tag(tag["name"], tag["line"], last)


def elsewhere(tag: dict, lines: list[str]) -> bool:
    """Is it a module whose code is in another file?"""
    return tag["kind"] == "module" and lines[tag["line"] - 1].rstrip().endswith(";")


def closing(lines: list[str], first: int) -> int:
    """The line of the bracket that closes the first curly one from line `first` on, or where the statement ends."""
    depth = round_depth = 0
    for number, line in enumerate(lines[first - 1 :], first):
        for character in line:
            round_depth += (character in "([") - (character in ")]")
            if character == ";" and not depth and round_depth <= 0:
                return number
            depth += (character == "{") - (character == "}")
            if character == "}" and depth <= 0:
                return number
    return len(lines)


def with_head(tag: Tag, lines: list[str], grammar: str) -> Tag:
    """A tag with what stands directly above it: comments, decorators, the rest of its signature."""
    first = tag.first
    while first > 1 and belongs_below(lines[first - 2], lines[tag.first - 1], grammar):
        first -= 1
    return Tag(tag.name, first, tag.last)


def belongs_below(line: str, below: str, grammar: str) -> bool:
    """Is a line the head of the definition below it, and indented as it is?"""
    text = line.strip()
    if not text or len(line) - len(line.lstrip()) not in range(len(below) - len(below.lstrip()), len(below)):
        return False
    if grammar == "python":
        return text.startswith(("#", "@"))
    if text.startswith(("//", "/*", "*", "@", "[", "#[", "template")) or text.endswith("*/"):
        return not text.startswith("//!")
    return not re.search(r"[;{}:,]$|^#|\)$", text) and grammar in ("c", "cpp", "java")


def agree(one: Tag | None, other: Tag | None) -> bool:
    """Is it the same definition: the same lines, or the same simple name, and lines that meet?"""
    if one is None or other is None:
        return one is other
    if one[1:] == other[1:]:
        return True
    names = [re.split(r"[.:]+", re.sub(r"<.*", "", tag.name))[-1] for tag in (one, other)]
    return names[0] == names[1] and one.first <= other.last and other.first <= one.last


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--hunks", type=int, default=40, help="of each language")
    parser.add_argument("--typescript", type=Path, help="folder node_modules with the package typescript")
    parser.add_argument("--all", action="store_true", help="also those of tests")
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    for hunk in hunks(given.folder, given.hunks, given.all):
        mine, theirs = ours(hunk), reference(hunk, given.typescript)
        counts[hunk.grammar] += 1
        agreed[hunk.grammar] += agree(mine, theirs)
        if not agree(mine, theirs):
            where = f"{hunk.repository} {hunk.commit[:12]} {hunk.path}:{hunk.first}-{hunk.last}"
            sys.stdout.write(f"{hunk.grammar}: {where}\n    ours {mine}\n    theirs {theirs}\n")
    sys.stdout.write("\n| language | hunks | agree |\n| --- | --- | --- |\n")
    for grammar, count in sorted(counts.items()):
        sys.stdout.write(f"| {grammar} | {count} | {agreed[grammar] / count:.1%} |\n")
    sys.stdout.write(f"| all | {counts.total()} | {agreed.total() / max(1, counts.total()):.1%} |\n")


if __name__ == "__main__":
    main()
