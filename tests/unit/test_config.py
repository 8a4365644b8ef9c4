"""The configuration: what is refused, and how the message helps."""

import copy
from pathlib import Path

import pytest
import yaml

from devqa.config import root
from devqa.config.layers import laid_over
from devqa.config.models import Model, Sampling, asked_with
from devqa.errors import UserError

ROOT = Path(__file__).resolve().parents[2]
DEFAULT = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def raw(monkeypatch):
    monkeypatch.chdir(ROOT)
    return copy.deepcopy(DEFAULT)


def refusal(raw):
    with pytest.raises(UserError) as caught:
        root.load(raw)
    return str(caught.value)


def test_the_default_is_valid(raw):
    assert root.load(raw).steps.generate.pairs == 3


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("modles",), {}, "modles: unknown key; did you mean 'models'?"),
        (("models", "smollm2", "tempreture"), 1, "models.smollm2.tempreture: unknown key"),
        (("models", "smollm2", "sampling", "temprature"), 1, "did you mean 'temperature'?"),
        (("steps", "queries", "model"), "smolm2", "steps.queries.model: there is no model 'smolm2'"),
        (("steps", "difficulty", "models"), ["gpt"], "steps.difficulty.models.0: there is no model 'gpt'"),
        (("evaluation", "judge", "model"), "smollm", "did you mean 'smollm2'?"),
        (("evaluation", "repeats"), "three", "evaluation.repeats: input should be a valid integer"),
        (("evaluation", "repeats"), 0, "evaluation.repeats: input should be greater than or equal to 1"),
        (("evaluation", "settings"), ["oracle"], "evaluation.settings.0: input should be 'plain'"),
        (("evaluation", "models"), ["smollm2", "smollm2"], "evaluation.models: 'smollm2' stands there more than once"),
        (
            ("search", "engine"),
            "bing",
            "search.engine: input should be 'local', 'searxng', 'brave', 'serper', 'tavily'",
        ),
        (("search", "engine"), "searxng", "search: url is missing"),
        (("search", "engine"), "google", "search: engine_id is missing"),
        (
            ("search", "include_sites"),
            ["https://python.org"],
            "search.include_sites.0: 'https://python.org' is no site: write a host, perhaps with the beginning of a "
            "path: example.org, github.com/pallets; subdomains are included",
        ),
        (("search", "exclude_sites"), ["python"], "search.exclude_sites.0: 'python' is no site: write a host"),
        (("search",), {"engine": "brave", "api_key_env": "sk-key"}, "search.api_key_env: this is no variable's name"),
        (("search",), {"engine": "brave", "url": "http://me:pw@host"}, "search.url: it holds a name or a password"),
        (
            ("search",),
            {"engine": "searxng", "url": "localhost:8888"},
            "search.url: this is no address such as http://localhost:8888",
        ),
        (("search", "price_per_request"), -1, "search.price_per_request"),
        (("search", "requests_per_second"), 0, "search.requests_per_second"),
        (("fetch", "user_agent"), "my bot\r\nX: y", "fetch.user_agent"),
        (("fetch", "contact"), "me at home", "fetch.contact: 'me at home' is no contact: write one web or mail"),
        (("fetch", "host_requests_per_second"), 0, "fetch.host_requests_per_second"),
        (
            ("fetch", "private_hosts"),
            ["wiki", "http://wiki"],
            "fetch.private_hosts.1: 'http://wiki' is no host: write its name alone, without scheme, port or *",
        ),
        (("fetch", "user_agent"), "my bot", "fetch.user_agent: 'my bot' is no user agent: write a name of"),
        (
            ("search",),
            {"engine": "searxng", "url": "http://h", "corpus": "x"},
            "search: corpus is of no use to searxng",
        ),
        (("search", "engine_id"), "x", "search: engine_id is of no use to local"),
        (("search", "api_key_env"), "X", "search: api_key_env is of no use to local"),
        (("clean", "max_characters"), 199, "clean: min_characters (200) is more than max_characters (199)"),
        (("clean", "duplicate_similarity"), 0.1, "clean.duplicate_similarity"),
        (("offline",), "maybe", "offline: input should be a valid boolean"),
        (("search", "corpus"), "no/such/folder", "search.corpus: there is no no/such/folder"),
        (("models", "smollm2"), {"runtime": "openai"}, "models.smollm2: base_url is missing"),
        (("models", "smollm2"), {"base_url": "http://me:pw@host/v1"}, "use api_key_env"),
        (("models", "smollm2", "weights"), "missing.gguf", "models.smollm2.weights: there is no file missing.gguf"),
        (("models", "a/b"), {"base_url": "http://127.0.0.1:1/v1"}, "models.a/b: 'a/b' must match"),
        (("models", "index"), {"base_url": "http://127.0.0.1:1/v1"}, "models.index: the name 'index' is taken"),
        (("dialogues", "example", "path"), "no/such.jsonl", "dialogues.example.path: 'no/such.jsonl' does not exist"),
        (("dialogues",), {}, "dialogues: dictionary should have at least 1 item"),
        (("dialogues", "example", "shards"), 0, "dialogues.example.shards"),
        (("steps", "check", "date"), "yesterday", "steps.check.date: input should be a valid date"),
        (("steps", "generate"), None, "steps.generate: input should be a valid dictionary"),
        (("models", "smollm2", "sampling", "top_p"), 2, "models.smollm2.sampling.top_p"),
        (
            ("models", "smollm2", "base_url"),
            "127.0.0.1:9101",
            "models.smollm2.base_url: this is no address such as http",
        ),
        (("models", "smollm2", "extra_body"), {"messages": []}, "models.smollm2: extra_body can't set messages"),
        (("cache_dir",), "", "cache_dir"),
        (("budget_usd",), float("inf"), "budget_usd"),
        (("budget_usd",), 0, "budget_usd"),
    ],
)
def test_a_bad_value_is_refused_by_its_key(raw, path, value, says):
    section = raw
    for key in path[:-1]:
        section = section[key]
    section[path[-1]] = value
    message = refusal(raw)
    assert says in message
    assert message.startswith("The configuration has ")


@pytest.mark.parametrize(
    ("section", "key", "valid", "refused"),
    [
        (
            "search",
            "include_sites",
            ["python.org", "github.com/pallets/", "пример.рф", "10.0.0.1", "a_b.example/~x:y@z"],
            [
                "*.a.test",
                "a.*",
                "a.test/*",
                "a.test:8100",
                "//a.test",
                ".a.test",
                "a.test,b.test",
                "a test",
                "me@a.test",
                "",
            ],
        ),
        (
            "fetch",
            "private_hosts",
            ["wiki", "a.test", "10.0.0.1", "::1", "fd00::5"],
            ["*.a.test", "a.test:8100", "::1]:80", "[::1]", "a.test/x", "10.0.0.0/8", "a,b", "a b", ""],
        ),
    ],
)
def test_sites_and_hosts_are_names_and_no_patterns(raw, section, key, valid, refused):
    raw[section][key] = valid
    assert getattr(getattr(root.load(raw), section), key) == valid
    for value in refused:
        raw[section][key] = [value]
        assert f"{section}.{key}.0: {value!r} is no " in refusal(raw)


@pytest.mark.parametrize(
    ("key", "valid", "refused"),
    [
        ("user_agent", ["devqa/0.1", "My-Bot", "x/1.0+a_b"], ["0bot", "bot/", "бот", "bot/٣", "bot\n", "a b", ""]),
        # What stands in a header is ASCII.
        (
            "contact",
            [None, "me@example.org", "https://a.test/bot?x=~1"],
            ["почта@пример.рф", "a(b)c", "<me>", "me\n", "me"],
        ),
    ],
)
def test_what_fetching_says_of_itself_fits_into_a_header(raw, key, valid, refused):
    for value in valid:
        raw["fetch"][key] = value
        assert getattr(root.load(raw).fetch, key) == value
    for value in refused:
        raw["fetch"][key] = value
        assert f"fetch.{key}: {value!r} is no " in refusal(raw)


@pytest.mark.parametrize("engine", ["searxng", "brave"])
@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://h/search?q=x", "this is a base address"),
        ("http://h/?", "this is a base address"),
        ("http://h/#top", "this is a base address"),
        ("http://[no", "this is no address such as http://localhost:8888"),
        ("http://h:port/@x", "this is no address such as http://localhost:8888"),
        ("http://me:pw@[no", "it holds a name or a password"),
        ("http://me:pw@h?x", "it holds a name or a password"),
    ],
)
def test_the_address_of_an_engine_is_a_base(raw, engine, url, says):
    raw["search"] = {"engine": engine, "url": url}
    message = refusal(raw)
    assert f"search.url: {says}" in message
    assert "pw" not in message
    raw["search"]["url"] = "http://h:8080/search"
    assert root.load(raw).search.url == "http://h:8080/search"


def test_a_key_in_the_place_of_its_variable_is_refused_without_showing_it(raw):
    raw["models"]["smollm2"]["api_key_env"] = "sk-very-secret"
    message = refusal(raw)
    assert "models.smollm2.api_key_env: this is no variable's name" in message
    assert "very-secret" not in message


def test_a_date_needs_no_quotes(raw):
    raw["steps"]["check"]["date"] = yaml.safe_load("2026-11-01")
    assert root.load(raw).steps.check.model_dump(mode="json")["date"] == "2026-11-01"


def test_a_missing_key_is_named(raw):
    del raw["steps"]["verify"]["model"]
    assert "steps.verify.model: missing" in refusal(raw)


def test_all_problems_come_in_one_message(raw):
    raw["steps"]["queries"]["model"] = "a"
    raw["evaluation"]["models"] = ["b"]
    assert refusal(raw).startswith("The configuration has 2 problems:\n")


def test_every_missing_api_key_is_named_with_its_users(raw, monkeypatch, tmp_path):
    raw["cache_dir"] = str(tmp_path / "cache")
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    raw["models"]["paid"] = {"base_url": "http://127.0.0.1:1/v1", "api_key_env": "NO_SUCH_KEY"}
    root.preflight(root.load(raw), ["paid"], searching=True)  # nobody uses it
    raw["steps"]["check"]["model"] = "paid"
    root.preflight(root.load(raw), ["m"], searching=True)  # this time nobody asks it
    with pytest.raises(UserError, match=r"NO_SUCH_KEY is not set \(needed by steps.check.model\)"):
        root.preflight(root.load(raw), ["m", "paid"], searching=True)
    monkeypatch.setenv("NO_SUCH_KEY", "x")
    root.preflight(root.load(raw), ["m", "paid"], searching=True)


@pytest.mark.parametrize(
    ("search", "variable"),
    [
        ({"engine": "brave"}, "BRAVE_API_KEY"),
        ({"engine": "serper"}, "SERPER_API_KEY"),
        ({"engine": "tavily", "api_key_env": "MY_OWN"}, "MY_OWN"),
        ({"engine": "google", "engine_id": "x"}, "GOOGLE_API_KEY"),
    ],
)
def test_an_engine_that_will_be_asked_needs_its_key(raw, monkeypatch, tmp_path, search, variable):
    raw |= {"cache_dir": str(tmp_path / "cache"), "search": search}
    monkeypatch.delenv(variable, raising=False)
    root.preflight(root.load(raw), [], searching=False)
    with pytest.raises(UserError, match=f"search.api_key_env: the environment variable {variable} is not set"):
        root.preflight(root.load(raw), [], searching=True)
    root.preflight(root.load(raw | {"offline": True}), [], searching=True)
    monkeypatch.setenv(variable, "x")
    root.preflight(root.load(raw), [], searching=True)


def test_sites_may_be_hosts_with_the_beginning_of_a_path_but_not_both_wanted_and_unwanted(raw):
    raw["search"] |= {"include_sites": ["python.org", "github.com/pallets/"], "exclude_sites": ["пример.рф"]}
    assert root.load(raw).search.include_sites == ["python.org", "github.com/pallets/"]
    raw["search"]["exclude_sites"] = ["python.org"]
    assert "search: python.org stands in include_sites and in exclude_sites" in refusal(raw)


def test_a_cache_that_can_t_be_written_is_refused(raw, tmp_path):
    (tmp_path / "file").touch()
    raw["cache_dir"] = str(tmp_path / "file" / "cache")
    with pytest.raises(UserError, match=r"cache_dir: .*file/cache can't be made"):
        root.preflight(root.load(raw), [], searching=True)


def over(overlay):
    """What Snakemake hands us: both merged key by key, and the overlay."""
    merged = copy.deepcopy(DEFAULT)

    def merge(section, values):
        for key, value in values.items():
            if isinstance(value, dict) and isinstance(section.get(key), dict):
                merge(section[key], value)
            else:
                section[key] = value

    merge(merged, overlay)
    return laid_over(merged, overlay)


def test_a_user_s_dialogues_replace_the_example():
    assert over({"dialogues": {"mine": {"path": "x"}}})["dialogues"] == {"mine": {"path": "x"}}
    assert over({})["dialogues"] == DEFAULT["dialogues"]


def test_a_section_that_chooses_its_model_leaves_the_tiny_model_s_numbers_behind():
    config = over({"steps": {"queries": {"model": "big"}, "verify": {"pages": 9}}, "evaluation": {"repeats": 2}})
    assert config["steps"]["queries"] == {"model": "big"}
    assert config["steps"]["verify"] == {**DEFAULT["steps"]["verify"], "pages": 9}
    assert config["evaluation"] == {**DEFAULT["evaluation"], "repeats": 2}
    judge = over({"evaluation": {"judge": {"model": "big"}}})["evaluation"]
    assert judge == {**DEFAULT["evaluation"], "judge": {"model": "big"}}
    assert over({"search": {"engine": "searxng", "url": "u"}})["search"] == {"engine": "searxng", "url": "u"}
    assert over({"models": {"big": {"base_url": "u"}}})["models"].keys() == {"smollm2", "big"}


@pytest.mark.parametrize(
    ("overlay", "engine", "corpus"),
    [
        ({"engine": "searxng", "url": "http://h"}, "searxng", None),
        ({"engine": "google", "engine_id": "x"}, "google", None),
        ({"engine": "tavily"}, "tavily", None),
        ({"corpus": "examples"}, "local", "examples"),
        ({"results": 5}, "local", DEFAULT["search"]["corpus"]),
    ],
)
def test_a_user_s_engine_has_nothing_of_the_example_s_corpus(raw, overlay, engine, corpus):
    search = root.load(over({"search": overlay})).search
    assert (search.engine, search.corpus) == (engine, corpus)
    # A job reads what the workflow has validated.
    assert type(search).model_validate(search.model_dump(mode="json")) == search


@pytest.mark.parametrize("overlay", [{"steps": 3}, {"dialogues": None}, {"models": []}, {"new": {"a": 1}}])
def test_nonsense_is_left_to_validation(overlay):
    assert over(overlay) == {**DEFAULT, **overlay}


def test_sampling_is_laid_over_the_model_s_own():
    model = Model(base_url="http://x/v1/", sampling=Sampling(temperature=0.7, top_p=0.9))
    asked = asked_with("label", model, Sampling(max_tokens=10), Sampling(temperature=0.0))
    assert asked["sampling"] == {"temperature": 0.0, "top_p": 0.9, "max_tokens": 10}
    assert (asked["endpoint"], asked["model"]) == ("http://x/v1", "label")


def test_a_step_s_token_limit_holds_where_only_its_temperature_is_set(raw):
    raw["steps"]["verify"]["sampling"] = {"temperature": 0.3}
    raw["evaluation"]["judge"]["sampling"] = {"top_p": 0.5}
    config = root.load(raw)
    assert config.steps.verify.sampling.model_dump(exclude_none=True) == {"temperature": 0.3, "max_tokens": 1500}
    assert config.evaluation.judge.sampling.temperature == 0.5


def test_what_changes_no_result_is_not_asked_with():
    plain = Model(base_url="http://x/v1")
    tuned = Model(base_url="http://x/v1", limits={"concurrency": 99}, price={"input": 1}, api_key_env="K", note="n")
    assert asked_with("m", plain) == asked_with("m", tuned)


def test_every_key_of_the_default_is_commented():
    lines = (ROOT / "config.yaml").read_text(encoding="utf-8").splitlines()
    keys = [line for line in lines if line and not line.startswith((" ", "#")) and line.endswith(":")]
    for key in keys:
        assert lines[lines.index(key) - 1].startswith("#"), f"{key} has no comment above it"


def test_repositories_are_looked_at_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("HOME", str(tmp_path))
    asking = {"model": "smollm2"}
    bundle = "examples/repository.bundle"
    (tmp_path / "empty").mkdir()
    repositories = {
        "good": {"path": bundle},
        "again": {"path": f"./{bundle}"},
        "none": {"path": str(tmp_path / "empty")},
        "lost": {"path": "~/lost"},
        "lines": {"url": "https://code.example/a.git", "pulls": "~/pulls.jsonl"},
    }
    steps = dict.fromkeys(("question", "check", "answer", "facts", "support"), asking)
    section = {"repositories": repositories, **steps, "evaluation": {"models": ["smollm2"], "judge": asking}}
    with pytest.raises(UserError) as refused:
        root.load({**DEFAULT, "pull_requests": section})
    said = str(refused.value)
    assert "4 problems" in said
    assert "pull_requests.repositories.again: it is the same repository as 'good'" in said
    assert "pull_requests.repositories.none.path: there is no git repository at" in said
    assert f"pull_requests.repositories.lost.path: there is no {tmp_path}/lost" in said
    assert f"pull_requests.repositories.lines.pulls: there is no file {tmp_path}/pulls.jsonl" in said
    for url in (
        "https://me:secret@code.example/a.git",
        "HTTPS://token@code.example/a",
        "https://code.example/a?token=1",
    ):
        section["repositories"] = {"secret": {"url": url}}
        with pytest.raises(UserError, match="without a password or token"):
            root.load({**DEFAULT, "pull_requests": section})
