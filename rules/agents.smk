"""Questions from pull requests → answers of agents → how many facts are in them → the report (DeepCodeBench; Qodo, 2025).

Needs: results/pull_requests/{questions,facts,benchmark}.parquet, for some settings the repositories, and
`pull_requests.evaluation`.
Makes: results/pull_requests/{predictions,recalled}/<setting>/<agent>/<repeat>.parquet,
results/pull_requests/statistics.json, and the report with its files.
"""

if PULLS:

    # One job asks all repeats, so that a model has as many requests under way as it bears.
    rule pr_predict:
        input:
            questions="results/pull_requests/questions.parquet",
            repositories=branch(
                lambda wildcards: wildcards.setting in ("retrieval", "agentic"),
                then=rules.pr_benchmark.input.repositories,
                otherwise=[],
            ),
            blocks=branch(
                lambda wildcards: wildcards.setting == "retrieval", then=of_repositories("blocks"), otherwise=[]
            ),
        output:
            predictions=expand(
                "results/pull_requests/predictions/{{setting}}/{{agent}}/{repeat}.parquet", repeat=ANSWER_REPEATS
            ),
        log:
            "logs/pr_predict/{setting}/{agent}.log",
        benchmark:
            "logs/benchmarks/pr_predict/{setting}/{agent}.tsv"
        wildcard_constraints:
            setting="full_context|no_context|retrieval|agentic",
            agent=one_of(AGENTS.models),
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            **asking(*AGENTS.models, by="agent"),
            mem_mb=grows(3000),
            runtime=grows(480),
        params:
            recipe=predict_recipe,
        message:
            "Asking {wildcards.agent} about the repositories: {wildcards.setting}"
        script:
            "../scripts/pr_predict.py"

    rule pr_ground_truth:
        input:
            questions="results/pull_requests/questions.parquet",
        output:
            predictions="results/pull_requests/predictions/ground_truth/ground_truth/1.parquet",
        log:
            "logs/pr_ground_truth.log",
        benchmark:
            "logs/benchmarks/pr_ground_truth.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            mem_mb=grows(1500),
            runtime=grows(30),
        params:
            recipe=recipe_of("pr_ground_truth.py"),
        message:
            "Taking the true answers as answers"
        script:
            "../scripts/pr_ground_truth.py"

    rule pr_command:
        input:
            questions="results/pull_requests/questions.parquet",
            repositories=rules.pr_benchmark.input.repositories,
        output:
            predictions=expand(
                "results/pull_requests/predictions/command/{{agent}}/{repeat}.parquet", repeat=ANSWER_REPEATS
            ),
        log:
            "logs/pr_command/{agent}.log",
        benchmark:
            "logs/benchmarks/pr_command/{agent}.tsv"
        wildcard_constraints:
            agent=one_of(AGENTS.commands),
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            mem_mb=grows(3000),
            runtime=grows(1440),
        params:
            recipe=command_recipe,
        message:
            "Running {wildcards.agent} for each question"
        script:
            "../scripts/pr_command.py"

    # One job grades all repeats of an agent, so that an answer that was given twice is judged once.
    rule pr_recall:
        input:
            facts="results/pull_requests/facts.parquet",
            predictions=expand(
                "results/pull_requests/predictions/{{setting}}/{{agent}}/{repeat}.parquet", repeat=ANSWER_REPEATS
            ),
        output:
            recalled=expand(
                "results/pull_requests/recalled/{{setting}}/{{agent}}/{repeat}.parquet", repeat=ANSWER_REPEATS
            ),
        log:
            "logs/pr_recall/{setting}/{agent}.log",
        benchmark:
            "logs/benchmarks/pr_recall/{setting}/{agent}.tsv"
        wildcard_constraints:
            setting="full_context|no_context|retrieval|agentic|command",
            agent=one_of([*AGENTS.models, *AGENTS.commands]),
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            **asking(AGENTS.judge.model),
            mem_mb=grows(1500),
            runtime=grows(480),
        params:
            recipe=recalling("pr_recall"),
        message:
            "Looking for the facts in what {wildcards.agent} says: {wildcards.setting}"
        script:
            "../scripts/pr_recall.py"

    rule pr_recall_ground_truth:
        input:
            facts="results/pull_requests/facts.parquet",
            predictions=[rules.pr_ground_truth.output.predictions],
        output:
            recalled=["results/pull_requests/recalled/ground_truth/ground_truth/1.parquet"],
        log:
            "logs/pr_recall_ground_truth.log",
        benchmark:
            "logs/benchmarks/pr_recall_ground_truth.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            **asking(AGENTS.judge.model),
            mem_mb=grows(1500),
            runtime=grows(480),
        params:
            recipe=recalling("pr_recall_ground_truth"),
        message:
            "Looking for the facts in the true answers"
        script:
            "../scripts/pr_recall.py"

    rule pr_score:
        input:
            questions="results/pull_requests/questions.parquet",
            facts="results/pull_requests/facts.parquet",
            predictions=agent_runs("predictions"),
            recalled=agent_runs("recalled"),
        output:
            statistics="results/pull_requests/statistics.json",
        log:
            "logs/pr_score.log",
        benchmark:
            "logs/benchmarks/pr_score.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            mem_mb=grows(2000),
            runtime=grows(60),
        params:
            recipe=recipe_of("pr_score.py", {"runs": AGENTS.runs()}),
        message:
            "Scoring all agents"
        script:
            "../scripts/pr_score.py"

    rule pr_report:
        input:
            benchmark="results/pull_requests/benchmark.parquet",
            statistics="results/pull_requests/statistics.json",
            pulls=of_repositories("pulls"),
            context=of_repositories("context"),
            questions=of_repositories("questions"),
            checked=of_repositories("checked"),
            answered=of_repositories("answered"),
            facts=of_repositories("facts"),
            predictions=agent_runs("predictions"),
            recalled=agent_runs("recalled"),
        output:
            html=report(
                "results/pull_requests/report.html",
                caption="captions/pull_requests.rst",
                category="Pull requests",
                labels={"what": "Fact recall"},
            ),
            json="results/pull_requests/report.json",
            funnel="results/pull_requests/funnel.csv",
            leaderboard="results/pull_requests/leaderboard.csv",
            dataset="results/pull_requests/deep_code_bench.parquet",
        log:
            "logs/pr_report.log",
        benchmark:
            "logs/benchmarks/pr_report.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            mem_mb=grows(2000),
            runtime=grows(30),
        params:
            recipe=recipe_of("pr_report.py", {"prices": described.prices(SETTINGS), "notes": pull_notes()}),
        message:
            "Writing the report of questions from pull requests"
        script:
            "../scripts/pr_report.py"
