"""What tells an archive of `cache_export` from other files: the names of what it holds (see `devqa.stock.archive`)."""

import re
import zipfile
import zlib

# The shelf's folder is group 1.
SEGMENT = re.compile(r"responses/([A-Za-z0-9_][A-Za-z0-9._-]{0,59}-[0-9a-f]{12})/answers\.seg")
_WEB = re.compile(r"web/([0-9a-f]{2})/([0-9a-f]{2})/(\1\2[0-9a-f]{60})\.zst")
# What `zipfile` raises where a file is no sound archive.
UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeError)


def belongs(name: str) -> bool:
    """Is `name` that of a part of the cache?"""
    return bool(SEGMENT.fullmatch(name) or _WEB.fullmatch(name))
