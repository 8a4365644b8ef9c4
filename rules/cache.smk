"""Looking after the cache: commands that people give as targets, such as `snakemake --cores 1 cache_show`.

Needs: the cache and, except for cache_verify and cache_import, what there is of the inputs of jobs that ask models. No
key and no network.
Makes: what each command's message says, and a report on the screen. Like the bill, a command has no output, so that it
runs whenever it is given.
"""

STOCK = {
    "cache_show": "What the cache holds, and how much of it the configuration reads",
    "cache_verify": "Reading all that the cache holds",
    "cache_prune": "What cache_prune_apply would drop",
    "cache_prune_apply": "Dropping the answers that the configuration does not read",
    "cache_export": "Writing what the configuration reads into an archive",
    "cache_import": "Adding an archive to the cache",
}

for command, does in STOCK.items():

    rule:
        name:
            command
        log:
            f"logs/{command}.log",
        localrule: True
        conda:
            "../envs/devqa.yaml"
        threads: 1
        resources:
            mem_mb=grows(2000),
            runtime=grows(60),
        params:
            recipe=recipe_of(f"{command}.py"),
            command=command,
        message:
            does
        script:
            "../scripts/{params.command}.py"
