"""Rated pairs → the benchmark.

Needs: results/rated/, results/verified/.
Makes: results/merged.parquet (every rated pair: kept, or merged into which) and results/benchmark.parquet.
"""


rule benchmark:
    input:
        rated=all_shards("rated"),
        verified=all_shards("verified"),
    output:
        benchmark="results/benchmark.parquet",
        merged="results/merged.parquet",
    log:
        "logs/benchmark.log",
    benchmark:
        "logs/benchmarks/benchmark.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        recipe=recipe_of(
            "benchmark.py",
            {
                "models": described.step_models(SETTINGS),
                "prompts": prompt_hashes(),
                **SETTINGS.steps.benchmark.model_dump(),
            },
        ),
    message:
        "Merging duplicates into the benchmark"
    script:
        "../scripts/benchmark.py"
