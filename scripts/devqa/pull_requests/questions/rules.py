"""The rules for questions that a program can check (DeepCodeBench): no paths, line numbers, code or identifiers.

Prose about software is full of what looks like code and is none: and/or, I/O, HTTP/2, Node.js, GitHub, 3.11, file(s).
So a path is one of the repository's, or unmistakable; and an identifier is one that the context defines or holds.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from devqa.tables import Row

# What is said of a question that breaks a rule.
RULES = {
    "no_path": "names a path or a file",
    "no_line_number": "names a line number",
    "no_code": "holds code",
    "no_identifier": "names an identifier of the code",
    "no_change": "is about the pull request itself",
    "one_question": "is not one question",
    "length": "is too short or too long",
}
SHORTEST, LONGEST = 20, 400
LEAST_WORDS = 4

_EXTENSIONS = """
py pyi pyx ipynb js jsx mjs cjs ts tsx mts cts vue svelte java kt kts scala groovy go mod rs c h cc cpp cxx hh hpp hxx
cs csproj sln fs vb rb php pl swift lua jl sh bash zsh ps1 bat sql html htm css scss less json jsonl yaml yml
toml ini cfg conf xml md rst txt csv tsv lock proto gradle cmake mk j2 smk dockerfile
"""
_FILE = re.compile(rf"(?<![\w.])[\w*.-]*[\w*-]\.(?:{'|'.join(_EXTENSIONS.split())})(?![\w/]|\.\w)")
# Node.js, Vue.js: written like a name. A file of the repository is one all the same.
_PRODUCT = re.compile(r"(?:[A-Z][A-Za-z0-9]*|[a-z]\d)\.js")
_CHUNK = re.compile(r"[^\s\"'`“”‘’()<>,;!?]+")
_ROOTED = re.compile(r"(?:\.{1,2}|~)/\S|/[\w.-]+/[\w.-]|[A-Za-z]:\\\S|\w+\\\w+\\\w|[a-z][a-z0-9+.-]*://\S")
_DOTFILE = re.compile(r"\.[a-z][\w.-]+")

_LINE = re.compile(
    r"\b(?:lines?|ll?\.)\s+(?:numbers?\s+|no\.\s*|#\s*)?\d+\b(?!\s*(?:%|characters?|columns?|or (?:more|fewer|less)))"
    r"|\b\d+(?:st|nd|rd|th) line\b|#L\d+|\bL\d+\s*[-–]\s*L?\d+\b",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"`"
    # A call; but argument(s), O(n), re(connect)ing.
    r"|\b(?!O\()[A-Za-z_]\w*\((?!(?:s|S|es|ies|n|d|ed|ly|ren)\))[^()\s]*\)(?![A-Za-z])"
    r"|\b[a-z_]\w*\((?:[^()\n]*[,=\"'][^()\n]*)\)"
    r"|::|->|=>|:=|[=!]==?|\+=|-=|&&|\|\||[{}]"
    r"|\w\[(?!s\])[\w\"':-]*\]"
    r"|</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>"
    r"|\b\w+ = \S"
)
_CHANGE = re.compile(
    r"\b(?:pull|merge) request #?\d+|\b(?:PR|MR|GH|issue|commit|ticket|bug)[ -]?#?\d+\b|(?<![\w#&])#\d{2,5}\b"
    r"|\bthis (?:pull request|merge request|pr|mr|change ?set|change|commit|patch|diff|refactor(?:ing)?|update|fix)\b"
    r"|\b(?:introduced|added|made|changed|fixed|modified|removed|proposed|described|implemented|updated)"
    r" (?:in|by|with|through) the (?:pull request|merge request|pr|mr|change ?set|changes?|commit|patch|diff)\b"
    r"|\brecently (?:added|introduced|changed|refactored|merged|removed|renamed|moved|updated|fixed)\b"
    r"|\b(?:before|after) the (?:pull request|pr|merge request|patch|refactoring|refactor)\b",
    re.IGNORECASE,
)
_COMMIT = re.compile(r"\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d[0-9a-f]*\d)[0-9a-f]{7,40}\b")
_MARK = re.compile(r"(?<=[\w)\]])[?？](?=\s|$)")
_WORD = re.compile(r"\w+")

_SNAKE = re.compile(r"(?<![\w.-])_*[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)+_*(?!\w)|(?<!\w)_+[A-Za-z]\w*(?!\w)")
_CAMEL = re.compile(r"(?<![\w.])[a-z]{2,}[0-9]*(?:[A-Z][a-z0-9]+)+[A-Z]*(?!\w)")
_DOTTED = re.compile(r"(?<![\w.])[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)+(?![\w.]*\w)")
_HUMP = re.compile(r"[a-z0-9][A-Z]")
# Names of things that people write so in prose, and projects also use for classes.
_THINGS = """
Android Angular Ansible Apache Azure Babel Bash Bitbucket Chrome Cython Dart DataFrame Debian DevOps Django Docker
Elasticsearch Electron Emacs Excel FastAPI Fedora Firefox Flask Flutter FreeBSD Git GitHub GitLab Go Golang Google
Gradle GraphQL Groovy Grpc Haskell Helm IPython IPv4 IPv6 Java JavaScript Jenkins Jinja Julia Jupyter Kafka Keras
Kotlin Kubernetes LaTeX Linux Lua MacOS MariaDB Markdown Maven Memcached Microsoft MinGW MongoDB Mozilla MySQL Nginx
NoSQL NodeJS Node NumPy OAuth OpenAI OpenAPI OpenCL OpenGL OpenMP OpenSSL OpenTelemetry Oracle Pandas Perl Postgres
PostgreSQL PowerShell Prometheus PyPI PyPy PyTorch Python QtWidgets Qt RabbitMQ React Redis Ruby Rust Safari Scala
SciPy Slack Solaris Spark Spring SQLAlchemy SQLite Sphinx Subversion Swagger Swift TeX TensorFlow Terraform TypeScript
Ubuntu Unicode Unix Vue WebAssembly WebGL WebRTC WebSocket WebSockets Windows XPath YouTube Zlib
"""
_THING_NAMES = frozenset(_THINGS.split())


@dataclass(frozen=True)
class Known:
    """What of the repository the rules are checked against.

    Attributes:
        paths: all its paths, each between slashes and on a line of its own (`joined`).
        name: the repository's name, such as owner/name: its parts are no identifiers.
        text: the text of the blocks of the context.
        names: the simple names that the context defines.
        classes: those of them that are types.
    """

    paths: str
    name: str
    text: str
    names: frozenset[str]
    classes: frozenset[str]


def joined(paths: Iterable[str]) -> str:
    """`paths` as `Known.paths` has them."""
    return "\n".join(f"/{path}/" for path in paths)


def held(question: str, known: Known) -> list[Row]:
    """The column `criteria` of `question`: an entry for each of `RULES`, whose reason names what breaks it."""
    return [{"criterion": name, **_verdict(_CHECKS[name](question, known))} for name in RULES]


def broken(criteria: Iterable[Row]) -> str:
    """What is said of a question that breaks rules; "" if it breaks none."""
    return ", ".join(RULES[entry["criterion"]] for entry in criteria if not entry["passed"])


def _verdict(found: str) -> Row:
    return {"passed": not found, "reason": found}


def _path(question: str, known: Known) -> str:
    for chunk in _CHUNK.findall(question):
        chunk = chunk.rstrip(".:").removeprefix("[").removesuffix("]")
        if not chunk:
            continue
        is_ours = f"/{chunk.strip('/')}/" in known.paths
        if _ROOTED.match(chunk) or (is_ours and ("/" in chunk[1:] or "." in chunk[1:] or _DOTFILE.fullmatch(chunk))):
            return chunk
        if (file := _FILE.search(chunk)) and not _PRODUCT.fullmatch(file[0]):
            return file[0]
    return ""


def _identifier(question: str, known: Known) -> str:
    own = {part.casefold() for part in _WORD.findall(known.name)}
    for pattern in (_SNAKE, _CAMEL, _DOTTED):
        for name in pattern.findall(question):
            if name.casefold() not in own and not _PRODUCT.fullmatch(name) and _stands_in(name, known):
                return name
    start = len(question) - len(question.lstrip(" \"'“‘("))
    for found in _WORD.finditer(question):
        name = found[0]
        if name in _THING_NAMES or name.casefold() in own:
            continue
        if name in known.names and ("_" in name or _HUMP.search(name)):
            return name
        # An ordinary word is lower-cased but at the beginning.
        if name in known.classes and name[0].isupper() and not name.isupper() and found.start() > start:
            return name
    return ""


def _stands_in(name: str, known: Known) -> bool:
    return (
        name.rpartition(".")[2] in known.names or re.search(rf"(?<!\w){re.escape(name)}(?!\w)", known.text) is not None
    )


def _one(question: str, known: Known) -> str:
    if not question.rstrip(" \"'”’)").endswith(("?", "？")):
        return "it does not end with a question mark"
    marks = len(_MARK.findall(question))
    return f"{marks} question marks" if marks > 1 else ""


def _length(question: str, known: Known) -> str:
    words = len(_WORD.findall(question))
    if len(question) > LONGEST:
        return f"{len(question)} characters"
    return f"{words} words" if len(question) < SHORTEST or words < LEAST_WORDS else ""


def _first(*patterns: re.Pattern[str]) -> Callable[[str, Known], str]:
    """A check that gives what one of `patterns` finds first."""

    def check(question: str, known: Known) -> str:
        return next((found[0] for pattern in patterns if (found := pattern.search(question))), "")

    return check


_CHECKS: dict[str, Callable[[str, Known], str]] = {
    "no_path": _path,
    "no_line_number": _first(_LINE),
    "no_code": _first(_CODE),
    "no_identifier": _identifier,
    "no_change": _first(_CHANGE, _COMMIT),
    "one_question": _one,
    "length": _length,
}
