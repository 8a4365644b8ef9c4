"""Which files a table from elsewhere consists of. Light, because the Snakefile needs it at every start."""

from devqa.ingest.sources import SUPPORTED, source_files

SEPARATED = tuple(f".{name}{packed}" for name in ("csv", "tsv") for packed in ("", ".gz", ".zst"))
CELL_LIMIT = 2**31 - 1  # characters of a cell; Python's own limit is 131,072
FORMATS = (*SUPPORTED, *SEPARATED)


def table_files(path: str) -> list[str]:
    """The files of one table, sorted by name. `path` is a file, a folder or a glob, as in `source_files`.

    Raises:
        UserError: there is no such file, or none of a supported format.
    """
    return source_files(path, FORMATS)
