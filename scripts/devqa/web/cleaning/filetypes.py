"""What the type and the name of a file say about the language that it is written in."""

from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

# Languages as they stand behind a code fence.
_BY_TYPE = {
    "application/javascript": "js",
    "application/json": "json",
    "application/ld+json": "json",
    "application/sql": "sql",
    "application/toml": "toml",
    "application/typescript": "ts",
    "application/x-httpd-php": "php",
    "application/x-javascript": "js",
    "application/x-ndjson": "json",
    "application/x-perl": "perl",
    "application/x-php": "php",
    "application/x-powershell": "powershell",
    "application/x-python-code": "python",
    "application/x-ruby": "ruby",
    "application/x-sh": "sh",
    "application/x-yaml": "yaml",
    "application/xml": "xml",
    "application/yaml": "yaml",
    "text/css": "css",
    "text/csv": "csv",
    "text/javascript": "js",
    "text/typescript": "ts",
    "text/vbscript": "vb",
    "text/x-c": "c",
    "text/x-c++": "cpp",
    "text/x-c++src": "cpp",
    "text/x-chdr": "c",
    "text/x-csharp": "csharp",
    "text/x-csrc": "c",
    "text/x-diff": "diff",
    "text/x-go": "go",
    "text/x-haskell": "haskell",
    "text/x-java": "java",
    "text/x-java-source": "java",
    "text/x-kotlin": "kotlin",
    "text/x-lua": "lua",
    "text/x-patch": "diff",
    "text/x-perl": "perl",
    "text/x-php": "php",
    "text/x-python": "python",
    "text/x-ruby": "ruby",
    "text/x-rust": "rust",
    "text/x-scala": "scala",
    "text/x-script.python": "python",
    "text/x-sh": "sh",
    "text/x-shellscript": "sh",
    "text/x-sql": "sql",
    "text/x-swift": "swift",
    "text/x-tex": "latex",
    "text/x-yaml": "yaml",
    "text/xml": "xml",
    "text/yaml": "yaml",
}
_SUFFIXES = {
    "asm": "asm s",
    "bash": "bash",
    "bat": "bat cmd",
    "c": "c h",
    "clojure": "clj cljs",
    "cmake": "cmake",
    "cpp": "cc cpp cxx hh hpp hxx",
    "csharp": "cs",
    "css": "css",
    "csv": "csv",
    "cuda": "cu cuh",
    "dart": "dart",
    "diff": "diff patch",
    "elixir": "ex exs",
    "elm": "elm",
    "erlang": "erl",
    "fortran": "f f90",
    "fsharp": "fs",
    "glsl": "glsl frag vert",
    "go": "go",
    "gradle": "gradle",
    "graphql": "graphql",
    "groovy": "groovy",
    "haskell": "hs",
    "hcl": "tf hcl",
    "ini": "cfg conf ini properties",
    "java": "java",
    "js": "cjs js mjs",
    "json": "json jsonl ipynb",
    "jsx": "jsx",
    "julia": "jl",
    "kotlin": "kt kts",
    "latex": "tex",
    "less": "less",
    "lua": "lua",
    "matlab": "m",
    "nim": "nim",
    "nix": "nix",
    "objectivec": "mm",
    "ocaml": "ml mli",
    "pascal": "pas",
    "perl": "pl pm",
    "php": "php",
    "powershell": "ps1 psm1",
    "proto": "proto",
    "python": "py pyi pyx",
    "r": "r",
    "ruby": "rb",
    "rust": "rs",
    "scala": "scala sbt",
    "scheme": "scm",
    "scss": "sass scss",
    "sh": "sh zsh",
    "solidity": "sol",
    "sql": "sql",
    "svelte": "svelte",
    "swift": "swift",
    "toml": "toml",
    "ts": "mts ts",
    "tsx": "tsx",
    "vb": "vb",
    "verilog": "sv v",
    "vhdl": "vhd vhdl",
    "vue": "vue",
    "xml": "xml xsd xsl",
    "yaml": "yaml yml",
    "zig": "zig",
}
_BY_SUFFIX = {f".{suffix}": language for language, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_BY_NAME = {"dockerfile": "dockerfile", "makefile": "makefile", "cmakelists.txt": "cmake", "jenkinsfile": "groovy"}
# Types that servers give to what they don't know: the file's name says more.
_UNTOLD = {"", "text/plain", "application/octet-stream", "binary/octet-stream", "application/x-download"}


def kind(content_type: str) -> str:
    """The bare content type in lower case: `text/html` of `Text/HTML; charset=utf-8`."""
    return (content_type or "").partition(";")[0].strip().lower()


def file_name(url: str) -> str:
    """The name of the file at the end of an address' path, "" where there is none."""
    try:
        return unquote(PurePosixPath(urlsplit(url).path).name)
    except ValueError:
        return ""


def suffix(url: str) -> str:
    """The suffix of that name in lower case (`.py`), "" where it has none."""
    return PurePosixPath(file_name(url)).suffix.lower()


def language_of(content_type: str, url: str) -> str:
    """The language of a source file as it stands behind a code fence, "" for what is none.

    The content type decides; where it says nothing (text/plain, application/octet-stream), the name of the file in the
    address does.
    """
    bare = kind(content_type)
    if bare not in _UNTOLD:
        return _BY_TYPE.get(bare, "json" if bare.endswith("+json") else "xml" if bare.endswith("+xml") else "")
    return _BY_NAME.get(file_name(url).lower()) or _BY_SUFFIX.get(suffix(url), "")
