"""An archive holds what a run needs, and nothing that a stranger puts into one gets out of its place."""

import zipfile

import orjson
import pytest
import zstandard

from devqa.errors import UserError
from devqa.llm.cache import encode, responses
from devqa.stock import archive, arrival
from devqa.stock.wanted import wanted
from devqa.web.store import Store
from stocked import RECORD, configuration, fill, job, key, reading, shelf, zipped


@pytest.fixture
def config(tmp_path):
    return configuration(tmp_path, cheap={}, other={"model": "org/other"})


@pytest.fixture
def colleague(config, tmp_path):
    """The same configuration with an empty cache."""
    return {**config, "cache_dir": str(tmp_path / "colleague/cache")}


def asks(config, label, *names, **more):
    return job(config, "queries", {"queries": label}, **more), [reading(config, label, *names)]


def texts(config, label):
    return sorted(record["text"].removeprefix("answer ") for _, record in shelf(config, label).records())


def test_what_is_read_goes_and_arrives(config, colleague, tmp_path):
    fill(config, "cheap", "queries", "a", "b", "old")
    fill(config, "cheap", "queries", "a", days=9, input_tokens=5)
    fill(config, "cheap", "queries", "c", outcome="error")
    fill(config, "other", "check", "d", "e")
    store = Store(tmp_path / "cache/web")
    page = store.put_page(b"<p>page</p>")
    store.put("url:http://x/", b'{"sha256": "x"}')
    jobs = [
        asks(config, "cheap", "a", "b", "c", "never asked"),
        (job(config, "check", {"check": "other"}, "missing"), []),
    ]
    found = wanted(responses(config["cache_dir"]), jobs)
    sent = archive.exported(config, found)
    assert sum(sent.answers.values()) == 4
    assert sent.unanswered == 2
    text = archive.report(sent, found)
    assert "4 answers of 2 models and 2 files" in text
    assert "2 requests of the current configuration have no answer" in text
    assert "check" in text
    came = arrival.imported(colleague)
    assert (came.answers, came.known_answers, came.web_files) == (4, 0, 2)
    assert texts(colleague, "cheap") == ["a", "b"]
    assert texts(colleague, "other") == ["d", "e"]
    assert shelf(colleague, "cheap").lookup([key("a")]) == shelf(config, "cheap").lookup([key("a")])
    assert shelf(colleague, "cheap").lookup([key("a")])[key("a")]["input_tokens"] == 5
    arrived = Store(tmp_path / "colleague/cache/web")
    assert arrived.get_page(page) == b"<p>page</p>"
    assert arrived.get("url:http://x/") == b'{"sha256": "x"}'
    again = arrival.imported(colleague)
    assert (again.answers, again.known_answers, again.web_files, again.known_web_files) == (0, 4, 0, 2)
    assert "4 answers, 2 files" in arrival.report(colleague, again)
    assert len(list(shelf(colleague, "cheap").folder.glob("*.seg"))) == 1


def test_the_same_content_makes_the_same_archive(config):
    fill(config, "cheap", "queries", *range(20))
    found = wanted(responses(config["cache_dir"]), [asks(config, "cheap", *range(20))])
    contents = []
    for _ in range(2):
        contents.append(archive.exported(config, found).archive.read_bytes())
    assert contents[0] == contents[1]


def test_an_own_answer_is_never_replaced(config, colleague):
    fill(config, "cheap", "queries", "a", days=9)
    archive.exported(config, wanted(responses(config["cache_dir"]), [asks(config, "cheap", "a")]))
    fill(colleague, "cheap", "queries", "a", days=1, input_tokens=3)
    assert arrival.imported(colleague).answers == 0
    assert shelf(colleague, "cheap").lookup([key("a")])[key("a")]["input_tokens"] == 3


def test_what_has_run_without_a_usable_answer_is_not_to_be_run_first(config):
    fill(config, "cheap", "check", "a")
    fill(config, "cheap", "check", "b", outcome="refused")
    jobs = [
        (job(config, "check", {"check": "cheap"}, runs=False), [reading(config, "cheap", "a", "b", complete=False)]),
        asks(config, "other", "c", runs=False),
    ]
    found = wanted(responses(config["cache_dir"]), jobs)
    sent = archive.exported(config, found)
    assert (sent.unanswered, sent.unusable) == (0, 2)
    text = archive.report(sent, found)
    assert "2 requests have no usable answer (refused, cut off, off their schema" in text
    assert "run the workflow first" not in text
    assert "have no answer in the cache" not in text


def test_an_archive_is_replaced_even_an_empty_one(config):
    nothing = wanted(responses(config["cache_dir"]), [])
    fill(config, "cheap", "queries", "a")
    for found, count in (
        (nothing, 0),
        (wanted(responses(config["cache_dir"]), [asks(config, "cheap", "a")]), 1),
        (nothing, 0),
    ):
        archive.exported(config, found)
        with zipfile.ZipFile(config["cache_archive"]) as file:
            assert len(file.namelist()) == count


@pytest.mark.parametrize("kind", ["dialogues", "empty", "zip"])
def test_a_file_that_is_no_archive_of_ours_is_not_replaced(config, tmp_path, kind):
    path = tmp_path / "archive.zip"
    path.write_bytes(b'{"id": 1}\n' if kind == "dialogues" else b"")
    if kind == "zip":
        zipped(config, (SHELF, GOOD), ("thesis.txt", b"mine"))
    before = path.read_bytes()
    with pytest.raises(UserError, match=r"cache_archive: .*archive\.zip is there and is no archive of cache_export"):
        archive.exported(config, wanted(responses(config["cache_dir"]), []))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", [".", "..", "/", "absent/x.zip", "/proc/x.zip", "file/x.zip"])
def test_a_place_where_no_archive_can_be_is_one_message(config, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UserError, match="cache_archive: "):
        archive.exported({**config, "cache_archive": name}, wanted(responses(config["cache_dir"]), []))
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_there_must_be_an_archive(config):
    with pytest.raises(UserError, match=r"cache_archive: there is no file .*archive\.zip"):
        arrival.imported(config)


SHELF = "responses/m-0123456789ab/answers.seg"
GOOD = encode(key("a"), {**RECORD, "step": "queries", "time": 1.0})
PACKED = zstandard.ZstdCompressor().compress
NAME = f"web/ab/cd/abcd{'0' * 60}.zst"


def line(**changes):
    """A line of an archive with other values than a good one has; None leaves one out."""
    record = {**RECORD, "step": "queries", "time": 1.0, **changes}
    return encode(key("a"), {name: value for name, value in record.items() if value is not None or name == "data"})


HOSTILE_NAMES = [
    "../evil.seg",
    "/etc/evil",
    "responses/../../answers.seg",
    "responses/m-0123456789ab/../answers.seg",
    "responses/..-0123456789ab/../../answers.seg",
    "responses/m-0123456789ab/structured",
    "responses/m-0123456789ab/answers.seg/",
    "responses/m/answers.seg",
    "responses/.m-0123456789ab/answers.seg",
    "responses\\m-0123456789ab\\answers.seg",
    "C:/answers.seg",
    "web/ab/cd/abce" + "0" * 60 + ".zst",
    "web/ab/cd/../../../x.zst",
    "web/ab/cd/abcd.zst",
    NAME + "\n",
    "elsewhere.txt",
    "",
]
HOSTILE_CONTENTS = {
    "a damaged line": (SHELF, GOOD[:-10] + b"x" + GOOD[-9:]),
    "half a line": (SHELF, GOOD + GOOD[:-1]),
    "rubbish": (SHELF, b"rubbish\n"),
    "two records on a line": (SHELF, GOOD[:30] + GOOD),
    "an outcome that is not ok": (SHELF, line(outcome="error")),
    "no text": (SHELF, line(text=None)),
    "a number for a text": (SHELF, line(text=5)),
    "negative tokens": (SHELF, line(input_tokens=-1)),
    "no time": (SHELF, line(time=None)),
    "control characters for a terminal": (SHELF, line(step="\x1b[2J")),
    "an upper-case key": (SHELF, GOOD.replace(key("a").encode(), key("a").upper().encode())),
    "no zstd": (NAME, b"<p>page</p>"),
    "a page under another name": (NAME, PACKED(b"<p>page</p>")),
    "a list": (NAME, PACKED(b"[1]")),
    "no content size": (NAME, zstandard.ZstdCompressor(write_content_size=False).compress(b"{}")),
    "a bomb": (NAME, PACKED(b"{" + b" " * 70_000_000 + b"}")),
    "a wrong checksum": (NAME, zstandard.ZstdCompressor(write_checksum=True).compress(b'{"a": 1}')[:-1] + b"\x00"),
}


def refused(config, tmp_path, says):
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UserError, match=says):
        arrival.imported(config)
    assert sorted(tmp_path.rglob("*")) == before


def test_what_an_archive_should_look_like(config):
    zipped(config, (SHELF, GOOD), (NAME, PACKED(b'{"results": []}')))
    assert arrival.imported(config).answers == 1


@pytest.mark.parametrize(
    "kept",
    [
        b'{"results": [{"url": "http://e/", "score": NaN, "title": "cut \\ud83d"}]}',  # as an engine may answer
        b'["the page can\'t be shown: HTTP 503", "No result."]',  # what a model was told
        b'{"time": 1.5, "text": "User-agent: *", "fault": ""}',  # robots.txt
    ],
)
def test_whatever_the_web_part_holds_arrives(config, kept):
    zipped(config, (SHELF, GOOD), (NAME, PACKED(kept)))
    assert (arrival.imported(config).answers, arrival.imported(config).known_web_files) == (1, 1)


@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=repr)
def test_a_name_that_leads_elsewhere_is_refused(config, tmp_path, name):
    zipped(config, (SHELF, GOOD), (name, GOOD))
    refused(config, tmp_path, "is refused, nothing was added")


@pytest.mark.parametrize("case", HOSTILE_CONTENTS)
def test_a_content_that_is_none_of_ours_is_refused_as_a_whole(config, tmp_path, case):
    name, content = HOSTILE_CONTENTS[case]
    zipped(config, ("responses/good-0123456789ab/answers.seg", GOOD), (name, content))
    refused(config, tmp_path, "is refused, nothing was added")


def test_a_line_without_end_is_refused(config, tmp_path, monkeypatch):
    monkeypatch.setattr(arrival, "_LONGEST_LINE", 2000)
    zipped(config, (SHELF, b"x" * 5000))
    refused(config, tmp_path, "line 1 is longer than 2,000 bytes")


def test_more_than_the_disk_holds_is_refused(config, tmp_path, monkeypatch):
    monkeypatch.setattr(arrival.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 100}))
    zipped(config, (SHELF, GOOD))
    refused(config, tmp_path, "the disk has 100")


def test_the_same_name_twice_is_refused(config, tmp_path):
    with pytest.warns(UserWarning, match="Duplicate"):
        zipped(config, (SHELF, GOOD), (SHELF, GOOD))
    refused(config, tmp_path, "same name")


@pytest.mark.parametrize("spoil", ["cut", "flipped", "encrypted", "text", "directory"])
def test_a_file_that_is_no_sound_zip_is_refused(config, tmp_path, spoil):
    path = tmp_path / "archive.zip"
    zipped(config, (SHELF, GOOD * 50))
    content = bytearray(path.read_bytes())
    if spoil == "cut":
        content = content[: len(content) // 2]
    elif spoil == "flipped":
        content[120] ^= 255
    elif spoil == "encrypted":
        content[6] |= 1
        content[content.index(b"PK\x01\x02") + 8] |= 1
    elif spoil == "text":
        content = b"no zip"
    path.write_bytes(content)
    if spoil == "directory":
        path.unlink()
        path.mkdir()
    refused(config, tmp_path, "cache_archive")


def test_a_size_that_lies_is_refused(config, tmp_path):
    """The declared size is what was checked against the disk, so no more than that may come out."""
    path = tmp_path / "archive.zip"
    zipped(config, (SHELF, GOOD * 50))
    content = path.read_bytes()
    path.write_bytes(content.replace(len(GOOD * 50).to_bytes(4, "little"), len(GOOD).to_bytes(4, "little")))
    refused(config, tmp_path, "cache_archive")


def test_the_archive_is_json_lines_that_anybody_can_read(config):
    fill(config, "cheap", "queries", "a")
    archive.exported(config, wanted(responses(config["cache_dir"]), [asks(config, "cheap", "a")]))
    with zipfile.ZipFile(config["cache_archive"]) as file:
        (name,) = file.namelist()
        assert orjson.loads(file.read(name)[74:])["text"] == "answer a"
