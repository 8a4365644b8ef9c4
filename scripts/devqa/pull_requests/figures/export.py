"""The benchmark in the shape of the published DeepCodeBench (https://huggingface.co/datasets/Qodo/deep_code_bench)."""

from collections.abc import Iterable, Iterator

from devqa.tables import Row

# All questions of the published dataset are of this type.
TYPE = "open_question"


def exported(benchmark: Iterable[Row]) -> Iterator[Row]:
    """Rows of table `deep_code_bench`, from rows of table `repository_benchmark`.

    `repo` is the address for cloning, or the repository's name where it has none; `pr` is null for a commit without a
    number; `found_stats.path` counts the files of the context that plain search finds. Questions with code, paths or
    line numbers are rejected before they come into the benchmark, so `includes_code` and `includes_location_hints` are
    false. Ids are ours: they stay the same as long as the question does.
    """
    for row in benchmark:
        yield {
            "question": row["question"],
            "answer": row["answer"],
            "facts": [fact["fact"] for fact in row["facts"]],
            "metadata": {
                "commit": row["commit"],
                "difficulty": row["difficulty"],
                "found_stats": {"path": row["n_found_files"]},
                "includes_code": False,
                "includes_location_hints": False,
                "is_core_question": row["core"],
                "n_context_files": row["n_context_files"],
                "n_context_nodes": row["n_context_nodes"],
                "n_files_pr": row["n_files_pr"],
                "pr": row["number"],
                "repo": row["url"] or row["name"],
                "scope": row["scope"],
                "type": TYPE,
            },
            "id": row["id"],
        }
