"""When two addresses are the same page."""

import re
from urllib.parse import SplitResult, quote, unquote_to_bytes, urlsplit

_WEB = ("http", "https")
# Names under which a site serves the same pages to other devices, as long as two labels are left: not t of m.t.
_DEVICE = re.compile(r"^(?:(?:www|m|mobile|amp)\.)+(?=[^.]+\.[^.])")
# Wikipedia and its sisters have it in the middle: en.m.wikipedia.org.
_WIKI_DEVICE = re.compile(r"\.m(?=\.(?:wik[a-z]+|mediawiki)\.org$)")
# Parameters that say where a visitor came from, and nothing of what is shown. Only whole names that mean nothing else:
# courlan's list takes `reference`, `source`, `session` and `global` for such, and pages of manuals differ by those.
_TRACKING = re.compile(
    r"(?:utm|mtm|matomo|piwik|hsa|vero|oly)_\w+|pk_(?:campaign|kwd|keyword|source|medium|content|cid)|mc_[ce]id"
    r"|gclid|dclid|fbclid|yclid|ysclid|twclid|ttclid|msclkid|gbraid|wbraid|igsh(?:id)?|rdt_cid|li_fat_id|epik|srsltid"
    r"|_hs(?:enc|mi)|_openstat|_g(?:a|l|ac)|mkt_tok|ref_(?:src|url)|spm",
    re.IGNORECASE,
)
_IN_PATH = "/~!$&'()*+,;=:@"


def canonical(url: str) -> str:
    """The key under which all addresses of one page are the same: idempotent, for comparing and never for fetching.

    It leaves out fragments (but for routes such as `#!/page`), tracking parameters, the difference between http and
    https, the hosts `www.`, `m.`, `mobile.` and `amp.`, ports that are the scheme's own, slashes at the end, the
    order of parameters, and all ways to write the same host or letter. What is no web address is itself, and so is a
    broken one but for its fragment.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
        if parts.scheme not in _WEB or not parts.hostname:
            return without_fragment(url)
        name = _DEVICE.sub("", _WIKI_DEVICE.sub("", _ascii(parts.hostname)))
        user = parts.netloc.rpartition("@")[0]
        return "".join(
            [
                "https://",
                f"{user}@" if user else "",
                f"[{name}]" if ":" in name else name,
                f":{port}" if port not in (None, 80, 443) else "",
                _coded(parts.path, _IN_PATH).rstrip("/"),
                _query(parts.query),
                f"#{_coded(parts.fragment, _IN_PATH + '?')}" if is_route(parts) else "",
            ]
        )
    except ValueError:
        return without_fragment(url)


def without_fragment(url: str) -> str:
    """`url` without its fragment, unless that is a route (`#!/page`), which stands for a page of its own.

    What is no web address keeps it: a file of a local corpus may have `#` in its name.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.partition("#")[0]
    return url if parts.scheme not in _WEB or is_route(parts) else url.partition("#")[0]


def is_web(url: str) -> bool:
    """Is it an address that can be fetched over http or https?"""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in _WEB and bool(parts.hostname)


def is_route(parts: SplitResult) -> bool:
    """Does the fragment name a page, as in applications of one page?"""
    return len(parts.fragment) > 1 and parts.fragment.startswith("!")


def host_and_path(url: str) -> tuple[str, str]:
    """The host of a web address as the name system has it, and the decoded path; "" twice where there is none."""
    try:
        parts = urlsplit(url)
        return _ascii(parts.hostname or ""), unquote_to_bytes(parts.path).decode("utf-8", "replace")
    except ValueError:
        return "", ""


def _ascii(host: str) -> str:
    """`host` as the name system has it (IDNA 2008 with the mapping of UTS 46), lower case, without a dot at its end."""
    import idna

    host = host.lower().rstrip(".")
    try:
        return host if host.isascii() else idna.encode(host, uts46=True).decode().rstrip(".")
    except idna.IDNAError:
        return host


def _query(query: str) -> str:
    """The query with its question mark, sorted by the parameters' names; "" where nothing is left."""
    pairs = [piece.partition("=") for piece in query.replace("+", "%20").split("&") if piece]
    coded = [(_coded(name, ""), _coded(value, "")) for name, _, value in pairs if not _TRACKING.fullmatch(name)]
    # By name alone: the order of several values of one name may matter.
    kept = sorted(coded, key=lambda pair: pair[0])
    return "?" + "&".join(f"{name}={value}" if value else name for name, value in kept if name or value) if kept else ""


def _coded(text: str, safe: str) -> str:
    """`text` with exactly those letters percent-encoded that are not safe, whichever were before."""
    return quote(unquote_to_bytes(text), safe=safe)
