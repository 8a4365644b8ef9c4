"""Each engine: how a request looks, and what its documented errors mean."""

import json

import pytest
import stamina

from devqa.errors import UserError
from devqa.web.engines.base import Hit, QuotaExhausted, SearchFailed
from devqa.web.engines.sites import Sites
from devqa.web.store import Store
from searching import KEY, PAID, Response, Service, engine, failing, numbered

SITES = Sites(("python.org", "github.com/pallets"), ("w3schools.com", "medium.com/tag"))

BRAVE_RATE = {
    "type": "ErrorResponse",
    "error": {
        "id": "5d832250-9396-4f6e-b84a-2a1fe524cd7d",
        "status": 429,
        "code": "RATE_LIMITED",
        "detail": "Request rate limit exceeded for plan.",
        "meta": {"plan": "Free", "rate_limit": 1, "quota_limit": 2000, "component": "rate_limiter"},
    },
    "time": 1773685964,
}


def brave(code, detail, meta=None):
    """The documented shape, with `errors`."""
    return {"type": "ErrorResponse", "errors": [{"code": code, "detail": detail, "meta": meta or {}}], "time": 0}


def google(code, message, reason, details=()):
    errors = [{"message": message, "domain": "global", "reason": reason}]
    return {"error": {"code": code, "message": message, "errors": errors, "status": "X", "details": [*details]}}


def per(what):
    return (
        f"Quota exceeded for quota metric 'Queries' and limit 'Queries per {what}' of service "
        "'customsearch.googleapis.com' for consumer 'project_number:1'."
    )


NO_GOOGLE_KEY = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
HEADER_MISSING = {"errors": [{"loc": ["header", "x-subscription-token"], "msg": "field required"}]}
PLAN = "This request exceeds your plan's set usage limit. Please upgrade your plan or contact support@tavily.com"
PAYGO = "This request exceeds the pay-as-you-go limit. You can increase your limit on the Tavily dashboard."
FAST = "Your request has been blocked due to excessive requests. Please reduce the rate of requests."

KEY_REFUSED = [
    ("brave", 422, brave("SUBSCRIPTION_TOKEN_INVALID", "The provided subscription token is invalid.")),
    ("brave", 422, brave("VALIDATION", "Unable to validate request parameter(s)", HEADER_MISSING)),
    ("brave", 404, brave("SUBSCRIPTION_NOT_FOUND", "No subscription found.")),
    ("brave", 400, brave("OPTION_NOT_IN_PLAN", "The option is not in your plan.")),
    ("serper", 403, {"message": "Unauthorized.", "statusCode": 403}),
    ("tavily", 401, {"detail": {"error": "Unauthorized: missing or invalid API key."}}),
    ("google", 400, google(400, "API key not valid. Please pass a valid API key.", "badRequest", NO_GOOGLE_KEY)),
    ("google", 400, google(400, "Bad Request", "keyInvalid")),
    ("google", 403, google(403, "This project does not have the access to Custom Search JSON API.", "forbidden")),
]
QUOTA = [
    ("brave", 429, brave("QUOTA_LIMITED", "Request quota limit exceeded for plan.")),
    ("brave", 402, brave("PAYMENT_REQUIRED", "Pay.")),
    ("serper", 400, {"message": "Not enough credits", "statusCode": 400}),
    ("tavily", 432, {"detail": {"error": PLAN}}),
    ("tavily", 433, {"detail": {"error": PAYGO}}),
    ("google", 403, google(403, "Daily Limit Exceeded.", "dailyLimitExceeded")),
    ("google", 429, google(429, per("day"), "rateLimitExceeded")),
]
TOO_FAST = [
    ("brave", 429, BRAVE_RATE),
    ("brave", 429, brave("RATE_LIMITED", "Request rate limit exceeded for plan.")),
    ("serper", 429, {"message": "Too many requests", "statusCode": 429}),
    ("tavily", 429, {"detail": {"error": FAST}}),
    ("google", 429, google(429, per("minute per user"), "rateLimitExceeded")),
    ("google", 403, google(403, "Rate Limit Exceeded", "userRateLimitExceeded")),
]
NOT_TAKEN = [
    ("brave", 422, brave("VALIDATION", "Unable to validate request parameter(s)", {"errors": [{"loc": ["query"]}]})),
    ("serper", 400, {"message": "Query pattern not allowed for free accounts.", "statusCode": 400}),
    ("tavily", 400, {"detail": {"error": "Query is too long. Max query length is 400 characters."}}),
    ("google", 400, google(400, "Request contains an invalid argument.", "badRequest")),
]


@pytest.fixture
def service():
    stamina.set_testing(True, attempts=4, cap=True)
    with Service(lambda asked: b"") as running:
        yield running
    stamina.set_testing(False)


@pytest.fixture
def opened(service, tmp_path):
    def opened(name, **options):
        service.reply = numbered(name, 10)
        return engine(name, service.url, Store(tmp_path), **options)

    return opened


def message(answer):
    """The service's own words in an error."""
    if "detail" in answer:
        return answer["detail"]["error"]
    error = answer.get("error") or (answer["errors"][0] if "errors" in answer else answer)
    return error.get("detail") or error["message"]


@pytest.mark.parametrize(("name", "status", "answer"), KEY_REFUSED)
def test_a_refused_key_stops_and_is_named(service, opened, name, status, answer):
    service.answers = [failing(status, answer)]
    with pytest.raises(UserError, match="search.api_key_env: .* refuses the key") as error:
        opened(name).search("q", "en", 3)
    assert not isinstance(error.value, QuotaExhausted)
    assert message(answer).rstrip(".") in str(error.value)
    assert len(service.asked) == 1


@pytest.mark.parametrize("odd", [rb'"half \ud83d"', b"NaN"])
def test_an_error_with_an_odd_value_is_still_read(service, opened, odd):
    content = failing(422, brave("SUBSCRIPTION_TOKEN_INVALID", "The token is invalid.", {"odd": 1})).body
    service.answers = [Response(422, content.replace(b'"odd": 1', b'"odd": ' + odd))]
    with pytest.raises(UserError, match="refuses the key .*The token is invalid"):
        opened("brave").search("q", "en", 3)


@pytest.mark.parametrize(("name", "status", "answer"), QUOTA)
def test_an_exhausted_quota_stops_and_says_what_to_do(service, opened, name, status, answer):
    service.answers = [failing(status, answer, Retry_After="5")]
    with pytest.raises(QuotaExhausted, match="used up .*: extend the plan or wait") as error:
        opened(name).search("q", "en", 3)
    assert message(answer).rstrip(".") in str(error.value)
    assert len(service.asked) == 1


@pytest.mark.parametrize(("name", "status", "answer"), TOO_FAST)
def test_a_rate_limit_is_waited_for(service, opened, name, status, answer):
    service.answers = [failing(status, answer)] * 2
    assert len(opened(name).search("q", "en", 3).hits) == 3
    service.answers = [failing(status, answer)] * 4
    with pytest.raises(SearchFailed, match=f"gave no answer: HTTP {status}: "):
        opened(name).search("another", "en", 3)
    assert len(service.asked) == 7


@pytest.mark.parametrize(("name", "status", "answer"), NOT_TAKEN)
def test_a_query_that_is_not_taken_fails_alone(service, opened, name, status, answer):
    service.answers = [failing(status, answer)]
    with pytest.raises(SearchFailed, match="did not take the query: ") as error:
        opened(name).search("q", "en", 3)
    assert message(answer).rstrip(".") in str(error.value)
    assert len(service.asked) == 1


@pytest.mark.parametrize("name", PAID)
@pytest.mark.parametrize("content", [b"<html>Bad gateway</html>", b"", b"null", b"[]", b'{"error": 5}', b'"text"'])
def test_errors_of_a_proxy_go_by_their_status(service, opened, name, content):
    for status, kind in ((502, SearchFailed), (401, UserError), (402, QuotaExhausted), (400, SearchFailed)):
        service.answers = [Response(status, content)] * 4
        with pytest.raises(kind, match=f"HTTP {status}"):
            opened(name).search("q", "en", 3)
        service.answers = []


def test_brave_says_when_its_second_is_over(service, opened, monkeypatch):
    import time

    stamina.set_testing(False)
    waits = []
    monkeypatch.setattr(time, "sleep", waits.append)
    limits = {"X_RateLimit_Limit": "1, 2000", "X_RateLimit_Remaining": "0, 1985", "X_RateLimit_Reset": "1, 1419704"}
    service.answers = [failing(429, BRAVE_RATE, **limits)]
    assert opened("brave").search("q", "en", 3).hits
    assert waits == [1]


@pytest.mark.parametrize("reset", ["", "soon", "-1", "1.5, 2"])
def test_a_header_that_says_nothing_is_no_matter(service, opened, reset):
    service.answers = [failing(429, BRAVE_RATE, X_RateLimit_Reset=reset, Retry_After="later")]
    assert opened("brave").search("q", "en", 3).hits


def test_how_brave_is_asked(service, opened):
    opened("brave", sites=SITES).search("flask blueprints", "zh", 25)
    first, second = service.asked[:2]
    assert (first.method, first.path) == ("GET", "/res/v1/web/search")
    assert first.headers["X-Subscription-Token"] == KEY
    words = "flask blueprints site:python.org OR site:github.com NOT site:w3schools.com"
    assert first.what == {
        "q": words,
        "count": "20",
        "offset": "0",
        "country": "ALL",
        "result_filter": "query,web",
        "spellcheck": "false",
        "text_decorations": "false",
        "search_lang": "zh-hans",
    }
    assert second.what == first.what | {"offset": "1"}


def test_how_serper_is_asked(service, opened):
    opened("serper", sites=SITES).search("flask blueprints", "pt", 3)
    (asked, _) = service.asked
    assert (asked.method, asked.path, asked.headers["X-API-KEY"]) == ("POST", "/search", KEY)
    words = "site:python.org OR site:github.com/pallets -site:w3schools.com -site:medium.com/tag"
    assert asked.what == {"q": f"flask blueprints {words}", "page": 1, "autocorrect": False, "hl": "pt-br"}


def test_how_tavily_is_asked(service, opened):
    opened("tavily", sites=SITES).search("flask blueprints", "zh", 3)
    (asked,) = service.asked
    assert (asked.method, asked.path, asked.headers["Authorization"]) == ("POST", "/search", f"Bearer {KEY}")
    assert asked.what == {
        "query": "flask blueprints",
        "max_results": 20,
        "search_depth": "basic",
        "include_domains": ["python.org", "github.com/pallets"],
        # Of a host of which only a part is not wanted, the service leaves nothing out: what comes back is filtered.
        "exclude_domains": ["w3schools.com"],
    }


def test_how_google_is_asked(service, opened):
    opened("google").search("flask blueprints", "zh", 15)
    first, second = service.asked
    assert (first.method, first.path, first.headers["X-goog-api-key"]) == ("GET", "/customsearch/v1", KEY)
    assert first.what == {
        "cx": "0123456789abcdef0",
        "q": "flask blueprints",
        "num": "10",
        "start": "1",
        "lr": "lang_zh-CN",
    }
    assert second.what == first.what | {"start": "11"}


@pytest.mark.parametrize(
    ("name", "parameter", "codes"),
    [
        ("brave", "search_lang", {"en": "en", "ja": "jp", "zh": "zh-hans", "ru": "ru", "no": "nb", "eo": None}),
        ("serper", "hl", {"en": "en", "ja": "ja", "zh": "zh-cn", "he": "iw", "nn": "no", "eo": None, "xx": None}),
        ("google", "lr", {"en": "lang_en", "zh": "lang_zh-CN", "nb": "lang_no", "hi": None, "jp": None}),
        ("tavily", "language", {"en": None, "zh": None}),
        ("searxng", "language", {"en": "en", "eo": "eo", "": "all"}),
    ],
)
def test_languages_have_the_engines_own_codes(service, opened, name, parameter, codes):
    searcher = opened(name)
    for language, code in ({"": None} | codes).items():
        service.asked.clear()
        searcher.search(f"query in {language}", language, 3)
        assert service.asked[0].what.get(parameter) == code


def test_long_queries_are_cut_to_what_an_engine_takes(service, opened):
    words = " ".join(f"word{number}" for number in range(200))
    opened("brave", sites=SITES).search(words, "en", 1)
    query = service.asked[0].what["q"]
    assert query.startswith("word0 word1 ")
    assert query.endswith(" site:python.org OR site:github.com NOT site:w3schools.com")
    assert len(query) <= 400
    assert len(query.split()) == 50
    opened("google").search("联合索引" * 100, "zh", 1)
    assert service.asked[-1].what["q"] == "联合索引" * 50
    opened("tavily").search(words, "en", 1)
    assert 390 < len(service.asked[-1].what["query"]) <= 400
    assert words.startswith(f"{service.asked[-1].what['query']} ")


def test_more_sites_than_fit_are_left_to_the_filter(service, opened):
    many = tuple(f"site-number-{number}.example" for number in range(400))
    opened("brave", sites=Sites(many, ("w3schools.com",))).search("flask", "en", 1)
    assert service.asked[-1].what["q"] == "flask NOT site:w3schools.com"
    opened("tavily", sites=Sites(many, many)).search("flask", "en", 1)
    assert "include_domains" not in service.asked[-1].what
    assert len(service.asked[-1].what["exclude_domains"]) == 150


def test_answers_are_read_as_the_documentation_has_them(service, opened):
    # Examples of the documentation, shortened; a title or a snippet may be missing.
    brave = {
        "type": "search",
        "query": {"original": "python frameworks", "altered": "python web frameworks", "more_results_available": True},
        "web": {
            "type": "search",
            "results": [
                {
                    "title": "Top Python Web Frameworks",
                    "url": "https://example.com/python-frameworks",
                    "description": "A comprehensive guide to Python web frameworks...",
                    "meta_url": {"scheme": "https", "netloc": "example.com"},
                },
                {"title": None, "url": "https://example.com/second"},
            ],
            "family_friendly": True,
        },
        "mixed": {"type": "mixed", "main": [{"type": "web", "index": 0, "all": False}]},
        "videos": {"results": [{"url": "https://video.example/"}]},
    }
    service.answers = [Response(200, json.dumps(brave).encode())]
    assert opened("brave").search("python frameworks", "en", 2).hits == [
        Hit(
            "https://example.com/python-frameworks",
            "Top Python Web Frameworks",
            "A comprehensive guide to Python web frameworks...",
        ),
        Hit("https://example.com/second", "", ""),
    ]
    serper = {
        "searchParameters": {"q": "apple inc", "gl": "us", "hl": "en", "type": "search", "engine": "google"},
        "knowledgeGraph": {"title": "Apple", "website": "http://www.apple.com/"},
        "organic": [{"title": "Apple", "link": "https://www.apple.com/", "snippet": "Discover.", "position": 1}],
        "peopleAlsoAsk": [{"question": "What?", "link": "https://other.example/"}],
        "credits": 1,
    }
    service.answers = [Response(200, json.dumps(serper).encode())]
    assert opened("serper").search("apple inc", "en", 1).hits == [Hit("https://www.apple.com/", "Apple", "Discover.")]


def test_an_engine_of_google_that_is_not_there_is_named(service, opened):
    service.answers = [failing(404, google(404, "Requested entity was not found.", "notFound"))]
    with pytest.raises(UserError, match="mend search.engine_id"):
        opened("google").search("q", "en", 3)
