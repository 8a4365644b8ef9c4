"""GitHub's API, opened for a job."""

import os
from pathlib import Path

from devqa.errors import UserError
from devqa.pull_requests.listing.github.client import Client
from devqa.web.store import Store


def open_client(label: str, api: str, token_env: str | None, cache: Path, offline: bool) -> Client:
    """The API at `api` for repository `label`, with the token in the environment variable `token_env`, and with the
    authorities in that by which OpenSSL knows them, as for models.

    Raises:
        UserError: a variable is not set, or what it holds can't be a token or is no file.
    """
    key = f"pull_requests.repositories.{label}"
    token = "" if offline or token_env is None else _token(key, token_env)
    return Client(api, key, Store(cache / "github"), token, offline, "" if offline else _authorities(key))


def _authorities(key: str) -> str:
    path = os.environ.get("SSL_CERT_FILE", "")
    if path and not Path(path).is_file():
        raise UserError(f"{key}.api: the environment variable SSL_CERT_FILE names no file: {path}")
    return path


def _token(key: str, variable: str) -> str:
    token = os.environ.get(variable, "").strip()
    if not token:
        raise UserError(f"{key}.token_env: the environment variable {variable} is not set: export it")
    if not (token.isascii() and token.isprintable()):
        raise UserError(f"{key}.token_env: the environment variable {variable} does not hold a token")
    return token
