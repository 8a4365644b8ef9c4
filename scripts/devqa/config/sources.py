"""Dialogues and the web: what comes in."""

from typing import Literal

from pydantic import Field, model_validator

from devqa.config.base import Section


class Source(Section):
    """One set of dialogues: a file, a folder or a glob, split into `shards` by a stable hash of the id."""

    path: str
    shards: int = Field(1, ge=1, le=10_000)


class Ingest(Section):
    """Which dialogues are taken in. Sizes are characters; a longer one is rejected with its reason."""

    max_message_characters: int = Field(100_000, ge=1)
    max_dialogue_characters: int = Field(400_000, ge=1)


class Search(Section):
    """The search engine and how many pages it gives per dialogue (paper 4.1: ten)."""

    engine: Literal["local", "searxng"] = "local"
    corpus: str | None = None
    url: str | None = None
    results: int = Field(10, ge=1, le=100)
    timeout_s: float = Field(20, gt=0)
    concurrency: int = Field(4, ge=1)

    @model_validator(mode="after")
    def _engine_has_what_it_needs(self):
        if self.engine == "local" and not self.corpus:
            raise ValueError("corpus is missing: a folder of pages, or a Parquet file with url and text")
        if self.engine == "searxng" and not self.url:
            raise ValueError("url is missing: the address of your SearXNG, such as http://localhost:8888")
        return self


class Fetch(Section):
    """Bounds of fetching one page over the network."""

    timeout_s: float = Field(30, gt=0)
    max_bytes: int = Field(5_000_000, ge=1)
    max_redirects: int = Field(5, ge=0)
    concurrency: int = Field(16, ge=1)
    user_agent: str = "devqa/0.1"


class Clean(Section):
    """Bounds of turning one page into text, and the least that a page must hold to be a reference."""

    timeout_s: float = Field(20, gt=0)
    max_bytes: int = Field(1_500_000, ge=1)
    max_tags: int = Field(60_000, ge=1)
    min_characters: int = Field(200, ge=0)
    max_characters: int = Field(200_000, ge=1)
