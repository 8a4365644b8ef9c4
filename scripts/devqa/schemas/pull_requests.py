"""The tables from pull requests to a benchmark with facts, and of its evaluation."""

import pyarrow as pa

from devqa.schemas.parts import ASKED, CRITERIA, RUN, STATUS, TEXTS, TOOL_CALLS

# A pull request: `pull_id` is <repository>#<number>; <repository>@<commit> where it has none, or another one has it
# too; <repository>:<line> for a line of a file that names no commit.
_PULL = [("pull_id", pa.string()), ("repository", pa.string()), ("number", pa.int64()), ("title", pa.string())]
# A definition in the pinned version: `node` is Class.method (path), lines count from 1 and `end_line` belongs to it.
_BLOCK = [
    ("node", pa.string()),
    # function, method, class or file
    ("kind", pa.string()),
    ("path", pa.string()),
    ("language", pa.string()),
    ("start_line", pa.int32()),
    ("end_line", pa.int32()),
]
# As it is shown: `cut` where it was too long, then `text` lacks lines.
_BLOCKS = pa.list_(pa.struct([*_BLOCK, ("tokens", pa.int32()), ("cut", pa.bool_()), ("text", pa.string())]))
_FACTS = pa.list_(
    # vital or okay
    pa.struct([("number", pa.int32()), ("fact", pa.string()), ("importance", pa.string())])
)
# A row of the benchmark from pull requests, without its facts.
_REPOSITORY_QUESTION = [
    ("id", pa.string()),
    *_PULL,
    # Of the repository: its name, its address ("" for a local clone without one) and the pinned commit.
    ("name", pa.string()),
    ("url", pa.string()),
    ("commit", pa.string()),
    ("question", pa.string()),
    ("answer", pa.string()),
    # deep or broad
    ("scope", pa.string()),
    ("core", pa.bool_()),
    ("searchable", pa.bool_()),
    # easy, moderate or hard, as the model sees it that has asked the question
    ("difficulty", pa.string()),
    ("nodes", TEXTS),
    ("context", _BLOCKS),
    ("n_context_nodes", pa.int32()),
    ("n_context_files", pa.int32()),
    ("n_files_pr", pa.int32()),
    # Files of the context that plain search finds with words of the question.
    ("n_found_files", pa.int32()),
]

TABLES = {
    # `pulls`: all that were looked at; `base` and `head` are the commits whose
    # difference it is, `kind` is merge, squash, rebase or commit.
    "pulls": [
        *_PULL,
        ("body", pa.string()),
        ("author", pa.string()),
        ("labels", TEXTS),
        # ISO 8601 in UTC; "" where it is not known.
        ("merged_at", pa.string()),
        ("kind", pa.string()),
        ("base", pa.string()),
        ("head", pa.string()),
        # All that it changes, and what became of each file: code, or why it does not count.
        (
            "files",
            pa.list_(
                pa.struct(
                    [
                        ("path", pa.string()),
                        ("old_path", pa.string()),
                        ("status", pa.string()),
                        ("added", pa.int32()),
                        ("deleted", pa.int32()),
                        ("counts_as", pa.string()),
                    ]
                )
            ),
        ),
        *STATUS,
    ],
    # Every definition of the pinned version, and each file as a whole (`kind` file); a file that is not read is
    # rejected. Without text: that is in the repository, under `blob`.
    # `quiet`: of a file, the first and last line of each run that says nothing of its own, one after the other.
    "blocks": [*_BLOCK, ("blob", pa.string()), ("tokens", pa.int32()), ("quiet", pa.list_(pa.int32())), *STATUS],
    # What a pull request is shown as: its blocks in the pinned version, and what became of each hunk, once for each
    # definition that it touches. `outcome`: same, renamed, moved, whole file, left out, comments or imports,
    # deleted: by <commit>, deleted: by the pull request, in another language: <which>, not looked for: <why>,
    # not read: <why>; `node` is "" where nothing is shown.
    "context": [
        *_PULL,
        ("body", pa.string()),
        ("blocks", _BLOCKS),
        (
            "hunks",
            pa.list_(
                pa.struct(
                    [
                        ("path", pa.string()),
                        ("start_line", pa.int32()),
                        ("end_line", pa.int32()),
                        ("was", pa.string()),
                        ("outcome", pa.string()),
                        ("node", pa.string()),
                    ]
                )
            ),
        ),
        ("n_files_pr", pa.int32()),
        *STATUS,
    ],
    "pull_questions": [
        *_PULL,
        ("question", pa.string()),
        ("scope", pa.string()),
        ("core", pa.bool_()),
        ("difficulty", pa.string()),
        ("nodes", TEXTS),
        *ASKED,
        *STATUS,
    ],
    # `found_by`: the words of the question with which plain search finds its blocks.
    "pull_checked": [
        *_PULL,
        ("question", pa.string()),
        ("scope", pa.string()),
        ("core", pa.bool_()),
        ("difficulty", pa.string()),
        ("nodes", TEXTS),
        ("criteria", CRITERIA),
        ("searchable", pa.bool_()),
        ("found_by", TEXTS),
        ("n_found_files", pa.int32()),
        *ASKED,
        *STATUS,
    ],
    "pull_answers": [
        *_PULL,
        ("question", pa.string()),
        ("nodes", TEXTS),
        ("answer", pa.string()),
        *ASKED,
        *STATUS,
    ],
    # `supported` is null where it is not known.
    "pull_facts": [
        *_PULL,
        ("question", pa.string()),
        ("answer", pa.string()),
        (
            "facts",
            pa.list_(
                pa.struct(
                    [
                        ("number", pa.int32()),
                        ("fact", pa.string()),
                        ("importance", pa.string()),
                        ("supported", pa.bool_()),
                        ("reason", pa.string()),
                    ]
                )
            ),
        ),
        *ASKED,
        *STATUS,
    ],
    "repository_benchmark": [
        *_REPOSITORY_QUESTION,
        ("facts", _FACTS),
        ("models", pa.list_(pa.struct([("step", pa.string()), ("model", pa.string()), ("endpoint", pa.string())]))),
        ("prompts", pa.list_(pa.struct([("step", pa.string()), ("sha256", pa.string())]))),
    ],
    # What agents are asked, and what their answers are held against: an edit of one leaves the other as it is.
    "repository_questions": [*_REPOSITORY_QUESTION],
    "repository_facts": [("id", pa.string()), ("question", pa.string()), ("facts", _FACTS)],
    # `model` is the agent: a model, a command, or ground_truth.
    "predictions": [
        *RUN,
        ("answer", pa.string()),
        # What the model was shown (full_context, retrieval); `score` is null where nothing was searched for.
        ("shown", pa.list_(pa.struct([*_BLOCK, ("score", pa.float64())]))),
        ("tool_calls", TOOL_CALLS),
        # How long the answer took, waiting for a rate limit or a place not included; null where it is not known.
        ("seconds", pa.float64()),
        # Of commands; `usd` is what a command says of its own cost.
        ("exit_code", pa.int32()),
        ("usd", pa.float64()),
        ("input_tokens", pa.int64()),
        ("output_tokens", pa.int64()),
        ("reasoning_tokens", pa.int64()),
        *ASKED,
        *STATUS,
    ],
    # `found` and the recalls are null where there is no grade (`reason` says why).
    "recalled": [
        *RUN,
        ("judge", pa.string()),
        (
            "facts",
            pa.list_(
                pa.struct(
                    [
                        ("number", pa.int32()),
                        ("importance", pa.string()),
                        ("found", pa.bool_()),
                        ("reason", pa.string()),
                    ]
                )
            ),
        ),
        ("recall", pa.float64()),
        ("vital_recall", pa.float64()),
        *ASKED,
        *STATUS,
    ],
    # DeepCodeBench's published shape (https://huggingface.co/datasets/Qodo/deep_code_bench).
    "deep_code_bench": [
        ("question", pa.string()),
        ("answer", pa.string()),
        ("facts", TEXTS),
        (
            "metadata",
            pa.struct(
                [
                    ("commit", pa.string()),
                    ("difficulty", pa.string()),
                    ("found_stats", pa.struct([("path", pa.int64())])),
                    ("includes_code", pa.bool_()),
                    ("includes_location_hints", pa.bool_()),
                    ("is_core_question", pa.bool_()),
                    ("n_context_files", pa.int64()),
                    ("n_context_nodes", pa.int64()),
                    ("n_files_pr", pa.int64()),
                    ("pr", pa.int64()),
                    ("repo", pa.string()),
                    ("scope", pa.string()),
                    ("type", pa.string()),
                ]
            ),
        ),
        ("id", pa.string()),
    ],
}
