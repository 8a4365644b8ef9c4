"""DevQA: conversations between developers and LLMs → a question-answering benchmark → a report per model.

Needs: config.yaml, and what it names (dialogues, a search engine, models; or a benchmark and answers from elsewhere).
Makes: results/benchmark.parquet, results/reports/, results/funnel.csv, results/review.parquet, results/review_grades.parquet,
results/sources.parquet.
"""

from snakemake.utils import min_version

min_version("9.27")


configfile: f"{workflow.basedir}/config.yaml"


include: "rules/common.smk"
include: "rules/models.smk"
include: "rules/dialogues.smk"
include: "rules/references.smk"
include: "rules/pairs.smk"
include: "rules/review.smk"
include: "rules/benchmark.smk"
include: "rules/study.smk"
include: "rules/pull_requests.smk"
include: "rules/agents.smk"
include: "rules/evaluation.smk"
include: "rules/imports.smk"
include: "rules/reports.smk"
include: "rules/bill.smk"
include: "rules/why.smk"
include: "rules/cache.smk"
include: "rules/hooks.smk"


rule all:
    default_target: True
    input:
        benchmark=BENCHMARK,
        sources=rules.sources.output.sources if SETTINGS.builds() else [],
        review=[rules.review.output.review, rules.review_grades.output.grades] if SETTINGS.builds() else [],
        funnel=rules.funnel.output.funnel,
        index=rules.index.output.index,
        reports=expand("results/reports/{model}.html", model=EVALUATED),


onstart:
    check_before_start()
    start_servers()


onsuccess:
    stop_servers()
    print(closing_words())


onerror:
    stop_servers()
    print(causes())
