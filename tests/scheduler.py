"""A made-up scheduler on one machine, with the commands that all schedulers have: submit, status, cancel.

As with real ones, a job is a copy of the script that was handed in; it starts away from whoever submitted it, in the
root folder, in a session and an environment of its own, and outlives the submitter.
"""

import os
import shlex
import signal
import sys
from pathlib import Path

# Is the process that runs the job in folder $1 still there? Numbers of processes that have ended come again.
ALIVE = r"""alive() { tr '\0' '\n' 2>/dev/null <"/proc/$(cat "$1/pid")/cmdline" | grep -qxF "$1"; }"""

# Hands a script in and prints the job's number. `-v NAME` passes a variable on from the submitter's environment.
SUBMIT = rf"""#!/bin/sh
set -e
{ALIVE}
jobs={{jobs}}
passed=
while [ "$1" = -v ]; do
    eval "value=\$$2"
    passed="$passed $2=$(printf %s "$value" | sed "s/'/'\\\\''/g; s/^/'/; s/\$/'/")"
    shift 2
done
number=1
until mkdir "$jobs/$number" 2>/dev/null; do number=$((number + 1)); done
job=$jobs/$number
cp "$1" "$job/script"
eval "set -- $passed"
cd /
setsid env -i PATH={{path}} HOME="$HOME" USER=somebody SHELL=/bin/sh JOB_ID="$number" "$@" \
    sh -c 'sh "$1/script"; echo $? >"$1/code.new"; mv "$1/code.new" "$1/code"' job "$job" \
    </dev/null >"$job/out" 2>&1 &
echo $! >"$job/pid"
until [ -e "$job/code" ] || alive "$job"; do sleep 0.01; done
echo "$number"
"""

# Prints running, success or failed, which are the words that Snakemake wants to hear.
STATUS = rf"""#!/bin/sh
{ALIVE}
job={{jobs}}/$1
if [ ! -e "$job/code" ] && alive "$job"; then echo running
elif [ "$(cat "$job/code" 2>/dev/null)" = 0 ]; then echo success
else echo failed
fi
"""

# Ends all processes of the jobs with these numbers.
CANCEL = rf"""#!/bin/sh
{ALIVE}
for number in "$@"; do
    echo "$number" >>{{jobs}}/cancelled
    job={{jobs}}/$number
    if alive "$job"; then kill -s TERM -- "-$(cat "$job/pid")"; fi
done
"""


class Scheduler:
    """The scheduler's three commands in `folder`, and what has become of its jobs.

    Args:
        folder: a new folder for the commands and the spool.
    """

    def __init__(self, folder: Path):
        self.commands = folder / "bin"
        self.jobs = folder / "jobs"
        self.commands.mkdir(parents=True)
        self.jobs.mkdir()
        # What the machines of a cluster have without the user's doing: system commands alone.
        path = "/usr/local/bin:/usr/bin:/bin"
        for name, text in {"submit": SUBMIT, "status": STATUS, "cancel": CANCEL}.items():
            file = self.commands / name
            file.write_text(text.replace("{jobs}", shlex.quote(str(self.jobs))).replace("{path}", path))
            file.chmod(0o755)

    def environment(self, **more: str) -> dict[str, str]:
        """The environment of somebody who has the commands on the PATH."""
        return {"PATH": f"{self.commands}:{Path(sys.executable).parent}:{os.environ['PATH']}", **more}

    def submitted(self) -> list[Path]:
        """A folder for each job so far, the oldest first, with `script`, `out`, `pid` and, after its end, `code`."""
        folders = (path for path in self.jobs.iterdir() if path.is_dir())
        return sorted(folders, key=lambda path: int(path.name))

    def cancelled(self) -> list[str]:
        """The numbers of the jobs for which `cancel` was called."""
        file = self.jobs / "cancelled"
        return file.read_text().split() if file.exists() else []

    def is_alive(self, job: Path) -> bool:
        """Is the process that runs the job still there? Numbers of processes that have ended come again."""
        try:
            words = Path(f"/proc/{int((job / 'pid').read_text())}/cmdline").read_text().split("\0")
        except (FileNotFoundError, ProcessLookupError, ValueError):
            return False
        return str(job) in words

    def kill(self, job: Path) -> None:
        """End all processes of a job at once, as a machine does that loses its power."""
        if self.is_alive(job):
            os.killpg(int((job / "pid").read_text()), signal.SIGKILL)

    def end(self) -> None:
        """End whatever still runs."""
        for job in self.submitted():
            self.kill(job)
