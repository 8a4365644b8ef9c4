"""What a run would ask models and search engine, and what that would cost: `snakemake --cores 1 bill`.

Needs: the configuration, and what there is of results and cache. No key and no network.
Makes: a table on the screen. Without an output, and without a benchmark, which counts as one, the rule runs whenever it is
asked for.
"""


rule bill:
    log:
        "logs/bill.log",
    localrule: True
    conda:
        "../envs/devqa.yaml"
    threads: 8
    resources:
        mem_mb=grows(3000),
        runtime=grows(60),
    params:
        recipe=recipe_of("bill.py"),
    message:
        "Counting what a run would ask"
    script:
        "../scripts/bill.py"
