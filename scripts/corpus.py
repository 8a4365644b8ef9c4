"""The local engine's pages → table `corpus`: text, words to search by, and bytes of every page."""

from devqa import tables
from devqa.job import job
from devqa.web.corpus import build_corpus

with job(snakemake) as this:  # noqa: F821
    rows = build_corpus(this.options["path"], this.config["clean"], this.threads)
    tables.write(rows, "corpus", this.output.corpus)
