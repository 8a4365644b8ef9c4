"""A small internet on loopback: a model that writes search queries, a search engine, and sites with pages.

    with Web(delay_s=0.02) as web:
        ...  # models: base_url {web.url}/v1; search: engine searxng, url {web.url}; fetch: private_hosts {web.hosts}

What it answers depends on the request alone. Query number `n` finds pages of its own: one of them under two addresses,
and one whose text is that of another but for a few words.
"""

import asyncio
import json
import random
import re
import threading
from typing import Any, Self

from aiohttp import web

_HOSTS = 40
_PER_PAGE = 10
_WORDS = (
    *("request", "response", "promise", "index", "column", "table", "lock", "socket", "cache", "commit", "thread"),
    *("queue", "parser", "module", "package", "function", "argument", "returns", "raises", "value", "default"),
    *("option", "server", "client", "timeout", "retry", "buffer", "stream", "encoding"),
)


class Web:
    """The server, as a context manager; it runs in a thread.

    Args:
        delay_s: seconds before each answer.

    Attributes:
        url: of the model and the search engine.
        hosts: the addresses of the sites.
        searches, pages: how many requests came for results and for pages.
    """

    def __init__(self, delay_s: float):
        self._delay_s = delay_s
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.hosts = [f"127.0.0.{number + 1}" for number in range(_HOSTS)]
        self.searches = self.pages = 0
        self._port = 0

    @property
    def url(self) -> str:
        """The address of the first host."""
        return f"http://{self.hosts[0]}:{self._port}"

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result()
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _start(self) -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._answer)
        app.router.add_get("/search", self._search)
        app.router.add_get("/page/{number}/{place}", self._page)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        for host in self.hosts:
            # The system chooses the port for the first, and the others share it.
            await web.TCPSite(self._runner, host, self._port).start()
            self._port = self._port or self._runner.addresses[0][1]

    async def _answer(self, request: web.Request) -> web.Response:
        """Two search queries for the dialogue that the prompt shows."""
        await asyncio.sleep(self._delay_s)
        shown = (await request.json())["messages"][-1]["content"]
        number = re.findall(r"Dialogue (\d+):", shown)[-1]
        found = {"topics": ["made up"], "queries": [f"first {number}", f"second {number}"]}
        message = {"role": "assistant", "content": json.dumps({**found, "about_software_development": True})}
        usage = {"prompt_tokens": 500, "completion_tokens": 50}
        return web.json_response({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage})

    async def _search(self, request: web.Request) -> web.Response:
        """Ten pages, of which the two queries of a dialogue have half in common; then no more."""
        await asyncio.sleep(self._delay_s)
        self.searches += 1
        word, number = request.query["q"].split()
        begin = 0 if word == "first" else _PER_PAGE // 2
        places = range(begin, begin + _PER_PAGE) if request.query["pageno"] == "1" else ()
        found = [self._result(int(number), place) for place in places]
        return web.json_response({"results": found, "unresponsive_engines": []})

    def _result(self, number: int, place: int) -> dict[str, Any]:
        host = self.hosts[(7 * number + place) % len(self.hosts)]
        # The second query sees the third page under another address.
        tracked = "?utm_source=search#top" if place == _PER_PAGE // 2 else ""
        url = f"http://{host}:{self._port}/page/{number}/{place}{tracked}"
        return {"url": url, "title": f"Page {number}/{place}", "content": "made up"}

    async def _page(self, request: web.Request) -> web.Response:
        await asyncio.sleep(self._delay_s)
        self.pages += 1
        number, place = int(request.match_info["number"]), int(request.match_info["place"])
        return web.Response(text=page(number, place), content_type="text/html")


def page(number: int, place: int) -> str:
    """A page of documentation of about 15 kB; the second and the third of a dialogue are nearly the same."""
    generator = random.Random(f"{number} {1 if place == 2 else place}")  # noqa: S311
    sections = "".join(_section(generator, heading) for heading in range(6))
    links = "".join(f'<li><a href="/page/{number}/{other}">Chapter {other}</a></li>' for other in range(40))
    return (
        f"<!DOCTYPE html><html lang='en'><head><title>Page {number}/{place}</title></head><body>"
        f"<nav><ul>{links}</ul></nav><main><h1>Chapter {place} of {number}</h1>{sections}</main>"
        f"<footer>Seen at {place}. All rights reserved.</footer></body></html>"
    )


def _section(generator: random.Random, number: int) -> str:
    paragraphs = "".join(f"<p>The {' '.join(generator.choices(_WORDS, k=70))}.</p>" for _ in range(3))
    code = "\n".join(f"{generator.choice(_WORDS)}({generator.randint(0, 9_999)})" for _ in range(8))
    return f"<h2>Section {number}</h2>{paragraphs}<pre><code class='language-python'>{code}</code></pre>"
