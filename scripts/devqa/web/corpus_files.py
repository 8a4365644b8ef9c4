"""Which files make up a local corpus. Apart from `corpus`, because the Snakefile needs it at every start."""

import os
from pathlib import Path

from devqa.errors import UserError

# Source files are no pages: folders of saved pages hold scripts and style sheets.
TYPES = {
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".txt": "text/plain",
    ".rst": "text/x-rst",
    ".adoc": "text/asciidoc",
    ".pdf": "application/pdf",
}


def corpus_files(path: str | os.PathLike) -> list[str]:
    """The files that make up the corpus at `path`: all pages below a folder but hidden ones, sorted, or a Parquet file.

    Raises:
        UserError: there is nothing at `path`, or nothing that can be a page.
    """
    root = Path(path)
    if root.is_file():
        if root.suffix != ".parquet":
            raise UserError(f"{path} is no corpus: name a folder of pages or a .parquet file")
        return [str(root)]
    if not root.is_dir():
        raise UserError(f"there is no {path}: name a folder of pages or a .parquet file")
    # Hidden folders are no pages: .git, .cache.
    pages = (file for file in root.rglob("*") if not _is_hidden(file.relative_to(root)))
    files = sorted(str(file) for file in pages if file.suffix.lower() in TYPES and file.is_file())
    if not files:
        raise UserError(f"{path} holds no pages: put {', '.join(TYPES)} files there")
    return files


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
