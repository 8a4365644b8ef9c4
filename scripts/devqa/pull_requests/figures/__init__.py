"""What came of it: figures with intervals, the ledger, the published shape."""
