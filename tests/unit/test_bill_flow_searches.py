"""How many searches each step will send where they have a price, from what the steps before it do."""

from devqa.bill.flow import Line
from devqa.bill.meter import Altered
from unit.test_bill_flow import CONFIG, ENGINE, figures, job, reading, run


def searches(rule: str, basis: str = "exact", cached: int = 0, missing: int = 0, altered: Altered | None = None):
    """A job that searches, of which each missing search may take a second request."""
    first = reading(rule, cached, missing, altered or Altered(missing, missing), part=(rule, ENGINE))
    pages = reading(rule, 0, 0, first.altered, part=(rule, ENGINE), name=f"{rule} pages", most=missing)
    return job(rule, basis), [] if basis == "missing" else [first, pages]


def engine(lines: dict, rule: str) -> Line:
    return lines[rule, rule, ENGINE]


def test_searches_whose_queries_stay_are_certain_and_their_further_pages_are_not():
    line = engine(run(searches("search", cached=60, missing=30)), "search")
    assert figures(line) == (30, 0, 60, 0, 30)
    assert line.bases == {"exact", "present"}


def test_new_queries_are_searched_for_anew():
    queries = (job("queries"), [reading("queries", 20, 10, Altered(10, 10))])
    lines = run(queries, searches("search", "present", cached=90))
    # A third of the dialogues; each has at most four queries, and each of them two pages.
    assert figures(engine(lines, "search")) == (0, 0, 60, 30, 80)
    fresh = engine(run((job("queries"), [reading("queries", 0, 30, None)]), searches("search", "missing")), "search")
    assert figures(fresh) == (0, 0, 0, 45, 240)
    assert fresh.bases == {"paper"}


def test_what_new_searches_find_makes_later_texts_new():
    generate = (job("generate", "present"), [reading("generate", 30, 0)])
    kept = run(searches("search", cached=90), generate)["generate", "generate", "worker"]
    assert figures(kept) == (0, 0, 30, 0, 0)
    lines = run(searches("search", missing=90, altered=Altered(90, 30)), generate)
    assert figures(lines["generate", "generate", "worker"]) == (0, 0, 0, 30, 30)


def test_evidence_is_searched_for_with_pairs_that_may_pass():
    check = (job("check"), [reading("check", 0, 90, Altered(90, 30))])
    lines = run(check, searches("evidence", "present", cached=60), (job("verify", "missing"), []))
    # Thirty pairs more, each with two pages.
    assert figures(engine(lines, "evidence")) == (0, 0, 60, 0, 60)
    exact = run(searches("evidence", cached=60, missing=3), (job("verify", "present"), [reading("verify", 60, 9)]))
    assert figures(engine(exact, "evidence")) == (3, 0, 60, 0, 3)
    # Nobody knows what new evidence makes of the answers.
    assert figures(exact["verify", "verify", "worker"])[:2] == (0, 9)


def test_questions_of_the_benchmark_were_searched_for_when_they_were_pairs():
    line = engine(run(searches("retrieve", "missing")), "retrieve")
    assert (figures(line), line.bases) == ((0, 0, 60, 0, 0), {"paper"})
    more = {**CONFIG, "evaluation": {"benchmark": None, "rag": {"pages": 6}}}
    line = engine(run(searches("retrieve", "missing"), config=more), "retrieve")
    assert (figures(line), line.bases) == ((0, 0, 0, 60, 180), {"paper"})
    line = engine(run(searches("retrieve", missing=70), rows=70), "retrieve")
    assert figures(line) == (70, 0, 0, 0, 70)
