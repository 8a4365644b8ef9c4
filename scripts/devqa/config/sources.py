"""Dialogues and the web: what comes in."""

import ipaddress
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from devqa.config.base import Section, Variable, service_address

# Where each service's key is looked for, unless `search.api_key_env` says otherwise.
KEYS = {
    "brave": "BRAVE_API_KEY",
    "serper": "SERPER_API_KEY",
    "tavily": "TAVILY_API_KEY",
    "google": "GOOGLE_API_KEY",
}
ONLINE = ("searxng", *KEYS)

_HOST = r"[^\s/:?#@*,\[\]]"
_SITE = re.compile(rf"(?!\.){_HOST}+\.{_HOST}+(/[^\s?#*]*)?")
# Only what a header can hold.
_USER_AGENT = re.compile(r"[A-Za-z][A-Za-z_-]*(/[A-Za-z0-9_.+-]+)?")
_CONTACT = re.compile(r"((?![()<>])[!-~]){3,}")


def _engine_address(text: str) -> str:
    address = service_address(text, "http://localhost:8888")
    if "?" in text or "#" in text:
        raise ValueError(
            "this is a base address, to which the engine adds its own path and query: leave out all from ? or # on"
        )
    return address


def _site(text: str) -> str:
    if not _SITE.fullmatch(text):
        raise ValueError(
            f"{text!r} is no site: write a host, perhaps with the beginning of a path: example.org, "
            "github.com/pallets; subdomains are included"
        )
    return text


def _host(text: str) -> str:
    if not re.fullmatch(f"{_HOST}+", text) and not _is_ip_address(text):
        raise ValueError(f"{text!r} is no host: write its name alone, without scheme, port or *")
    return text


def _is_ip_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _user_agent(text: str) -> str:
    if not _USER_AGENT.fullmatch(text):
        raise ValueError(
            f"{text!r} is no user agent: write a name of the letters a to z, - and _, perhaps with a version: devqa/0.1"
        )
    return text


def _contact(text: str) -> str:
    if not _CONTACT.fullmatch(text):
        raise ValueError(
            f"{text!r} is no contact: write one web or mail address, in ASCII, without spaces and brackets: "
            "https://example.org/bot, me@example.org"
        )
    return text


EngineAddress = Annotated[str, AfterValidator(_engine_address)]
# A host with all its subdomains, and perhaps the beginning of a path.
Site = Annotated[str, AfterValidator(_site)]
# A name, or an address without brackets.
Host = Annotated[str, AfterValidator(_host)]


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
    url: EngineAddress | None = None
    # Filled in for an engine that takes a key.
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
        if self.engine == "google" and not self.engine_id:
            raise ValueError("engine_id is missing: the id (cx) of your Programmable Search Engine")
        return self

    @model_validator(mode="before")
    @classmethod
    def _with_the_usual_key(cls, given: Any) -> Any:
        usual = KEYS.get(str(given.get("engine"))) if isinstance(given, dict) else None
        return {**given, "api_key_env": given.get("api_key_env") or usual} if usual else given

    @model_validator(mode="after")
    def _nothing_is_in_vain(self):
        if self.api_key_env and self.engine not in KEYS:
            raise ValueError(f"api_key_env is of no use to {self.engine}, which takes no key")
        if self.corpus and self.engine != "local":
            raise ValueError(f"corpus is of no use to {self.engine}: leave it out, or choose engine: local")
        if self.engine_id and self.engine != "google":
            raise ValueError(f"engine_id is of no use to {self.engine}: leave it out, or choose engine: google")
        if both := sorted({*self.include_sites} & {*self.exclude_sites}):
            raise ValueError(f"{both[0]} stands in include_sites and in exclude_sites")
        return self


class Fetch(Section):
    """Bounds of fetching pages over the network, and manners."""

    timeout_s: float = Field(30, gt=0)
    max_bytes: int = Field(5_000_000, ge=1)
    max_redirects: int = Field(5, ge=0)
    concurrency: int = Field(16, ge=1)
    user_agent: Annotated[str, AfterValidator(_user_agent)] = "devqa/0.1"
    contact: Annotated[str, AfterValidator(_contact)] | None = None
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

    @model_validator(mode="after")
    def _a_page_can_be_a_reference(self):
        if self.min_characters > self.max_characters:
            raise ValueError(
                f"min_characters ({self.min_characters:,}) is more than max_characters ({self.max_characters:,}): "
                "no page would be long enough"
            )
        return self
