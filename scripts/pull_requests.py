"""What was made of the pull requests → where it is and how much there is, on the screen."""

import sys

from devqa.job import job
from devqa.pull_requests.figures.summary import summary

with job(snakemake) as this:  # noqa: F821
    sys.stdout.write("\n".join([*summary(this.input), ""]))
