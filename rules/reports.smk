"""Scores → a report per model, the index, the leaderboard; all tables → the funnel.

Needs: the benchmark, results/{answers,grades,panel,scores,statistics}/, results/comparison.json; for the funnel every
table; people's decisions where there are any.
Makes: results/reports/<model>.{html,json,csv}, results/reports/index.{html,json}, results/reports/leaderboard.{csv,md,tex},
results/reports/comparisons.csv and results/funnel.csv.
"""

SHARDED = (
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
# Only where a model is asked with passages that are searched for.
RETRIEVED = (
    [rules.retrieve.output.retrieved]
    if any("rag" in EVALUATION.settings_of(model) for model in EVALUATION.models)
    else []
)
# A benchmark from elsewhere has no stages before it.
STAGES = (
    {
        **{name: all_shards(name) for name in SHARDED},
        "rated": [*all_shards("rated"), *RESCUED],
        "merged": rules.merge.output.merged,
        "rescued": rules.rescued.output.rescued if RESCUED else [],
        "reviewed": rules.benchmark.output.reviewed,
    }
    if SETTINGS.builds()
    else {}
)
# What people have decided, by kind.
DECIDED = {f"decided_{kind}": decisions_file(kind) for kind in ("pairs", "grades", "dialogues", "domains")}
ALL_DECIDED = [file for files in DECIDED.values() for file in files]


rule report:
    input:
        benchmark=QUESTIONS,
        domains=DOMAINS,
        answers=lambda wildcards: runs("answers", [wildcards.model]),
        grades=lambda wildcards: runs("grades", [wildcards.model]),
        panel=lambda wildcards: panel_runs([wildcards.model]),
        scores=rules.score.output.scores,
        statistics=rules.score.output.statistics,
    output:
        html=report(
            "results/reports/{model}.html",
            caption="captions/model.rst",
            category="Models",
            subcategory="{model}",
            labels={"model": "{model}", "what": "Report"},
        ),
        json="results/reports/{model}.json",
        csv=report(
            "results/reports/{model}.csv",
            caption="captions/scores.rst",
            category="Models",
            subcategory="{model}",
            labels={"model": "{model}", "what": "All figures"},
        ),
    log:
        "logs/report/{model}.log",
    benchmark:
        "logs/benchmarks/report/{model}.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        mem_mb=grows(2000),
        runtime=grows(30),
    params:
        recipe=lambda wildcards: recipe_text(
            "report.py", {"model": described.model(SETTINGS, wildcards.model), "groups": GROUPS, **SCORING}
        ),
    message:
        "Writing the report of {wildcards.model}"
    script:
        "../scripts/report.py"


rule funnel:
    input:
        **STAGES,
        benchmark=QUESTIONS,
        domains=DOMAINS,
        retrieved=RETRIEVED,
        answers=runs("answers", EVALUATED),
        grades=runs("grades", EVALUATED),
        panel=panel_runs(EVALUATED),
    output:
        funnel=report(
            "results/funnel.csv",
            caption="captions/funnel.rst",
            category="Benchmark",
            labels={"what": "Where rows went"},
        ),
    log:
        "logs/funnel.log",
    benchmark:
        "logs/benchmarks/funnel.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        mem_mb=grows(1500),
        runtime=grows(30),
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
        **DECIDED,
        benchmark=QUESTIONS,
        domains=DOMAINS,
        scores=expand("results/scores/{model}.parquet", model=EVALUATED),
        # For what they cost, at today's prices.
        answers=runs("answers", EVALUATED),
        comparison=rules.compare.output.comparison,
        funnel=rules.funnel.output.funnel,
        merged=rules.merge.output.merged if SETTINGS.builds() else [],
        reviewed=rules.benchmark.output.reviewed if SETTINGS.builds() else [],
    output:
        index=report(
            "results/reports/index.html",
            caption="captions/index.rst",
            category="All models",
            labels={"what": "Comparison"},
        ),
        json="results/reports/index.json",
        leaderboard=report(
            "results/reports/leaderboard.csv",
            caption="captions/leaderboard.rst",
            category="All models",
            labels={"what": "Leaderboard"},
        ),
        markdown="results/reports/leaderboard.md",
        latex="results/reports/leaderboard.tex",
        comparisons=report(
            "results/reports/comparisons.csv",
            caption="captions/comparisons.rst",
            category="All models",
            labels={"what": "Every two models"},
        ),
    log:
        "logs/index.log",
    benchmark:
        "logs/benchmarks/index.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        mem_mb=grows(2000),
        runtime=grows(30),
    params:
        recipe=recipe_of(
            "index.py",
            {
                "difficulties": EVALUATION.difficulties,
                "models": [described.model(SETTINGS, label) for label in EVALUATED],
                "notes": described.notes(SETTINGS, besides=EVALUATED),
                "groups": GROUPS,
                **DECIDING,
            },
            files=ALL_DECIDED,
        ),
    message:
        "Writing the index of all models"
    script:
        "../scripts/index.py"
