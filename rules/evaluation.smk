"""The benchmark → answers → grades → scores, for each model, setting and repeat.

Needs: results/benchmark.parquet.
Makes: results/{answers,grades}/<setting>/<model>/<repeat>.parquet and results/scores/<model>.parquet
(SimpleDevQA, section 6).
"""


rule answer:
    input:
        benchmark=rules.benchmark.output.benchmark,
    output:
        answers="results/answers/{setting}/{model}/{repeat}.parquet",
    log:
        "logs/answer/{setting}/{model}/{repeat}.log",
    benchmark:
        "logs/benchmarks/answer/{setting}/{model}/{repeat}.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        **asking(*EVALUATION.models, by="model"),
        mem_mb=1500,
        runtime=480,
    params:
        recipe=lambda wildcards: recipe_of(
            "answer.py",
            {"difficulties": EVALUATION.difficulties},
            {"answer": asked(wildcards.model, EVALUATION.sampling)},
            [f"answer/{wildcards.setting}"],
        )(wildcards),
    message:
        "Asking {wildcards.model} the benchmark's questions: {wildcards.setting}, repeat {wildcards.repeat}"
    script:
        "../scripts/answer.py"


# One job grades all repeats of a model, so that an answer that was given twice is judged once.
rule judge:
    input:
        benchmark=rules.benchmark.output.benchmark,
        answers=expand(rules.answer.output.answers, repeat=REPEATS, allow_missing=True),
    output:
        grades=expand("results/grades/{{setting}}/{{model}}/{repeat}.parquet", repeat=REPEATS),
    log:
        "logs/judge/{setting}/{model}.log",
    benchmark:
        "logs/benchmarks/judge/{setting}/{model}.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        **asking(EVALUATION.judge.model),
        mem_mb=1500,
        runtime=480,
    params:
        recipe=recipe_of(
            "judge.py", models={"judge": asked(EVALUATION.judge.model, EVALUATION.judge.sampling)}, prompts=["judge"]
        ),
    message:
        "Grading {wildcards.model}: {wildcards.setting}"
    script:
        "../scripts/judge.py"


rule score:
    input:
        benchmark=rules.benchmark.output.benchmark,
        answers=lambda wildcards: runs("answers", wildcards.model),
        grades=lambda wildcards: runs("grades", wildcards.model),
    output:
        scores="results/scores/{model}.parquet",
    log:
        "logs/score/{model}.log",
    benchmark:
        "logs/benchmarks/score/{model}.tsv"
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        recipe=recipe_of("score.py", {"difficulties": EVALUATION.difficulties}),
    message:
        "Scoring {wildcards.model}"
    script:
        "../scripts/score.py"
