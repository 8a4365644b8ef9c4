"""Dialogues and the web: what comes in."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from devqa.config.base import Address, Section, Variable

# Where each service's key is looked for, unless `search.api_key_env` says otherwise.
KEYS = {
    "brave": "BRAVE_API_KEY",
    "serper": "SERPER_API_KEY",
    "tavily": "TAVILY_API_KEY",
    "google": "GOOGLE_API_KEY",
}
ONLINE = ("searxng", *KEYS)

# A host with all its subdomains, and perhaps the beginning of a path: example.org, github.com/pallets.
Site = Annotated[str, Field(pattern=r"^[^\s/:?#@]+\.[^\s/:?#@]+(/[^\s?#]*)?$")]
# A name, or an address without brackets.
Host = Annotated[str, Field(pattern=r"^[^\s/?#@\[\]]+$")]


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

    engine: Literal["local", *ONLINE] = "local"
    corpus: str | None = None
    # Of searxng: the server. Of the others: in place of the service's own address.
    url: Address | None = None
    api_key_env: Variable | None = None
    engine_id: str | None = None
    results: int = Field(10, ge=1, le=100)
    include_sites: list[Site] = []
    exclude_sites: list[Site] = []
    timeout_s: float = Field(20, gt=0)
    concurrency: int = Field(4, ge=1)
    requests_per_second: float | None = Field(None, gt=0, le=1_000)
    # USD for one request, that is, one page of results.
    price_per_request: float = Field(0, ge=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _engine_has_what_it_needs(self):
        if self.engine == "local" and not self.corpus:
            raise ValueError("corpus is missing: a folder of pages, or a Parquet file with url and text")
        if self.engine == "searxng" and not self.url:
            raise ValueError("url is missing: the address of your SearXNG, such as http://localhost:8888")
        if self.api_key_env and self.engine not in KEYS:
            raise ValueError(f"api_key_env is of no use to {self.engine}, which takes no key")
        if self.engine == "google" and not self.engine_id:
            raise ValueError("engine_id is missing: the id (cx) of your Programmable Search Engine")
        if both := sorted({*self.include_sites} & {*self.exclude_sites}):
            raise ValueError(f"{both[0]} stands in include_sites and in exclude_sites")
        return self

    def key_variable(self) -> str | None:
        """The environment variable that holds the engine's key; None for an engine that takes none."""
        return self.api_key_env or KEYS.get(self.engine)


class Fetch(Section):
    """Bounds of fetching pages over the network, and manners."""

    timeout_s: float = Field(30, gt=0)
    max_bytes: int = Field(5_000_000, ge=1)
    max_redirects: int = Field(5, ge=0)
    concurrency: int = Field(16, ge=1)
    user_agent: str = Field("devqa/0.1", pattern=r"^[A-Za-z][A-Za-z_-]*(/[\w.+-]+)?$")
    contact: str | None = Field(None, min_length=3, pattern=r"^[^\s()<>]+$")
    host_requests_per_second: float = Field(1.0, gt=0, le=1_000)
    # After server errors, lost connections and requests to come later.
    retries: int = Field(2, ge=0, le=10)
    private_hosts: list[Host] = []


class Clean(Section):
    """Bounds of turning one page into text, and the least that a page must hold to be a reference."""

    timeout_s: float = Field(20, gt=0)
    max_bytes: int = Field(1_500_000, ge=1)
    max_tags: int = Field(60_000, ge=1)
    min_characters: int = Field(200, ge=0)
    max_characters: int = Field(200_000, ge=1)
    # Of a dialogue's pages whose texts are this similar (Jaccard of word shingles), the best ranked is kept.
    duplicate_similarity: float = Field(0.8, ge=0.3, le=1)
