"""GitHub's REST API on loopback, as far as it tells of pull requests.

https://docs.github.com/en/rest/pulls/pulls: list, with filter, order and pages, and one; entity tags; a token.
"""

import hashlib
import json
from typing import Any

from searching import Asked, Response, Service, failing

TOKEN = "ghp_0123456789abcdef/SECRET"
NAME = "ann/zoo"


def pull(number: int, merge: str | None, merged_at: str | None = None, **more: Any) -> dict[str, Any]:
    """A closed pull request as the list has it, merged with a commit; None: it was not merged."""
    at = merged_at or f"2024-01-01T{number // 60 % 24:02}:{number % 60:02}:00Z"
    return {
        "number": number,
        "state": "closed",
        "title": f"Pull {number}",
        "body": f"What {number} does.",
        "user": {"login": "ann", "type": "User"},
        "labels": [{"name": "bug"}],
        "merged_at": at if merge else None,
        "updated_at": at,
        "merge_commit_sha": merge or "e" * 40,
        "base": {"ref": "main"},
        **more,
    }


class Hub(Service):
    """Answers with `answers` first; then `pulls` are listed, and `sizes` is what one of them says beside that."""

    def __init__(self, *pulls: dict[str, Any], token: str = ""):
        super().__init__(self._reply)
        self.pulls = list(pulls)
        self.sizes: dict[int, dict[str, int]] = {}
        self.token = token
        # Its own name in links.
        self.known_as = self.url

    def paths(self) -> list[str]:
        """What was asked for, with the page of lists."""
        return [f"{asked.path} {asked.what.get('page', '')}".strip() for asked in self.asked]

    def _reply(self, asked: Asked) -> Response:
        headers = {name.lower(): value for name, value in asked.headers.items()}
        if self.token and headers.get("authorization") != f"Bearer {self.token}":
            return failing(401, {"message": f"Bad credentials: {headers.get('authorization')}"})
        *_, last = asked.path.split("/")
        if asked.path == f"/repos/{NAME}/pulls":
            found, more = self._page(asked)
        elif asked.path.startswith(f"/repos/{NAME}/pulls/") and int(last) in self.sizes:
            found, more = self.sizes[int(last)], {}
        else:
            return failing(404, {"message": "Not Found"})
        body = json.dumps(found).encode()
        etag = f'W/"{hashlib.sha256(body).hexdigest()}"'
        if headers.get("if-none-match") == etag:
            return Response(304, b"", {"ETag": etag, **more})
        return Response(200, body, {"ETag": etag, **more})

    def _page(self, asked: Asked) -> tuple[list[dict[str, Any]], dict[str, str]]:
        what = asked.what
        found = [each for each in self.pulls if each["base"]["ref"] == what.get("base", each["base"]["ref"])]
        found.sort(key=lambda each: each["updated_at"], reverse=what.get("direction") == "desc")
        size, page = int(what.get("per_page", 30)), int(what.get("page", 1))
        if page * size >= len(found):
            return found[(page - 1) * size :], {}
        parameters = "&".join(f"{name}={value}" for name, value in {**what, "page": page + 1}.items())
        link = (
            f'<{self.known_as}{asked.path}?{parameters}>; rel="next", <{self.known_as}{asked.path}?page=9>; rel="last"'
        )
        return found[(page - 1) * size : page * size], {"Link": link}
