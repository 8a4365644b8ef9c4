"""What servers may answer to do harm, or because they are broken, and what must become of it."""

import gzip
import zlib
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import brotli

from fetching import Raw, Site, answer, redirect

# Of the fetch step and the clean step. Every page here needs far less time, also on a busy machine.
# Without duplicate_similarity: these pages are all alike.
FETCH = {"timeout_s": 1.0, "max_bytes": 2_000_000, "max_redirects": 3, "retries": 0}
CLEAN = {
    "timeout_s": 10,
    "max_bytes": 1_500_000,
    "max_tags": 60_000,
    "min_characters": 200,
    "max_characters": 20_000,
}
SENTENCE = "The default of max_connections is what the server takes from its configuration, and it is one hundred. "
PROSE = "".join(f"<p>{number}. {SENTENCE * 3}</p>\n" for number in range(6))
RUSSIAN = "".join(
    f"<p>{n}. Это абзац о том, как разработчик использует библиотеку для своих задач.</p>" for n in range(9)
)
_MB = 1_000_000


def page(body: str, head: str = "<title>Limits</title>") -> str:
    return f"<!DOCTYPE html><html lang=en><head>{head}</head><body>{body}</body></html>"


class Case(NamedTuple):
    """An answer and the outcome of its page: status and the beginning of its reason, and what an `ok` text holds."""

    raw: Callable[[Site], Raw]
    status: str
    reason: str = ""
    text: str = ""


def _is(raw: Raw, status: str, reason: str = "", text: str = "") -> Case:
    return Case(lambda site: raw, status, reason, text)


def _html(body: str | bytes, status: str, reason: str = "", text: str = "", **headers: str) -> Case:
    return _is(answer(body, **headers), status, reason, text)


def _packed(encoding: str, packed: bytes | Callable[[], bytes], status: str, reason: str) -> Case:
    """Bombs are made when they are asked for, not when tests are looked for."""
    return Case(
        lambda site: answer(packed if isinstance(packed, bytes) else packed(), Content_Encoding=encoding),
        status,
        reason,
    )


@cache
def _zeros(megabytes: int) -> bytes:
    """A gzip stream of so many megabytes of letters, made without holding them."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(b"a" * _MB) for _ in range(megabytes)), packer.flush()])


def _brotli_bomb(megabytes: int) -> bytes:
    packer = brotli.Compressor(quality=1)
    return b"".join([*(packer.process(b"a" * _MB) for _ in range(megabytes)), packer.finish()])


_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_LOL = "<!DOCTYPE lolz [<!ENTITY a0 'lol'>" + "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 12))


def _pdf_bomb(megabytes: int) -> bytes:
    """A PDF file whose one page says nothing in so many megabytes."""
    packed = zlib.compress(b" " * megabytes * _MB)
    return (
        b"%%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>endobj\n"
        b"4 0 obj<</Length %d/Filter/FlateDecode>>stream\n%b\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%%%EOF"
    ) % (len(packed), packed)


SIZE = {
    "gzip-bomb": _packed("gzip", lambda: _zeros(200), "rejected", "longer than 2000000 bytes"),
    "gzip-bomb-with-a-small-length": _packed("x-gzip", lambda: _zeros(200), "rejected", "longer than 2000000 bytes"),
    "gzip-in-gzip": _packed("gzip", lambda: gzip.compress(_zeros(200)), "rejected", "not text: archive"),
    "gzip-twice": _packed("gzip, gzip", b"x", "rejected", "an encoding that was not asked for: gzip, gzip"),
    "brotli-bomb": _packed("br", lambda: _brotli_bomb(200), "rejected", "an encoding that was not asked for: br"),
    "deflate-bomb": _packed("deflate", lambda: zlib.compress(b"a" * 9 * _MB), "rejected", "an encoding that was not"),
    "zstandard": _packed("zstd", b"\x28\xb5\x2f\xfd", "rejected", "an encoding that was not asked for: zstd"),
    "unknown-encoding": _packed("x" * 60_000, b"x", "rejected", "an encoding that was not asked for: xxxx"),
    "50-megabytes": Case(
        lambda site: site.flood(_HEAD + b"Content-Length: 50000000\r\n\r\n", b"x" * _MB, 50),
        "rejected",
        "longer than 2000000 bytes",
    ),
    "infinite-body": Case(
        lambda site: site.flood(_HEAD + b"\r\n", b"<p>more</p>" * 9999, 10**6), "rejected", "longer than 2000000 bytes"
    ),
    "infinite-chunks": Case(
        lambda site: site.flood(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n", 10**8),
        "failed",
        "time-out",
    ),
    "100000-headers": Case(
        lambda site: site.flood(b"HTTP/1.1 200 OK\r\n", b"X-Header: value\r\n" * 1000, 100),
        "failed",
        "the answer can't be read: HTTPException",
    ),
    "one-header-of-1-megabyte": _is(
        b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * _MB + b"\r\n\r\nbody", "failed", "the answer can't be read: LineTooLong"
    ),
    "status-line-of-1-megabyte": _is(
        b"HTTP/1.1 200 " + b"x" * _MB + b"\r\n\r\nbody", "failed", "the answer can't be read: LineTooLong"
    ),
    "90-cookies-of-60-kilobytes": _is(
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"Set-Cookie: c%d=%s\r\n" % (n, b"x" * 60_000) for n in range(90))
        + b"Content-Type: text/html\r\n\r\n" + page(PROSE).encode(), "ok", "", "max_connections",
    ),
    "chunk-size-of-1-megabyte": _is(
        _HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"0" * _MB + b"1\r\nx\r\n0\r\n\r\n",
        "failed",
        "the answer can't be read: LineTooLong",
    ),
}  # fmt: skip

TIME = {
    "drip-of-a-status-line": Case(lambda site: site.drip(b"HTT"), "failed", "time-out: no whole answer within 1 s"),
    "drip-of-headers": Case(lambda site: site.drip(_HEAD + b"X: "), "failed", "time-out"),
    "drip-of-a-body": Case(lambda site: site.drip(_HEAD + b"\r\n<p>"), "failed", "time-out"),
    "drip-of-chunks": Case(
        lambda site: site.drip(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n"), "failed", "time-out"
    ),
    "drip-of-trailers": Case(
        lambda site: site.drip(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n", b"A: b\r\n"),
        "failed",
        "time-out",
    ),
    "drip-of-100-continue": Case(lambda site: site.drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "failed", "time-out"),
    "silence": Case(lambda site: lambda connection: site.stopped.wait(20), "failed", "time-out"),
    "a-drip-of-gzip": Case(
        lambda site: site.drip(_HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"a")[:10], b"\x00"),
        "failed",
        "",
    ),
}

WAYS = {
    "redirect-to-itself": Case(lambda site: redirect("/redirect-to-itself"), "rejected", "more than 3 redirects"),
    "redirect-to-metadata": _is(redirect("http://169.254.169.254/"), "rejected", "the address is not public"),
    "redirect-to-loopback-6": _is(redirect("http://[::1]/"), "rejected", "the address is not public"),
    "redirect-to-private": _is(redirect("//10.0.0.1/", 307), "rejected", "the address is not public"),
    "redirect-to-decimal": _is(redirect("http://2130706433/"), "rejected", "the address is not public"),
    "redirect-to-mapped": _is(redirect("http://[::ffff:7f00:1]/"), "rejected", "the address is not public"),
    "redirect-to-a-file": _is(redirect("file:///etc/passwd"), "rejected", "not a web address: file"),
    "redirect-to-a-script": _is(redirect("javascript:alert(1)"), "rejected", "not a web address: javascript"),
    "redirect-to-data": _is(redirect("data:text/html,<p>x"), "rejected", "not a web address: data"),
    "redirect-with-a-password": _is(redirect("http://a:b@c.example/"), "rejected", "the address holds a name"),
    "redirect-to-ssh": _is(redirect("http://public.example:22/"), "rejected", "no port of a web server: 22"),
    "redirect-nowhere": _is(redirect("http://[/"), "rejected", "redirected to no web address"),
    "redirect-with-an-endless-body": Case(
        lambda site: site.flood(b"HTTP/1.1 302 Found\r\nLocation: /good\r\n\r\n", b"x" * 65_536, 10**6),
        "ok",
        "",
        "max_connections",
    ),
    "redirect-without-a-target": _is(answer(b"", 302), "failed", "HTTP 302"),
    "redirect-of-a-page": _html(
        page(PROSE, "<meta http-equiv=refresh content='0; url=http://10.0.0.1/'>"), "ok", "", "max_connections"
    ),
}

PROTOCOL = {
    "no-status-line": _is(b"hello there\r\n\r\n", "failed", "the answer can't be read: BadStatusLine"),
    "http-0.9": _is(page(PROSE).encode(), "failed", "the answer can't be read: BadStatusLine"),
    "closed-at-once": _is(b"", "failed", "the connection was lost: "),
    "closed-between-headers": _is(b"HTTP/1.1 200 OK\r\nContent-Ty", "failed", "the connection was lost"),
    "length-too-long": _html(page(PROSE), "failed", "the connection was lost: IncompleteRead", Content_Length="99999"),
    "length-too-short": _html(page(PROSE), "ok", "", "max_connections", Content_Length="2000"),
    "two-lengths": _html(page(PROSE), "failed", "the answer can't be read: InvalidHeader", Content_Length="5, 6"),
    "broken-chunks": _is(
        _HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nxx\r\n0\r\n\r\n", "failed", "the connection was lost"
    ),
    "negative-chunk": _is(
        _HEAD + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nxx\r\n", "failed", "the connection was lost"
    ),
    # Python would read it to the end of the stream.
    "chunk-of-minus-one": Case(
        lambda site: site.flood(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n", b"x" * _MB, 10**6),
        "failed",
        "the connection was lost: IncompleteRead",
    ),
    "broken-gzip": _packed("gzip", b"no gzip at all", "failed", "the compressed content is damaged: BadGzipFile"),
    "truncated-gzip": _packed("gzip", gzip.compress(PROSE.encode())[:-20], "failed", "the compressed content is dam"),
    "garbage-after-the-answer": _is(
        answer(page(PROSE), Connection="keep-alive") + b"HTTP/1.1 200 OK\r\n\r\nmore", "ok", "", "max_connections"
    ),
    "no-content-204": _is(answer(b"", 204), "rejected", "empty page"),
    "part-206": _is(answer(page(PROSE), 206), "failed", "HTTP 206"),
    "unasked-304": _is(answer(b"", 304), "failed", "HTTP 304"),
    "unknown-999": _is(answer(b"x", 999), "failed", "HTTP 999"),
    "upgrade-101": _is(answer(b"", 101), "failed", "HTTP 101"),
    "empty-body": _html("", "rejected", "empty page"),
    "white-space": _html(" \n\t " * 1000, "rejected", "empty page"),
}

KIND = {
    "image": _is(answer(b"\x89PNG\r\n\x1a\n", kind="image/png"), "rejected", "not text: image/png"),
    "image-as-html": _html(b"\x89PNG\r\n\x1a\n" + b"x" * 1000, "rejected", "not text: image"),
    "zip-as-html": _html(b"PK\x03\x04" + b"x" * 1000, "rejected", "not text: archive"),
    "executable-as-html": _html(b"\x7fELF\x02" + b"x" * 1000, "rejected", "not text: executable"),
    "program-to-download": _is(
        answer(b"MZ\x90\x00", kind="application/octet-stream"), "rejected", "not text: application/octet-stream"
    ),
    "nul-bytes": _html(page(PROSE).replace("max", "\x00"), "ok", "", "_connections"),
    "nul-bytes-throughout": _html("\x00".join(page(PROSE)), "rejected", "not text: binary data"),
    "nul-bytes-far-in": _html(page(PROSE * 4 + "\x00" * 2000 + PROSE), "ok", "", "max_connections"),
    "noise-as-text": _is(answer(bytes(range(128, 256)) * 99, kind="text/plain"), "rejected", "not text: binary data"),
    "utf-16-without-mark": _html(page(PROSE).encode("utf-16-le"), "rejected", "not text: binary data"),
    "lying-charset": _is(
        answer(page(RUSSIAN).encode("koi8-r"), kind="text/html; charset=utf-8"), "ok", "", "разработчик"
    ),
    "no-charset": _is(
        answer(page(PROSE, "<meta charset=utf8mb4>"), kind="text/html; charset=nonsense"), "ok", "", "max_connections"
    ),
    "utf-7": _is(
        answer(page(PROSE) + "+ADw-script+AD4-", kind="text/html; charset=utf-7"), "ok", "", "max_connections"
    ),
    "broken-pdf": _is(answer(b"%PDF-1.7\n" + b"x" * 999, kind="application/pdf"), "rejected", "broken PDF"),
    "pdf-bomb": Case(lambda site: answer(_pdf_bomb(50), kind="application/pdf"), "rejected", "PDF without text"),
    "bot-check": _html(
        page("<h1>Just a moment...</h1><p>Checking your browser before accessing the site.", "<title>Just a moment..."),
        "rejected",
        "bot check",
    ),
}

SHAPE = {
    "10000-levels": _html(page("<div>" * 10_000 + PROSE), "failed", "elements are nested too deeply"),
    "10000-tables": _html(page("<table><tr><td>" * 10_000 + PROSE), "failed", "elements are nested too deeply"),
    "10000-lists": _html(page("<ul><li>" * 10_000 + PROSE), "failed", "elements are nested too deeply"),
    "50-lists": _html(page("<ul><li>" * 50 + PROSE), "ok", "", "max_connections"),
    "unclosed-tags": _html(page("<b><i><a href=x>" * 20 + PROSE.replace("</p>", "")), "ok", "", "max_connections"),
    "billion-laughs": _is(
        answer(f"{_LOL}]><html><body>{PROSE}<p>&a11;</p></body></html>", kind="application/xhtml+xml"),
        "ok",
        "",
        "max_connections",
    ),
    "50000-metas": _html(page(PROSE, "<meta " * 50_000), "ok", "", "max_connections"),
    "400-kilobytes-of-links": _html(
        page(PROSE + "".join(f"<a href=/{n}>page {n}</a> " for n in range(16_000))), "ok", "", ""
    ),
    "one-line": _html(page(f"<p>{SENTENCE * 10_000}</p>"), "ok", "", "max_connections"),
    "title-of-a-megabyte": _html(page(PROSE, f"<title>{'x' * _MB}</title>"), "ok", "", "max_connections"),
    "data-of-a-megabyte": _html(page(f"{PROSE}<img src='data:;base64,{'A' * _MB}'>"), "ok", "", "max_connections"),
    "open-comment": _html(page(PROSE + "<!--" * 100_000), "ok", "", "max_connections"),
    "unended-script": _html(page(PROSE + "<script>" + "x" * _MB), "ok", "", "max_connections"),
    "entities": _html(page("&#x1F600;&bogus;&#99999999999;" * 20_000 + PROSE), "ok", "", ""),
}

CASES = SIZE | TIME | WAYS | PROTOCOL | KIND | SHAPE

# Takes longer than a page may.
ATTRIBUTES = page(f"<div {' '.join(f'a{n}=1' for n in range(100_000))}>x</div>{PROSE}")
