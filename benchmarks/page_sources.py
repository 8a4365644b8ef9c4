"""Where the page benchmark finds pages with expected text: folders and git directories, recognised by their layout."""

import gzip
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import lxml.html
from lxml.html import HtmlElement

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

from devqa.language import detect
from devqa.web.cleaning.charset import decode

_PER_MANUAL = 40
_LANGUAGES = ("en", "zh", "ru")
_LEAST_CHARACTERS = 300
_MOST_BYTES = 1_500_000
_MOST_IN_LINKS = 0.5
_QUESTIONS = re.compile(
    r"stackoverflow\.com|stackexchange\.com|superuser\.com|serverfault\.com|askubuntu\.com|mathoverflow\.net"
)
_WCXB_GROUPS = {"article": "articles", "documentation": "documentation", "forum": "forums"}

_DOCBOOK = " or ".join(
    f"@class='{name}'" for name in ("chapter", "preface", "appendix", "refentry", "sect1", "section", "reference")
)
# The element that a generator of manuals puts the author's text in; the first that a page has is taken.
_CONTAINERS = (
    "//div[contains(concat(' ', @class, ' '), ' theme-doc-markdown ')]",  # Docusaurus
    "//div[contains(@class, 'theme-default-content')]",  # VuePress
    "//div[@itemprop='articleBody']",  # Sphinx and MkDocs, Read the Docs theme
    "//article[@role='main'] | //div[@role='main'] | //main[@role='main']",  # Sphinx, MkDocs, javadoc
    "//div[@class='body']",  # Sphinx
    "//div[@id='apicontent']",  # Node.js
    "//section[@id='main-content']",  # rustdoc
    "//div[@id='page-content']",  # Apache httpd
    "//body[contains(@class, 'article') or contains(@class, 'manpage') or contains(@class, 'book')]"
    "//div[@id='content']",  # AsciiDoc
    "//div[@id='content']/main",  # mdBook
    f"//*[{_DOCBOOK}][not(ancestor::*[{_DOCBOOK}])]",
)
_NO_CONTENT = (
    "//script | //style | //button | //nav | //a[@class='headerlink' or @class='anchor' or @class='hash-link'"
    " or @class='header-anchor' or @class='mark' or @class='srclink' or @class='src'] | //comment()"
    " | //*[@class='toc' or @class='navheader' or @class='navfooter' or @id='toc' or @id='quickview'"
    " or @class='table-of-contents' or @class='line-numbers-wrapper']"
    " | //div[contains(@class, 'toctree-wrapper')] | //*[contains(@class, 'linenos')] | //p[@class='langs' or @id='up']"
    " | //div[contains(@class, 'contents') and contains(@class, 'topic')]"
)


@dataclass(frozen=True)
class Page:
    """A page and what is expected of it.

    `expected` is the content as text, `code` its code blocks. Where only pieces of the content are known, `expected`
    is "" and `wanted` and `unwanted` are pieces that must and must not be in the output.
    """

    group: str
    name: str
    content: bytes
    expected: str
    code: tuple[str, ...] = ()
    wanted: tuple[str, ...] = field(default=())
    unwanted: tuple[str, ...] = field(default=())

    @property
    def order(self) -> str:
        """What pages are sampled by: a hash of the name, but for the digit that halves them."""
        return _digest(self.name)[1:]

    @property
    def half(self) -> int:
        """0 or 1; extractors may be tuned on half 0 alone."""
        return int(_digest(self.name)[0], 16) % 2


class Tree:
    """The files of a folder, or of the newest commit in a git directory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._is_git = (path / "HEAD").is_file() and (path / "objects").is_dir()
        if self._is_git:
            self.names = self._git("ls-tree", "-r", "-z", "--name-only", "HEAD").decode().split("\0")
        else:
            self.names = [str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()]
        self._known = frozenset(self.names)

    def read(self, name: str) -> bytes:
        """A file's content, unpacked where its name ends in `.gz`."""
        content = self._git("cat-file", "blob", f"HEAD:{name}") if self._is_git else (self.path / name).read_bytes()
        return gzip.decompress(content) if name.endswith(".gz") else content

    def text(self, name: str) -> str:
        return self.read(name).decode("utf-8", "replace")

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def _git(self, *arguments: str) -> bytes:
        command = ["git", f"--git-dir={self.path}", *arguments]
        return subprocess.run(command, capture_output=True, check=True).stdout  # noqa: S603


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def pages(path: Path) -> list[Page]:
    """All pages of one source. The layouts of the data sets named in `pages.py` are known; any other is a manual.

    Raises:
        ValueError: it holds no page.
    """
    tree = Tree(path)
    found = list(_reader(tree)(tree))
    if not found:
        raise ValueError(f"{path} holds no page with expected text")
    return found


def _reader(tree: Tree) -> Callable[[Tree], Iterator[Page]]:
    if any(name.startswith("test/test-pages/") for name in tree.names):
        return _readability
    if "tests/evaldata.json" in tree:
        return _trafilatura
    if "ground-truth.json" in tree:
        return _scrapinghub
    if any("/ground-truth/" in name for name in tree.names):
        return _wcxb
    return _manual


def _readability(tree: Tree) -> Iterator[Page]:
    for name in tree.names:
        if name.startswith("test/test-pages/") and name.endswith("/expected.html"):
            content = tree.read(name.replace("/expected.", "/source."))
            root = lxml.html.document_fromstring(tree.text(name))
            yield Page("articles", f"readability/{name.split('/')[2]}", content, visible(root), _pre(root))


def _trafilatura(tree: Tree) -> Iterator[Page]:
    for url, entry in json.loads(tree.text("tests/evaldata.json")).items():
        files = [f"tests/{folder}/{entry['file']}" for folder in ("cache", "eval")]
        file = next((name for name in files if name in tree), None)
        if file and entry.get("with"):
            pieces = tuple(entry["with"]), tuple(entry.get("without", ()))
            yield Page("pieces of pages", f"trafilatura/{url}", tree.read(file), "", (), *pieces)


def _scrapinghub(tree: Tree) -> Iterator[Page]:
    for key, entry in json.loads(tree.text("ground-truth.json")).items():
        content = tree.read(f"html/{key}.html.gz")
        yield Page("news", f"scrapinghub/{key}", content, entry["articleBody"])


def _wcxb(tree: Tree) -> Iterator[Page]:
    for name in tree.names:
        if "/ground-truth/" not in name:
            continue
        entry = json.loads(tree.text(name))
        truth = entry["ground_truth"]
        content = tree.read(name.replace("/ground-truth/", "/html/").replace(".json", ".html.gz"))
        kind = (entry.get("_internal") or entry)["page_type"]
        group = _WCXB_GROUPS.get(kind["primary"] if isinstance(kind, dict) else kind, "shops, services, lists")
        if group == "forums" and _QUESTIONS.search(urlsplit(entry.get("url", "")).netloc):
            group = "questions and answers"
        text = truth.get("main_content") or ""
        if text:
            yield Page(group, f"wcxb/{entry.get('url') or name}", content, text, _code_in(content, text))


def _manual(tree: Tree) -> Iterator[Page]:
    names = [name for name in tree.names if re.search(r"\.html?(?:\.[a-z]{2}(?:[-_.][\w-]+)*)?(?:\.gz)?$", name)]
    ordered = sorted(names, key=_digest)
    number = 0
    for name in ordered:
        if number == _PER_MANUAL:
            return
        content = tree.read(name)
        page = _manual_page(content, f"{tree.path.name}/{name}") if len(content) <= _MOST_BYTES else None
        if page:
            number += 1
            yield page


def _manual_page(content: bytes, name: str) -> Page | None:
    """None where no known generator made the page, where it is short or a list of links, or holds a whole book."""
    try:
        root = _parsed(content)
    except ValueError:
        return None
    containers: list[HtmlElement] = next((found for path in _CONTAINERS if (found := root.xpath(path))), [])
    if len(containers) != 1:
        return None
    (container,) = containers
    container.tail = None
    for element in container.xpath("." + _NO_CONTENT.replace(" | //", " | .//")):
        if element.getparent() is not None:
            element.drop_tree()
    text = visible(container)
    in_links = sum(len(link.text_content()) for link in container.iter("a"))
    if len(text) < _LEAST_CHARACTERS or in_links > _MOST_IN_LINKS * len(text):
        return None
    language = detect(text)
    return Page(f"manuals {language}", name, content, text, _pre(container)) if language in _LANGUAGES else None


def _parsed(content: bytes) -> HtmlElement:
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", decode(content, "text/html"))
    try:
        return lxml.html.document_fromstring(text)
    except lxml.etree.ParserError as error:
        raise ValueError("an empty page") from error


def visible(root: HtmlElement) -> str:
    """The text of `root`, with spaces where words of neighbouring blocks would run together."""
    for element in root.iter("p", "li", "td", "th", "dt", "dd", "div", "br", "pre", "h1", "h2", "h3", "h4", "h5", "h6"):
        element.text = f" {element.text or ''}"
        element.tail = f" {element.tail or ''}"
    return str(root.text_content()).strip()


def _pre(root: HtmlElement) -> tuple[str, ...]:
    blocks = []
    for pre in root.iter("pre"):
        for line in pre.iter("br", "div", "p", "li", "tr"):
            line.tail = f"\n{line.tail or ''}"
        blocks.append(str(pre.text_content()))
    return tuple(block for block in blocks if any(map(str.isalpha, block)))


def _code_in(content: bytes, expected: str) -> tuple[str, ...]:
    """The `<pre>` of a page that are in its expected text, white space aside."""
    try:
        blocks = _pre(_parsed(content))
    except ValueError:
        return ()
    squeezed = "".join(expected.split())
    return tuple(block for block in blocks if "".join(block.split()) in squeezed)
