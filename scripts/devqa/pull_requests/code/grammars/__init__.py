"""What a definition is in each language: tree-sitter queries, and how names are read.

A query's captures say what a node is: `@function`, `@method`, `@class` (also structs, interfaces, enums, traits, impls,
types) and `@namespace` are definitions; `@scope` only gives its name to what stands in it, and `@rest` to all up to the
file's end. Each has its `@name`. `@outer` belongs to the definition `@inner` that it wraps (a decorator, an export, a
template's parameters). `@lead` belongs to the definition below it, such as comments and attributes, and so does
`@signature`, an overload without a body, if that definition has the same name, `@of`. `@aside` says nothing of its own
where it stands in no definition but a namespace: comments, imports, module docstrings, heads of namespaces; and
so does a line that begins with a `@directive`, such as a conditional, whatever the parser makes of it.
"""

from devqa.pull_requests.code.grammars import c, csharp, ecmascript, go, java, python, rust
from devqa.pull_requests.code.grammars.grammar import Grammar

GRAMMARS: dict[str, Grammar] = {
    "python": python.PYTHON,
    "javascript": ecmascript.JAVASCRIPT,
    "typescript": ecmascript.TYPESCRIPT,
    # TypeScript with elements in it is a language of its own: `<T>x` is a cast in the other one.
    "tsx": ecmascript.TSX,
    "java": java.JAVA,
    "go": go.GO,
    "rust": rust.RUST,
    "c": c.C,
    "cpp": c.CPP,
    "csharp": csharp.CSHARP,
}
