"""Queries → search results → pages → references → condensed references.

Needs: results/queries/, the search engine and, for the local engine, its corpus.
Makes: results/corpus.parquet (local engine only) and results/{search,pages,references,condensed}/<source>/<shard>.parquet
(SimpleDevQA, sections 4.1 and 4.2). The bytes of pages are kept in the cache, so cleaning again fetches nothing.
"""

# What the engine finds depends on these.

CORPUS = ["results/corpus.parquet"] if LOCAL else []
ENGINE = SETTINGS.search.model_dump(
    mode="json", include={"engine", "url", "engine_id", "include_sites", "exclude_sites"}
)
# In sections of their own, because both have a `max_bytes`.
FETCHING = {"fetch": SETTINGS.fetch.model_dump(mode="json", include={"max_bytes", "max_redirects", "private_hosts"})}
CLEANING = {"clean": SETTINGS.clean.model_dump(mode="json", exclude={"timeout_s", "duplicate_similarity"})}


rule corpus:
    input:
        pages=CORPUS_FILES,
    output:
        corpus="results/corpus.parquet",
    log:
        "logs/corpus.log",
    benchmark:
        "logs/benchmarks/corpus.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 4
    resources:
        mem_mb=grows(2000),
        runtime=grows(120),
    params:
        recipe=recipe_of("corpus.py", {"path": SETTINGS.search.corpus, **CLEANING}, files=CORPUS_FILES),
    message:
        "Reading the pages of the local search engine"
    script:
        "../scripts/corpus.py"


rule search:
    input:
        queries=rules.queries.output.queries,
        corpus=CORPUS,
    output:
        search="results/search/{source}/{shard}.parquet",
    log:
        "logs/search/{source}/{shard}.log",
    benchmark:
        "logs/benchmarks/search/{source}/{shard}.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        mem_mb=grows(1500),
        runtime=grows(120),
    params:
        recipe=recipe_of("search.py", {**ENGINE, "results": SETTINGS.search.results}),
    message:
        "Searching for references: {wildcards.source}, shard {wildcards.shard}"
    script:
        "../scripts/search.py"


rule fetch:
    input:
        search=rules.search.output.search,
        corpus=CORPUS,
    output:
        pages="results/pages/{source}/{shard}.parquet",
    log:
        "logs/fetch/{source}/{shard}.log",
    benchmark:
        "logs/benchmarks/fetch/{source}/{shard}.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        mem_mb=grows(1500),
        runtime=grows(240),
    params:
        recipe=recipe_of("fetch.py", {"local": LOCAL, **FETCHING}),
    message:
        "Fetching pages: {wildcards.source}, shard {wildcards.shard}"
    script:
        "../scripts/fetch.py"


rule clean:
    input:
        pages=rules.fetch.output.pages,
    output:
        references="results/references/{source}/{shard}.parquet",
    log:
        "logs/clean/{source}/{shard}.log",
    benchmark:
        "logs/benchmarks/clean/{source}/{shard}.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: workers(4)
    resources:
        mem_mb=grows(3000),
        runtime=grows(60),
    params:
        recipe=recipe_of("clean.py", {**CLEANING, "duplicate_similarity": SETTINGS.clean.duplicate_similarity}),
    message:
        "Cleaning pages: {wildcards.source}, shard {wildcards.shard}"
    script:
        "../scripts/clean.py"


rule condense:
    input:
        references=rules.clean.output.references,
        queries=rules.queries.output.queries,
    output:
        condensed="results/condensed/{source}/{shard}.parquet",
    log:
        "logs/condense/{source}/{shard}.log",
    benchmark:
        "logs/benchmarks/condense/{source}/{shard}.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        **asking(SETTINGS.steps.condense.model),
        mem_mb=grows(1500),
        runtime=grows(240),
    params:
        recipe=step_recipe("condense"),
    message:
        "Condensing long references: {wildcards.source}, shard {wildcards.shard}"
    script:
        "../scripts/condense.py"
