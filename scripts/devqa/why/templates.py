"""The texts of templates as they were: kept when a run starts, to be compared when they have changed.

A recipe has the hash of each file of its prompts. `<cache_dir>/prompts/<hash>` is the text, a few kB for all of them.
"""

import contextlib
import difflib
import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from devqa.errors import UserError
from devqa.files import replacing
from devqa.why.changes import Template

FOLDER = "prompts"
# Of longer comparisons the end is left out.
_MOST_LINES = 80


def keep(cache_dir: str | Path, prompts: str | Path, recipes: Iterable[str]) -> None:
    """Keep each file that the `recipes` name of the folder `prompts`, unless it is kept.

    What can't be written is not kept: that costs nothing but a comparison.
    """
    named = {pair for recipe in recipes for files in json.loads(recipe)["prompts"].values() for pair in files.items()}
    for file, sha256 in sorted(named):
        kept = Path(cache_dir, FOLDER, sha256)
        text = None if kept.exists() else _with_hash(Path(prompts, file), sha256)
        if text is not None:
            with contextlib.suppress(UserError, OSError), replacing(kept) as temporary:
                temporary.write_bytes(text)


def compared(template: Template, cache_dir: str | Path, prompts: str | Path) -> list[str]:
    """The lines of a unified diff of a file that has changed, or one that says why there is none."""
    if template.before is None or template.now is None:
        return []
    try:
        before = Path(cache_dir, FOLDER, template.before).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return [f"{FOLDER}/{template.file}: its earlier text is not kept"]
    now = Path(prompts, template.file).read_text(encoding="utf-8", errors="replace")
    lines = list(_difference(template.file, before, now))
    if not lines:
        return [f"{FOLDER}/{template.file}: only the ends of its lines differ"]
    if len(lines) > _MOST_LINES:
        lines[_MOST_LINES:] = [f"… and {len(lines) - _MOST_LINES:,} more lines"]
    return lines


def _difference(file: str, before: str, now: str) -> Iterator[str]:
    names = (f"{FOLDER}/{file} as it was", f"{FOLDER}/{file} as it is")
    for line in difflib.unified_diff(before.splitlines(), now.splitlines(), *names, lineterm=""):
        text = line.rstrip(" ")
        # Blanks at the end of a line that has changed are shown, as they may be all that has.
        yield text + "·" * (len(line) - len(text)) if line[:1] in ("+", "-") else line


def _with_hash(path: Path, sha256: str) -> bytes | None:
    """What in a file has this hash: its bytes, or its text as Jinja reads it; None if it is another file by now."""
    try:
        forms = (path.read_bytes(), path.read_text(encoding="utf-8").encode())
    except (OSError, UnicodeDecodeError):
        return None
    return next((form for form in forms if hashlib.sha256(form).hexdigest() == sha256), None)
