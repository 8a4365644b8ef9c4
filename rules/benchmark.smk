"""Rated pairs → the benchmark, and the pages that it cites.

Needs: results/{rated,verified}/, people's decisions where there are any; the cache's pages, or the local corpus.
Makes: results/merged.parquet (every rated pair: kept, or merged into which), results/reviewed.parquet (what people made of
each), results/benchmark.parquet, results/questions.parquet (the same without the models and prompts that have made it,
for the evaluation) and results/sources.parquet. `snakemake drift` makes results/drift.csv.
"""


rule merge:
    input:
        rated=all_shards("rated"),
        rescued=RESCUED,
    output:
        merged="results/merged.parquet",
    log:
        "logs/merge.log",
    benchmark:
        "logs/benchmarks/merge.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        mem_mb=grows(2000),
        runtime=grows(60),
    params:
        recipe=recipe_of("merge.py", SETTINGS.steps.benchmark.model_dump()),
    message:
        "Merging duplicates"
    script:
        "../scripts/merge.py"


rule benchmark:
    input:
        merged=rules.merge.output.merged,
        rated=rules.merge.input.rated,
        rescued=RESCUED,
        verified=all_shards("verified"),
        decisions=PAIR_DECISIONS,
        # It may stop here: then people have something to look at.
        review=rules.review.output.review if SETTINGS.review.required else [],
    output:
        benchmark="results/benchmark.parquet",
        questions="results/questions.parquet",
        reviewed="results/reviewed.parquet",
    log:
        "logs/benchmark.log",
    benchmark:
        "logs/benchmarks/benchmark.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        mem_mb=grows(2000),
        runtime=grows(60),
    params:
        recipe=recipe_of(
            "benchmark.py",
            {
                "models": described.step_models(SETTINGS),
                "prompts": prompt_hashes(),
                "required": SETTINGS.review.required,
                **DECIDING,
            },
            files=PAIR_DECISIONS,
        ),
    message:
        "Building the benchmark"
    script:
        "../scripts/benchmark.py"


rule sources:
    input:
        benchmark=rules.benchmark.output.benchmark,
        corpus=CORPUS,
    output:
        sources="results/sources.parquet",
    log:
        "logs/sources.log",
    benchmark:
        "logs/benchmarks/sources.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        mem_mb=grows(2000),
        runtime=grows(60),
    params:
        recipe=recipe_of("sources.py", {"local": LOCAL}),
    message:
        "Listing the pages that the benchmark cites"
    script:
        "../scripts/sources.py"


# Without input and output: it looks at the benchmark that is there, whatever the configuration would make of it now, and
# runs whenever it is asked for.
rule drift:
    log:
        "logs/drift.log",
    localrule: True
    conda:
        "../envs/devqa.yaml"
    threads: 4
    resources:
        mem_mb=grows(3000),
        runtime=grows(600),
    params:
        recipe=recipe_of("drift.py"),
    message:
        "Looking at the cited pages again"
    script:
        "../scripts/drift.py"
