"""What the name of a definition tells."""

from difflib import SequenceMatcher

from devqa.pull_requests.code.definitions import unnumbered

# The end of a qualified name that is compared.
_LONGEST_NAME = 200
# What libraries and habit call a method of many classes, or a function of many files: in small letters, without `_`.
_COMMON = {
    "c, cpp": "begin cleanup deinit empty end size swap",
    "csharp": "dispose equals getenumerator gethashcode movenext this tostring",
    "go": "close error len less read servehttp string write",
    "java": "accept apply call clone compare compareto equals finalize get hashcode isempty iterator next run set",
    "javascript": "constructor default destroy tojson tostring",
    "rust": "asref clone cmp default deref drop eq fmt from hash index into iter new partialcmp",
    "all": "clear copy flush init initialize length main open reset setup start stop teardown test",
}
_COMMON_NAMES = {name for names in _COMMON.values() for name in names.split()}


def simple(name: str) -> str:
    """The last part of a qualified name, without a number."""
    return unnumbered(name).rsplit(".", 1)[-1]


def around(name: str) -> str:
    """The other parts: what it stands in, "" at the top of a file."""
    return unnumbered(name).rpartition(".")[0]


def is_common(name: str) -> bool:
    """Do many things have this simple name, so that it tells nothing of which one it is?"""
    special = name.startswith(("__", "operator"))
    return special or name.lower().replace("_", "") in _COMMON_NAMES


def likeness_of_names(one: str, other: str) -> float:
    """From 0 to 1: how much qualified names have in common."""
    ends = (name.lower()[-_LONGEST_NAME:] for name in (one, other))
    return SequenceMatcher(None, *ends, autojunk=False).ratio()
