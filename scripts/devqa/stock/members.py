"""What tells an archive of `cache_export` from other files: the names of what it holds (see `devqa.stock.archive`)."""

import re
import zipfile
import zlib

# Of models' answers and of agents' runs: the part of the cache is group 1, the shelf's folder group 2.
SEGMENT = re.compile(r"(responses|commands)/([A-Za-z0-9_][A-Za-z0-9._-]{0,59}-[0-9a-f]{12})/answers\.seg")
# Search results and pages, and what GitHub has answered.
_FILE = re.compile(r"(?:web|github)/([0-9a-f]{2})/([0-9a-f]{2})/(\1\2[0-9a-f]{60})\.zst")
# What `zipfile` raises where a file is no sound archive.
UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeError)


def belongs(name: str) -> bool:
    """Is `name` that of a part of the cache?"""
    return bool(SEGMENT.fullmatch(name) or _FILE.fullmatch(name))
