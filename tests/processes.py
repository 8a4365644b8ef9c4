"""Other processes, as tests see them."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def is_alive(process: int) -> bool:
    """Is there such a process, other than one that has ended and was not collected yet?"""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until(true: Callable[[], Any], within_s: float = 120.0) -> None:
    """Wait until `true()`; a test that waits in vain fails."""
    end = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
