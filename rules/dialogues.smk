"""Conversations → dialogues → queries.

Needs: the files of each source in `dialogues`.
Makes: results/dialogues/<source>/<shard>.parquet (every record, taken in or rejected) and
results/queries/<source>/<shard>.parquet (topics and search queries; SimpleDevQA, section 4.1).
"""

# The files of a source are read once, for all its shards, so each source has a rule of its own.
for source in SETTINGS.dialogues:

    rule:
        name:
            f"ingest_{source}"
        input:
            SOURCE_FILES[source],
        output:
            shards("dialogues", source),
        log:
            f"logs/ingest/{source}.log",
        benchmark:
            f"logs/benchmarks/ingest/{source}.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            mem_mb=grows(1000),
            runtime=grows(60),
        params:
            recipe=recipe_of(
                "ingest.py",
                {"source": source, "limits": SETTINGS.ingest.model_dump(mode="json")},
                files=SOURCE_FILES[source],
                rule=f"ingest_{source}",
            ),
        message:
            f"Reading the dialogues of {source}"
        script:
            "../scripts/ingest.py"


rule queries:
    input:
        dialogues="results/dialogues/{source}/{shard}.parquet",
    output:
        queries="results/queries/{source}/{shard}.parquet",
    log:
        "logs/queries/{source}/{shard}.log",
    benchmark:
        "logs/benchmarks/queries/{source}/{shard}.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        **asking(SETTINGS.steps.queries.model),
        mem_mb=grows(1500),
        runtime=grows(240),
    params:
        recipe=step_recipe("queries"),
    message:
        "Asking for search queries: {wildcards.source}, shard {wildcards.shard}"
    script:
        "../scripts/queries.py"
