"""Scrubbing as a whole: nothing twice, no time lost, nothing that a cut or a neighbour hides."""

import socket

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from devqa.study.scrubbing import scrub
from unit.test_study_scrubbing_lines import CLEAN, FOUND, TOKENS, lines, parted

KEY = "\n".join(
    [
        "-----BEGIN RSA PRIVATE KEY-----",
        *["MIIEpAIBAAKCAQEA04up8hoqzS1abcdEFGHijklMNOPqrst"] * 4,
        "ab3=",
        "-----END RSA PRIVATE KEY-----",
    ]
)
# Pieces that patterns of ours begin, go on or end with.
PIECES = [
    *"\"'`=:;,.@/\\<>()[]{}$%- \n\t0159aeAZ_?&",
    *(
        "password",
        "pass",
        "secret",
        "api_key",
        "token",
        "пароль",
        "密码",
        "是",
        "is ",
        "Bearer ",
        "curl -u ",
        "mysql -p",
    ),
    *("sk" + "-", "AK" + "IA", "ey" + "J", "gh" + "p_", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"),
    *(
        "://",
        "bob@acme.io",
        "+1 212 555 0123",
        "tel ",
        "52.14.203.77",
        "2606:2800:220:1:248:1893:25c8:1946",
        "/home/",
        "C:\\Users\\",
    ),
    *("anna", "hunter2", "Qwerty123!", "4111111111111111", "DE89370400440532013000", "<SECRET>", "<PHONE>", "İ"),
    *TOKENS.values(),
]
WRITTEN = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@given(st.one_of(st.text(max_size=60), WRITTEN))
@settings(max_examples=400)
@example("/home/a/home/a/home/a")
@example("password=password=hunter2")
def test_a_scrubbed_text_stays_as_it_is(text):
    once, kinds = scrub(text)
    assert scrub(once)[0] == once
    assert bool(kinds) == (once != text)


@given(st.lists(st.sampled_from(lines(FOUND) + lines(CLEAN)), max_size=8))
def test_lines_don_t_bear_on_each_other(several):
    parts = [parted(line) for line in several]
    # What announces a number may stand at the end of the line before.
    found, _ = scrub("\n\n----------------------------------------\n\n".join(text for text, *_ in parts))
    for _, _, secrets in parts:
        assert not [value for _, value in secrets if len(value) > 6 and value in found]


def test_the_kinds_are_told_once_each_and_sorted():
    text, kinds = scrub("a@acme.io b@acme.io 52.14.203.77 password=hunter2")
    assert text == "<EMAIL> <EMAIL> <IP> password=<SECRET>"
    assert kinds == ["email", "ip", "secret"]
    assert scrub("") == ("", [])


def test_marks_that_stand_there_already_are_not_counted():
    assert scrub("password = <SECRET>, mail <EMAIL>, [REDACTED]") == (
        "password = <SECRET>, mail <EMAIL>, [REDACTED]",
        [],
    )


@pytest.mark.parametrize(
    "written",
    [
        KEY,
        KEY.replace("\n", "\\n"),
        KEY.replace("\n", '\\n" +\n  "'),
        KEY.replace("\n", "\n    "),
        KEY.replace("RSA ", ""),
        KEY.replace("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK").replace("-\nMII", "-\nVersion: GnuPG v2\n\nMII", 1),
        KEY.replace("-\nMII", "-\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\nMII", 1),
    ],
)
def test_private_keys_go_as_a_whole(written):
    found, kinds = scrub(f"my key:\n{written}\nWhy is it refused?")
    assert found == "my key:\n<SECRET>\nWhy is it refused?"
    assert kinds == ["secret"]


def test_a_private_key_that_was_cut_goes_too():
    for length in range(40, len(KEY), 7):
        found, _ = scrub(f"my key:\n{KEY[:length]}")
        assert "MIIEpAIB" not in found or length < 60, length


def test_a_private_key_that_is_only_named_stays():
    code = 'body = pem.replace("-----BEGIN PRIVATE KEY-----", "").replace("-----END PRIVATE KEY-----", "")'
    assert scrub(code) == (code, [])


@pytest.mark.parametrize("name", ["openai", "github", "google", "slack", "jwt", "huggingface", "aws", "npm"])
def test_a_token_that_was_cut_goes_too(name):
    token = TOKENS[name]
    for length in range(18, len(token)):
        found, _ = scrub(f"why does it not work\n{token[:length]}")
        assert token[:length] not in found, length


def test_a_password_whose_end_was_cut_goes_too():
    assert scrub('db = connect(password="hunter2')[0] == 'db = connect(password="<SECRET>'


def test_a_mailbox_that_was_cut_goes_too():
    assert scrub("write to anna.schmidt@acme-to")[0] == "write to <EMAIL>"
    for text in ("ssh root@server", "npm install react@latest", "git clone git@github.com", "y = A@B"):
        assert scrub(text)[1] == []


def test_long_data_is_no_secret():
    data = "iVBORw0KGgoAAAANSUhEUgAA" * 200
    assert scrub(f'<img src="data:image/png;base64,{data}">')[1] == []


# Each of these has made some pattern of somebody slow.
HOSTILE = [
    "a",
    "a ",
    "1",
    "1 ",
    "1-",
    "a.",
    "@",
    "a@",
    "a@a.",
    "://",
    "://a:",
    "ey" + "J",
    "ey" + "Ja.",
    "password=",
    "pass",
    "密码是",
    "api_key:",
]
HOSTILE += [
    "AK" + "IA" + "A" * 16 + " ",
    "-----BEGIN PRIVATE KEY-----",
    "A" * 16 + "\n",
    "curl -u ",
    "mysql -p",
    "bearer ",
    "GB82 ",
    "+1 212 ",
]
HOSTILE += [
    "1.",
    "2001:db8:",
    "/home/a",
    "C:\\Users\\a",
    '"',
    "' ",
    "login('a',",
    "İ",
    "eyJ1" * 127 + " ",
    "a1b-" * 127 + " ",
    "\u00a0",
    "\\",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_no_text_takes_for_ever(unit, no_deadlock):
    """What takes time in proportion to the square of 100,000 characters would take minutes."""
    text = unit * (100_000 // len(unit))
    found, _ = scrub(text)
    assert bool(found)


def test_nothing_is_sent(monkeypatch):
    """Some detectors of detect-secrets ask services whether a key is valid: not here."""

    def refused(*arguments, **named):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket, "create_connection", refused)
    monkeypatch.setattr(socket.socket, "connect", refused)
    for text, expected, _ in map(parted, lines(FOUND)):
        assert scrub(text)[0] == expected
