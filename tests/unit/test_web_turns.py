"""Many pages at the same time, but one of each host."""

import threading
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.web.fetching.turns import in_turns

HOSTS = ["a.example", "b.example", "A.example.", "c.example"]


@given(st.lists(st.tuples(st.sampled_from(HOSTS), st.integers(0, 5)), max_size=40), st.integers(1, 6))
def test_each_address_once_in_its_order_and_never_two_of_a_host(pages, concurrency):
    urls = [f"http://{host}/{number}" for host, number in pages] + ["not an address", "http://[a"]
    lock, busy, calls = threading.Lock(), Counter(), Counter()

    def get(url):
        host = url.split("/")[2].lower().rstrip(".") if url.startswith("http://a") else url
        with lock:
            busy[host] += 1
            calls[url] += 1
            assert busy[host] == 1
        with lock:
            busy[host] -= 1
        return url.upper()

    assert in_turns(urls, get, concurrency) == {url: url.upper() for url in dict.fromkeys(urls)}
    assert set(calls.values()) <= {1}
    assert list(in_turns(urls, str, 2)) == list(dict.fromkeys(urls))


def test_different_hosts_are_asked_at_the_same_time():
    barrier = threading.Barrier(4, timeout=10)
    assert len(in_turns([f"http://{name}/" for name in "abcd"], lambda url: barrier.wait(), 4)) == 4


def test_hosts_with_most_pages_begin_and_a_slow_one_holds_up_nobody():
    urls = ["http://small/1", *[f"http://big/{number}" for number in range(5)], *[f"http://mid/{n}" for n in range(3)]]
    order, others_done = [], threading.Event()

    def get(url):
        order.append(url)
        if url == "http://big/0":
            assert others_done.wait(10)
        elif len([each for each in order if "big" not in each]) == 4:
            others_done.set()

    in_turns(urls, get, 2)
    assert order[0] == "http://big/0"
    assert order[1] == "http://mid/0"
    assert [url for url in order if "big" in url] == [f"http://big/{number}" for number in range(5)]


def test_an_error_stops_all():
    done = []

    def get(url):
        if url == "http://h3/":
            raise KeyError(url)
        done.append(url)

    with pytest.raises(KeyError):
        in_turns([f"http://h{number}/" for number in range(1000)], get, 2)
    assert len(done) < 900


def test_nothing_to_do():
    assert in_turns([], str, 3) == {}
