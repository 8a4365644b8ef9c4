"""Models that a step may name: where they are, how they sample, what they cost."""

from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from devqa.config.base import Section

ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]


class Sampling(Section):
    """Sampling of one request; `None` leaves a value to the layer below, at last to the endpoint."""

    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    max_tokens: int | None = Field(None, ge=1)
    seed: int | None = None
    reasoning_effort: ReasoningEffort | None = None

    def over(self, base: "Sampling") -> "Sampling":
        """This sampling laid over `base`: values that are set here win."""
        return Sampling(**{**base.model_dump(), **self.model_dump(exclude_none=True)})


class Sampled(Section):
    """A section with a sampling of its own: what it does not set is as the class has it, such as the token limit."""

    sampling: Sampling = Sampling()

    @field_validator("sampling")
    @classmethod
    def _over_the_default(cls, value: Sampling) -> Sampling:
        return value.over(cls.model_fields["sampling"].default)


class Limits(Section):
    """How hard one job may drive an endpoint. None of these changes a result."""

    concurrency: int = Field(8, ge=1)
    requests_per_minute: int | None = Field(None, ge=1)
    tokens_per_minute: int | None = Field(None, ge=1)
    timeout_s: float = Field(120, gt=0)
    retries: int = Field(6, ge=0)


class Price(Section):
    """USD per million tokens."""

    input: float = Field(0.0, ge=0)
    output: float = Field(0.0, ge=0)


class Model(Section):
    """One model: an OpenAI-compatible endpoint, or weights that run in the job's own process."""

    runtime: Literal["openai", "llama.cpp"] = "openai"
    base_url: str | None = None
    model: str | None = None
    api_key_env: str | None = None
    identity: str | None = None
    weights: str | None = None
    context: int = Field(8192, ge=512)
    threads: int = Field(1, ge=1)
    slots: int = Field(1, ge=1)
    structured: Literal["json_schema", "json_object", "prompt"] = "json_schema"
    max_tokens_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    extra_body: dict[str, Any] = {}
    sampling: Sampling = Sampling()
    limits: Limits = Limits()
    price: Price = Price()
    note: str = ""

    @model_validator(mode="after")
    def _runtime_has_what_it_needs(self):
        if self.runtime == "openai" and not self.base_url:
            raise ValueError("base_url is missing: the endpoint's address, such as http://localhost:8000/v1")
        if self.base_url and "@" in urlsplit(self.base_url).netloc:
            raise ValueError("base_url holds a name or a password, which would be shown: use api_key_env")
        if self.runtime == "llama.cpp" and not self.weights:
            raise ValueError("weights is missing: a package, a path to a .gguf file, or hf:owner/repo/file.gguf")
        return self

    def endpoint(self) -> str:
        """What the cache and the provenance call this endpoint.

        Stays the same where `identity` is set, although a served model's address changes from run to run.
        """
        return self.identity or (self.weights if self.runtime == "llama.cpp" else self.base_url.rstrip("/"))


def asked_with(label: str, model: Model, *layers: Sampling) -> dict[str, Any]:
    """All that decides what `model` is asked and what it may answer, as plain JSON values.

    `layers` are laid over the model's own sampling, the last one wins. Goes into a rule's params and
    into the cache key; limits, keys and prices are left out because they change no answer.
    """
    sampling = model.sampling
    for layer in layers:
        sampling = layer.over(sampling)
    return {
        "label": label,
        "endpoint": model.endpoint(),
        "model": model.model or label,
        "structured": model.structured,
        "max_tokens_key": model.max_tokens_key,
        "extra_body": model.extra_body,
        "context": model.context,
        "sampling": sampling.model_dump(exclude_none=True),
    }
