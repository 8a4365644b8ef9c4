"""Which files a source of dialogues consists of."""

import glob
import os
from collections import Counter
from pathlib import Path

from devqa.errors import UserError

# `.json.gz` and `.json.zst` hold JSON lines too: data sets are often published under these names.
SUPPORTED = (
    ".parquet",
    *(f".{name}{packed}" for name in ("jsonl", "ndjson") for packed in ("", ".gz", ".zst")),
    ".json.gz",
    ".json.zst",
)


def source_files(path: str, formats: tuple[str, ...] = SUPPORTED) -> list[str]:
    """The files of one source, sorted by name.

    `path` is a file, a folder (all supported files below it, at any depth, without hidden ones) or a glob,
    in which `**` stands for folders at any depth. Supported are the ends of names in `formats`.

    Raises:
        UserError: there is no such file, or none of a supported format.
    """
    where = Path(path).expanduser()
    if not path.strip():
        found = []
    elif where.is_file():
        found = [where]
    elif where.is_dir():
        found = [file for file in where.rglob("*") if not _hidden(file.relative_to(where))]
    else:
        # Path.glob takes no absolute patterns, and reads ** in another way from Python 3.13 on.
        found = [Path(file) for file in glob.glob(str(where), recursive=True)]  # noqa: PTH207
    files = sorted({str(file) for file in found if file.is_file() and supported(str(file), formats)})
    if not files:
        state = "is not of a supported format" if where.is_file() else "holds no file of a supported format"
        state = state if where.exists() or _is_glob(path) else "does not exist"
        raise UserError(f"'{path}' {state}. Give a file, a folder or a glob of files that end in {', '.join(formats)}")
    return files


def supported(file: str, formats: tuple[str, ...] = SUPPORTED) -> bool:
    """Whether the name of `file` is one of a supported format."""
    return file.lower().endswith(formats)


def labels(files: list[str]) -> dict[str, str]:
    """What a row's origin calls each file: its name; where names repeat, the path below the files' common folder."""
    paths = {file: Path(file).absolute() for file in files}
    names = Counter(path.name for path in paths.values())
    common = os.path.commonpath([path.parent for path in paths.values()]) if paths else ""
    return {
        file: _printable(path.name if names[path.name] == 1 else path.relative_to(common).as_posix())
        for file, path in paths.items()
    }


def _printable(name: str) -> str:
    """File names are bytes: what is not UTF-8 in them would not fit into a table."""
    return os.fsencode(name).decode("utf-8", "replace")


def _is_glob(path: str) -> bool:
    return glob.escape(path) != path


def _hidden(relative: Path) -> bool:
    return any(part.startswith(".") for part in relative.parts)
