"""Condensed references → pairs → checked → evidence → verified → rated.

Needs: results/{dialogues,queries,search,references,condensed}/.
Makes: results/{pairs,checked,evidence,verified,rated}/<source>/<shard>.parquet (SimpleDevQA, sections 4.2 and 4.3).
"""

VERIFYING = ["pages", "passages", "passage_tokens"]
RATING = {
    "models": {
        "answer": [asked(model, SETTINGS.steps.difficulty.sampling) for model in SETTINGS.steps.difficulty.models],
        "judge": asked(SETTINGS.steps.difficulty.judge, EVALUATION.judge_sampling()),
    },
    "prompts": ["answer/plain", "judge"],
}


rule generate:
    input:
        dialogues="results/dialogues/{source}/{shard}.parquet",
        search=rules.search.output.search,
        references=rules.clean.output.references,
        condensed=rules.condense.output.condensed,
        queries=rules.queries.output.queries,
    output:
        pairs="results/pairs/{source}/{shard}.parquet",
    log:
        "logs/generate/{source}/{shard}.log",
    benchmark:
        "logs/benchmarks/generate/{source}/{shard}.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        **asking(SETTINGS.steps.generate.model),
        mem_mb=grows(1500),
        runtime=grows(240),
    params:
        recipe=step_recipe("generate"),
    message:
        "Writing question-answer pairs: {wildcards.source}, shard {wildcards.shard}"
    script:
        "../scripts/generate.py"


rule check:
    input:
        pairs=rules.generate.output.pairs,
    output:
        checked="results/checked/{source}/{shard}.parquet",
    log:
        "logs/check/{source}/{shard}.log",
    benchmark:
        "logs/benchmarks/check/{source}/{shard}.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        **asking(SETTINGS.steps.check.model),
        mem_mb=grows(1500),
        runtime=grows(240),
    params:
        recipe=step_recipe("check"),
    message:
        "Checking pairs: {wildcards.source}, shard {wildcards.shard}"
    script:
        "../scripts/check.py"


rule evidence:
    input:
        checked=rules.check.output.checked,
        corpus=CORPUS,
    output:
        evidence="results/evidence/{source}/{shard}.parquet",
    log:
        "logs/evidence/{source}/{shard}.log",
    benchmark:
        "logs/benchmarks/evidence/{source}/{shard}.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        mem_mb=grows(3000),
        runtime=grows(240),
    params:
        recipe=recipe_of(
            "evidence.py",
            {
                **ENGINE,
                **FETCHING,
                **CLEANING,
                **SETTINGS.steps.verify.model_dump(include=set(VERIFYING)),
            },
        ),
    message:
        "Searching for evidence: {wildcards.source}, shard {wildcards.shard}"
    script:
        "../scripts/evidence.py"


rule verify:
    input:
        evidence=rules.evidence.output.evidence,
    output:
        verified="results/verified/{source}/{shard}.parquet",
    log:
        "logs/verify/{source}/{shard}.log",
    benchmark:
        "logs/benchmarks/verify/{source}/{shard}.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        **asking(SETTINGS.steps.verify.model),
        mem_mb=grows(1500),
        runtime=grows(240),
    params:
        recipe=step_recipe("verify", ["verify/answer", "verify/compare"], leave_out=VERIFYING),
    message:
        "Verifying answers: {wildcards.source}, shard {wildcards.shard}"
    script:
        "../scripts/verify.py"


rule difficulty:
    input:
        verified=rules.verify.output.verified,
    output:
        rated="results/rated/{source}/{shard}.parquet",
    log:
        "logs/difficulty/{source}/{shard}.log",
    benchmark:
        "logs/benchmarks/difficulty/{source}/{shard}.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        **asking(*SETTINGS.steps.difficulty.models, SETTINGS.steps.difficulty.judge),
        mem_mb=grows(2000),
        runtime=grows(480),
    params:
        recipe=recipe_of("difficulty.py", **RATING),
    message:
        "Rating difficulty: {wildcards.source}, shard {wildcards.shard}"
    script:
        "../scripts/difficulty.py"
