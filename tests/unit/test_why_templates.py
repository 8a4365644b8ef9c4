"""The texts of templates as they were."""

import hashlib
import json
import zipfile

import pytest

from devqa.prompts import Prompt
from devqa.stock.archive import exported
from devqa.stock.prune import apply, prunings
from devqa.stock.show import shown
from devqa.stock.verify import verified
from devqa.stock.wanted import Wanted
from devqa.why import templates
from devqa.why.changes import Template
from stocked import configuration, fill


@pytest.fixture
def prompts(tmp_path):
    folder = tmp_path / "prompts"
    (folder / "a").mkdir(parents=True)
    (folder / "a/system.j2").write_text("Be good.\n")
    (folder / "a/user.j2").write_text("One.\nTwo.\nThree.\n{% include 'a/more.j2' %}\n")
    (folder / "a/more.j2").write_text("More.\n")
    (folder / "a/demonstrations.yaml").write_text("[]\n")
    return folder


def recipe(prompts):
    return json.dumps({"prompts": {"a": Prompt(prompts, "a").files()}})


def kept(folder):
    return {file.name: file.read_bytes() for file in (folder / "cache/prompts").iterdir()}


def test_every_file_is_kept_once_under_its_hash(prompts, tmp_path):
    for _ in range(2):
        templates.keep(tmp_path / "cache", prompts, [recipe(prompts), recipe(prompts)])
    files = kept(tmp_path)
    assert sorted(files.values()) == sorted(file.read_bytes() for file in (prompts / "a").iterdir())
    assert all(hashlib.sha256(text).hexdigest() == name for name, text in files.items())


def test_windows_line_ends_are_kept_as_they_are_hashed(prompts, tmp_path):
    (prompts / "a/user.j2").write_bytes(b"One.\r\nTwo.\r\n")
    (prompts / "a/demonstrations.yaml").write_bytes(b"# nothing\r\n[]\r\n")
    templates.keep(tmp_path / "cache", prompts, [recipe(prompts)])
    assert set(kept(tmp_path)) == set(Prompt(prompts, "a").files().values())


def test_a_file_that_was_edited_meanwhile_is_not_kept_under_another_one_s_hash(prompts, tmp_path):
    said = recipe(prompts)
    (prompts / "a/user.j2").write_text("Edited.\n")
    (prompts / "a/more.j2").unlink()
    (prompts / "a/system.j2").write_bytes(b"\xff")
    templates.keep(tmp_path / "cache", prompts, [said])
    assert list(kept(tmp_path).values()) == [b"[]\n"]


def test_a_cache_that_takes_no_files_stops_nothing(prompts, tmp_path):
    (tmp_path / "cache").write_text("no folder")
    templates.keep(tmp_path / "cache", prompts, [recipe(prompts)])


def test_looking_after_the_cache_leaves_the_texts_alone(prompts, tmp_path):
    config = configuration(tmp_path, gpt={})
    fill(config, "gpt", "check", 1, 2)
    templates.keep(config["cache_dir"], prompts, [recipe(prompts)])
    before = kept(tmp_path)
    unwanted = Wanted(keys={}, unsure={}, asked={}, pending=frozenset())
    assert apply(prunings(config, unwanted)) > 0
    assert verified(config).damages == []
    assert "2 segments" not in shown(config, unwanted)
    with zipfile.ZipFile(exported(config, unwanted).archive) as archive:
        assert not [name for name in archive.namelist() if "prompts" in name]
    assert kept(tmp_path) == before


def edited(prompts, tmp_path, before, now):
    """What is shown of a.j2 after this edit."""
    file = prompts / "a/user.j2"
    file.write_text(before)
    earlier = hashlib.sha256(before.encode()).hexdigest()
    templates.keep(tmp_path / "cache", prompts, [recipe(prompts)])
    file.write_text(now)
    return templates.compared(Template("a/user.j2", earlier, "now"), tmp_path / "cache", prompts)


def test_the_difference_is_shown(prompts, tmp_path):
    assert edited(prompts, tmp_path, "One.\nTwo.\nThree.\n", "One.\nTwo!\nThree.\n") == [
        "--- prompts/a/user.j2 as it was",
        "+++ prompts/a/user.j2 as it is",
        "@@ -1,3 +1,3 @@",
        " One.",
        "-Two.",
        "+Two!",
        " Three.",
    ]


def test_blanks_at_the_end_of_a_line_are_shown(prompts, tmp_path):
    assert edited(prompts, tmp_path, "One.\n", "One.  \n")[-2:] == ["-One.", "+One.··"]


def test_a_missing_last_line_end_is_told(prompts, tmp_path):
    assert edited(prompts, tmp_path, "One.\n", "One.") == ["prompts/a/user.j2: only the ends of its lines differ"]


def test_long_differences_are_cut(prompts, tmp_path):
    lines = edited(prompts, tmp_path, "a\n" * 100, "b\n" * 100)
    assert len(lines) == 81
    assert lines[-1] == "… and 123 more lines"


def test_a_text_that_is_not_kept_is_named(prompts, tmp_path):
    lines = templates.compared(Template("a/user.j2", "0" * 64, "now"), tmp_path / "cache", prompts)
    assert lines == ["prompts/a/user.j2: its earlier text is not kept"]
    assert templates.compared(Template("a/user.j2", None, "now"), tmp_path / "cache", prompts) == []
    assert templates.compared(Template("a/gone.j2", "0" * 64, None), tmp_path / "cache", prompts) == []
