"""What people look at, and what follows from their decisions (SimpleDevQA, section 4.3).

Needs: results/{checked,verified}/, results/merged.parquet; decisions in the folder `review.folder`, where there are any.
Makes: results/review.parquet (pairs to be decided) and results/review_grades.parquet (graded answers to be graded by
people); of decisions results/rescued.parquet (pairs that the evidence did not support and people accept or correct) and
results/rated_rescued.parquet. `make review` shows the first two (docs/review.md).
"""

PAIR_DECISIONS = decisions_file("pairs")
RESCUED = ["results/rated_rescued.parquet"] if PAIR_DECISIONS else []
DECIDING = SETTINGS.review.model_dump(include={"annotators", "rejection"})


rule review:
    input:
        checked=all_shards("checked"),
        verified=all_shards("verified"),
        merged="results/merged.parquet",
    output:
        review="results/review.parquet",
    log:
        "logs/review.log",
    benchmark:
        "logs/benchmarks/review.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        mem_mb=grows(2000),
        runtime=grows(30),
    params:
        recipe=recipe_of("review.py"),
    message:
        "Collecting the pairs that people decide about"
    script:
        "../scripts/review.py"


rule review_grades:
    input:
        benchmark=QUESTIONS,
        answers=runs("answers", EVALUATED),
        grades=runs("grades", EVALUATED),
    output:
        grades="results/review_grades.parquet",
    log:
        "logs/review_grades.log",
    benchmark:
        "logs/benchmarks/review_grades.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        mem_mb=grows(1500),
        runtime=grows(30),
    params:
        recipe=recipe_of("review_grades.py", SETTINGS.review.model_dump(include={"grades", "seed"})),
    message:
        "Drawing graded answers for people to grade"
    script:
        "../scripts/review_grades.py"


if RESCUED:

    rule rescued:
        input:
            verified=all_shards("verified"),
            decisions=PAIR_DECISIONS,
        output:
            rescued="results/rescued.parquet",
        log:
            "logs/rescued.log",
        benchmark:
            "logs/benchmarks/rescued.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            mem_mb=grows(1500),
            runtime=grows(30),
        params:
            recipe=recipe_of("rescued.py", DECIDING, files=PAIR_DECISIONS),
        message:
            "Taking in what people have accepted"
        script:
            "../scripts/rescued.py"

    # As any other pair: the filter's models answer its question.
    use rule difficulty as difficulty_rescued with:
        input:
            verified=rules.rescued.output.rescued,
        output:
            rated="results/rated_rescued.parquet",
        log:
            "logs/difficulty_rescued.log",
        benchmark:
            "logs/benchmarks/difficulty_rescued.tsv"
        params:
            recipe=recipe_of("difficulty.py", rule="difficulty_rescued", **RATING),
        message:
            "Rating difficulty: pairs that people have accepted"
