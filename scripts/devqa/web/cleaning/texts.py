"""Cleaned pages, kept so that no page is cleaned twice, whoever wants it: references, evidence, passages, tools."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from devqa.provenance import closure
from devqa.web.store import Store

if TYPE_CHECKING:
    from devqa.web.cleaning.clean import Cleaned

_SCRIPTS = Path(__file__).parents[3]
_EXTRACTORS = ("goose3", "trafilatura", "resiliparse", "lxml", "pypdfium2", "py3langid")
# They change no text: without time a page has failed, and copies are told apart later.
_NO_PART = frozenset(("timeout_s", "duplicate_similarity"))


class Texts:
    """The texts of pages in `store`, under all that they depend on: content, type, address, options, and code.

    Args:
        options: section `clean` of the configuration.
    """

    def __init__(self, store: Store, options: Mapping[str, Any]):
        self._store = store
        made_by = {name: value for name, value in options.items() if name not in _NO_PART}
        self._made_by = orjson.dumps([made_by, _code()], option=orjson.OPT_SORT_KEYS)

    def key(self, content: bytes, content_type: str, url: str) -> str:
        """Under which the text of this page is kept."""
        page = orjson.dumps([hashlib.sha256(content).hexdigest(), content_type, url])
        return f"text:{hashlib.sha256(self._made_by + page).hexdigest()}"

    def get(self, key: str) -> "Cleaned | None":
        """The text that is kept under `key`."""
        from devqa.web.cleaning.clean import Cleaned

        kept = self._store.get(key)
        return Cleaned(**orjson.loads(kept)) if kept else None

    def put(self, key: str, text: "Cleaned") -> None:
        """Keep a text, unless the page has failed: it may not another time."""
        if text.status != "failed":
            self._store.put(key, orjson.dumps(asdict(text)))


@cache
def _code() -> dict[str, str]:
    """The hash of all modules that have a part in cleaning, and the versions of the libraries that they use."""
    own = closure(Path(__file__).with_name("clean.py"), _SCRIPTS)
    return {**own, **{name: version(name) for name in _EXTRACTORS}}
