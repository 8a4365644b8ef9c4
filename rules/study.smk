"""Raw dialogues → what developers ask, and the seed dialogues of a benchmark (SimpleDevQA, section 3).

Needs: the files of each source in `study.sources`.
Makes: results/study/scanned/<source>/<raw file>.parquet (every record), results/study/{unique,filtered}/<shard>.parquet,
results/study/{sampled,classified}.parquet, results/study/seeds.parquet (which `dialogues` can name), and
results/study/report.{html,json}. `snakemake study` makes them all, and says so; nothing else needs them.
"""


include: "studying.smk"


if STUDY:

    rule study_scan:
        input:
            raw=lambda wildcards: RAW[wildcards.source][wildcards.file].file,
        output:
            scanned="results/study/scanned/{source}/{file}.parquet",
        log:
            "logs/study_scan/{source}/{file}.log",
        benchmark:
            "logs/benchmarks/study_scan/{source}/{file}.tsv"
        wildcard_constraints:
            file="[^/]+",
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            mem_mb=grows(900),
            runtime=grows(60),
        params:
            recipe=scan_recipe,
        message:
            "Looking through {input.raw}"
        script:
            "../scripts/study_scan.py"

    rule study_unique:
        input:
            scanned=ALL_SCANNED,
        output:
            unique=expand("results/study/unique/{shard}.parquet", shard=STUDY_SHARDS),
        log:
            "logs/study_unique.log",
        benchmark:
            "logs/benchmarks/study_unique.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            mem_mb=grows(2000),
            runtime=grows(120),
        params:
            recipe=recipe_of("study_unique.py", {"duplicate_similarity": STUDY.duplicate_similarity}),
        message:
            "Leaving out duplicates, secrets and personal data"
        script:
            "../scripts/study_unique.py"

    rule study_filter:
        input:
            unique="results/study/unique/{shard}.parquet",
        output:
            filtered="results/study/filtered/{shard}.parquet",
        log:
            "logs/study_filter/{shard}.log",
        benchmark:
            "logs/benchmarks/study_filter/{shard}.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            **asking(STUDY.filter.model),
            mem_mb=grows(1500),
            runtime=grows(480),
        params:
            recipe=recipe_of(
                "study_filter.py",
                SHOWN,
                {"study_filter": asked(STUDY.filter.model, STUDY.filter.sampling)},
                ["study/filter"],
            ),
        message:
            "Asking whether dialogues are about software development: shard {wildcards.shard}"
        script:
            "../scripts/study_filter.py"

    rule study_sample:
        input:
            filtered=expand("results/study/filtered/{shard}.parquet", shard=STUDY_SHARDS),
        output:
            sampled="results/study/sampled.parquet",
        log:
            "logs/study_sample.log",
        benchmark:
            "logs/benchmarks/study_sample.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            mem_mb=grows(2000),
            runtime=grows(60),
        params:
            recipe=recipe_of("study_sample.py", STUDY.sample.model_dump()),
        message:
            "Drawing the sample"
        script:
            "../scripts/study_sample.py"

    rule study_classify:
        input:
            sampled=rules.study_sample.output.sampled,
        output:
            classified="results/study/classified.parquet",
        log:
            "logs/study_classify.log",
        benchmark:
            "logs/benchmarks/study_classify.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            **asking(*dict.fromkeys([STUDY.tasks.model, STUDY.suitability.model])),
            mem_mb=grows(1500),
            runtime=grows(480),
        params:
            recipe=recipe_of(
                "study_classify.py",
                {**STUDY.tasks.model_dump(include={"categories", "knowledge"}), **SHOWN},
                {
                    "study_tasks": asked(STUDY.tasks.model, STUDY.tasks.sampling),
                    "study_suitability": asked(STUDY.suitability.model, STUDY.suitability.sampling),
                },
                ["study/tasks", "study/suitability"],
            ),
        message:
            "Sorting the sample by task"
        script:
            "../scripts/study_classify.py"

    rule study_seeds:
        input:
            filtered=rules.study_sample.input.filtered,
            raw=[file for files in STUDIED.values() for file in files],
        output:
            seeds="results/study/seeds.parquet",
        log:
            "logs/study_seeds.log",
        benchmark:
            "logs/benchmarks/study_seeds.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            mem_mb=grows(1500),
            runtime=grows(120),
        params:
            recipe=recipe_of(
                "study_seeds.py",
                {
                    **STUDY.model_dump(include={"seeds", "seed"}),
                    "files": STUDIED,
                    "limits": SETTINGS.ingest.model_dump(mode="json"),
                },
                files=[file for files in STUDIED.values() for file in files],
            ),
        message:
            "Drawing the seed dialogues"
        script:
            "../scripts/study_seeds.py"

    rule study_report:
        input:
            scanned=ALL_SCANNED,
            unique=rules.study_unique.output.unique,
            filtered=rules.study_sample.input.filtered,
            sampled=rules.study_sample.output.sampled,
            classified=rules.study_classify.output.classified,
            decisions=DIALOGUE_DECISIONS,
        output:
            html=report(
                "results/study/report.html",
                caption="captions/study.rst",
                category="Study",
                labels={"what": "What developers ask"},
            ),
            json="results/study/report.json",
        log:
            "logs/study_report.log",
        benchmark:
            "logs/benchmarks/study_report.tsv"
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            mem_mb=grows(2000),
            runtime=grows(30),
        params:
            recipe=recipe_of(
                "study_report.py",
                {
                    **STUDY.tasks.model_dump(include={"categories", "knowledge"}),
                    "sample": STUDY.sample.model_dump(),
                    "prices": described.prices(SETTINGS),
                    **DECIDING,
                },
                files=DIALOGUE_DECISIONS,
            ),
        message:
            "Writing the report of the study"
        script:
            "../scripts/study_report.py"


# What it has made is said each time, so it has no output.
rule study:
    input:
        unpack(studied),
    log:
        "logs/study.log",
    localrule: True
    conda:
        "../envs/devqa.yaml"
    threads: 1
    resources:
        mem_mb=grows(900),
        runtime=grows(30),
    params:
        recipe=recipe_of("study.py"),
    message:
        "Looking at what the study has made"
    script:
        "../scripts/study.py"
