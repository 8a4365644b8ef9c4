"""Pull requests of repositories → questions with facts (DeepCodeBench; Qodo, 2025).

Needs: `pull_requests.repositories`, and the models that the section names.
Makes: results/pull_requests/repositories/<repository>.json (the pinned commit),
results/pull_requests/{pulls,blocks,context,questions,checked,answered,facts}/<repository>.parquet and
results/pull_requests/{benchmark,questions,facts}.parquet. `snakemake pull_requests` makes them, grades agents with them
(rules/agents.smk), and says so; nothing else needs them.
"""


include: "pulling.smk"


if PULLS:

    wildcard_constraints:
        repository="[^/]+",
        agent="[^/]+",

    rule pr_repository:
        input:
            bundle=bundle_file,
        output:
            repository="results/pull_requests/repositories/{repository}.json",
        log:
            "logs/pr_repository/{repository}.log",
        benchmark:
            "logs/benchmarks/pr_repository/{repository}.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            mem_mb=grows(900),
            runtime=grows(240),
        params:
            recipe=pin_recipe,
        message:
            "Finding the pinned commit of {wildcards.repository}"
        script:
            "../scripts/pr_repository.py"

    rule pr_list:
        input:
            repository="results/pull_requests/repositories/{repository}.json",
            file=pulls_file,
        output:
            pulls="results/pull_requests/pulls/{repository}.parquet",
        log:
            "logs/pr_list/{repository}.log",
        benchmark:
            "logs/benchmarks/pr_list/{repository}.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            mem_mb=grows(1500),
            runtime=grows(240),
        params:
            recipe=list_recipe,
        message:
            "Listing the pull requests of {wildcards.repository}"
        script:
            "../scripts/pr_list.py"

    rule pr_blocks:
        input:
            repository="results/pull_requests/repositories/{repository}.json",
        output:
            blocks="results/pull_requests/blocks/{repository}.parquet",
        log:
            "logs/pr_blocks/{repository}.log",
        benchmark:
            "logs/benchmarks/pr_blocks/{repository}.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 4
        resources:
            mem_mb=grows(2000),
            runtime=grows(240),
        params:
            recipe=of_repository("pr_blocks.py", {"languages": PULLS.select.languages, "ignore": PULLS.select.ignore}),
        message:
            "Finding all definitions of {wildcards.repository}"
        script:
            "../scripts/pr_blocks.py"

    rule pr_context:
        input:
            repository="results/pull_requests/repositories/{repository}.json",
            pulls="results/pull_requests/pulls/{repository}.parquet",
            blocks="results/pull_requests/blocks/{repository}.parquet",
        output:
            context="results/pull_requests/context/{repository}.parquet",
        log:
            "logs/pr_context/{repository}.log",
        benchmark:
            "logs/benchmarks/pr_context/{repository}.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            mem_mb=grows(2000),
            runtime=grows(240),
        params:
            recipe=of_repository("pr_context.py", {"languages": PULLS.select.languages, **PULLS.context.model_dump()}),
        message:
            "Finding what the pull requests of {wildcards.repository} changed"
        script:
            "../scripts/pr_context.py"

    rule pr_question:
        input:
            context="results/pull_requests/context/{repository}.parquet",
        output:
            questions="results/pull_requests/questions/{repository}.parquet",
        log:
            "logs/pr_question/{repository}.log",
        benchmark:
            "logs/benchmarks/pr_question/{repository}.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            **asking(PULLS.question.model),
            mem_mb=grows(1500),
            runtime=grows(480),
        params:
            recipe=recipe_of(
                "pr_question.py", pull_options("question"), pull_step("question"), ["pull_requests/question"]
            ),
        message:
            "Asking for questions about {wildcards.repository}"
        script:
            "../scripts/pr_question.py"

    rule pr_check:
        input:
            repository="results/pull_requests/repositories/{repository}.json",
            questions="results/pull_requests/questions/{repository}.parquet",
            context="results/pull_requests/context/{repository}.parquet",
            blocks="results/pull_requests/blocks/{repository}.parquet",
        output:
            checked="results/pull_requests/checked/{repository}.parquet",
        log:
            "logs/pr_check/{repository}.log",
        benchmark:
            "logs/benchmarks/pr_check/{repository}.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            **asking(PULLS.check.model),
            mem_mb=grows(1500),
            runtime=grows(480),
        params:
            recipe=of_repository("pr_check.py", pull_options("check"), pull_step("check"), ["pull_requests/check"]),
        message:
            "Checking the questions about {wildcards.repository}"
        script:
            "../scripts/pr_check.py"

    rule pr_answer:
        input:
            checked="results/pull_requests/checked/{repository}.parquet",
            context="results/pull_requests/context/{repository}.parquet",
        output:
            answered="results/pull_requests/answered/{repository}.parquet",
        log:
            "logs/pr_answer/{repository}.log",
        benchmark:
            "logs/benchmarks/pr_answer/{repository}.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            **asking(PULLS.answer.model),
            mem_mb=grows(1500),
            runtime=grows(480),
        params:
            recipe=recipe_of("pr_answer.py", pull_options("answer"), pull_step("answer"), ["pull_requests/answer"]),
        message:
            "Asking for the true answers about {wildcards.repository}"
        script:
            "../scripts/pr_answer.py"

    rule pr_facts:
        input:
            answered="results/pull_requests/answered/{repository}.parquet",
            context="results/pull_requests/context/{repository}.parquet",
        output:
            facts="results/pull_requests/facts/{repository}.parquet",
        log:
            "logs/pr_facts/{repository}.log",
        benchmark:
            "logs/benchmarks/pr_facts/{repository}.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            **asking(*dict.fromkeys([PULLS.facts.model, PULLS.support.model])),
            mem_mb=grows(1500),
            runtime=grows(480),
        params:
            recipe=recipe_of(
                "pr_facts.py",
                pull_options("facts"),
                pull_step("facts") | pull_step("support"),
                ["pull_requests/facts", "pull_requests/support"],
            ),
        message:
            "Cutting the answers about {wildcards.repository} into facts"
        script:
            "../scripts/pr_facts.py"

    rule pr_benchmark:
        input:
            repositories=expand("results/pull_requests/repositories/{repository}.json", repository=REPOSITORIES),
            context=of_repositories("context"),
            checked=of_repositories("checked"),
            facts=of_repositories("facts"),
        output:
            benchmark="results/pull_requests/benchmark.parquet",
            questions="results/pull_requests/questions.parquet",
            facts="results/pull_requests/facts.parquet",
        log:
            "logs/pr_benchmark.log",
        benchmark:
            "logs/benchmarks/pr_benchmark.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            mem_mb=grows(2000),
            runtime=grows(30),
        params:
            recipe=recipe_of("pr_benchmark.py", pull_provenance()),
        message:
            "Putting together the benchmark from pull requests"
        script:
            "../scripts/pr_benchmark.py"


# What it has made is said each time, so it has no output.
rule pull_requests:
    input:
        unpack(pulled),
    log:
        "logs/pull_requests.log",
    localrule: True
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        mem_mb=grows(900),
        runtime=grows(30),
    params:
        recipe=recipe_of("pull_requests.py"),
    message:
        "Looking at what was made of the pull requests"
    script:
        "../scripts/pull_requests.py"
