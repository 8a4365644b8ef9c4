"""A clone, a bundle or an address → the commit that questions are about."""

import json

from devqa.files import replacing
from devqa.job import job
from devqa.pull_requests.repositories.identity import identified

with job(snakemake) as this:  # noqa: F821
    found = identified(this.options, this.cache, this.offline)
    with replacing(this.output.repository) as temporary:
        temporary.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
