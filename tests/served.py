"""A model's server in a process of its own, as `serve.command` wants one: the scripted endpoint at a port.

    python tests/served.py --port 8000 --record FOLDER [--starts-in 2] [--answers-in 0.5]

It leaves FOLDER/<its process id>, with the number of requests that it has answered when it is told to stop.
"""

import argparse
import os
import signal
import time
from pathlib import Path

from replies import reply
from scripted import Reply, ScriptedEndpoint

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--record", type=Path, required=True)
parser.add_argument("--starts-in", type=float, default=0.0)
parser.add_argument("--answers-in", type=float, default=0.0)
options = parser.parse_args()

record = options.record / str(os.getpid())
record.write_text("starting")
time.sleep(options.starts_in)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
endpoint = ScriptedEndpoint(lambda body: Reply(reply(body), delay_s=options.answers_in))
endpoint.port = options.port
with endpoint:
    record.write_text("serving")
    signal.sigwait([signal.SIGTERM])
    record.write_text(f"answered {endpoint.count}")
