"""Addresses of repositories, as others may see them."""

import pytest

from committing import Made
from devqa.errors import UserError
from devqa.pull_requests.repositories.addresses import path_of, public, shown
from devqa.pull_requests.repositories.cloning import cloned
from devqa.pull_requests.repositories.identity import identified


def origin(path="", url=""):
    return {"label": "zoo", "path": str(path), "url": url, "name": ""}


SECRET = "s3cr3t"
SECRETS = [
    f"{scheme}://{address}"
    for scheme in ("http", "HTTPS", "ssh", "Git")
    for address in (
        f"me:{SECRET}@127.0.0.1:9/o/n.git",
        f"me:p@{SECRET}@127.0.0.1:9/o/n.git",
        f"me:{SECRET}@p@127.0.0.1:9/o/n.git",
        f"me:{SECRET}/p@127.0.0.1:9/o/n.git",
        f"me:1/{SECRET}@127.0.0.1:9/o/n.git",
        f"me:{SECRET}?p@127.0.0.1:9/o/n.git",
        f"me:p#{SECRET}@127.0.0.1:9/o/n.git",
        f"me:1?{SECRET}@127.0.0.1:9/o/n.git",
        f"me%3A{SECRET}@127.0.0.1:9/o/n.git",
        f"127.0.0.1:9/o/n.git?access_token={SECRET}",
        f"127.0.0.1:9/o/n.git#{SECRET}",
    )
]
SECRETS += [f"http://{SECRET}@127.0.0.1:9/o/n.git", f"HTTPS://{SECRET}:@[::1]:9/o/n"]
BARE_SECRETS = [f"me:{SECRET}@x.example:o/n", f"m.e:{SECRET}@x.example:o/n", f"git@x.example:o/n?token={SECRET}"]


@pytest.mark.parametrize("url", SECRETS + BARE_SECRETS)
def test_a_secret_in_an_address_is_told_nowhere(tmp_path, url):
    assert SECRET not in public(url) + shown(url)
    assert SECRET not in path_of(public(url))
    made = Made(tmp_path / "made")
    made.commit({"a.py": "1"})
    made.git.remotes.create("origin", url)
    assert SECRET not in str(identified({**origin(made.folder), "commit": ""}, tmp_path, True))


@pytest.mark.parametrize("url", [url for url in SECRETS if not url.startswith("ssh")])
def test_a_secret_in_an_address_stands_in_no_message(tmp_path, caplog, url):
    with caplog.at_level("INFO"), pytest.raises(UserError) as refused:
        cloned(origin(url=url), "", tmp_path, False)
    assert SECRET not in str(refused.value) + caplog.text
    assert "git can't fetch" in str(refused.value) or "can't be reached" in str(refused.value)
    with pytest.raises(UserError) as refused:
        cloned(origin(url=url), "", tmp_path, True)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    "address", ["/home/me@work/zoo?", "./a@b", "file:///home/me@work/zoo", "host:zoo", "zoo.bundle"]
)
def test_paths_are_shown_as_they_are(address):
    assert shown(address) == address


@pytest.mark.parametrize(
    ("url", "shown", "path"),
    [
        ("https://x.example/a/b.git", "https://x.example/a/b.git", "a/b"),
        ("https://me@x.example/a/b/", "https://x.example/a/b/", "a/b"),
        ("git@x.example:a/b.git", "git@x.example:a/b.git", "a/b"),
        ("ssh://git@x.example:22/g/s/p.git", "ssh://git@x.example:22/g/s/p.git", "g/s/p"),
        ("SSH://git:pw@x.example/p.git", "ssh://git@x.example/p.git", "p"),
        ("HTTPS://me:p@ss@x.example:8443/a/b?c=d#e", "https://x.example:8443/a/b", "a/b"),
        ("https://[::1]:80/a/b", "https://[::1]:80/a/b", "a/b"),
        ("git://x.example/a", "git://x.example/a", "a"),
        ("x.example:a/b.git", "x.example:a/b.git", "a/b"),
        ("git@host:/a/b.git", "git@host:/a/b.git", "a/b"),
        ("host:a/b.git", "", ""),
        ("javascript:alert(1)", "", ""),
        ("c:/secret/repo", "", ""),
        ("C:\\secret\\repo", "", ""),
        ("data:text/html,x", "", ""),
        ("mailto:me@x.example", "", ""),
        ("ftp://x.example/a/b", "", ""),
        ("ext::sh -c x", "", ""),
        ("https://[x/a", "", ""),
        ("https:///a/b", "", ""),
        ("https://x.example/a\nb", "", ""),
        ("https://x.example/a b", "", ""),
        ("https://x.example/\ud800", "", ""),
        ("https://x.example:port/a", "", ""),
        ("https://me:12345?x@x.example/a", "", ""),
        ("https://me:12345/x@x.example/a", "", ""),
        ("/home/me/zoo", "", ""),
        ("../zoo", "", ""),
        ("file:///home/me/zoo", "", ""),
        ("", "", ""),
    ],
)
def test_addresses_that_mean_nothing_elsewhere_are_not_told(url, shown, path):
    assert public(url) == shown
    assert path_of(public(url)) == path
