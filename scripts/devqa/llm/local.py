"""A model in the job's own process, served by llama.cpp as one more OpenAI-compatible endpoint on loopback."""

import importlib.util
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from devqa.errors import UserError

_log = logging.getLogger(__name__)

# llama.cpp's own scale: 0 output, 1 errors, 2 warnings, 3 information on every request.
_ERRORS_ONLY = 1
# Prompts of requests that a slot has just left, kept in memory for the next that begins the same.
_PROMPT_CACHE_MIB = 256


@contextmanager
def serve(runtime: dict[str, Any], host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Run a model until the block ends; yields the base URL, such as `http://127.0.0.1:41234/v1`.

    The beginning that a prompt shares with the one before it in the same slot is not computed again
    (`cache_prompt`, on by default), and a json_schema in `response_format` is enforced by a grammar.

    Args:
        runtime: the model's configuration: `weights`, `context` (tokens per request), `slots` (requests at a time),
            `threads`.
        host: the address to listen at.
        port: 0 for any that is free.

    Raises:
        UserError: the weights can't be found or loaded.
    """
    weights = resolve_weights(runtime["weights"])
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights)
    parameters.n_ctx = runtime["context"] * runtime["slots"]
    parameters.n_parallel = runtime["slots"]
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = runtime["threads"]
    parameters.hostnames = [host]
    parameters.port = port
    parameters.cache_ram_mib = _PROMPT_CACHE_MIB
    parameters.verbosity = _ERRORS_ONLY
    try:
        server = xllamacpp.Server(parameters)
    except RuntimeError as error:
        raise UserError(f"weights: llama.cpp can't load {weights}: {error}") from error
    _log.info("%s is served by llama.cpp in this process", weights.name)
    try:
        yield f"{server.listening_address}/v1"
    finally:
        # Its destructor stops the server and frees the weights.
        del server


def resolve_weights(weights: str) -> Path:
    """The .gguf file that the configuration's `weights` names.

    `weights` is `hf:owner/repo/file.gguf` (downloaded once, to the Hugging Face cache), a path to a file, or an
    installed package that ships one. The package is only looked up: importing it might need what it
    depends on.

    Raises:
        UserError: there is no such file, package or repository.
    """
    if weights.startswith("hf:"):
        return _downloaded(weights)
    path = Path(weights).expanduser()
    if path.is_file():
        return path
    if weights.isidentifier():
        return _packaged(weights)
    raise UserError(f"weights: there is no file {weights}")


def _packaged(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise UserError(f"weights: there is neither a file nor an installed package {package}")
    files = sorted(file for folder in spec.submodule_search_locations for file in Path(folder).glob("*.gguf"))
    if len(files) != 1:
        raise UserError(f"weights: the package {package} holds {len(files)} .gguf files: name one by its path")
    return files[0]


def _downloaded(weights: str) -> Path:
    owner, _, rest = weights.removeprefix("hf:").partition("/")
    repository, _, file = rest.partition("/")
    if not (owner and repository and file.endswith(".gguf")):
        raise UserError(f"weights: {weights} is not of the form hf:owner/repo/file.gguf")
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(hf_hub_download(f"{owner}/{repository}", file))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"weights: {weights} can't be had from the Hugging Face Hub: {reason}") from error
