"""What a step's code depends on: the script and everything that it imports from this project.

Snakemake tracks a script by its modification time and imported modules not at all, so a rule carries the
content hashes of its script's import closure among its params.
"""

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path


@cache
def closure(script: str | Path, root: str | Path) -> dict[str, str]:
    """The files that `script` is made of: itself, every module below `root` that it imports, directly or not,
    wherever the import stands, and data files that lie beside a package's modules (`templates/`).

    Returns the paths relative to `root` in sorted order, each with the SHA-256 of its content, as they were when this
    process first asked: every rule and many jobs want the same. Not to be changed.
    """
    root = Path(root).resolve()
    pending, found = [Path(script).resolve()], {}
    while pending:
        path = pending.pop()
        name = path.relative_to(root).as_posix()
        if name not in found:
            digest, imported, data = _inspect(path, root)
            found[name] = digest
            pending.extend(imported)
            found.update(data)
    return dict(sorted(found.items()))


@cache
def _inspect(path: Path, root: Path) -> tuple[str, tuple[Path, ...], dict[str, str]]:
    """The hash of one module, the project's modules that it imports, and the hashes of its templates."""
    source = path.read_bytes()
    modules = dict.fromkeys(_imported(ast.parse(source, path), path, root))
    files = {file: None for module in modules for file in _files(module, root)}
    templates = path.parent / "templates"
    data = {
        file.relative_to(root).as_posix(): _sha256(file)
        for file in sorted(templates.glob("*"))
        if file.is_file() and f'"{templates.name}"'.encode() in source
    }
    return hashlib.sha256(source).hexdigest(), tuple(files), data


def _imported(tree: ast.AST, path: Path, root: Path) -> Iterator[str]:
    package = path.relative_to(root).parent.parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            base += node.module.split(".") if node.module else []
            yield ".".join(base)
            # `from package import module`: the module is imported too; a mere name leads to no file.
            yield from (".".join([*base, alias.name]) for alias in node.names)


def _files(module: str, root: Path) -> Iterator[Path]:
    """The file of a module and the `__init__.py` of each package above it, where they lie below `root`."""
    parts = module.split(".")
    for depth in range(1, len(parts) + 1):
        base = root.joinpath(*parts[:depth])
        for candidate in (base.with_suffix(".py"), base / "__init__.py"):
            if candidate.is_file():
                yield candidate


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
