"""What missing requests take and cost: ranges that hold whatever really comes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.bill.estimate import cost, total
from devqa.bill.flow import Line
from devqa.bill.meter import Missing
from devqa.bill.sizes import Size
from devqa.bill.spent import Spent

PRICE = {"input": 1.0, "output": 4.0, "cached_input": 0.25}
SIZE = Size(input=500, input_most=900, output=100, output_most=400, structured=False)
ASKED = {"label": "m", "context": 8192, "sampling": {"max_tokens": 400}}


def line(**more) -> Line:
    return Line("check", "check", "m", ASKED, "", bases={"exact"}, **more)


def requests(count: int, structured: bool = False) -> dict[str, Missing]:
    return {str(number): Missing(3_000, 1_000, 400, structured) for number in range(count)}


def seen(*answers: tuple[int, int], sent: int = 3_000, repaired: int = 0) -> Spent:
    spent = Spent()
    for given_tokens, taken in answers:
        spent.add({"input_tokens": given_tokens, "output_tokens": taken, "sent_bytes": sent})
    for _ in range(repaired):
        spent.add({"input_tokens": 2_000, "output_tokens": 80, "sent_bytes": sent, "repaired": True})
    return spent


def usd(input_tokens: float, output_tokens: float) -> float:
    return (input_tokens * PRICE["input"] + output_tokens * PRICE["output"]) / 1_000_000


def test_cached_requests_cost_nothing():
    said = cost(line(cached=1_000.0), None, None, SIZE, PRICE)
    assert (said.cached, said.sent, said.most) == (1_000, 0, 0)
    assert (said.low, said.usual, said.high) == (0, 0, 0)


def test_without_earlier_answers_the_estimate_and_the_token_limit_bound_the_cost():
    said = cost(line(sure=requests(10)), None, None, SIZE, PRICE)
    assert said.low == pytest.approx((4_000 * 0.25 + 10 * 4) / 1_000_000)
    assert said.usual == pytest.approx(usd(8_000, 1_500))
    assert said.high == pytest.approx(usd(20_000, 4_000))


def test_earlier_answers_of_the_model_say_what_its_tokens_are():
    own = seen(*[(600, 50), (750, 70), (900, 90)] * 10)
    said = cost(line(sure=requests(10)), own, None, SIZE, PRICE)
    assert (said.input_tokens, said.output_tokens) == (7_500, 700)
    assert said.usual == pytest.approx(usd(7_500, 700))
    assert said.low == pytest.approx((5_400 * 0.25 + 500 * 4) / 1_000_000)
    assert said.high == pytest.approx(usd(9_900, 4_000))


def test_answers_of_another_model_say_what_is_usual_and_bound_nothing():
    others = seen(*[(600, 50)] * 30)
    said = cost(line(sure=requests(10)), None, others, SIZE, PRICE)
    assert said.usual == pytest.approx(usd(6_000, 500))
    assert (said.low, said.high) == (pytest.approx(1_040 / 1_000_000), pytest.approx(usd(20_000, 4_000)))


def test_an_answer_that_breaks_its_schema_may_be_asked_for_twice():
    plain = cost(line(sure=requests(10)), None, None, SIZE, PRICE)
    said = cost(line(sure=requests(10, structured=True)), None, None, SIZE, PRICE)
    # Each once more, with the first answer in it.
    assert said.high == pytest.approx(usd(20_000 + 20_000 + 4_000 + 2_000, 8_000))
    assert said.low == plain.low
    # Of 100 answers five were asked for twice: of 400 some twenty will be, a fifth and one at most.
    own = seen(*[(1_000, 50)] * 95, repaired=5)
    said = cost(line(sure=requests(400, structured=True)), own, None, SIZE, PRICE)
    assert said.output_tokens == pytest.approx(20_000 * 1.05)
    assert said.high == pytest.approx(
        usd(440_000 * (1 + 81 / 400) + 81 * (400 + 200), 160_000 * (1 + 81 / 400)), rel=1e-6
    )


def test_only_what_is_certain_is_in_the_low_end():
    said = cost(line(likely=requests(10), further=5.0, most=40.0), None, None, SIZE, PRICE)
    assert said.low == 0
    assert (said.sent, said.most) == (15, 50)
    assert said.usual == pytest.approx(usd(8_000 + 5 * 500, 1_500 + 5 * 100))
    assert said.high == pytest.approx(usd(20_000 + 40 * 900, 4_000 + 40 * 400))


def test_a_model_without_a_price_is_marked():
    said = cost(line(sure=requests(3)), None, None, SIZE, dict.fromkeys(PRICE, 0.0))
    assert said.free
    assert (said.low, said.usual, said.high) == (0, 0, 0)
    assert not cost(line(sure=requests(3)), None, None, SIZE, PRICE).free


def test_the_total_is_the_sum():
    both = [cost(line(sure=requests(count)), None, None, SIZE, PRICE) for count in (3, 4)]
    whole = total(both)
    assert (whole.sent, whole.input_tokens) == (7, 5_600)
    assert whole.high == pytest.approx(both[0].high + both[1].high)


answers = st.lists(st.tuples(st.integers(300, 1_500), st.integers(1, 400)), min_size=20, max_size=60)


@given(answers, st.lists(st.integers(100, 400), max_size=5), st.data())
def test_the_range_holds_what_a_model_takes_that_goes_on_as_before(before, cut_off, data):
    """Whichever of the answers that were seen come again, and however many reach the limit."""
    own = seen(*before)
    come = data.draw(st.lists(st.sampled_from(before), min_size=1, max_size=50))
    said = cost(line(sure=requests(len(come) + len(cut_off))), own, None, SIZE, PRICE)
    input_tokens = sum(given_tokens for given_tokens, _ in come) + len(cut_off) * before[0][0]
    output_tokens = sum(taken for _, taken in come) + len(cut_off) * 400
    true = usd(input_tokens, output_tokens)
    assert said.low <= true * (1 + 1e-9)
    assert true <= said.high * (1 + 1e-9)
    assert said.low <= said.usual <= said.high


@given(st.integers(0, 30), st.integers(0, 30), st.floats(0, 100), st.floats(0, 100), st.booleans(), st.booleans())
def test_the_usual_cost_is_within_the_range(sure, likely, further, beyond, structured, known):
    own = seen(*[(500, 20), (900, 380)] * 15, repaired=3) if known else None
    size = Size(500, 900, 100, 400, structured)
    named = {f"likely {key}": each for key, each in requests(likely, structured).items()}
    said = cost(
        line(sure=requests(sure, structured), likely=named, further=further, most=further + beyond),
        own,
        None,
        size,
        PRICE,
    )
    assert 0 <= said.low <= said.usual + 1e-12
    assert said.usual <= said.high + 1e-12
    assert said.sent <= said.most
