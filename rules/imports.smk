"""A benchmark and answers from elsewhere → the tables that they would be here.

Needs: evaluation.benchmark.path, the files of evaluation.imports.
Makes: results/imported_benchmark.parquet; for each import results/answers/<setting>/<model>/<repeat>.parquet,
results/grades/<setting>/<model>/<repeat>.parquet (its own grades, or the judge's where it has none), and
results/imports/<setting>/<model>.csv: the rows that match no row of the benchmark.
"""

if not SETTINGS.builds():

    rule import_benchmark:
        input:
            files=table_files(EVALUATION.benchmark.path),
        output:
            benchmark=BENCHMARK,
        log:
            "logs/import_benchmark.log",
        benchmark:
            "logs/benchmarks/import_benchmark.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            mem_mb=grows(1500),
            runtime=grows(30),
        params:
            recipe=recipe_of(
                "import_benchmark.py",
                {
                    "columns": EVALUATION.benchmark.columns.model_dump(),
                    "named": EVALUATION.benchmark.columns.named(),
                },
                files=table_files(EVALUATION.benchmark.path),
            ),
        message:
            "Reading the benchmark"
        script:
            "../scripts/import_benchmark.py"


for entry in EVALUATION.imports:
    # Each has files and a number of repeats of its own, so each has rules of its own.
    run = f"{entry.setting}/{entry.model}"

    rule:
        name:
            f"import_{entry.setting}_{entry.model}"
        input:
            benchmark=QUESTIONS,
            files=sorted({file for each in entry.files for file in table_files(each)}),
        output:
            answers=runs_of("answers", entry.model, entry.setting),
            grades=runs_of("grades", entry.model, entry.setting) if entry.columns.grade else [],
            unmatched=f"results/imports/{run}.csv",
        log:
            f"logs/import/{run}.log",
        benchmark:
            f"logs/benchmarks/import/{run}.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            mem_mb=grows(1500),
            runtime=grows(30),
        params:
            recipe=recipe_of(
                "import_answers.py",
                {
                    "difficulties": EVALUATION.difficulties,
                    **entry.model_dump(include={"model", "setting", "columns", "grades"}),
                    # As the configuration names them: one file, folder or glob for each repeat.
                    "files": [table_files(each) for each in entry.files],
                    "named": entry.columns.named(),
                    "grades_decided": entry.columns.grades_decided(),
                },
                files=[file for each in entry.files for file in table_files(each)],
                rule=f"import_{entry.setting}_{entry.model}",
            ),
        message:
            f"Reading the answers of {entry.model}: {entry.setting}"
        script:
            "../scripts/import_answers.py"

    for judge in [*([] if entry.columns.grade else JUDGES), *EVALUATION.panel]:
        table = "grades" if judge in JUDGES else f"panel/{judge}"

        rule:
            name:
                f"judge_{entry.setting}_{entry.model}_{judge}"
            input:
                benchmark=QUESTIONS,
                answers=runs_of("answers", entry.model, entry.setting),
            output:
                grades=runs_of(table, entry.model, entry.setting),
            log:
                f"logs/judge/{table}/{run}.log",
            benchmark:
                f"logs/benchmarks/judge/{table}/{run}.tsv"
            conda:
                "../envs/devqa.yaml"
            threads: 1
            resources:
                **asking(judge),
                mem_mb=grows(1500),
                runtime=grows(480),
            params:
                recipe=judging(judge, rule=f"judge_{entry.setting}_{entry.model}_{judge}"),
            message:
                f"Grading {entry.model} with {judge}: {entry.setting}"
            script:
                "../scripts/judge.py"
