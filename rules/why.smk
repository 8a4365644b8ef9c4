"""What a run would do now, what has changed that makes it do so, and what it would send: `snakemake --cores 1 why`.

Needs: the configuration, and what there is of results and cache. No key and no network.
Makes: a page on the screen. Without an output, like the bill, the rule runs whenever it is asked for.
"""


rule why:
    log:
        "logs/why.log",
    localrule: True
    conda:
        "../envs/devqa.yaml"
    threads: 8
    resources:
        mem_mb=grows(3000),
        runtime=grows(60),
    params:
        recipe=recipe_of("why.py"),
    message:
        "Finding out what has changed"
    script:
        "../scripts/why.py"
