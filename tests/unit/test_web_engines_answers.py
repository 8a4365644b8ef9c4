"""What services answer: an odd value costs nothing that was paid for, and another service is named."""

import json

import pytest

from devqa.errors import UserError
from devqa.web.store import Store
from searching import KEY, NAMES, Response, Service, body, engine, numbered


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def service(name):
    with Service(numbered(name, 10)) as running:
        yield running


class Recording(Store):
    """A store that also shows what was put into it, in `values`."""

    def __init__(self, folder):
        super().__init__(folder)
        self.values = []

    def put(self, key, value):
        self.values.append(value)
        super().put(key, value)


@pytest.fixture
def store(tmp_path):
    return Recording(tmp_path / "web")


@pytest.fixture
def searcher(name, service, store):
    return engine(name, service.url, store)


def urls(found):
    return [hit.url for hit in found.hits]


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b'\n{"message":\x00 "hello"}', """but with '{"message": "hello"}': """),
        (b"<html>" + "é".encode() * 900, f"but with '<html>{'é' * 74}…': "),
        (b"", "but with '': "),
        (f'{{"error": "the key {KEY} is not good"}}'.encode(), """'{"error": "the key *** is not good"}'"""),
    ],
)
def test_the_beginning_of_what_another_service_answers_is_shown(service, name, store, content, shown):
    service.answers = [Response(200, content)]
    with pytest.raises(UserError) as error:
        engine(name, service.url, store, key=KEY).search("q", "en", 3)
    assert shown in str(error.value)
    assert KEY not in str(error.value)


def odd(name, changes):
    """A good page of five results, of which `changes` replaces texts."""
    content = body(name, [f"https://r.example/{number}" for number in range(5)], more=False)
    for old, new in changes.items():
        assert old in content
        content = content.replace(old, new, 1)
    return content


@pytest.mark.parametrize(
    ("changes", "title"),
    [
        # Half of a character, escaped or in bytes.
        ({b'"T"': rb'"T \ud83d"'}, "T \ufffd"),
        ({b'"T"': rb'"\ud83d\ude00 \ude00"'}, "\U0001f600 \ufffd"),
        ({b'"T"': b'"T \xff"'}, "T \ufffd"),
        ({b'"T"': b'"T\tU"'}, "T\tU"),
        ({b'"T"': b"null"}, ""),
        ({b'"T"': b"404"}, "404"),
        ({b"{": b'{"unrelated": NaN, '}, "T"),
        ({b"{": b'{"unrelated": [-Infinity, 1e999], '}, "T"),
        ({b"{": b'{"unrelated": ' + b"9" * 5_000 + b", "}, "T"),
        ({b"{": b"\xef\xbb\xbf{"}, "T"),
        ({b"r.example/4": rb"r.example/\udead"}, "T"),
    ],
)
def test_an_odd_value_costs_no_answer(service, name, searcher, store, changes, title):
    answer = odd(name, changes)
    service.answers = [Response(200, answer)]
    found = searcher.search("q", "en", 5)
    assert len(found.hits) == 5
    assert found.hits[0].title == title
    # As tables and files have it.
    json.dumps([hit.__dict__ for hit in found.hits], ensure_ascii=False).encode()
    assert searcher.search("q", "en", 5) == found
    assert len(service.asked) == 1
    assert answer in store.values


@pytest.mark.parametrize(
    "entry", [b"null", b"5", b'"text"', b"[]", b"{}", b'{"url": null, "link": null}', b'{"url": 5, "link": []}']
)
def test_results_without_an_address_are_skipped(service, name, searcher, entry):
    content = body(name, ["https://r.example/1", "https://r.example/2"], more=False)
    # The list of results is the one with the addresses.
    place = content.rindex(b"[", 0, content.index(b"https://r.example/1"))
    service.answers = [Response(200, content[: place + 1] + entry + b", " + content[place + 1 :])]
    found = searcher.search("q", "en", 2)
    assert urls(found) == ["https://r.example/1", "https://r.example/2"]
    assert searcher.search("q", "en", 2) == found
    assert len(service.asked) == 1


NOTHING = {
    "searxng": ['{"results": null}', '{"results": [null, 5, {}]}', '{"results": {}, "unresponsive_engines": []}'],
    "brave": [
        '{"query": {}}',
        '{"query": null, "web": null}',
        '{"web": {"results": null}}',
        '{"query": {}, "web": []}',
    ],
    "serper": ['{"searchParameters": {}}', '{"searchParameters": {}, "organic": null}', '{"organic": []}'],
    "tavily": ['{"results": null}', '{"results": [1], "query": "q"}'],
    "google": ['{"queries": {}}', '{"queries": null, "items": null}', '{"items": [], "queries": [1]}'],
}


@pytest.mark.parametrize(("name", "answer"), [(name, answer) for name in NAMES for answer in NOTHING[name]])
def test_no_list_of_results_is_nothing_found_and_kept(service, name, searcher, answer):
    service.answers = [Response(200, answer.encode())]
    assert searcher.search("q", "en", 3) == ([], 1)
    assert searcher.search("q", "en", 3) == ([], 1)
    assert len(service.asked) == 1


def test_white_space_around_an_address_is_no_part_of_it(service, name, searcher):
    addresses = [" https://r.example/1\n", "https://r.example/1", "\u00a0https://r.example/2", " ", ""]
    service.answers = [Response(200, body(name, addresses, more=False))]
    assert urls(searcher.search("q", "en", 2)) == ["https://r.example/1", "https://r.example/2"]
