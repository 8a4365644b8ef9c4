"""The benchmark → answers → grades → scores, for each model, setting and repeat; and all models compared.

Needs: the benchmark (built here, or from elsewhere: rules/imports.smk); for some settings the search engine; people's
decisions about domains and grades where there are any.
Makes: results/domains.parquet, results/retrieved.parquet, results/{answers,grades}/<setting>/<model>/<repeat>.parquet,
results/panel/<judge>/<setting>/<model>/<repeat>.parquet, results/{scores,statistics}/<model>.* and
results/comparison.json (SimpleDevQA, sections 6 and 7).
"""

from devqa.config.imports import HumanGrades

REPEATS = range(1, EVALUATION.repeats + 1)
JUDGES = [EVALUATION.judge.model] if EVALUATION.judge else []
DOMAINS = ["results/domains.parquet"] if EVALUATION.domains else []
DOMAIN_DECISIONS = decisions_file("domains") if EVALUATION.domains else []
GROUPS = EVALUATION.domains.groups if EVALUATION.domains else {}
# Those that were given on the page, unless others are named.
GRADE_DECISIONS = [] if EVALUATION.human_grades else decisions_file("grades")
HUMAN_GRADES = table_files(EVALUATION.human_grades.path) if EVALUATION.human_grades else GRADE_DECISIONS
CODE_GENERATION = table_files(EVALUATION.code_generation.path) if EVALUATION.code_generation else []
RETRIEVING = {**ENGINE, **FETCHING, **CLEANING}
# What the figures depend on beside answers and grades.
SCORING = {
    "difficulties": EVALUATION.difficulties,
    "judge": EVALUATION.judge and EVALUATION.judge.model,
    "panel": EVALUATION.panel,
    "verdict": EVALUATION.verdict,
    "human_grades": (
        {**HumanGrades(path=GRADE_DECISIONS[0]).model_dump(), "annotators": SETTINGS.review.annotators}
        if GRADE_DECISIONS
        else EVALUATION.human_grades and EVALUATION.human_grades.model_dump()
    ),
}
# What answers depend on beside model and prompt.
ANSWERING = {"difficulties": EVALUATION.difficulties}
WITH_TOOLS = {**ANSWERING, **EVALUATION.agentic.model_dump(), **RETRIEVING}


rule domains:
    input:
        benchmark=QUESTIONS,
        decisions=DOMAIN_DECISIONS,
    output:
        domains="results/domains.parquet",
    log:
        "logs/domains.log",
    benchmark:
        "logs/benchmarks/domains.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        **(asking(EVALUATION.domains.model) if EVALUATION.domains else {}),
        mem_mb=grows(1500),
        runtime=grows(240),
    params:
        recipe=(
            recipe_of(
                "domains.py",
                {
                    "names": EVALUATION.domains.names,
                    "difficulties": EVALUATION.difficulties,
                    **({"annotators": SETTINGS.review.annotators} if DOMAIN_DECISIONS else {}),
                },
                {"domains": asked(EVALUATION.domains.model, EVALUATION.domains.sampling)},
                ["domains"],
                files=DOMAIN_DECISIONS,
            )
            if EVALUATION.domains
            else ""
        ),
    message:
        "Asking for the knowledge domain of each question"
    script:
        "../scripts/domains.py"


rule retrieve:
    input:
        benchmark=QUESTIONS,
        corpus=CORPUS,
    output:
        retrieved="results/retrieved.parquet",
    log:
        "logs/retrieve.log",
    benchmark:
        "logs/benchmarks/retrieve.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        mem_mb=grows(3000),
        runtime=grows(480),
    params:
        recipe=recipe_of("retrieve.py", {**RETRIEVING, **EVALUATION.rag.model_dump()}),
    message:
        "Searching for passages with the benchmark's questions"
    script:
        "../scripts/retrieve.py"


# One job asks all repeats, so that a model has as many requests under way as it bears.
rule answer:
    input:
        benchmark=QUESTIONS,
        retrieved=branch(
            lambda wildcards: wildcards.setting == "rag", then=rules.retrieve.output.retrieved, otherwise=[]
        ),
        corpus=branch(lambda wildcards: wildcards.setting == "agentic", then=CORPUS, otherwise=[]),
    output:
        answers=expand("results/answers/{{setting}}/{{model}}/{repeat}.parquet", repeat=REPEATS),
    log:
        "logs/answer/{setting}/{model}.log",
    benchmark:
        "logs/benchmarks/answer/{setting}/{model}.tsv"
    wildcard_constraints:
        model=one_of(EVALUATION.models),
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        **asking(*EVALUATION.models, by="model"),
        # The tools of `agentic` hold the local search engine's index.
        mem_mb=grows(lambda wildcards: 3000 if wildcards.setting == "agentic" else 1500),
        runtime=grows(480),
    params:
        recipe=lambda wildcards: recipe_of(
            "answer.py",
            WITH_TOOLS if wildcards.setting == "agentic" else ANSWERING,
            # The part that the model plays: the bill and the cache tell the settings apart by it.
            {
                "answer" if wildcards.setting == "plain" else wildcards.setting: asked(
                    wildcards.model, EVALUATION.sampling
                )
            },
            [f"answer/{wildcards.setting}"],
        )(wildcards),
    message:
        "Asking {wildcards.model} the benchmark's questions: {wildcards.setting}"
    script:
        "../scripts/answer.py"


# One job grades all repeats of a model, so that an answer that was given twice is judged once.
rule judge:
    input:
        benchmark=QUESTIONS,
        answers=expand("results/answers/{{setting}}/{{model}}/{repeat}.parquet", repeat=REPEATS),
    output:
        grades=expand("results/grades/{{setting}}/{{model}}/{repeat}.parquet", repeat=REPEATS),
    log:
        "logs/judge/{setting}/{model}.log",
    benchmark:
        "logs/benchmarks/judge/{setting}/{model}.tsv"
    wildcard_constraints:
        model=one_of(EVALUATION.models),
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        **asking(*JUDGES),
        mem_mb=grows(1500),
        runtime=grows(480),
    params:
        recipe=judging(*JUDGES),
    message:
        "Grading {wildcards.model}: {wildcards.setting}"
    script:
        "../scripts/judge.py"


# The same by each further judge.
rule panel:
    input:
        benchmark=QUESTIONS,
        answers=rules.judge.input.answers,
    output:
        grades=expand("results/panel/{{judge}}/{{setting}}/{{model}}/{repeat}.parquet", repeat=REPEATS),
    log:
        "logs/panel/{judge}/{setting}/{model}.log",
    benchmark:
        "logs/benchmarks/panel/{judge}/{setting}/{model}.tsv"
    wildcard_constraints:
        model=one_of(EVALUATION.models),
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        **asking(*EVALUATION.panel, by="judge"),
        mem_mb=grows(1500),
        runtime=grows(480),
    params:
        recipe=lambda wildcards: judging(wildcards.judge, rule="panel")(wildcards),
    message:
        "Grading {wildcards.model} with {wildcards.judge} too: {wildcards.setting}"
    script:
        "../scripts/judge.py"


rule score:
    input:
        benchmark=QUESTIONS,
        domains=DOMAINS,
        answers=lambda wildcards: runs("answers", [wildcards.model]),
        grades=lambda wildcards: runs("grades", [wildcards.model]),
        panel=lambda wildcards: panel_runs([wildcards.model]),
        human=HUMAN_GRADES,
    output:
        scores="results/scores/{model}.parquet",
        statistics="results/statistics/{model}.json",
    log:
        "logs/score/{model}.log",
    benchmark:
        "logs/benchmarks/score/{model}.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        mem_mb=grows(2000),
        runtime=grows(30),
    params:
        recipe=recipe_of("score.py", {**SCORING, "groups": GROUPS}, files=HUMAN_GRADES),
    message:
        "Scoring {wildcards.model}"
    script:
        "../scripts/score.py"


rule compare:
    input:
        benchmark=QUESTIONS,
        answers=runs("answers", EVALUATED),
        grades=runs("grades", EVALUATED),
        panel=panel_runs(EVALUATED),
        human=HUMAN_GRADES,
        code_generation=CODE_GENERATION,
    output:
        comparison="results/comparison.json",
    log:
        "logs/compare.log",
    benchmark:
        "logs/benchmarks/compare.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        mem_mb=grows(3000),
        runtime=grows(60),
    params:
        recipe=recipe_of(
            "compare.py",
            {
                **SCORING,
                "models": EVALUATED,
                "code_generation": EVALUATION.code_generation and EVALUATION.code_generation.model_dump(),
                "families": described.families(SETTINGS),
            },
            files=[*HUMAN_GRADES, *CODE_GENERATION],
        ),
    message:
        "Comparing all models"
    script:
        "../scripts/compare.py"
