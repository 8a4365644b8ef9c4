"""A model that calls tools, a web that it calls them on, and what tests of such conversations share."""

from devqa.steps.agentic import agentic
from devqa.web.engines.base import Found, Hit
from devqa.web.fetching.fetch import Fetched
from devqa.web.store import Store
from devqa.web.tools import Tools
from scripted import Reply
from standins import assert_sound, prompt

CLEANING = {"timeout_s": 20, "max_bytes": 10**6, "max_tags": 10**4, "min_characters": 20, "max_characters": 50_000}
ZEBRA = "Zebra stripes are set with the option stripes. Its default is seven. More is at http://e/more.\n\n" * 3
LONG = "\n\n".join(f"Paragraph {number} says something about zebras and their stripes." for number in range(60))


class Web:
    """Search engine and fetcher in one: pages by address, and what each query finds."""

    def __init__(self, found=None, pages=None):
        self.found = {"zebra": ["http://e/a", "http://e/b"], **(found or {})}
        self.pages = {"http://e/a": ZEBRA, "http://e/b": LONG, "http://e/more": ZEBRA, **(pages or {})}
        self.asked = []

    def search(self, query, language, limit):
        self.asked.append(query)
        found = self.found.get(query, [])
        if isinstance(found, Exception):
            raise found
        hits = [Hit(url, f"Title of {url}", "Look at http://e/snippet too") for url in found]
        return Found(hits[:limit], 1)

    def fetch(self, url):
        self.asked.append(url)
        page = self.pages.get(url, 404)
        if isinstance(page, str):
            return Fetched(url, 200, "text/plain", page.encode(), "ok", "")
        return Fetched(url, page, "", None, "rejected" if page == 404 else "failed", f"HTTP {page}")


class Desk:
    """Asks one model, with a cache, a store and a web that outlive each run."""

    def __init__(self, folder, server):
        self.folder, self.server, self.web = folder, server, Web()
        self.terms = {"engine": "a"}
        self.unanswered = 0

    def rows(self, reply, *, questions=1, rounds=3, calls=2, page_tokens=300, results=5, repeat=1, **model):
        self.server.reply = reply
        asked = [
            {"id": f"q{number}", "question": f"What of zebra {number}?", "language": "en"}
            for number in range(questions)
        ]
        model = {"context": 16_000, "sampling": {"max_tokens": 500}, "limits": {"retries": 0}, **model}
        with self.server.chat(self.folder / "cache", "agentic", **model) as chat:
            found = agentic(
                asked,
                chat,
                prompt("answer/agentic"),
                self.tools(page_tokens, results),
                [repeat],
                rounds=rounds,
                calls=calls,
            )
            self.unanswered = chat.unanswered
        assert_sound(found, "answers")
        assert [row["id"] for row in found] == [row["id"] for row in asked]
        return found

    def tools(self, page_tokens=300, results=5, **more):
        return Tools(
            self.web,
            self.web,
            Store(self.folder / "web"),
            cleaning=CLEANING,
            page_tokens=page_tokens,
            results=results,
            terms=self.terms,
            **more,
        )


def calling(*calls, **more):
    return Reply(more.pop("text", None), finish_reason="tool_calls", tool_calls=calls, **more)


def script(*replies):
    """A model that says these one after the other in each conversation, the last one for good."""

    def reply(body):
        turns = sum(message["role"] == "assistant" for message in body["messages"])
        return replies[min(turns, len(replies) - 1)]

    return reply


SEARCH = calling(("search", {"query": "zebra"}))


def opening(url, **more):
    return calling(("open", {"url": url, **more}))


def results(row):
    return [(call["tool"], call["outcome"]) for call in row["tool_calls"]]


SIGNED = {"extra_content": {"google": {"thought_signature": "c2ln"}}}


def eager(body):
    """A model that searches as long as it may."""
    return "Enough." if body.get("tool_choice") == "none" else SEARCH
