"""The schema of every table.

A table keeps every row that a step was given: `status` is `ok`, `rejected` (the data's fault: the row is not what we
want) or `failed` (a fault on the way: the row may succeed another time), and `reason` says why.
"""

import pyarrow as pa

from devqa.schemas import dialogues, pull_requests

SCHEMAS: dict[str, pa.Schema] = {
    name: pa.schema(fields) for name, fields in (dialogues.TABLES | pull_requests.TABLES).items()
}
