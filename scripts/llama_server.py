"""Weights as an OpenAI-compatible server, by llama.cpp, until SIGTERM: a command for `serve` (docs/serving.md)."""

import argparse
import signal
import sys

from devqa.errors import UserError
from devqa.llm.local import serve

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--weights", required=True, help="a path to a .gguf, hf:owner/repo/file.gguf, or a package")
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0 for other machines too (default: %(default)s)")
parser.add_argument("--context", type=int, default=8192, help="tokens of one request (default: %(default)s)")
parser.add_argument("--slots", type=int, default=4, help="requests at the same time (default: %(default)s)")
parser.add_argument("--threads", type=int, default=4, help="CPU threads (default: %(default)s)")
options = parser.parse_args()
try:
    with serve(vars(options), options.host, options.port):
        signal.pause()
except UserError as error:
    sys.exit(str(error))
