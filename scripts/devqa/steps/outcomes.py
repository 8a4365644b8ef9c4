"""What became of a row."""

OK = {"status": "ok", "reason": ""}


def rejected(reason: str) -> dict[str, str]:
    """The row is not what we want; trying again would not help."""
    return {"status": "rejected", "reason": reason}


def failed(reason: str) -> dict[str, str]:
    """Something went wrong on the way; the row may succeed another time."""
    return {"status": "failed", "reason": reason}
