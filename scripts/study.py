"""What the study has made → where it is and how much there is, on the screen."""

import sys

from devqa.job import job
from devqa.study.closing import summary

with job(snakemake) as this:  # noqa: F821
    sys.stdout.write("\n".join([*summary(this.input), ""]))
