"""Decoding pages that say the wrong thing about themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.web.cleaning.charset import decode

_RUSSIAN = "Это абзац текста о том, как разработчик может использовать эту библиотеку для своих задач. " * 5
_CHINESE = "这是一个关于软件开发的段落，我们在这里说明如何使用这个库来完成任务。" * 5


def _page(text: str, encoding: str, declared: str) -> bytes:
    return f'<html><head><meta charset="{declared}"></head><body>{text}'.encode(encoding)


@pytest.mark.parametrize(
    ("text", "encoding", "declared"),
    [
        (_CHINESE + "镕€🙂", "utf-8", "gb2312"),
        (_CHINESE + "镕", "gb18030", "gb2312"),
        (_RUSSIAN, "koi8-r", "utf-8"),
        (_RUSSIAN, "cp1251", "windows-1251"),
        (_RUSSIAN, "cp1251", "nonsense"),
        ("It’s “quoted” – café", "cp1252", "iso-8859-1"),
        ("plain", "utf-8", "utf8mb4"),
        ("plain é", "utf-8", "hex"),
        ("資料庫索引結構", "big5", "big5"),
    ],
)
def test_declared_and_lying_charsets(text, encoding, declared):
    assert text in decode(_page(text, encoding, declared), "text/html")


def test_the_header_is_asked_before_the_page():
    assert decode(_page("é", "cp1252", "koi8-r"), "text/html; charset=ISO-8859-1").endswith("é")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks(encoding):
    assert decode("Текст".encode(encoding), "text/html; charset=koi8-r") == "Текст"


@pytest.mark.parametrize("declared", ["utf-7", "unicode_escape", "raw_unicode_escape", "punycode", "idna"])
def test_what_only_python_calls_a_charset_is_none(declared):
    """Some of these bring markup out of harmless bytes, and some take for ever on long texts."""
    page = decode(b"+ADw-script+AD4- \\x3cscript\\x3e \xe9" + b"-a" * 100_000, f"text/html; charset={declared}")
    assert "<script>" not in page
    assert page.startswith("+ADw-script+AD4- \\x3cscript")


@pytest.mark.parametrize(
    ("text", "encoding", "header"),
    [
        (_CHINESE, "gb18030", "text/html; charset=GB18030"),
        (_RUSSIAN, "cp1251", "text/html; charset=windows-1251"),
        (_RUSSIAN, "koi8-r", 'text/html; charset="koi8-r"'),
        (_CHINESE, "gb18030", "text/html"),
        (_RUSSIAN, "cp1251", "text/html"),
        (_RUSSIAN, "koi8-r", "text/html"),
        (_RUSSIAN, "koi8-r", "text/html; charset=utf-8"),
    ],
)
def test_from_the_header_or_from_the_bytes_alone(text, encoding, header):
    assert decode(text.encode(encoding), header) == text


@given(st.binary(max_size=200), st.text(max_size=20))
def test_decoding_never_fails(content, charset):
    assert isinstance(decode(content, f"text/html; charset={charset}"), str)
