"""GitHub's REST API, asked one thing at a time, with the manners that it wants: conditional requests, and waiting as
long as it says.

https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api. The token is sent in a header,
to the API's own server and to no other; no message, log line or kept answer holds it.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

import orjson

from devqa.errors import UserError
from devqa.llm.access import Secret
from devqa.pull_requests.listing.github import kept
from devqa.pull_requests.listing.github.exchange import Busy, Limited, Odd, Reply, exchange
from devqa.pull_requests.listing.github.kept import Kept
from devqa.web.store import NotKept, Store

_log = logging.getLogger(__name__)

_TRIES = 6
# Limits are for an hour: who asks for more patience has something else in mind.
_LONGEST_WAIT_S = 4_000.0
# Where a limit does not say how long: "wait for at least one minute", then longer each time.
_SECONDARY_WAIT_S = 60.0
_MOST_WAITS = 6
_NOTHING_CHANGED = 304


class Client:
    """Asks the API at `api`; what it answers is kept in `store`.

    Args:
        key: the repository's section of the configuration, for messages.
        token: "" for none.
        offline: nothing is sent; then `NotKept` is raised where nothing is kept.
        authorities: the file of certificates that are trusted; "" for the usual ones.
        sleep: waits that many seconds.
    """

    def __init__(
        self,
        api: str,
        key: str,
        store: Store,
        token: str = "",
        offline: bool = False,
        authorities: str = "",
        sleep: Callable[[float], None] = time.sleep,
    ):
        self._api = api.rstrip("/")
        self._key = key
        self._store = store
        self._token = token
        self._secret = Secret(token)
        self._offline = offline
        self._authorities = authorities
        self._sleep = sleep

    def get(self, path: str) -> Any:
        """The JSON value at `path`, which begins with a slash.

        Raises:
            UserError: there is no such thing, the token is refused, or nobody answers.
            NotKept: nothing may be sent, and nothing is kept.
        """
        return _parsed(self._answer(self._api + path).body)

    def pages(self, path: str, parameters: Mapping[str, str | int]) -> Iterator[Any]:
        """The JSON values of all pages of a list, each asked for when it is wanted; raises like `get`.

        What follows a page is in its link's query. The rest of the address stays, whatever the server calls itself: it
        may have other names, or be at the end of a tunnel, and the token goes to no other one.
        """
        address = f"{self._api}{path}?{urlencode(parameters)}"
        seen = set()
        while address and address not in seen:
            seen.add(address)
            answer = self._answer(address)
            yield _parsed(answer.body)
            address = f"{self._api}{path}?{urlsplit(answer.next).query}" if answer.next else ""

    def _answer(self, address: str) -> Kept:
        before = kept.get(self._store, address)
        if self._offline:
            if before is None:
                raise NotKept(address)
            return before
        reply = self._patiently(address, before.etag if before else "")
        if reply.status == _NOTHING_CHANGED and before:
            return before
        body = self._secret.out_of(reply.body)
        if reply.status != 200 or _parsed(body) is None:  # noqa: PLR2004 -- HTTP
            raise self._refusal(reply)
        answer = Kept(reply.headers.get("etag", ""), reply.next, body)
        kept.put(self._store, address, answer)
        return answer

    def _patiently(self, address: str, etag: str) -> Reply:
        """The reply, after as many waits as rate limits want."""
        waited_s = _SECONDARY_WAIT_S
        for waits_left in reversed(range(_MOST_WAITS + 1)):
            try:
                return self._insistently(address, etag)
            except Limited as limit:
                said = self._secret.out_of_text(str(limit))
                wait_s, waited_s = (waited_s, 2 * waited_s) if limit.wait_s is None else (limit.wait_s, waited_s)
            if wait_s > _LONGEST_WAIT_S:
                raise UserError(f"{self._key}: {self._api} asks to wait {wait_s:,.0f} s ({said}): come back then")
            if waits_left:
                hint = "" if self._token else "; with a token (token_env) far more may be asked"
                _log.warning("%s: rate limit (%s): waiting %.0f s%s", self._api, said, wait_s, hint)
                self._sleep(wait_s)
        raise UserError(
            f"{self._key}: {self._api} allows nothing more ({said}), however long one waits: come back later"
        )

    def _insistently(self, address: str, etag: str) -> Reply:
        """The reply, after as many tries as faults want that will pass."""
        import requests
        import stamina

        def passes(error: Exception) -> bool:
            faults = (Busy, requests.Timeout, requests.ConnectionError)
            return isinstance(error, faults) and not _is_untrusted(error)

        try:
            for attempt in stamina.retry_context(on=passes, attempts=_TRIES, timeout=None):
                with attempt, requests.Session() as session:
                    # No netrc and no proxy of the environment: either could put something else in the token's place.
                    session.trust_env = False
                    session.verify = self._authorities or True
                    # `exchange` follows them. What is no address would end in an error of its own here.
                    session.get_redirect_target = lambda _: None
                    return exchange(session, address, self._headers(etag))
        except Busy as error:
            failure = f"gave no answer ({self._secret.out_of_text(str(error))}): give the same command again"
        except Odd as error:
            raise self._stranger(str(error)) from None
        except requests.RequestException as error:
            # Not what requests says: it holds the whole address.
            failure = f"can't be reached ({type(error).__name__}): is the network there? If so, mend the address (api)"
            if _is_untrusted(error):
                failure = "has a certificate that is not trusted: name its authority in the variable SSL_CERT_FILE"
        raise UserError(f"{self._key}: {self._api} {failure}")

    def _headers(self, etag: str) -> dict[str, str]:
        return {
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            "User-Agent": "devqa",
            **({"Authorization": f"Bearer {self._token}"} if self._token else {}),
            **({"If-None-Match": etag} if etag else {}),
        }

    def _refusal(self, reply: Reply) -> UserError:
        said = self._secret.out_of_text(reply.message())
        match reply.status:
            case 401 if not self._token:
                where, what, cure = ".token_env", "wants a token", "name the variable that holds one"
            case 401:
                where, what, cure = ".token_env", "refuses the token", "put a valid one into the variable"
            case 403:
                where, what = ".token_env", "does not allow it"
                cure = "take a token with the right to read pull requests"
            case 404:
                where, what = "", "has no such repository, or the token may not see it"
                cure = "mend name (owner/name) or token_env"
            case 410:
                where, what = "", "has removed what is asked for"
                cure = "take what the clone itself says (pulls: history)"
            case 422:
                where, what = "", "does not take what is asked of it"
                cure = "ask for fewer pull requests (latest), or mend name (owner/name)"
            case 451:
                where, what = "", "may not show the repository, for legal reasons"
                cure = "leave it out, or take what a clone says (pulls: history)"
            case _:
                return self._stranger(said)
        return UserError(f"{self._key}{where}: {self._api} {what} ({said}): {cure}")

    def _stranger(self, said: str) -> UserError:
        return UserError(
            f"{self._key}.api: {self._api} did not answer as GitHub's REST API does ({said}): mend the address"
        )


def _is_untrusted(error: Exception) -> bool:
    """Did a certificate fail? Other faults of TLS pass."""
    return "CERTIFICATE_VERIFY_FAILED" in str(error)


def _parsed(body: bytes) -> Any:
    """A JSON value; None where it is none."""
    try:
        return orjson.loads(body)
    except ValueError:
        return None
