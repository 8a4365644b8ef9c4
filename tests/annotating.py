"""Made-up things for people to decide, and the page that is open on them."""

import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from browser import devtools
from devqa import tables
from devqa.review.items import KINDS, items
from devqa.review.people import Person
from devqa.review.store import Store
from processes import until

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = {
    "en": ("Which command lists commits that no branch reaches any more?", "git reflog"),
    "zh": (
        "在 Python 的 asyncio 中，gather 的哪个参数会让异常作为结果返回，而不是立即抛出？",
        "return_exceptions=True",
    ),
    "ru": ("Какая команда Redis переписывает журнал AOF в фоновом режиме, не останавливая сервер?", "BGREWRITEAOF"),
}
TEXTS = {
    "en": "Commits stay a while. The reflog lists commits that no branch reaches any more. Then they are pruned.",
    "zh": "gather 并发运行多个协程。"
    "如果参数 return_exceptions 为 True，异常会和成功的结果一样被收集，并在列表中返回。默认值为 False。",
    "ru": "Журнал растёт. Команда BGREWRITEAOF переписывает журнал в фоновом режиме. Сервер отвечает на запросы.",
}
SPANS = {
    "en": "The reflog lists commits that no branch reaches any more.",
    "zh": "如果参数 return_exceptions 为 True，异常会和成功的结果一样被收集，并在列表中返回。",
    "ru": "Команда BGREWRITEAOF переписывает журнал в фоновом режиме.",
}
EVIDENCE = ["https://docs.example/one", "https://docs.example/two"]
TASKS = {"Dev Knowledge QA": "questions about knowledge", "Code Generation": "writing code"}
DOMAINS = {"APIs": "calls and options of libraries", "Databases": "SQL and what lies below it"}

ANN, BOB, EVE = Person("ann", True, False), Person("bob", True, False), Person("eve", False, True)
ACCEPT = {
    "decision": "accept",
    "failed_criteria": [],
    "reason": "",
    "own_answer": "mine",
    "answer": "",
    "evidence_urls": ["https://a.example/", "https://b.example/"],
}
REJECT = {**ACCEPT, "decision": "reject", "reason": "vague", "evidence_urls": []}


def pair(number: int, **columns: Any) -> dict[str, Any]:
    """A row of table `review`; `columns` in place of its own. Its answer stands nowhere but in the answer."""
    language = ("en", "zh", "ru")[number % 3]
    question, answer = QUESTIONS[language]
    urls = [f"https://docs.example/{number}/{page}" for page in range(3)]
    return {
        "pair_id": f"pair-{number:05}",
        "dialogue_id": f"dialogue-{number}",
        "source": "mine",
        "language": language,
        "number": 1,
        "question": f"{question} ({number})",
        "answer": f"{answer} [{number}]",
        "supports": [{"reference": 1, "span": SPANS[language], "match": "exact"}],
        "references": [
            {"url": urls[0], "title": f"Manual {number}", "text": TEXTS[language]},
            {"url": "file:local.md", "title": "A file of the corpus", "text": "Nothing of interest."},
        ],
        "difficulty": "hard",
        "criteria": [
            {"criterion": "unambiguous", "passed": True, "reason": f"told-by-check-{number}"},
            {"criterion": "complex_enough", "passed": True, "reason": ""},
            {"criterion": "verifiable", "passed": False, "reason": "depends on the version"},
        ],
        "passages": [
            {"url": urls[1], "title": "Evidence", "text": "A passage of the evidence.", "score": 2.0},
            {"url": urls[2], "title": "More evidence", "text": "Another passage.", "score": 1.0},
        ],
        "verdict": "contradicted",
        "evidence_answer": f"told-by-evidence-{number}",
        "explanation": f"told-by-verify-{number}",
        "cited": [1],
        **columns,
    }


def graded(number: int, **columns: Any) -> dict[str, Any]:
    """A row of table `review_grades`."""
    return {
        "id": f"row-{number:05}",
        "setting": "plain",
        "model": "secret-model",
        "repeat": 1,
        "question": f"What is it? ({number})",
        "answer": "forty-two",
        "prediction": "It may be forty-two.",
        "language": "en",
        "grade": "CORRECT",
        "stratum": "told-by-judge",
        **columns,
    }


def classified(number: int) -> dict[str, Any]:
    """A row of table `classified`."""
    return {
        "dialogue_id": f"dialogue-{number}",
        "language": "en",
        "text": f"How do I merge two dictionaries? ({number})",
        "task": "Code Generation",
        "status": "failed" if number % 2 else "ok",
        "reason": "",
    }


def question(number: int) -> dict[str, Any]:
    """A row of table `benchmark`."""
    return {"id": f"row-{number:05}", "question": f"What is an index? ({number})", "language": "en", "answer": "x"}


def decided(number: int, person: str, decision: str = "accept", **columns: Any) -> dict[str, Any]:
    """A row of table `pair_decisions` about pair `number`."""
    return {
        "pair_id": f"pair-{number:05}",
        "annotator": person,
        "role": "annotator",
        "decision": decision,
        "failed_criteria": ["verifiable"] if decision == "reject" else [],
        "reason": "",
        "own_answer": "mine",
        "answer": "right" if decision == "correct" else "",
        "evidence_urls": [] if decision == "reject" else EVIDENCE,
        "decided_at": f"2026-11-01T10:00:00.{number:03}Z",
        **columns,
    }


def write_things(folder: Path, count: int, **made: Any) -> None:
    """The workflow's tables with `count` things of each kind in `folder`."""
    for name, (path, make) in {
        "review": ("results/review.parquet", pair),
        "review_grades": ("results/review_grades.parquet", graded),
        "classified": ("results/study/classified.parquet", classified),
        "benchmark": ("results/questions.parquet", question),
    }.items():
        tables.write(map(made.get(name, make), range(count)), name, folder / path)


def stocked(folder: Path, count: int, annotators: int = 2, rejection: str = "adjudicated") -> Store:
    """A store with `count` pairs, without the tables that they are from."""
    tables.write(map(pair, range(count)), "review", folder / "review.parquet")
    store = Store(folder / "review.sqlite", annotators, rejection)
    # What a power cut would do is no matter of most tests, and the disk may be slow.
    store.durable = "OFF"
    store.take_in("pairs", items(KINDS["pairs"], folder / "review.parquet"))
    return store


def project(folder: Path, count: int, **made: Any) -> Path:
    """A folder in which the page can be opened, with `count` things of each kind, and mine.yaml."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(ROOT / "examples", folder / "examples")
    model = {"model": "smollm2"}
    study = {
        "sources": {"raw": {"path": "examples/dialogues.jsonl"}},
        "filter": model,
        "tasks": {**model, "categories": TASKS},
        "suitability": model,
    }
    config = {"study": study, "evaluation": {"domains": {**model, "names": DOMAINS}}}
    (folder / "mine.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    write_things(folder, count, **made)
    return folder


class Opened:
    """The page, opened by its command. `addresses` are those that it has printed, by person."""

    def __init__(self, process: subprocess.Popen[str]):
        self.process = process
        self.said = ""
        while "Ctrl-C" not in self.said:
            line = process.stdout.readline()
            assert line, f"the page did not open: {self.said}{process.stderr.read()}"
            self.said += line
        self.base = re.search(r"http://127\.0\.0\.1:\d+", self.said)[0]
        self.addresses = dict(re.findall(r"^ +(.+?) \(.*?\): (http\S+)$", self.said, re.MULTILINE))

    def end(self) -> str:
        """Tell it to end; what it has said on standard error."""
        self.process.send_signal(signal.SIGTERM)
        _, errors = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, errors
        return errors

    def kill(self) -> None:
        """End it at once, as a crash does."""
        self.process.kill()
        self.process.communicate()


def command(*arguments: str) -> list[str]:
    """The command that opens the page, with `arguments`."""
    return [sys.executable, str(ROOT / "scripts/annotate.py"), "--configfile", "mine.yaml", *arguments]


@contextmanager
def opened(folder: Path, *arguments: str) -> Iterator[Opened]:
    """The page on the project in `folder`; it is ended with the block, if it is still there."""
    process = subprocess.Popen(
        command("--port", "0", *arguments), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield Opened(process)
    finally:
        process.kill()
        process.communicate()


@contextmanager
def reader(profile: Path) -> Iterator[devtools.Page]:
    """A browser that finds this machine's pages and nothing else; `profile` is a folder for its own files."""
    # Of a flag that comes twice, the last one counts.
    with devtools.browser(profile, "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1") as page:
        yield page


class Hand:
    """Somebody at the keyboard, who has no mouse."""

    _CODES = {"Enter": 13, "Escape": 27, "Tab": 9, "Backspace": 8, " ": 32}

    def __init__(self, page: devtools.Page, base: str):
        self.page, self.base = page, base

    def open(self, path: str) -> None:
        """Go to an address of the page."""
        self.page.open(self.base + path)

    def press(self, key: str, ctrl: bool = False) -> None:
        """Press and let go of one key."""
        code = self._CODES.get(key, ord(key[0].upper()))
        name = f"Key{key.upper()}" if key.isalpha() and len(key) == 1 else f"Digit{key}" if key.isdigit() else key
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        about = {"key": key, "code": name, "windowsVirtualKeyCode": code, "modifiers": 2 if ctrl else 0}
        typed = {} if ctrl or not text else {"text": text}
        self.page.call("Input.dispatchKeyEvent", type="keyDown", **about, **typed)
        self.page.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def type(self, text: str) -> None:
        """Type into what has the focus, as an input method does."""
        self.page.call("Input.insertText", text=text)

    def into(self, key: str, text: str) -> None:
        """Go to the field of that key, type, and leave it."""
        self.press(key)
        self.type(text)
        self.press("Escape")

    def send(self) -> None:
        """Ctrl+Enter, and wait for the next page."""
        self.going(lambda: self.press("Enter", ctrl=True))

    def going(self, act: Callable[[], None]) -> None:
        """Do what leads to another page, and wait until that is there."""
        self.page.evaluate("window.before = true")
        act()
        until(self._is_there, 60)

    def text(self, selector: str = "main") -> str:
        """What is to be read in the first element of that kind; "" where there is none."""
        return self.page.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def value(self, name: str) -> str:
        """What a field holds."""
        return self.page.evaluate(f"document.querySelector('[name={name}]').value")

    def _is_there(self) -> bool:
        try:
            return self.page.evaluate("!window.before && document.readyState === 'complete'")
        except AssertionError:
            # Between two pages there is none that could be asked.
            return False
