"""goose3, made to keep what developers' pages are made of.

As it comes, goose3 deletes elements whose class or id contains words such as date, tags or comment, drops code, tables
and most lists after it has chosen its node, and loses the page when its metadata has an unexpected shape. The
subclasses here keep goose3's scoring by stop words and replace what is around it.
"""

import re
from copy import deepcopy
from functools import lru_cache
from pathlib import Path

import goose3
import rjieba
from goose3.article import Article
from goose3.cleaners import StandardDocumentCleaner
from goose3.configuration import ArticleContextPattern, Configuration
from goose3.crawler import Crawler
from goose3.extractors.content import StandardContentExtractor
from goose3.network import NetworkFetcher
from goose3.outputformatters import StandardOutputFormatter
from goose3.text import StopWords
from lxml.html import HtmlElement

from devqa.web.markdown import render
from devqa.web.paragraphs import flatten_code, wrap_loose_text

_STOP_WORDS = Path(goose3.__file__).parent / "resources" / "text"
# Containers that well-known generators and forges put a page's content in.
_CONTAINERS = (
    {"tag": "main"},
    {"attr": "role", "value": "^main$"},
    {"attr": "itemprop", "value": "^articleBody$"},
    {"attr": "class", "value": r"(^|\s)(markdown-body|mw-parser-output|theme-doc-markdown|rst-content)(\s|$)"},
)
_CORE = (
    "nav|navbar|navigation|menu|sidebar|breadcrumbs?|crumbs|cookies?|cookie-?(?:bar|banner|consent|notice)|consent|gdpr|"
    "footer|foot|share|sharing|social|related|recommend(?:ed|ations?)|ads?|advert(?:isement)?|promo|newsletter|subscribe|"
    "pagination|pager|toc|skip-?link|login|signup|modal|popup|copyright|sponsors?|sphinxsidebar|headerlink"
)
_BOILERPLATE = re.compile(
    rf"(?:(?:site|page|main|global|top|bottom|left|right|side|doc|docs|post)[-_])?(?:{_CORE})"
    r"(?:[-_](?:wrapper|container|links?|list|inner|box|bar|menu|area|nav))?",
    re.IGNORECASE,
)
_BOILERPLATE_TAGS = frozenset(("nav", "footer", "form", "button", "select", "dialog"))
_BOILERPLATE_OUTSIDE_CONTENT = frozenset(("aside", "header"))
_BOILERPLATE_ROLES = frozenset(("navigation", "banner", "contentinfo", "dialog", "search", "alertdialog"))
# A name must not cost the page: what holds more of its text than this is no boilerplate, whatever it is called.
_MOST_TEXT = 0.4
_MOST_LINKS = 0.7
_MOST_PARAGRAPHS = 0.9


def extract(root: HtmlElement, language: str) -> str:
    """The main content of a page as Markdown, "" where goose3 finds none. `root` is left as it is.

    `language` is ISO 639-1; English stop words serve where goose3 has none for it.
    """
    crawler = _Crawler(_configuration(language), _fetcher())
    return crawler.read(root).cleaned_text


class _ChineseStopWords(StopWords):
    """goose3's own class for Chinese segments with jieba, which takes a second to load and writes to a shared cache."""

    @staticmethod
    def candidate_words(stripped_input: str) -> list[str]:
        return rjieba.cut_all(stripped_input)


@lru_cache(maxsize=16)
def _configuration(language: str) -> Configuration:
    known = (_STOP_WORDS / f"stopwords-{language}.txt").is_file()
    configuration = Configuration()
    configuration.use_meta_language = False
    configuration.target_language = language if known else "en"
    configuration.enable_image_fetching = False
    if language == "zh":
        configuration.stopwords_class = _ChineseStopWords
    configuration.known_context_patterns = [ArticleContextPattern(**pattern) for pattern in _CONTAINERS]
    return configuration


@lru_cache(maxsize=1)
def _fetcher() -> NetworkFetcher:
    # Never asked for anything: without one, every crawler would open a session of its own.
    return NetworkFetcher(Configuration())


class _Crawler(Crawler):
    """Content only: goose3's own `process` reads the metadata first, and fails with it."""

    def read(self, root: HtmlElement) -> Article:
        self.article._doc = root
        containers = self.extractor.get_known_article_tags() or [root]
        documents = [self.cleaner.clean(deepcopy(container)) for container in containers]
        self.article._top_node = self.extractor.calculate_best_node(documents)
        if self.article.top_node is not None:
            self.article._top_node = self.extractor.post_cleanup()
            self.article._cleaned_text = self.formatter.get_formatted_text()
        return self.article

    def get_cleaner(self) -> StandardDocumentCleaner:
        return _Cleaner(self.config, self.article)

    def get_extractor(self) -> StandardContentExtractor:
        return _Extractor(self.config, self.article)

    def get_formatter(self) -> StandardOutputFormatter:
        return _Formatter(self.config, self.article)


class _Cleaner(StandardDocumentCleaner):
    """Takes out what is boilerplate by its element, role or whole class name, never by a part of a name."""

    def clean(self, doc_to_clean: HtmlElement) -> HtmlElement:
        self._remove_boilerplate(doc_to_clean)
        flatten_code(doc_to_clean)
        wrap_loose_text(doc_to_clean)
        return doc_to_clean

    def _remove_boilerplate(self, document: HtmlElement) -> None:
        most = _MOST_TEXT * _text_length(document)
        for element in list(document.iterdescendants()):
            if _is_boilerplate(element) and _text_length(element) <= most:
                self.parser.remove(element)


class _Extractor(StandardContentExtractor):
    def get_known_article_tags(self) -> list[HtmlElement] | None:
        """The one container that holds the content; None where there are several, such as answers of a thread."""
        found = super().get_known_article_tags() or []
        outermost = [node for node in found if not any(parent in found for parent in node.iterancestors())]
        return outermost[:1] if len(set(outermost)) == 1 else None

    def nodes_to_check(self, docs: list[HtmlElement]) -> list[HtmlElement]:
        """goose3 counts the stop words of paragraphs, code and table cells; manuals speak in lists too."""
        return [node for doc in docs for node in doc.iter("p", "pre", "td", "li", "dd")]

    def calculate_best_node(self, doc: list[HtmlElement]) -> HtmlElement | None:
        """The smallest element around goose3's best node that holds nearly all paragraphs which goose3 counted.

        goose3's own choice is one section of a manual, or one answer of a thread.
        """
        node = super().calculate_best_node(doc)
        if node is None:
            return None
        around = [node, *node.iterancestors()]
        enough = _MOST_PARAGRAPHS * max(map(_counted_paragraphs, around))
        return next(element for element in around if _counted_paragraphs(element) >= enough)

    def post_cleanup(self) -> HtmlElement:
        """The top node without its blocks of links; goose3's own drops all that is not a paragraph."""
        node = self.article.top_node
        for child in list(node):
            length = _text_length(child)
            in_links = sum(_text_length(link) for link in child.iter("a"))
            if child.tag != "p" and length and in_links > _MOST_LINKS * length:
                self.parser.remove(child)
        return node


class _Formatter(StandardOutputFormatter):
    def get_formatted_text(self) -> str:
        return render(self.article.top_node)


def _is_boilerplate(element: HtmlElement) -> bool:
    if not isinstance(element.tag, str) or element.tag in ("html", "body", "main", "article", "section", "pre", "code"):
        return False
    if element.tag in _BOILERPLATE_TAGS or element.get("role") in _BOILERPLATE_ROLES:
        return True
    if element.tag in _BOILERPLATE_OUTSIDE_CONTENT and next(element.iterancestors("main", "article"), None) is None:
        return True
    names = [*element.get("class", "").split(), element.get("id", "")]
    return any(_BOILERPLATE.fullmatch(name) for name in names)


def _counted_paragraphs(element: HtmlElement) -> int:
    """How many paragraphs with stop words goose3 found below `element` (it notes that on the element)."""
    return int(element.get("gravityNodes", 0))


def _text_length(element: HtmlElement) -> int:
    return sum(len(text.strip()) for text in element.itertext())
