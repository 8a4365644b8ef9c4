"""When two addresses are the same page."""

from urllib.parse import quote, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from devqa.web.urls import canonical, is_web, without_fragment


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://e.example/a", "https://e.example/a#section"),
        ("https://e.example/a", "https://e.example/a#:~:text=word"),
        ("https://e.example/a", "http://e.example/a"),
        ("https://e.example/a", "HTTPS://E.Example/a"),
        ("https://e.example/a", "https://e.example:443/a"),
        ("https://e.example/a", "http://e.example:80/a"),
        ("https://e.example/a", "https://e.example./a/"),
        ("https://e.example", "https://e.example/"),
        ("https://e.example/a", "https://www.e.example/a"),
        ("https://e.example/a", "https://m.e.example/a"),
        ("https://e.example/a", "https://mobile.e.example/a"),
        ("https://e.example/a", "https://amp.e.example/a"),
        ("https://e.example/a", "https://www.m.e.example/a"),
        ("https://en.wikipedia.org/wiki/Git", "https://en.m.wikipedia.org/wiki/Git#History"),
        ("https://www.mediawiki.org/wiki/X", "https://m.mediawiki.org/wiki/X"),
        ("https://e.example/?a=1&b=2", "https://e.example/?b=2&a=1"),
        ("https://e.example/?id=1", "https://e.example/?id=1&utm_source=x&utm_medium=y&UTM_Campaign=z"),
        ("https://e.example/?id=1", "https://e.example/?gclid=1&fbclid=2&msclkid=3&yclid=4&mc_eid=5&_ga=6&id=1"),
        ("https://e.example/", "https://e.example/?utm_source=newsletter"),
        ("https://e.example/?q=a b", "https://e.example/?q=a+b"),
        ("https://e.example/?q=a b", "https://e.example/?q=a%20b"),
        ("https://e.example/~user", "https://e.example/%7Euser"),
        ("https://e.example/a%2Cb", "https://e.example/a,b"),
        ("https://e.example/%e4%bd%a0", "https://e.example/%E4%BD%A0"),
        ("https://e.example/%e4%bd%a0", "https://e.example/你"),
        ("https://münchen.example/", "https://xn--mnchen-3ya.example/"),
        ("https://MÜNCHEN.example/", "https://xn--mnchen-3ya.example/"),
        ("https://e.example/#", "https://e.example/#!"),
        ("https://e.example/#!/page", "http://www.e.example/#!/page"),
        ("http://[::1]:8000/a", "https://[::1]:8000/a/"),
    ],
)
def test_the_same_page(one, other):
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://e.example/a", "https://e.example/b"),
        ("https://e.example/a", "https://e.example/A"),
        ("https://e.example/a", "https://e.example:8080/a"),
        ("https://e.example/a", "https://f.example/a"),
        ("https://docs.e.example/a", "https://e.example/a"),
        ("https://m.example/a", "https://example/a"),
        ("https://en.wikipedia.org/wiki/Git", "https://de.m.wikipedia.org/wiki/Git"),
        ("https://e.example/?id=1", "https://e.example/?id=2"),
        ("https://e.example/?id=1", "https://e.example/"),
        ("https://e.example/?a=1&a=2", "https://e.example/?a=2&a=1"),
        # Of what trackers are called, these say what is shown.
        ("https://e.example/file?ref=v1", "https://e.example/file?ref=v2"),
        ("https://e.example/?source=git", "https://e.example/?source=svn"),
        ("https://e.example/?reference=1", "https://e.example/?reference=2"),
        ("https://e.example/?session=1", "https://e.example/?session=2"),
        ("https://e.example/?pk_id=1", "https://e.example/?pk_id=2"),
        ("https://e.example/?12345", "https://e.example/?54321"),
        ("https://e.example/a%3Fb", "https://e.example/a?b"),
        ("https://e.example/c%23", "https://e.example/c"),
        ("https://e.example/?q=a%26b", "https://e.example/?q=a&b"),
        ("https://e.example/?q=c%2B%2B", "https://e.example/?q=c++"),
        ("https://e.example/#!/page", "https://e.example/#!/other"),
        ("https://e.example/#!/page", "https://e.example/"),
        ("file:a/notes.md", "file:a/notes.md#2"),
    ],
)
def test_other_pages(one, other):
    assert canonical(one) != canonical(other)


@pytest.mark.parametrize("url", ["http://[no address", "http://e.example:99999/", "", "doc-1", "file:c#.md", "http://"])
def test_what_is_no_web_address_or_a_broken_one_is_itself(url):
    assert canonical(url) == url
    # A port that is none is only seen when it is used.
    assert is_web(url) == url.startswith("http://e.example")


@pytest.mark.parametrize(
    ("url", "without"),
    [
        ("https://e.example/a#b", "https://e.example/a"),
        ("https://e.example/#!/b", "https://e.example/#!/b"),
        ("http://[no#x", "http://[no"),
        ("file:c#.md", "file:c#.md"),
    ],
)
def test_addresses_for_fetching_lose_their_fragment(url, without):
    assert without_fragment(url) == without


LABELS = st.sampled_from(
    ["www", "m", "amp", "mobile", "e", "EXAMPLE", "münchen", "ｗｗｗ", "xn--mnchen-3ya", "a_b", "", "org"]
)
HOSTS = st.lists(LABELS, min_size=1, max_size=5).map(".".join)
TEXTS = st.text(st.one_of(st.sampled_from("ab%2fF3/.+&=;:@!#?[]ü你 \t\\"), st.characters()), max_size=12)
ADDRESSES = st.builds(
    lambda scheme, host, port, path, query, fragment: f"{scheme}://{host}{port}/{path}{query}{fragment}",
    st.sampled_from(["http", "https", "HTTP", "ftp"]),
    HOSTS,
    st.sampled_from(["", ":", ":80", ":443", ":8080", ":x", ":99999"]),
    TEXTS,
    st.one_of(st.just(""), TEXTS.map("?{}".format)),
    st.one_of(st.just(""), TEXTS.map("#{}".format), TEXTS.map("#!{}".format)),
)


@given(st.one_of(ADDRESSES, TEXTS, st.text()))
@example("http://www.www.m.e.example//?&&=&a=&utm_x#!")
@example("https://e.example/%")
@example("https://u:p@e.example/%2F%2f//")
@example("http://\ud800/#x")
@example("http://e.example:x/#y")
def test_a_key_is_found_for_everything_and_has_itself_as_key(url):
    key = canonical(url)
    assert canonical(key) == key
    assert canonical(without_fragment(url)) == key


@given(ADDRESSES)
def test_keys_are_addresses_in_ascii(url):
    try:
        url.encode()
        parts = urlsplit(url)
        whole = parts.port is None or parts.port > 0
    except ValueError:
        whole = False
    key = canonical(url)
    if whole and is_web(url) and parts.hostname.isascii():
        assert key.startswith("https://")
        assert key.isascii()


@given(st.text(max_size=20), st.text(max_size=20))
def test_how_a_letter_is_encoded_makes_no_difference(path, value):
    encoded = f"https://e.example/{quote(path.encode('utf-8', 'replace'), safe='/')}"
    all_encoded = "https://e.example/" + "".join(
        letter if letter == "/" else "".join(f"%{byte:02x}" for byte in letter.encode("utf-8", "replace"))
        for letter in path
    )
    assert canonical(encoded) == canonical(all_encoded)
    assert canonical(f"{encoded}?v={quote(value.encode('utf-8', 'replace'))}") == canonical(
        f"{all_encoded}?v={quote(value.encode('utf-8', 'replace'), safe='')}&gclid=1"
    )
