"""Models that a step may name: where they are, how they sample, what they cost."""

import shlex
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from devqa.config.base import Address, Section, Variable
from devqa.llm.pricing import effective_price

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
    """How hard all jobs of a run together may drive an endpoint. None of these changes a result.

    `timeout_s` is for one attempt; an endpoint of which nothing is heard for `down_after_s` counts as down.
    """

    concurrency: int = Field(8, ge=1)
    requests_per_minute: int | None = Field(None, ge=1)
    tokens_per_minute: int | None = Field(None, ge=1)
    timeout_s: float = Field(120, gt=0)
    retries: int = Field(6, ge=0)
    down_after_s: float = Field(40, gt=0)


class Price(Section):
    """USD per million tokens; `cached_input` is for prompt tokens that the endpoint had in its own cache.

    `batch` is what the batch mode costs in parts of these.
    """

    input: float = Field(0.0, ge=0)
    output: float = Field(0.0, ge=0)
    cached_input: float | None = Field(None, ge=0)
    batch: float = Field(0.5, ge=0, le=1)


class Serve(Section):
    """A server that the run starts for a model and stops at its end (docs/serving.md).

    `command` has `{port}` where the server's port goes; `{python}` is the workflow's own Python. `launcher`, such as
    `srun --gres=gpu:1`, is put before it. Both are split into words as a shell would; no shell runs them.
    """

    command: str
    launcher: str = ""
    ready_s: float = Field(600, gt=0)

    @field_validator("command", "launcher")
    @classmethod
    def _can_be_split(cls, value: str) -> str:
        shlex.split(value)
        return value

    @field_validator("command")
    @classmethod
    def _has_a_port(cls, value: str) -> str:
        if "{port}" not in value:
            raise ValueError("{port} is missing: the run gives the server a port of its own")
        return value


class Batch(Section):
    """The Batch API (https://platform.openai.com/docs/guides/batch): `requests` at most in one batch.

    Its state is asked for every `poll_s` seconds.
    """

    requests: int = Field(50_000, ge=1, le=50_000)
    poll_s: float = Field(30, gt=0)


class Model(Section):
    """One model: an OpenAI-compatible endpoint, or weights that run in the job's own process."""

    runtime: Literal["openai", "llama.cpp", "served"] = "openai"
    mode: Literal["online", "batch"] = "online"
    base_url: Address | None = None
    model: str | None = None
    api_key_env: Variable | None = None
    identity: str | None = None
    weights: str | None = None
    context: int = Field(8192, ge=512)
    threads: int = Field(1, ge=1)
    slots: int = Field(1, ge=1)
    structured: Literal["auto", "json_schema", "json_object", "prompt"] = "auto"
    max_tokens_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    omit: list[Literal["temperature", "top_p", "seed", "reasoning_effort", "max_tokens"]] = []
    extra_body: dict[str, Any] = {}
    sampling: Sampling = Sampling()
    limits: Limits = Limits()
    price: Price = Price()
    serve: Serve | None = None
    batch: Batch = Batch()
    family: str = ""
    note: str = ""

    @model_validator(mode="after")
    def _runtime_has_what_it_needs(self):
        if self.runtime == "openai" and not self.base_url:
            raise ValueError("base_url is missing: the endpoint's address, such as http://localhost:8000/v1")
        if taken := sorted({"model", "messages", "stream", "n", "response_format"} & self.extra_body.keys()):
            raise ValueError(f"extra_body can't set {', '.join(taken)}: that is decided elsewhere")
        if self.runtime == "llama.cpp" and not self.weights:
            raise ValueError("weights is missing: a package, a path to a .gguf file, or hf:owner/repo/file.gguf")
        if (self.runtime == "served") != (self.serve is not None):
            raise ValueError("`runtime: served` and the section `serve`, which says how, go together")
        if self.runtime == "served" and not self.identity:
            raise ValueError("identity is missing: the name that answers are kept under, because the address changes")
        if self.mode == "batch" and self.runtime != "openai":
            raise ValueError("mode: batch needs an endpoint with a Batch API (`runtime: openai`)")
        return self

    def endpoint(self) -> str:
        """What the cache and the provenance call this endpoint.

        Stays the same where `identity` is set, although a served model's address changes from run to run.
        """
        return self.identity or (self.weights if self.runtime == "llama.cpp" else self.base_url.rstrip("/"))

    def effective_price(self) -> Price:
        """What a token costs in this model's mode."""
        return Price(**effective_price(self.price.model_dump(), self.mode))


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
        # llama.cpp enforces schemas: there is nothing to find out.
        "structured": "json_schema" if model.runtime == "llama.cpp" else model.structured,
        "max_tokens_key": model.max_tokens_key,
        "extra_body": model.extra_body,
        "context": model.context,
        "sampling": sampling.model_dump(exclude_none=True, exclude=set(model.omit)),
    }
