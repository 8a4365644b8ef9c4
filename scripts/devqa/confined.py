"""Worker processes that read what others have written: they end with their parent, and have bounded memory."""

import ctypes
import resource
import signal
import sys
from pathlib import Path

# prctl's PR_SET_PDEATHSIG.
_SIGNAL_AT_PARENTS_DEATH = 1


def confine(memory_bytes: int) -> None:
    """Have this process killed when its parent is, and limit what it may allocate on top of what it was forked with.

    Without the first a page or a file could keep it for ever, because it is the parent that looks at the clock. Only
    Linux keeps to either.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_SIGNAL_AT_PARENTS_DEATH, signal.SIGKILL)
    inherited = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = inherited + memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
