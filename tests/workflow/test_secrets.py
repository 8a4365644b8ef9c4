"""Whatever goes wrong, the API key is in no file and in no output."""

import base64
import gzip
import io
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import zstandard

from replies import reply
from scripted import Reply

KEY = "sk-SeCrEt/0123+456=789xyz"
VARIABLE = "SOME_MODELS_KEY"
# As PHP and .NET write it in JSON.
ESCAPED = KEY.replace("/", "\\/").replace("+", "\\u002B")


def needles(secret: str) -> list[bytes]:
    """The secret as it may stand in a file: as it is, in part, and in base64 behind whatever stands before it."""
    raw = secret.encode()
    coded = [base64.b64encode(b"x" * before + raw) for before in range(3)]
    # The first and last letters of base64 depend on the neighbours.
    return [raw, ESCAPED.encode(), raw[6:], *(code[4:-4] for code in coded)]


def contents(path: Path) -> bytes:
    """All that a file holds, unpacked where it is packed."""
    raw = path.read_bytes()
    match path.suffix:
        case ".parquet":
            return raw + repr(pq.read_table(path).to_pylist()).encode()
        case ".gz":
            return raw + gzip.decompress(raw)
        case ".zst":
            return raw + zstandard.ZstdDecompressor().stream_reader(io.BytesIO(raw)).read()
    return raw


def holding(folder: Path, secret: str) -> list[str]:
    """The files below `folder` in which the secret can be found."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    assert len(files) > 100, "the run has left its tables, logs, cache and metadata"
    return [f"{path}: {needle}" for path in files for needle in needles(secret) if needle in contents(path)]


def answers(body):
    """What the models of the evaluation do, by their names; everything else goes well."""
    match body["model"]:
        case "refused":
            return Reply(
                status=401, body=f'{{"error": {{"message": "Incorrect API key provided: {ESCAPED}"}}}}'.encode()
            )
        case "rejecting":
            return Reply(status=400, error=f"no request with key {KEY} is welcome")
        case "broken":
            return Reply(status=500, body=f"Traceback: Authorization='Bearer {KEY}'".encode())
        case "moved":
            return Reply(status=308, headers={"Location": f"https://elsewhere.example/v1?key={KEY}"})
        case "talkative":
            return Reply(f"The key is {KEY}.")
        case "reset":
            return Reply(fault="close")
        case _:
            return reply(body)


@pytest.fixture
def unlucky(fresh):
    """A project whose models all have the key, and all kinds of ill luck in the evaluation."""
    limits = {"retries": 1, "down_after_s": 1}
    names = ("refused", "rejecting", "broken", "moved", "talkative", "reset", "dead", "crashing")
    models = {name: fresh.endpoint.model(model=name, limits=limits) for name in names}
    models["dead"]["base_url"] = "http://127.0.0.1:9/v1"
    # More than 64 bits: our own code fails, in a way that nobody has foreseen.
    models["crashing"]["extra_body"] = {"number": 2**70}
    fresh.config["dialogues"]["mine"]["shards"] = 1
    fresh.config["models"] |= models
    for model in fresh.config["models"].values():
        model["api_key_env"] = VARIABLE
    fresh.config["evaluation"] |= {"models": ["weak", *names], "repeats": 1}
    fresh.endpoint.reply = answers
    return fresh


@pytest.mark.slow
def test_the_key_is_nowhere_whatever_goes_wrong(unlucky):
    run = unlucky.run("--keep-going", "--show-failed-logs", "--printshellcmds", environment={VARIABLE: KEY})
    assert run.code != 0
    # All of it has happened.
    assert {headers.get("Authorization") for headers in unlucky.endpoint.headers} == {f"Bearer {KEY}"}
    for said in (
        "models.refused.api_key_env: the endpoint refuses the key",
        "models.broken.base_url: no request succeeds at",
        "models.moved.base_url is not the address of a chat endpoint",
        "models.reset.base_url: no request succeeds at",
        "models.dead.base_url: nothing answers at",
        "unexpected error",
        "Traceback",
        "***",
    ):
        assert said in run.output, said
    for finished in ("weak", "rejecting", "talkative"):
        assert (unlucky.folder / f"results/answers/plain/{finished}/1.parquet").exists(), finished
    for needle in needles(KEY):
        assert needle not in run.output.encode()
    assert not holding(unlucky.folder, KEY)


def test_the_search_for_the_key_finds_it(tmp_path):
    """A test that could not find the key would prove nothing."""
    import pyarrow as pa

    for number in range(101):
        (tmp_path / f"{number}.txt").write_text("nothing")
    assert not holding(tmp_path, KEY)
    places = ("a.txt", "a.seg", "a.parquet", "a.json.gz", "a.zst", "basic.log")
    (tmp_path / "a.txt").write_text(f"Bearer {KEY}")
    (tmp_path / "a.seg").write_text(f'{{"message": "{ESCAPED}"}}')
    pq.write_table(pa.table({"reason": [f"Bearer {KEY}"] * 3}), tmp_path / "a.parquet", compression="zstd")
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(KEY.encode()))
    (tmp_path / "a.zst").write_bytes(zstandard.compress(KEY.encode()))
    (tmp_path / "basic.log").write_bytes(base64.b64encode(f"user:{KEY}".encode()))
    assert {Path(found.split(": ")[0]).name for found in holding(tmp_path, KEY)} == set(places)
