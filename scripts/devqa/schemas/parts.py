"""Columns that many tables have."""

import pyarrow as pa

from devqa.usage import COUNTS

TEXTS = pa.list_(pa.string())
STATUS = [("status", pa.string()), ("reason", pa.string())]
USAGE = pa.list_(pa.struct([("model", pa.string()), *((count, pa.int64()) for count in COUNTS)]))
# What a model's answer leaves in a row: how the call ended, the raw text where it could not be used, and
# what was spent, one entry per model. Prices are applied later: they change no result.
ASKED = [("outcome", pa.string()), ("raw", pa.string()), ("usage", USAGE)]
CRITERIA = pa.list_(pa.struct([("criterion", pa.string()), ("passed", pa.bool_()), ("reason", pa.string())]))
# One entry for each call of a tool: `outcome` is ok, or why it gave nothing; `result` is what the model got to read.
TOOL_CALLS = pa.list_(
    pa.struct(
        [
            ("round", pa.int32()),
            ("tool", pa.string()),
            ("arguments", pa.string()),
            ("outcome", pa.string()),
            ("result", pa.string()),
        ]
    )
)
RUN = [("id", pa.string()), ("setting", pa.string()), ("model", pa.string()), ("repeat", pa.int32())]
