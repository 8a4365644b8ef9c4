"""Addresses of repositories, as others may see them: without passwords, tokens, and what only this machine knows."""

import re
from urllib.parse import urlsplit, urlunsplit

_SCHEMES = ("https", "http", "ssh", "git")
_HOST = re.compile(r"([\w.-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?")
# git@example.org:owner/name.git: an address without a scheme, which a user or a dot tells from `c:/zoo`.
_SCP = re.compile(r"((?:[\w.+-]+@(?:[\w.-]+|\[[0-9A-Fa-f:.]+\])|[\w-]+\.[\w.-]+):(?!//)([^@?#]+))([?#].*)?")
# Whatever has a scheme, in a message of git.
_IN_TEXT = re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"]+")


def public(address: str) -> str:
    """An address that means something on other machines, without query, fragment, password and user (of ssh the user's
    name stays, which is needed); else "". So is one with an @ behind its host: that may be the end of a password.
    """
    if not address.isprintable() or " " in address:
        return ""
    if found := _SCP.fullmatch(address):
        return found[1]
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    login, _, host = parts.netloc.rpartition("@")
    if parts.scheme not in _SCHEMES or not _HOST.fullmatch(host) or "@" in "".join(parts[2:]):
        return ""
    user = re.match(r"[\w.+-]*", login)[0] if parts.scheme == "ssh" else ""
    return urlunsplit((parts.scheme, f"{user}@{host}" if user else host, parts.path, "", ""))


def path_of(address: str) -> str:
    """The path in a public address, without `.git`: owner/name."""
    found = _SCP.fullmatch(address)
    return (found[2] if found else urlsplit(address).path).strip("/").removesuffix(".git")


def shown(address: str) -> str:
    """An address or a path as it stands in logs and messages: without what may be a password or a token."""
    if address.startswith(("/", ".", "file://")):
        return address
    # Of one that is in no order, what can't be in front of a host's name or behind a path.
    return public(address) or re.split("[?#]", re.sub(r"^.*@", "…@", address, flags=re.DOTALL), maxsplit=1)[0]


def all_shown(text: str, address: str) -> str:
    """A text that may name `address`, and other ones, with each as it is shown."""
    return _IN_TEXT.sub(lambda found: shown(found[0]), text.replace(address, shown(address)))
