"""From raw dialogues to seeds: what goes on, what is asked, what never leaves the machine, what runs again."""

import copy
import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from devqa import tables
from devqa.ingest.shards import shard_of
from replies import reply, step_of
from scripted import Reply
from unit.test_study_scrubbing_lines import TOKENS
from workflow.conftest import Project, configuration, copy_of_the_project
from workflow.test_secrets import contents

WILDCHAT = Path(__file__).resolve().parents[3] / "shared/data/dialogues/wildchat_style.parquet"
SHARDS = 2
ASKING = {"filter": {"model": "worker"}, "tasks": {"model": "strong"}, "suitability": {"model": "weak"}}

# What no request, no answer in the cache and no seed may hold.
SECRETS = {
    "password": "Sommer2024xyz",
    "token": TOKENS["github"],
    "mail": "anna.schmidt@acme-tools.io",
    "phone": "+7 912 345-67-89",
    "address": "52.14.203.77",
    "name": "vasilisa",
}
ENGLISH = [
    "How do I merge two pandas DataFrames in Python on several columns?",
    "What does git rebase --interactive do, and when should one use it?",
    "Write a SQL query with a window function that numbers rows per customer.",
    "Why does my Java HashMap return null although the key was put before?",
    "Explain the difference between a mutex and a semaphore in C++.",
    "Convert this bash script to PowerShell: for f in *.txt; do echo $f; done",
    "How can I center a div with CSS flexbox in both directions?",
    "Fix this JavaScript function, it never resolves its promise: async function f() {}",
    f"My Flask app can't log in, app.config password = '{SECRETS['password']}' is set. What is wrong in the code?",
    f"git push https://{SECRETS['token']}@github.com/acme/app.git fails with an error 403, how do I debug it?",
    f"In Django, send_mail to {SECRETS['mail']} raises SMTPException. Which Python setting is missing?",
    f"Python: FileNotFoundError: '/home/{SECRETS['name']}/app/main.py', ssh to {SECRETS['address']} works. Why?",
]
CHINESE = [
    "Python 里如何用 asyncio 并发地下载多个网页?请给出代码。",
    "MySQL 的 InnoDB 索引为什么使用 B+ 树而不是哈希表?",
    "用 Java 写一个线程安全的单例模式代码。",
    "Vue 组件之间如何传递数据?父组件怎么调用子组件的函数?",
    "docker 容器无法访问宿主机端口,报错 connection refused,怎么调试?",
]
RUSSIAN = [
    "Как в Python отсортировать список словарей по ключу?",
    "Напиши SQL запрос, который выбирает дубликаты строк в таблице.",
    "Почему в C++ возникает ошибка сегментации при обращении к массиву?",
    "Чем интерфейс отличается от абстрактного класса в Java?",
    f"Бот на Python не отправляет сообщение на телефон {SECRETS['phone']}, в чём ошибка в коде?",
]
# Comes through the words, and not through the model.
NOT_DEVELOPMENT = [
    "Write a birthday poem in which a Python developer debugs code for his SQL database.",
    "Tell a birthday story about JavaScript functions that compile to love letters in C++ code.",
]
OTHER = ["Write a poem about the sea and the gulls above it.", "What shall I cook for dinner with rice and carrots?"]
OTHER += ["Расскажи сказку про лису и зайца в зимнем лесу.", "请写一首关于春天和花的诗。"]
DEVELOPMENT = [*ENGLISH, *CHINESE, *RUSSIAN]
LANGUAGES = {"English": ENGLISH, "Chinese": CHINESE, "Russian": RUSSIAN}


def record(name, text, model="gpt-4", toxic=False, redacted=False):
    language = next((language for language, texts in LANGUAGES.items() if text in texts), "English")
    turns = [("user", text), ("assistant", f"This is about: {text}"), ("user", "Thank you!")]
    conversation = [
        {"role": role, "content": content, "language": language, "toxic": toxic, "redacted": redacted}
        for role, content in turns
    ]
    return {
        "conversation_hash": name,
        "model": model,
        "language": language,
        "turn": 2,
        "conversation": conversation,
        "toxic": toxic,
        "redacted": redacted,
    }


def records():
    """All raw records: each text is told from others by its models, and every reason to be left out has some."""
    found = [record(f"dev{number}", text, ("gpt-4", "gpt-3.5")[number % 2]) for number, text in enumerate(DEVELOPMENT)]
    found += [record(f"not{number}", text) for number, text in enumerate(NOT_DEVELOPMENT)]
    found += [record(f"off{number}", text) for number, text in enumerate(OTHER)]
    found += [record(f"again{number}", text) for number, text in enumerate(DEVELOPMENT[:8])]
    found += [record(f"toxic{number}", f"{text} You idiot!", toxic=True) for number, text in enumerate(ENGLISH[:5])]
    found += [record("redacted", "In Rust, how do I mail [REDACTED] from tokio code without an error?", redacted=True)]
    # Python, Rust, C: more that go on, so that there is something to draw from.
    found += [
        record(f"more{number}", f"How do I {verb} a {thing} in {language} code, step by step, with {verb}{thing}()?")
        for number, (verb, thing, language) in enumerate(
            [
                ("parse", "regex", "Rust"),
                ("hash", "string", "Go"),
                ("open", "socket", "Perl"),
                ("sort", "tree", "Scala"),
            ]
            + [("walk", "graph", "Haskell"), ("lock", "thread", "Swift"), ("mock", "database", "Ruby")]
            + [("encode", "JWT", "PHP"), ("stream", "CSV", "Kotlin"), ("cache", "query", "Elixir")]
        )
    ]
    found += [record("dev0", "In TypeScript, what is the type of a generic function?")]
    return [*found, {"conversation_hash": "broken", "model": "gpt-4", "language": "English", "conversation": []}]


GOING_ON = len(DEVELOPMENT) + 1 + 10


def study(**more):
    return {
        "sources": {"wild": {"path": "raw"}},
        "shards": SHARDS,
        "sample": {"interval": 0.1},
        "seeds": 12,
        **ASKING,
        **more,
    }


def written(folder, found):
    """Two raw files: half in Parquet, half in JSON lines."""
    folder.mkdir(parents=True, exist_ok=True)
    half = len(found) // 2
    pq.write_table(pa.Table.from_pylist(found[:half]), folder / "a.parquet")
    (folder / "b.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in found[half:]), encoding="utf-8")


def studied(project, name):
    """All rows of a table of the study."""
    folder = project.folder / "results/study"
    if name == "scanned":
        files = sorted(folder.glob("scanned/*/*.parquet"))
    elif name in ("unique", "filtered"):
        files = [folder / f"{name}/{shard}-of-{SHARDS}.parquet" for shard in range(SHARDS)]
    else:
        files = [folder / f"{name}.parquet"]
    return tables.read(files, name)


def passed(rows):
    return [row for row in rows if row["status"] == "ok"]


def without_usage(rows):
    """A longer prompt has more tokens."""
    return [{name: value for name, value in row.items() if name != "usage"} for row in rows]


def ids(rows):
    return {row["dialogue_id"] for row in rows}


@pytest.fixture(scope="module")
def done(endpoint, tmp_path_factory):
    """A project whose study is finished, the requests that it sent, and what it said. Tests take copies of it."""
    folder = copy_of_the_project(tmp_path_factory.mktemp("studied") / "project")
    written(folder / "raw", records())
    endpoint.clear()
    endpoint.reply = reply
    project = Project(folder, endpoint, configuration(endpoint, study=study()))
    run = project.run("--", "study")
    assert run.code == 0, run.output
    return project, endpoint.requests, run


@pytest.fixture
def project(done, endpoint, tmp_path):
    """A copy of the studied project, which a test may change; the endpoint has forgotten all requests."""
    finished, *_ = done
    shutil.copytree(finished.folder, tmp_path / "project", copy_function=shutil.copy2)
    endpoint.clear()
    endpoint.reply = reply
    return Project(tmp_path / "project", endpoint, copy.deepcopy(finished.config))


def test_every_raw_record_is_accounted_for(done):
    project, _, run = done
    counts = {name: Counter(row["status"] for row in studied(project, name)) for name in ("scanned", "unique")}
    assert counts["scanned"].total() == len(records())
    for before, after in (
        ("scanned", "unique"),
        ("unique", "filtered"),
        ("filtered", "sampled"),
        ("sampled", "classified"),
    ):
        rows = studied(project, after)
        assert ids(rows) == ids(passed(studied(project, before)))
        assert len(rows) == len(passed(studied(project, before)))
        assert all(bool(row["reason"]) == (row["status"] != "ok") for row in rows)
        assert f"{after}: {len(rows)} rows" in run.output
    reasons = Counter(row["reason"].split(":")[0] for row in studied(project, "scanned") + studied(project, "unique"))
    assert reasons["toxic"] == 5
    assert reasons["off topic"] == len(OTHER)
    assert reasons["duplicate"] == 8
    assert reasons["duplicate id"] == 1
    assert ids(passed(studied(project, "unique"))) == ids(passed(studied(project, "filtered"))) | {"not0", "not1"}
    assert len(passed(studied(project, "filtered"))) == GOING_ON
    assert "Study: results/study/report.html   Seed dialogues: results/study/seeds.parquet" in run.output


def test_the_number_of_requests_is_exact(done):
    project, requests, _ = done
    classified = studied(project, "classified")
    knowledge = [row for row in classified if row["task"] == "Dev Knowledge QA"]
    assert knowledge
    asked = Counter((body["model"], len(body["messages"])) for body in requests)
    by_model = Counter(body["model"] for body in requests)
    assert by_model == {
        "worker": len(passed(studied(project, "unique"))),
        "strong": len(classified),
        "weak": len(knowledge),
    }
    assert asked.total() == len(requests)
    assert len(classified) == len(passed(studied(project, "sampled"))) < GOING_ON
    assert all(row["single_answer"] is not None for row in knowledge)
    assert {row["reason"] for row in classified if row["status"] != "ok"} <= {"unrelated to software development"}


def test_no_secret_leaves_the_machine(done):
    project, requests, _ = done
    sent = json.dumps(requests, ensure_ascii=False)
    assert "<SECRET>" in sent
    places = [project.folder / ".cache/devqa", project.folder / "results/study/seeds.parquet"]
    files = [file for place in places for file in ([place] if place.is_file() else place.rglob("*")) if file.is_file()]
    for name, secret in SECRETS.items():
        assert secret not in sent, name
        assert not [file for file in files if secret.encode() in contents(file)], name
    # They were there, and what went on says what was found.
    raw = b"".join(contents(file) for file in (project.folder / "raw").iterdir()).decode(errors="replace")
    assert all(secret in raw or json.dumps(secret)[1:-1] in raw for secret in SECRETS.values())
    found = {row["dialogue_id"]: row["scrubbed"] for row in studied(project, "unique")}
    assert [found[f"dev{number}"] for number in (8, 9, 10, 11)] == [["secret"], ["secret"], ["email"], ["ip", "name"]]


def test_seeds_are_whole_conversations_about_development(done):
    project, *_ = done
    seeds = tables.read(project.folder / "results/study/seeds.parquet", "seeds")
    assert len(seeds) == 12
    assert {row["conversation_hash"] for row in seeds} <= ids(passed(studied(project, "filtered")))
    assert all([message["role"] for message in row["conversation"]] == ["user", "assistant", "user"] for row in seeds)
    assert all(row["language"] in ("en", "zh", "ru") for row in seeds)


def test_a_second_run_does_nothing_but_say_so(project):
    run = project.run("--", "study")
    assert run.code == 0, run.output
    assert run.rules == {"study": 1}
    assert "classified: " in run.output
    assert not project.endpoint.count


@pytest.mark.parametrize(
    ("prompt", "asked", "runs"),
    [
        ("tasks", {"study_tasks"}, {"study_classify", "study_report"}),
        ("suitability", {"study_suitability"}, {"study_classify", "study_report"}),
        ("filter", {"study_filter"}, {"study_filter", "study_sample", "study_classify", "study_seeds", "study_report"}),
    ],
)
def test_an_edited_prompt_is_asked_again_and_no_other(project, prompt, asked, runs):
    file = project.folder / f"prompts/study/{prompt}/system.j2"
    file.write_text(f"Be exact. {file.read_text(encoding='utf-8')}", encoding="utf-8")
    before = {name: without_usage(studied(project, name)) for name in ("filtered", "classified")}
    run = project.run("--", "study")
    assert run.code == 0, run.output
    assert run.rules.keys() == {*runs, "study"}
    assert project.asked().keys() == asked
    # The scripted model goes by what the user said alone.
    assert {name: without_usage(studied(project, name)) for name in before} == before


def test_a_raw_file_that_comes_to_it_is_the_only_one_scanned(project):
    new = record("new", "How do I write a goroutine that stops when its Go context is cancelled?")
    # Its name comes before those that are there.
    (project.folder / "raw/0.jsonl").write_text(json.dumps(new), encoding="utf-8")
    run = project.run("--", "study")
    assert run.code == 0, run.output
    assert "new" in ids(passed(studied(project, "filtered")))
    assert project.asked()["study_filter"] == 1
    assert run.rules["study_filter"] == SHARDS
    assert run.rules["study_scan"] == 1


def test_seeds_can_be_named_as_dialogues(project):
    project.config["dialogues"] = {"seeds": {"path": "results/study/seeds.parquet", "shards": 1}}
    run = project.run("--until", "queries")
    assert run.code == 0, run.output
    assert run.rules == {"ingest_seeds": 1, "queries": 1}
    assert len(project.table("dialogues")) == 12
    assert project.asked() == {"queries": 12}
    assert {shard_of(row["dialogue_id"], 1) for row in project.table("queries")} == {0}


def test_without_a_study_in_the_configuration_it_is_said_what_to_write(fresh):
    run = fresh.run("--", "study")
    assert run.code != 0
    assert "The configuration has no section `study`" in run.output
    assert "filter: {model: gpt}" in run.output
    assert not run.rules


@pytest.mark.slow
def test_where_the_model_takes_no_dialogue_it_is_said_where_to_look(project):
    project.edit("prompts/study/filter/system.j2", "You ", "Now you ")
    project.endpoint.reply = lambda body: (
        {"reason": "no", "about_development": False} if step_of(body) == "study_filter" else reply(body)
    )
    run = project.run("--", "study")
    assert run.code != 0
    assert "study: the model takes no dialogue for one about software development" in run.output
    assert "mend study.filter, or prompts/study/filter" in run.output


def test_a_row_that_failed_is_told_and_asked_again_by_the_next_run(project):
    project.edit("prompts/study/tasks/system.j2", "You sort", "Please sort")
    rows = studied(project, "classified")
    unlucky = next(row for row in rows if row["status"] == "ok")
    project.endpoint.reply = lambda body: (
        Reply(status=503, headers={"Retry-After": "0"})
        if unlucky["text"] in body["messages"][-1]["content"]
        else reply(body)
    )
    project.config["models"]["strong"]["limits"] = {"retries": 1}
    run = project.run("--", "study")
    assert run.code == 0, run.output
    (failed,) = [row for row in studied(project, "classified") if row["status"] == "failed"]
    assert (failed["dialogue_id"], failed["task"]) == (unlucky["dialogue_id"], None)
    assert f"FAILED  classified: 1 of {len(rows)} rows: error" in run.output
    project.endpoint.clear()
    project.endpoint.reply = reply
    again = project.run("--", "study")
    assert again.code == 0, again.output
    assert project.asked()["study_tasks"] == 1
    assert without_usage(studied(project, "classified")) == without_usage(rows)


def billed(project):
    """What the bill says of each part of the study: requests that have their answer, to be sent, and the basis."""
    run = project.run("--", "bill")
    assert run.code == 0, run.output
    found = re.findall(r"^(study_\w+) +\w+ +[\d,]+ +([\d,]+) +([\d,]+) .* (\w+)$", run.output, re.MULTILINE)
    return {
        name: (int(cached.replace(",", "")), int(sent.replace(",", "")), basis) for name, cached, sent, basis in found
    }


def test_the_bill_says_before_what_the_study_sends(project):
    assert billed(project) == {}
    project.edit("prompts/study/tasks/system.j2", "You sort", "Please sort")
    number = len(studied(project, "classified"))
    said = billed(project)
    assert said["study_tasks"] == (0, number, "exact")
    assert not project.endpoint.count
    assert project.run("--", "study").code == 0
    assert project.asked() == {"study_tasks": number}
    # Nothing is there of a study that has not begun, but the cache.
    shutil.rmtree(project.folder / "results/study")
    said = billed(project)
    assert {basis for *_, basis in said.values()} == {"paper"}
    assert said.keys() == {"study_filter", "study_tasks", "study_suitability"}


def test_the_causes_are_told_by_the_keys_of_the_configuration(project):
    project.config["dialogues"] = {"seeds": {"path": "results/study/seeds.parquet", "shards": 1}}
    project.config["study"] |= {"seed": 2, "filter": {"model": "strong"}}
    run = project.run("--", "why")
    assert run.code == 0, run.output
    assert 'study.filter.model: "worker" → "strong"' in run.output
    assert "study.seed: 1 → 2" in run.output


@pytest.mark.slow
@pytest.mark.skipif(not WILDCHAT.exists(), reason="needs real dialogues")
def test_real_dialogues_go_through_the_whole_study(endpoint, tmp_path):
    folder = copy_of_the_project(tmp_path / "project")
    endpoint.clear()
    endpoint.reply = reply
    section = study(sources={"wild": {"path": str(WILDCHAT)}}, seeds=50)
    project = Project(folder, endpoint, configuration(endpoint, study=section))
    run = project.run("--", "study")
    assert run.code == 0, run.output
    assert len(studied(project, "scanned")) == pq.read_metadata(WILDCHAT).num_rows
    unique = passed(studied(project, "unique"))
    assert project.asked()["study_filter"] == len({row["text"] for row in unique})
    assert len(tables.read(folder / "results/study/seeds.parquet", "seeds")) == 50
    assert {row["language"] for row in unique} >= {"en", "ru"}
