"""The server of a model, until standard input is closed. The run starts it beside its jobs (docs/serving.md)."""

import sys

from devqa.serving.supervisor import main

sys.exit(main(sys.argv[1:]))
