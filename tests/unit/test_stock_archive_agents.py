"""What external agents have printed and GitHub has answered goes into an archive, and nothing else comes out of one."""

import shutil

import pytest
import zstandard

from commanded import Bench
from devqa.errors import UserError
from devqa.llm.cache import Cache, encode, responses
from devqa.pull_requests.agents import runs
from devqa.pull_requests.listing.github import kept
from devqa.pull_requests.listing.github.kept import Kept
from devqa.stock import archive, arrival
from devqa.stock.verify import verified
from devqa.stock.wanted import wanted
from devqa.web.store import Store
from stocked import configuration, key, zipped

BODY = "log('ran')\nif 'discount 1' in sys.argv[1]: sys.exit(3)\nprint('Seven.')"
PAGE = Kept('"etag"', "https://api.github.com/repos/acme/shop/pulls?page=2", b'[{"number": 1}]')
PROGRAM = "/usr/bin/agent"
RUN = {
    "stdout": "Seven.",
    "stderr": "",
    "exit_code": 0,
    "seconds": 1.5,
    "end": "well",
    "trouble": "",
    "timeout_s": 60.0,
    "usd": None,
    "outcome": "ok",
    "step": "pr_command",
    "time": 5.0,
}


def asking(config, *commands, pulls="history"):
    """The same configuration with questions about a repository that such commands are asked."""
    named = {f"agent{number}": {"command": command, "timeout_s": 60.0} for number, command in enumerate(commands)}
    return {**config, "pull_requests": {"repositories": {"shop": {"pulls": pulls}}, "evaluation": {"commands": named}}}


@pytest.fixture
def config(tmp_path):
    return asking(configuration(tmp_path), f"{PROGRAM} {{question}}")


def sent(config):
    found = wanted(responses(config["cache_dir"]), [])
    result = archive.exported(config, found)
    return result, archive.report(result, found)


def arrived(config, tmp_path):
    """What comes to an empty cache."""
    shutil.move(config["cache_dir"], tmp_path / "before")
    return arrival.imported(config)


def shelf(config, program=PROGRAM):
    return runs.shelf(arrival.Path(config["cache_dir"]), program)


def keep(config, name, program=PROGRAM, **changes):
    with shelf(config, program).writer("pr_command") as writer:
        writer.keep(encode(key(name), {**RUN, **changes}))


def printed(config):
    return sorted(record["stdout"] for _, record in shelf(config).records())


def test_a_colleague_runs_no_agent_again_whether_it_ended_well_or_not(tmp_path):
    bench = Bench(tmp_path)
    command = bench.command(BODY)
    for _ in range(3):
        rows = bench.rows(command, questions=2)
    assert [row["status"] for row in rows] == ["ok", "failed"]
    assert len(bench.logged) == 4
    config = asking(configuration(tmp_path), command.command)
    result, text = sent(config)
    assert result.runs == 4
    assert "4 runs of external agents" in text
    came = arrived(config, tmp_path)
    assert (came.runs, came.known_runs, came.answers) == (4, 0, 0)
    assert "added: 0 answers of 0 models, 0 files of the web, 4 runs of external agents" in arrival.report(config, came)
    assert bench.rows(command, questions=2) == rows
    assert len(bench.logged) == 4
    again = arrival.imported(config)
    assert (again.runs, again.known_runs) == (0, 4)
    assert "4 runs" in arrival.report(config, again)


def test_only_what_configured_commands_read_goes(config, tmp_path):
    keep(config, "a")
    keep(config, "b", "/usr/bin/other")
    # From before, with what may be a secret.
    with shelf(config).writer("pr_command") as writer:
        writer.keep(encode(key("old"), {"stdout": "sk-secret", "outcome": "ok", "step": "pr_command", "time": 1.0}))
    assert sent(config)[0].runs == 1
    assert sent({**config, "pull_requests": None})[0].runs == 0
    sent(config)
    assert arrived(config, tmp_path).runs == 1
    assert printed(config) == ["Seven."]


def test_the_same_runs_make_the_same_archive(config, tmp_path):
    for name in "abc":
        keep(config, name)
    sent(config)
    first = (tmp_path / "archive.zip").read_bytes()
    arrived(config, tmp_path)
    sent(config)
    assert (tmp_path / "archive.zip").read_bytes() == first


def test_a_good_run_of_one_s_own_stays_and_a_bad_one_gets_a_good_one_beside_it(config, tmp_path):
    for name in "ab":
        keep(config, name, stdout="theirs", time=1.0)
    sent(config)
    shutil.rmtree(config["cache_dir"])
    keep(config, "a", stdout="mine")
    keep(config, "b", stdout="mine", end="badly", outcome="error", exit_code=1, trouble="it ended with code 1")
    came = arrival.imported(config)
    assert (came.runs, came.known_runs) == (1, 1)
    assert printed(config) == ["mine", "mine", "theirs"]


@pytest.mark.parametrize(
    "changes",
    [
        {"outcome": "refused"},
        {"end": "somehow"},
        {"stdout": None},
        {"stderr": 5},
        {"exit_code": 2**40},
        {"exit_code": "0"},
        {"seconds": -1.0},
        {"timeout_s": None},
        {"usd": 1e300},
        {"usd": -1.0},
        {"time": "now"},
        {"step": "\x1b[2J"},
    ],
    ids=str,
)
def test_a_run_that_is_none_is_refused(config, tmp_path, changes):
    name = f"commands/{shelf(config).folder.name}/answers.seg"
    zipped(config, (name, encode(key("a"), RUN) + encode(key("b"), {**RUN, **changes})))
    with pytest.raises(UserError, match="is refused, nothing was added"):
        arrival.imported(config)
    assert not (tmp_path / "cache").exists()
    zipped(config, (name, encode(key("a"), RUN) + encode(key("b"), {**RUN, "more": 1})))
    assert arrival.imported(config).runs == 2


def test_an_answer_of_a_model_is_no_run_and_a_run_no_answer(config):
    for name in (
        "responses/m-0123456789ab/answers.seg",
        "commands/../answers.seg",
        "checkouts/m-0123456789ab/answers.seg",
    ):
        zipped(config, (name, encode(key("a"), RUN)))
        with pytest.raises(UserError, match="is refused, nothing was added"):
            arrival.imported(config)


@pytest.mark.parametrize("pulls", ["github", "history"])
def test_what_github_has_listed_goes_where_it_is_asked(tmp_path, pulls):
    config = asking(configuration(tmp_path), pulls=pulls)
    kept.put(Store(tmp_path / "cache/github"), "address", PAGE)
    assert sent(config)[0].web_files == (pulls == "github")
    assert arrived(config, tmp_path).web_files == (pulls == "github")
    assert kept.get(Store(tmp_path / "cache/github"), "address") == (PAGE if pulls == "github" else None)


@pytest.mark.parametrize("content", [b"{}", b'["a"]\n{}', b'["a", "b"]\n{', b'["a", "b"]', b"1\n1", b"<p>page</p>"])
def test_a_file_that_is_no_answer_of_github_s_is_refused(config, content):
    zipped(config, (f"github/ab/cd/abcd{'0' * 60}.zst", zstandard.ZstdCompressor().compress(content)))
    with pytest.raises(UserError, match="no answer of GitHub's"):
        arrival.imported(config)


def test_runs_and_github_s_answers_are_verified_as_all_else(config, tmp_path):
    keep(config, "a")
    kept.put(Store(tmp_path / "cache/github"), "address", PAGE)
    assert (verified(config).records, verified(config).web_files, verified(config).damages) == (1, 1, [])
    (segment,) = Cache(tmp_path / "cache/commands").folder.rglob("*.seg")
    segment.write_bytes(segment.read_bytes().replace(b"Seven", b"Eight"))
    (page,) = (tmp_path / "cache/github").rglob("*.zst")
    page.write_bytes(b"rubbish")
    assert {damage.path for damage in verified(config).damages} == {segment, page}
