"""Which results have no record of how they were made."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from devqa.unrecorded import unrecorded

RECORD = object()


@pytest.mark.parametrize(
    ("there", "recorded", "found"),
    [
        ("ab", "ab", ""),
        ("ab", "a", "b"),
        ("ab", "", "ab"),
        # A file that is still to be made has no record, and takes none from those that are there: one repeat more.
        ("a", "a", ""),
        ("", "", ""),
    ],
)
def test_files_that_are_there_without_a_record(tmp_path, monkeypatch, there, recorded, found):
    monkeypatch.chdir(tmp_path)
    for name in there:
        Path(name).touch()
    kept = SimpleNamespace(
        metadata=lambda file: RECORD if file in recorded else None, has_outdated_metadata=lambda job: False
    )
    assert unrecorded(kept, SimpleNamespace(output=["a", "b"])) == list(found)
