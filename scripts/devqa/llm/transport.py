"""HTTP to one OpenAI-compatible endpoint: a body out, a status and a body in.

aiohttp itself, because the `openai` package spends four to ten times as much on each request (benchmarks/client.py).
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType

import aiohttp
from yarl import URL

from devqa.errors import UserError
from devqa.llm.access import Secret, api_key, checked_address
from devqa.llm.faults import Passing

_CONNECT_S = 10.0
_KEEP_ALIVE_S = 60.0
_LONGEST_COMPLAINT = 500
# What a gateway answers for a server behind it that is away.
_AWAY = (502, 503, 504)


@dataclass(frozen=True)
class Response:
    """What an endpoint answered; the API key, which some quote, is taken out.

    Attributes:
        headers: names in lower case or case-insensitive.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """Pooled connections to one endpoint. Use as an async context manager.

    Neither proxies nor .netrc are read from the environment, and redirects are not followed: they would carry
    requests, and perhaps the key, where nobody sent them. Certificates are those of OpenSSL (`SSL_CERT_FILE`).

    Args:
        label: the model's name in the configuration, for messages.
        base_url: such as `http://localhost:8000/v1`.
        api_key_env: the environment variable that holds the key; None where the endpoint wants none.
        timeout_s: seconds that one request may take, its whole answer included.

    Raises:
        UserError: the environment variable is not set, or the address is none.
    """

    def __init__(self, label: str, base_url: str, api_key_env: str | None, timeout_s: float):
        self.label = label
        self.address = checked_address(label, base_url)
        self._key = api_key(label, api_key_env)
        self._secret = Secret(self._key)
        self._timeout_s = timeout_s
        self._chat = URL(f"{self.address}/chat/completions")
        self._models = URL(f"{self.address}/models")

    async def __aenter__(self) -> "Transport":
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "devqa"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        self._session = aiohttp.ClientSession(
            # The caller bounds how many requests are under way.
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEP_ALIVE_S),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=min(_CONNECT_S, self._timeout_s)),
            headers=headers,
            trust_env=False,
        )
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        await self._session.close()

    async def post(self, content: bytes) -> Response:
        """The response to the chat request `content`.

        Raises:
            Passing: there was none, or it broke off.
            UserError: the endpoint's certificate is not trusted.
        """
        try:
            # One timer of ours costs half of what aiohttp's own, which is made for each part of a request, does.
            async with asyncio.timeout(self._timeout_s):
                response = await self._session.post(self._chat, data=content, allow_redirects=False)
                try:
                    return Response(
                        response.status, self._headers(response), self._secret.out_of(await response.read())
                    )
                finally:
                    response.release()
        except aiohttp.ClientConnectorCertificateError as error:
            raise UserError(
                f"models.{self.label}.base_url: the certificate of {self.address} is not trusted "
                f"({error.certificate_error}): name its authority in the environment variable SSL_CERT_FILE"
            ) from None
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise Passing(self._said(error), unreachable=True) from None
        except TimeoutError:
            raise Passing(f"no answer within {self._timeout_s:g} s") from None
        except (aiohttp.ClientError, OSError) as error:
            raise Passing(self._said(error)) from None

    async def alive(self, within_s: float) -> bool:
        """Is the endpoint there? Asks for its list of models; any HTTP response but a gateway's excuse will do."""
        try:
            async with asyncio.timeout(within_s), self._session.get(self._models, allow_redirects=False) as response:
                return response.status not in _AWAY
        except (TimeoutError, aiohttp.ClientError, OSError):
            return False

    def _headers(self, response: aiohttp.ClientResponse) -> Mapping[str, str]:
        """Those of an error are shown to people, so the key is taken out of them too."""
        if response.status == 200:
            return response.headers
        return {name.lower(): self._secret.out_of_text(value) for name, value in response.headers.items()}

    def _said(self, error: Exception) -> str:
        return self._secret.out_of_text(f"{type(error).__name__}: {' '.join(str(error).split())}")[:_LONGEST_COMPLAINT]
