"""goose3, made to keep what developers' pages are made of.

As it comes, goose3 deletes elements whose class or id contains words such as date, tags or comment, drops code, tables
and most lists after it has chosen its node, and loses the page when its metadata has an unexpected shape. The
subclasses here keep goose3's scoring by stop words and replace what is around it.
"""

import string
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import goose3
import rjieba
from goose3.article import Article
from goose3.cleaners import StandardDocumentCleaner
from goose3.configuration import Configuration
from goose3.crawler import Crawler
from goose3.extractors.content import StandardContentExtractor
from goose3.network import NetworkFetcher
from goose3.text import StopWords
from lxml.html import HtmlElement

from devqa.web.cleaning import furniture
from devqa.web.cleaning.paragraphs import flatten_code, wrap_loose_text

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_STOP_WORDS = Path(goose3.__file__).parent / "resources" / "text"
_MOST_PARAGRAPHS = 0.9


@dataclass(frozen=True)
class Found:
    """A copy of the page without its boilerplate, and what goose3 found in it.

    `node` holds the content, None where goose3 found none; `voice` is what in `document` goose3 takes for content: the
    posts, where the page has `posts`.
    """

    document: HtmlElement
    node: HtmlElement | None
    voice: set[HtmlElement]
    posts: set[HtmlElement]


def find(root: HtmlElement, language: str) -> Found:
    """The content of a page by goose3's scores, and on a page of posts by the posts. `root` is left as it is.

    `language` is ISO 639-1; English stop words serve where goose3 has none for it.
    """
    document = deepcopy(root)
    node = _Crawler(_configuration(language), _fetcher()).read(document).top_node
    posts = furniture.posts(document)
    voice = posts or (set() if node is None else set(node.iter()))
    return Found(document, node, voice - furniture.accompanying(document, posts), posts)


class _StopWords(StopWords):
    """goose3's own builds its table of punctuation for each paragraph."""

    @staticmethod
    def remove_punctuation(content: str) -> str:
        return content.translate(_PUNCTUATION)


class _ChineseStopWords(_StopWords):
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
    configuration.stopwords_class = _ChineseStopWords if language == "zh" else _StopWords
    return configuration


@lru_cache(maxsize=1)
def _fetcher() -> NetworkFetcher:
    # Never asked for anything: without one, every crawler would open a session of its own.
    return NetworkFetcher(Configuration())


class _Crawler(Crawler):
    """Content only: goose3's own `process` reads the metadata first, and fails with it."""

    def read(self, document: HtmlElement) -> Article:
        self.article._doc = self.cleaner.clean(document)
        containers = self.extractor.get_known_article_tags() or [document]
        self.article._top_node = self.extractor.calculate_best_node(containers)
        return self.article

    def get_cleaner(self) -> StandardDocumentCleaner:
        return _Cleaner(self.config, self.article)

    def get_extractor(self) -> StandardContentExtractor:
        return _Extractor(self.config, self.article)


class _Cleaner(StandardDocumentCleaner):
    """Takes out what is boilerplate by its element, role or whole class name, never by a part of a name."""

    def clean(self, doc_to_clean: HtmlElement) -> HtmlElement:
        furniture.remove_boilerplate(doc_to_clean)
        flatten_code(doc_to_clean)
        wrap_loose_text(doc_to_clean)
        return doc_to_clean


class _Extractor(StandardContentExtractor):
    def get_known_article_tags(self) -> list[HtmlElement] | None:
        """The one container that holds the content; None where there are several, such as answers of a thread."""
        found = [element for element in self.article.doc.iterdescendants() if furniture.is_container(element)]
        within = set(found[0].iter()) if found else set()
        return found[:1] if found and within.issuperset(found) else None

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


def _counted_paragraphs(element: HtmlElement) -> int:
    """How many paragraphs with stop words goose3 found below `element` (it notes that on the element)."""
    return int(element.get("gravityNodes", 0))
