"""Pull requests from GitHub's REST API."""

import json
import logging
from email.utils import formatdate

import pytest
import stamina

from committing import Made
from devqa import tables
from devqa.config.pull_requests import Select
from devqa.errors import UserError
from devqa.pull_requests.listing.github import pulls as listing
from devqa.pull_requests.listing.github.client import Client
from devqa.pull_requests.listing.github.exchange import wait_s
from devqa.pull_requests.listing.github.opening import open_client
from devqa.pull_requests.listing.github.pulls import pulls
from devqa.pull_requests.listing.listed import listed
from devqa.web.store import NotKept, Store
from hub import NAME, TOKEN, Hub, pull
from patience import at_most
from searching import Response, Service, failing
from standins import assert_sound

KEY = "pull_requests.repositories.zoo"
LIST = f"/repos/{NAME}/pulls"


@pytest.fixture(autouse=True)
def no_waiting():
    stamina.set_testing(True, attempts=3, cap=True)
    yield
    stamina.set_testing(False)


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path / "made")


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "github")


@pytest.fixture
def waits():
    return []


@pytest.fixture
def hub():
    with Hub() as running:
        yield running


@pytest.fixture
def client(hub, store, waits):
    return Client(hub.url, KEY, store, sleep=waits.append)


def everything(store):
    return b"".join(path.read_bytes() for path in store._folder.rglob("*") if path.is_file())


def squashes(made, count):
    made.commit({"a": "0"})
    return [made.commit({"a": str(number)}, f"Pull {number} (#{number})") for number in range(1, count + 1)]


def test_the_latest_merged_ones_are_found_with_what_stands_between(made, hub, client):
    commits = squashes(made, 5)
    hub.pulls = [pull(number, commit) for number, commit in enumerate(commits, 1)]
    hub.pulls += [pull(8, None), pull(9, "f" * 40), pull(7, commits[0], base={"ref": "other"})]
    rows = pulls(client, made.opened(), NAME, "main", 3)
    assert [(row["number"], row["status"], row["reason"]) for row in rows if row["status"] == "ok"] == [
        (5, "ok", ""),
        (4, "ok", ""),
        (3, "ok", ""),
    ]
    assert {row["number"]: row["reason"] for row in rows if row["status"] != "ok"} == {
        8: "not merged",
        9: f"its commit is not in the clone: {'f' * 40}",
    }
    first = next(row for row in rows if row["number"] == 5)
    assert first | {"reason": ""} == {
        "number": 5,
        "title": "Pull 5",
        "body": "What 5 does.",
        "author": "ann",
        "labels": ["bug"],
        "merged_at": "2024-01-01T00:05:00Z",
        "kind": "squash",
        "base": commits[3],
        "head": commits[4],
        "status": "ok",
        "reason": "",
    }
    assert hub.asked[0].what == {
        "state": "closed",
        "sort": "updated",
        "direction": "desc",
        "per_page": "100",
        "base": "main",
    }


@pytest.mark.parametrize("latest", [1, 2, 3, 5, 9])
def test_no_page_too_many_and_none_too_few_is_asked_for(made, hub, client, monkeypatch, latest):
    """One that was merged long ago and talked about since stands before one that was merged later."""
    monkeypatch.setattr(listing, "_PER_PAGE", 2)
    commits = squashes(made, 9)
    hub.pulls = [pull(number, commit) for number, commit in enumerate(commits, 1)]
    hub.pulls[0]["updated_at"] = hub.pulls[2]["updated_at"] = "2024-02-01T00:00:00Z"
    rows = pulls(client, made.opened(), NAME, "main", latest)
    assert [row["number"] for row in rows] == sorted(range(1, 10), reverse=True)[:latest]
    assert len(hub.asked) == {1: 2, 2: 2, 3: 3, 5: 4, 9: 5}[latest]


def test_each_way_to_merge_is_told(made, hub, client):
    first = made.commit({"a": "0\n"})
    side = made.commit({"a": "0\n", "s": "1\n"}, "Side", parents=[first], branch="side")
    merged = made.commit({"a": "0\n", "s": "1\n"}, "Merge pull request #1 from x/y", parents=[first, side])
    squashed = made.commit({"a": "1\n", "s": "1\n"}, "Squashed (#2)")
    renamed = made.commit({"a": "1\n2\n3\n", "s": "1\n"}, "Squashed under a title of its own")
    one = made.commit({"a": "1\n2\n3\n", "s": "2\n"}, "Rebased, part 1")
    two = made.commit({"a": "1\n2\n3\n4\n", "s": "2\n"}, "Rebased, part 2")
    single = made.commit({"a": "x\n", "s": "2\n"}, "Rebased, the only part")
    hub.pulls = [pull(number, commit) for number, commit in enumerate([merged, squashed, renamed, two, single], 1)]
    hub.sizes = {
        3: {"commits": 4, "additions": 2, "deletions": 0, "changed_files": 1},
        4: {"commits": 2, "additions": 2, "deletions": 1, "changed_files": 2},
        5: {"commits": 1, "additions": 1, "deletions": 4, "changed_files": 1},
    }
    rows = pulls(client, made.opened(), NAME, "main", 10)
    assert {row["number"]: (row["kind"], row["base"], row["head"]) for row in rows} == {
        1: ("merge", first, merged),
        2: ("squash", merged, squashed),
        3: ("squash", squashed, renamed),
        4: ("rebase", renamed, two),
        5: ("squash", two, single),
    }
    assert made.opened().read_commit(one).parents == (renamed,)
    assert hub.paths()[1:] == [f"{LIST}/5", f"{LIST}/4", f"{LIST}/3"]


def test_only_what_is_on_the_way_to_the_pinned_commit_counts(made, hub, client):
    commits = squashes(made, 4)
    hub.pulls = [pull(number, commit) for number, commit in enumerate(commits, 1)]
    rows = pulls(client, made.opened(commits[1]), NAME, "main", 2)
    assert [(row["number"], row["status"]) for row in rows] == [(4, "rejected"), (3, "rejected"), (2, "ok"), (1, "ok")]
    assert rows[0]["reason"] == f"not on the way to the pinned commit: {commits[3]}"


def test_what_is_kept_is_asked_conditionally_and_answers_offline(made, hub, client, store):
    commits = squashes(made, 2)
    hub.pulls = [pull(number, commit) for number, commit in enumerate(commits, 1)]
    first = pulls(client, made.opened(), NAME, "main", 5)
    assert pulls(client, made.opened(), NAME, "main", 5) == first
    assert [name for name in hub.asked[1].headers if name.lower() == "if-none-match"]
    offline = Client(hub.url, KEY, store, offline=True)
    assert pulls(offline, made.opened(), NAME, "main", 5) == first
    assert len(hub.asked) == 2
    hub.pulls.append(pull(3, None))
    assert len(pulls(client, made.opened(), NAME, "main", 5)) == 3
    with pytest.raises(UserError, match=r"offline: the cache does not hold all pull requests of ann/other.*latest"):
        pulls(offline, made.opened(), "ann/other", "main", 5)


def test_pages_are_followed_and_each_pull_request_comes_once(made, hub, client, monkeypatch):
    monkeypatch.setattr(listing, "_PER_PAGE", 2)
    commits = squashes(made, 5)
    hub.pulls = [pull(number, commit) for number, commit in enumerate(commits, 1)]
    original = hub._page

    def moving(asked):
        """Between two pages the oldest one is talked about: it comes to the front, and others move on by one."""
        found = original(asked)
        hub.pulls[0]["updated_at"] = "2024-03-01T00:00:00Z"
        return found

    hub._page = moving
    rows = pulls(client, made.opened(), NAME, "main", 50)
    assert [row["number"] for row in rows] == [5, 4, 3, 2]


def test_a_next_page_on_another_server_is_not_asked_for(hub, client):
    with Service(lambda asked: b"[]") as other:
        hub.answers = [Response(200, b"[]", {"Link": f'<{other.url}/steal>; rel="next"'})]
        assert list(client.pages(LIST, {})) == [[]]
        assert other.asked == []


def test_pages_that_lead_in_a_circle_end(hub, client):
    hub.reply = lambda asked: Response(200, b"[]", {"Link": f'<{hub.url}{LIST}?page=2>; rel="next"'})
    assert len(list(client.pages(LIST, {"page": 1}))) == 2


@pytest.mark.parametrize("same", [True, False])
def test_a_renamed_repository_is_followed_on_the_same_server_only(hub, store, same):
    with Service(lambda asked: b"[1]") as other:
        where = hub.url if same else other.url
        hub.answers = [Response(301, b"{}", {"Location": f"{where}/repositories/7/pulls"})]
        hub.answers += [Response(200, b"[1]")]
        client = Client(hub.url, KEY, store, TOKEN)
        if same:
            assert client.get(LIST) == [1]
            assert hub.paths() == [LIST, "/repositories/7/pulls"]
        else:
            with pytest.raises(UserError, match="did not answer as GitHub's REST API does .HTTP 301"):
                client.get(LIST)
            assert other.asked == []


def test_redirects_without_end_are_refused(hub, client):
    hub.reply = lambda asked: Response(302, b"", {"Location": asked.path})
    with pytest.raises(UserError, match="HTTP 302"):
        client.get(LIST)


LIMITS = [
    # The primary limit, over long since.
    (403, {"x_ratelimit_remaining": "0", "x_ratelimit_reset": "900"}, [1.0]),
    # Secondary ones.
    (403, {"retry_after": "7"}, [7.0]),
    (429, {"retry_after": "7", "x_ratelimit_remaining": "0", "x_ratelimit_reset": "9999999999"}, [7.0]),
    (429, {}, [60.0]),
    (403, {"x_ratelimit_remaining": "55"}, [60.0]),
]


@pytest.mark.parametrize(("status", "headers", "expected"), LIMITS)
def test_rate_limits_are_waited_for(hub, client, waits, caplog, status, headers, expected):
    hub.pulls = [pull(1, None)]
    hub.answers = [failing(status, {"message": "You have exceeded a secondary rate limit"}, **headers)]
    with caplog.at_level(logging.WARNING):
        assert len(client.get(LIST)) == 1
    assert waits == expected
    assert "token_env" in caplog.text


@pytest.mark.parametrize(("reset", "expected"), [("1030", 31.0), ("1000", 1.0), ("900", 1.0), ("soon", None)])
def test_a_limit_ends_by_the_servers_own_clock(reset, expected):
    date = formatdate(1000, usegmt=True)
    assert wait_s({"x-ratelimit-remaining": "0", "x-ratelimit-reset": reset, "date": date}) == expected


def test_patience_grows_and_ends(hub, client, waits):
    hub.reply = lambda asked: failing(429, {"message": "rate limit"})
    with pytest.raises(UserError, match="allows nothing more"):
        client.get(LIST)
    assert waits == [60.0, 120.0, 240.0, 480.0, 960.0, 1920.0]


def test_nobody_waits_for_a_day(hub, client, waits):
    hub.answers = [failing(429, {"message": "rate limit"}, retry_after="86400")]
    with pytest.raises(UserError, match="asks to wait 86,400 s"):
        client.get(LIST)
    assert waits == []


@pytest.mark.parametrize("fault", [failing(500), failing(502), failing(408), Response(200, b"[1", drop=True)])
def test_faults_that_pass_are_tried_again(hub, client, fault):
    hub.answers = [fault, fault]
    hub.pulls = [pull(1, None)]
    assert len(client.get(LIST)) == 1
    hub.answers = [fault] * 3
    with pytest.raises(UserError, match=r"repositories\.zoo: .* gave no answer .*give the same command again"):
        client.get(LIST)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            failing(401, {"message": "Bad credentials"}),
            r"zoo\.token_env: .* refuses the token .HTTP 401 Bad credentials",
        ),
        (failing(403, {"message": "Resource not accessible"}), r"zoo\.token_env: .* does not allow it"),
        (failing(404, {"message": "Not Found"}), r"zoo: .* has no such repository.*owner/name"),
        (failing(422), r"zoo\.api: .* did not answer as GitHub's REST API does .HTTP 422"),
        (Response(200, b"<html>hello</html>"), r"zoo\.api: .* did not answer as"),
        (Response(304, b""), r"zoo\.api: .* did not answer as"),
    ],
)
def test_refusals_name_the_key(hub, client, answer, said):
    hub.answers = [answer]
    with pytest.raises(UserError, match=said):
        client.get(LIST)
    assert len(hub.asked) == 1


def test_where_nobody_answers_the_network_is_named(store):
    with pytest.raises(UserError, match=r"zoo: http://127\.0\.0\.1:9 can't be reached .*network"):
        Client("http://127.0.0.1:9", KEY, store).get(LIST)


def test_the_token_goes_to_the_api_and_is_written_nowhere(hub, store, monkeypatch, tmp_path, caplog):
    monkeypatch.setenv("ZOO_TOKEN", f" {TOKEN}\n")
    client = open_client("zoo", hub.url, "ZOO_TOKEN", tmp_path, False)
    hub.token = TOKEN
    hub.pulls = [pull(1, None, body=f"I lost {TOKEN}")]
    assert client.get(LIST)[0]["body"] == "I lost ***"
    assert TOKEN.encode() not in everything(Store(tmp_path / "github"))
    hub.token = "another"
    with pytest.raises(UserError) as refused:
        client.get(LIST + "/7")
    assert TOKEN not in str(refused.value) + caplog.text
    assert "***" in str(refused.value)


def test_a_token_that_is_missing_is_said(monkeypatch, tmp_path):
    monkeypatch.delenv("ZOO_TOKEN", raising=False)
    with pytest.raises(UserError, match=r"zoo\.token_env: the environment variable ZOO_TOKEN is not set"):
        open_client("zoo", "http://x", "ZOO_TOKEN", tmp_path, False)
    open_client("zoo", "http://x", "ZOO_TOKEN", tmp_path, True)
    monkeypatch.setenv("ZOO_TOKEN", "two\nlines")
    with pytest.raises(UserError, match="does not hold a token"):
        open_client("zoo", "http://x", "ZOO_TOKEN", tmp_path, False)


def test_an_enterprise_servers_path_is_kept(hub, store):
    hub.reply = lambda asked: b"[]"
    Client(f"{hub.url}/api/v3/", KEY, store).get(LIST)
    assert hub.paths() == [f"/api/v3{LIST}"]


@pytest.mark.parametrize(
    "odd",
    [
        {"user": None, "labels": None, "body": None},
        {"user": "ann", "labels": ["x", None, {"name": 3}], "body": 7},
        {"merge_commit_sha": None},
        {"merge_commit_sha": "no commit"},
        {"labels": 5},
        {"labels": {"name": "bug"}},
        {"labels": "bug"},
        {"title": "\n", "merged_at": "soon\u202e", "updated_at": ""},
        {"number": 2**62 - 1},
    ],
)
def test_odd_values_stop_nothing(made, hub, client, odd):
    commits = squashes(made, 1)
    hub.pulls = [{**pull(1, commits[0]), **odd}]
    hub.sizes = {2**62 - 1: {}}
    (row,) = pulls(client, made.opened(), NAME, "main", 5)
    assert row["author"] in ("", "ann")
    assert (row["status"] == "ok") == ("merge_commit_sha" not in odd)
    rows = listed(made.opened(), [row], "zoo", Select().model_dump())
    assert_sound(rows, "pulls")
    tables.write(rows, "pulls", made.folder / "pulls.parquet")


def test_of_a_commit_id_no_part_will_do(made, hub, client):
    (commit,) = squashes(made, 1)
    hub.pulls = [pull(1, commit[:8])]
    assert pulls(client, made.opened(), NAME, "main", 5)[0]["reason"].startswith("GitHub does not say")


def test_more_commits_than_the_history_has_end_with_it(made, hub, client):
    commits = squashes(made, 1)
    hub.pulls = [pull(7, commits[0])]
    hub.sizes = {7: {"commits": 2**62, "additions": 0, "deletions": 0, "changed_files": 0}}
    with at_most(30):
        (row,) = pulls(client, made.opened(), NAME, "main", 5)
    assert (row["kind"], row["status"]) == ("squash", "ok")


@pytest.mark.parametrize(
    "answer",
    [
        {"message": "hello"},
        [7, None, {"number": "1"}],
        "text",
        3,
        [pull(True, None), pull(0, None), pull(2**63, None), pull(-1, None)],
    ],
)
def test_lists_of_anything_else_hold_no_pull_requests(made, hub, client, answer):
    made.commit({"a": "1"})
    hub.answers = [Response(200, json.dumps(answer).encode())]
    assert pulls(client, made.opened(), NAME, "main", 5) == []


def test_a_damaged_page_is_asked_for_again(hub, client, store):
    hub.pulls = [pull(1, None)]
    client.get(LIST)
    (file,) = (path for path in store._folder.rglob("*.zst"))
    file.write_bytes(b"damaged")
    assert len(client.get(LIST)) == 1
    with pytest.raises(NotKept):
        Client(hub.url, KEY, store, offline=True).get(LIST + "/9")
