"""A million raw dialogues through the study's steps that ask no model: scan, unique, sample.

    .venv/bin/python benchmarks/study_scan.py [--rows 1000000] [--files 14] [--processes 2] [--threshold 0]
                                              [--folder kept]

Writes files shaped as WildChat's (made-up words in natural proportions; 3 % exact and 3 % near duplicates), then a
Markdown table: for each step rows per second, CPU seconds, and the peak memory of its largest process and of all
together, beside a bare scan of the same columns by pyarrow. With `--threshold 0` no dialogue is off topic, so all that
no flag keeps out go through everything; the workflow's own is 0.5. The last table says how many of the near duplicates
that were made have been found. Linux only (`/proc`).
"""

import argparse
import hashlib
import json
import multiprocessing
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from memory import MB, memory

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

EXACT, NEAR = 0.03, 0.03
# Rows of a row group, and dialogues of which duplicates are made.
GROUP, RECENT = 1_000, 5_000
FLAGGED = {"toxic": 0.06, "redacted": 0.05}
# Share of dialogues, words that everybody uses, letters of the others, and words about development.
LANGUAGES = {
    "English": (
        0.55,
        "the of and to a in is it you that he was for on are with as i his they be at one have this from or had by not "
        "but what some we can out other were all there when up use your how said an each she which do their time",
        "etaoinshrdlucmfwypvbgk",
        "python function error code class server database javascript string array docker query script java",
    ),
    "Chinese": (
        0.2,
        "的 一 是 在 不 了 有 和 人 这 中 大 为 上 个 国 我 以 要 他 时 来 用 们 生 到 作 地 于 出 就 分 对 成 会 可",
        "产种面而方后多定行学法所民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去",
        "代码 函数 数据库 报错 程序 接口 服务器 算法",
    ),
    "Russian": (
        0.15,
        "и в не на я что он с как это по но они мы все она так его за был от то же вы у из ее мне еще бы о до",
        "оеаинтсрвлкмдпуяыьгзбчйхжшю",
        "код функция ошибка программа скрипт сервер массив запрос база",
    ),
    "Spanish": (
        0.1,
        "de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le ha me si sin",
        "eaosrnidltcmupbgvyqhfzj",
        "código función servidor python base javascript",
    ),
}
MODELS = ("gpt-3.5-turbo-0613", "gpt-3.5-turbo-0301", "gpt-4-0314", "gpt-4-1106-preview", "gpt-4-0125-preview")
SCORES = ("toxicity", "severe_toxicity", "obscene", "identity_attack", "insult", "threat", "sexual_explicit")


class Tongue:
    """A language's made-up words, in proportions as those of natural ones (Zipf)."""

    def __init__(self, random: np.random.Generator, language: str):
        _, common, letters, development = LANGUAGES[language]
        lengths = random.integers(2, 4 if language == "Chinese" else 11, 30_000)
        ends, drawn = np.cumsum(lengths), "".join(random.choice(list(letters), lengths.sum()))
        made_up = [drawn[end - length : end] for end, length in zip(ends, lengths, strict=True)]
        self._random = random
        self._words = [*common.split(), *made_up]
        self._development = development.split()
        self._between = "" if language == "Chinese" else " "
        shares = 1 / (np.arange(len(self._words)) + 5)
        self._drawn = random.choice(len(self._words), 1_000_000, p=shares / shares.sum())

    def text(self, characters: int, development: float) -> str:
        """About so many characters; of the words the share `development` is about development."""
        count = max(1, characters // (2 if not self._between else 6))
        words = [self._words[number] for number in self._drawn[self._random.integers(0, len(self._drawn), count)]]
        for place in self._random.integers(0, count, round(development * count + 0.5) if development else 0):
            words[place] = self._development[self._random.integers(len(self._development))]
        return self._between.join(words)


def generate(folder: Path, rows: int, files: int, numbers: range) -> list[dict[str, Any]]:
    """Write the raw files with these numbers; returns the near duplicates made: `{origin, of, similarity}`."""
    random = np.random.default_rng(numbers[0])
    tongues = {language: Tongue(random, language) for language in LANGUAGES}
    # What assistants say is read and passed over: the same pieces again and again will do.
    pieces = {language: [tongue.text(400, 0.02) for _ in range(2_000)] for language, tongue in tongues.items()}
    near, recent = [], []
    for number in numbers:
        name, count = f"train-{number:05}-of-{files:05}.parquet", rows // files + (number < rows % files)
        writer = None
        for begin in range(1, count + 1, GROUP):
            made = []
            for row in range(begin, min(begin + GROUP, count + 1)):
                language, said = conversation(random, tongues, f"{name}:{row}", recent, near)
                made.append(record(random, f"{name}:{row}", language, said, pieces[language]))
            table = pa.Table.from_pylist(made)
            writer = writer or pq.ParquetWriter(folder / name, table.schema, compression="snappy")
            writer.write_table(table)
        writer.close()
    return near


def generated(folder: Path, given: argparse.Namespace) -> list[dict[str, Any]]:
    """`generate` all files, in several processes."""
    with ProcessPoolExecutor(given.processes, multiprocessing.get_context("spawn")) as pool:
        parts = [range(first, given.files, given.processes) for first in range(given.processes)]
        made = [pool.submit(generate, folder, given.rows, given.files, numbers) for numbers in parts if numbers]
        return [pair for part in made for pair in part.result()]


def conversation(
    random: np.random.Generator, tongues: dict[str, Tongue], origin: str, recent: list[Any], near: list[dict[str, Any]]
) -> tuple[str, list[str]]:
    """A language and what a user says in it: something new, or what one of the `recent` said, edited or not."""
    kind = random.random()
    if recent and kind < EXACT + NEAR:
        before, language, said = recent[random.integers(len(recent))]
        if kind < NEAR:
            changed = [edited(text, tongues[language], random) for text in said]
            near.append({"origin": origin, "of": before, "similarity": jaccard(said, changed)})
            said = changed
        return language, said
    language, said = prompts(random, tongues)
    if len(recent) < RECENT:
        recent.append((origin, language, said))
    elif kind < 0.2:
        recent[random.integers(len(recent))] = (origin, language, said)
    return language, said


def prompts(random: np.random.Generator, tongues: dict[str, Tongue]) -> tuple[str, list[str]]:
    """A language, and what a user says in it: one turn or some, of which most are short and few very long."""
    language = random.choice([*LANGUAGES], p=[share for share, *_ in LANGUAGES.values()])
    development = 0.06 if random.random() < 0.4 else 0.0
    turns = 1 + min(int(random.exponential(1.0)), 20)
    lengths = np.clip(random.lognormal(5.0, 1.3, turns), 20, 60_000).astype(int)
    return language, [tongues[language].text(length, development) for length in lengths]


def edited(text: str, tongue: Tongue, random: np.random.Generator) -> str:
    """`text` with up to a tenth of it in other words, in one place."""
    length = int(len(text) * random.uniform(0.01, 0.1))
    begin = random.integers(0, max(1, len(text) - length))
    return text[:begin] + tongue.text(length, 0) + text[begin + length :]


def record(random: np.random.Generator, key: str, language: str, said: Sequence[str], pieces: Sequence[str]) -> dict:
    """A record in WildChat's columns."""
    toxic, redacted = (bool(random.random() < share) for share in FLAGGED.values())
    state = {
        "language": language,
        "toxic": toxic,
        "redacted": redacted,
        "country": "United States",
        "hashed_ip": "0" * 64,
    }
    conversation = []
    for turn, text in enumerate(said):
        pieces_said = "\n".join(pieces[number] for number in random.integers(0, len(pieces), 1 + random.poisson(2)))
        for role, content in (("user", text), ("assistant", pieces_said)):
            header = {"accept-language": "en-US", "user-agent": "Mozilla/5.0"}
            conversation.append({"content": content, "role": role, "turn_identifier": turn, "header": header, **state})
    scores = [dict.fromkeys(SCORES, random.random()) for _ in conversation]
    return {
        "conversation_hash": hashlib.sha256(key.encode()).hexdigest()[:32],
        "model": MODELS[random.integers(len(MODELS))],
        "conversation": conversation,
        "turn": len(said),
        "openai_moderation": scores,
        "detoxify_moderation": scores,
        **state,
    }


def jaccard(one: Sequence[str], other: Sequence[str]) -> float:
    """The true similarity of what two users have said, by shingles of five characters."""
    from devqa.study.sketches import normal

    first, second = (normal("\n\n".join(said)) for said in (one, other))
    shingles = [{text[begin : begin + 5] for begin in range(max(1, len(text) - 4))} for text in (first, second)]
    return len(shingles[0] & shingles[1]) / len(shingles[0] | shingles[1])


def options(threshold: float) -> dict[str, Any]:
    """Of the scan, as the workflow's own."""
    from devqa.config.sources import Ingest
    from devqa.config.study import Topic

    limits, topic = Ingest().model_dump(), Topic(threshold=threshold).model_dump()
    common = {"source": "wildchat", "languages": [], "toxic": False, "redacted": True, "text_tokens": 600}
    return {"limits": limits, "topic": topic, **common}


def bare(file: Path) -> None:
    """What pyarrow alone takes for the columns that the scan reads."""
    wanted = ("conversation_hash", "model", "language", "toxic", "redacted")
    inside = ("content", "role", "toxic", "redacted")
    columns = [*wanted, *(f"conversation.list.element.{name}" for name in inside)]
    for _ in pq.ParquetFile(file).iter_batches(batch_size=1_000, columns=columns, use_threads=False):
        pass


def scan(file: Path, folder: Path, threshold: float) -> None:
    """The job of one raw file."""
    from devqa import tables
    from devqa.study.scanning import scanned
    from devqa.study.topics import opened

    given = {**options(threshold), "label": file.name}
    with opened(given["topic"]) as topic:
        tables.write(scanned(str(file), topic, given), "scanned", folder / file.name, 5_000)


def leave_out(files: list[Path], folder: Path) -> None:
    """The job that finds duplicates and scrubs."""
    from devqa.config.study import Study
    from devqa.study.duplicates import unique
    from devqa.study.scrubbing import scrub

    least = Study.model_fields["duplicate_similarity"].default
    unique([str(file) for file in files], [folder / f"{number}.parquet" for number in range(4)], least, scrub)


def draw(files: list[Path], folder: Path) -> None:
    """The job that draws the sample."""
    from devqa import tables
    from devqa.config.study import Sample
    from devqa.study.sampling import sampled

    tables.write(sampled(files, Sample().model_dump()), "sampled", folder / "sampled.parquet", 5_000)


def as_filtered(files: list[Path], folder: Path) -> list[Path]:
    """Table `filtered` as it is where the model lets everything through, in place of the step that asks one."""
    from devqa import tables
    from devqa.tables import picked

    def rows(file: Path) -> Iterator[dict[str, Any]]:
        for batch in tables.batches(file, "unique", 5_000):
            yield from (
                {**picked(row, "filtered"), "status": "ok", "reason": ""} for row in batch if row["status"] == "ok"
            )

    for file in files:
        tables.write(rows(file), "filtered", folder / file.name, 5_000)
    return [folder / file.name for file in files]


def job(function: Callable, arguments: tuple) -> tuple[float, float]:
    """Run one job in this process, which ends with it; CPU seconds and the most bytes that it had."""
    function(*arguments)
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, memory("VmHWM")


@contextmanager
def watching() -> Iterator[list[float]]:
    """The most bytes that all processes together had, in a list, once the block has ended."""
    most, over = [0.0], threading.Event()

    def look() -> None:
        while not over.wait(0.1):
            together = 0
            for process in psutil.Process().children(recursive=True):
                try:
                    together += process.memory_info().rss
                except psutil.NoSuchProcess:
                    continue
            most[0] = max(most[0], together)

    watch = threading.Thread(target=look)
    watch.start()
    try:
        yield most
    finally:
        over.set()
        watch.join()


def step(name: str, rows: int, processes: int, jobs: list[tuple[Callable, tuple]]) -> float:
    """Run the jobs of one step, write its line, and return its seconds."""
    began = time.perf_counter()
    context = multiprocessing.get_context("spawn")
    with watching() as together, ProcessPoolExecutor(processes, context, max_tasks_per_child=1) as pool:
        used = [future.result() for future in [pool.submit(job, *each) for each in jobs]]
    took = time.perf_counter() - began
    cpu = sum(seconds for seconds, _ in used)
    largest = max(most for _, most in used) / MB
    line(
        name,
        f"{took:.1f}",
        f"{rows / took:,.0f}",
        f"{cpu:.0f}",
        f"{rows / cpu:,.0f}",
        f"{largest:,.0f}",
        f"{together[0] / MB:,.0f}",
    )
    return cpu


def line(*cells: object) -> None:
    """One row of a Markdown table."""
    sys.stdout.write("| " + " | ".join(map(str, cells)) + " |\n")
    sys.stdout.flush()


def found(near: list[dict[str, Any]], scanned: list[Path], unique: list[Path]) -> None:
    """Write how many of the near duplicates that were made were left out, by similarity."""
    from devqa import tables

    passed = {
        row["origin"]
        for batch in tables.batches(scanned, "scanned", 50_000, ["origin", "status"])
        for row in batch
        if row["status"] == "ok"
    }
    kept = {
        row["origin"]
        for batch in tables.batches(unique, "unique", 50_000, ["origin", "status"])
        for row in batch
        if row["status"] == "ok"
    }
    sys.stdout.write("\n")
    line("true similarity", "near duplicates made", "left out")
    line("---", "---", "---")
    for low, high in ((0, 0.75), (0.75, 0.8), (0.8, 0.85), (0.85, 0.9), (0.9, 1.01)):
        # Both have passed the first step: else there is nothing to be a duplicate of.
        those = [
            pair["origin"]
            for pair in near
            if low <= pair["similarity"] < high and {pair["origin"], pair["of"]} <= passed
        ]
        if those:
            line(
                f"{low} to {min(high, 1)}",
                f"{len(those):,}",
                f"{sum(origin not in kept for origin in those) / len(those):.1%}",
            )


def measure(folder: Path, given: argparse.Namespace) -> None:
    """Generate, and run each step on what the one before it made."""
    places = {name: folder / name for name in ("raw", "scanned", "unique", "filtered")}
    for place in places.values():
        place.mkdir(parents=True, exist_ok=True)
    made = folder / "near.json"
    if not made.exists():
        made.write_text(json.dumps(generated(places["raw"], given)), encoding="utf-8")
    near = json.loads(made.read_text(encoding="utf-8"))
    raw = sorted(places["raw"].iterdir())
    size = sum(file.stat().st_size for file in raw)
    sys.stdout.write(
        f"{given.rows:,} rows in {len(raw)} files of {size / MB:,.0f} MB in all; {given.processes} processes\n\n"
    )
    line("step", "s", "rows/s", "CPU s", "rows per CPU s", "MB of the largest process", "MB of all")
    line(*["---"] * 7)
    alone = step("bare scan by pyarrow", given.rows, given.processes, [(bare, (file,)) for file in raw])
    jobs = [(scan, (file, places["scanned"], given.threshold)) for file in raw]
    whole = step("scan", given.rows, given.processes, jobs)
    scanned = [places["scanned"] / file.name for file in raw]
    step("unique", given.rows, 1, [(leave_out, (scanned, places["unique"]))])
    unique = sorted(places["unique"].glob("*.parquet"))
    filtered = as_filtered(unique, places["filtered"])
    population = sum(pq.read_metadata(file).num_rows for file in filtered)
    step("sample", population, 1, [(draw, (filtered, folder))])
    sys.stdout.write(f"\nThe scan takes {whole / alone:.1f} times the CPU time of the bare one.\n")
    found(near, scanned, unique)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--files", type=int, default=14)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--threshold", type=float, default=0.0, help="of the topic's score")
    parser.add_argument("--folder", type=Path, help="is kept; raw files of an earlier run are taken again")
    arguments = parser.parse_args()
    if arguments.folder:
        measure(arguments.folder, arguments)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            measure(Path(temporary), arguments)
