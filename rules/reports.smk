"""Scores → a report per model, the index, the leaderboard; all tables → the funnel.

Needs: results/scores/, results/answers/, results/grades/, results/benchmark.parquet and, for the funnel, every table.
Makes: results/reports/<model>.html and .json, results/reports/index.html, results/reports/leaderboard.csv and
results/funnel.csv.
"""

STAGES = {
    name: all_shards(name)
    for name in (
        "dialogues",
        "queries",
        "search",
        "pages",
        "references",
        "condensed",
        "pairs",
        "checked",
        "evidence",
        "verified",
        "rated",
    )
}


rule report:
    input:
        benchmark=rules.benchmark.output.benchmark,
        answers=lambda wildcards: runs("answers", wildcards.model),
        grades=lambda wildcards: runs("grades", wildcards.model),
        scores=rules.score.output.scores,
    output:
        html="results/reports/{model}.html",
        json="results/reports/{model}.json",
    log:
        "logs/report/{model}.log",
    benchmark:
        "logs/benchmarks/report/{model}.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        recipe=lambda wildcards: recipe_text(
            "report.py",
            {"model": described.model(SETTINGS, wildcards.model), "difficulties": EVALUATION.difficulties},
        ),
    message:
        "Writing the report of {wildcards.model}"
    script:
        "../scripts/report.py"


rule funnel:
    input:
        **STAGES,
        merged=rules.benchmark.output.merged,
        benchmark=rules.benchmark.output.benchmark,
        answers=runs("answers", EVALUATION.models),
        grades=runs("grades", EVALUATION.models),
    output:
        funnel="results/funnel.csv",
    log:
        "logs/funnel.log",
    benchmark:
        "logs/benchmarks/funnel.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=30,
    params:
        recipe=recipe_of(
            "funnel.py",
            {
                "pairs": SETTINGS.steps.generate.pairs,
                "difficulties": EVALUATION.difficulties,
                "prices": described.prices(SETTINGS),
            },
        ),
    message:
        "Counting where rows went"
    script:
        "../scripts/funnel.py"


rule index:
    input:
        reports=expand(rules.report.output.json, model=EVALUATION.models),
        funnel=rules.funnel.output.funnel,
    output:
        index="results/reports/index.html",
        leaderboard="results/reports/leaderboard.csv",
    log:
        "logs/index.log",
    benchmark:
        "logs/benchmarks/index.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        recipe=recipe_of("index.py", {"notes": described.notes(SETTINGS, besides=EVALUATION.models)}),
    message:
        "Writing the index of all models"
    script:
        "../scripts/index.py"
