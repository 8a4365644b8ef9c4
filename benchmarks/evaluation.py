"""Time and memory of a whole evaluation of answers that come with their grades: imports, figures, all reports.

    .venv/bin/python benchmarks/evaluation.py [--models 21] [--repeats 3] [--rows 2740] [--cores 2] [--folder kept]

Writes made-up answers of about 1 kB into a temporary folder (or into `--folder`, which is kept, so that the reports can
be looked at), runs the workflow there, and writes two Markdown tables: the whole run, and its rules.
"""

import argparse
import csv
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

ROOT = Path(__file__).parents[1]
SEED = 1
LANGUAGES = ("en", "zh", "ru")
DOMAINS = ("web", "databases", "operating systems", "languages", "networks", "security", "machine learning", "tools")
WORDS = (
    "request",
    "returns",
    "promise",
    "settled",
    "index",
    "column",
    "table",
    "lock",
    "socket",
    "cache",
    "commit",
    "and",
)


def text(generator: random.Random, characters: int) -> str:
    """Made-up words of about so many characters."""
    return " ".join(generator.choices(WORDS, k=max(1, characters // 6)))


def benchmark(rows: int, generator: random.Random) -> list[dict[str, Any]]:
    """Questions of three to a dialogue."""
    return [
        {
            "id": f"q{number:06}",
            "question": f"{text(generator, 120)} {number}?",
            "answer": text(generator, 20),
            "language": generator.choice(LANGUAGES),
            "domain": generator.choice(DOMAINS),
            "difficulty": "easy" if generator.random() < 0.3 else "hard",
            "source": "made up",
            "dialogue_id": f"d{number // 3:06}",
        }
        for number in range(rows)
    ]


def answers(questions: list[dict[str, Any]], ability: float, generator: random.Random) -> list[dict[str, Any]]:
    """One repeat of a model that is right in a share of `ability`."""
    weights = (ability, 0.95 * (1 - ability), 0.05 * (1 - ability))
    return [
        {
            "id": row["id"],
            "prediction": text(generator, generator.randint(200, 1_800)),
            "grade": generator.choices("ABC", weights)[0],
            "confidence": float(generator.randint(50, 100)),
            "input_tokens": generator.randint(40, 80),
            "output_tokens": generator.randint(50, 450),
        }
        for row in questions
    ]


def prepare(folder: Path, models: int, repeats: int, rows: int) -> None:
    """Write the tables and the configuration that names them."""
    generator = random.Random(SEED)  # noqa: S311
    questions = benchmark(rows, generator)
    pq.write_table(pa.Table.from_pylist(questions), folder / "benchmark.parquet")
    imports = []
    for number in range(models):
        name = f"model-{number + 1:02}"
        files = [f"{name}-{repeat + 1}.parquet" for repeat in range(repeats)]
        for file in files:
            given = answers(questions, 0.3 + 0.5 * number / models, generator)
            pq.write_table(pa.Table.from_pylist(given), folder / file)
        imports.append({"model": name, "files": files, "columns": {"grade": "grade"}})
    evaluation = {"benchmark": {"path": "benchmark.parquet"}, "imports": imports}
    (folder / "mine.yaml").write_text(yaml.safe_dump({"evaluation": evaluation}), encoding="utf-8")


def evaluate(folder: Path, cores: int) -> tuple[float, float, float]:
    """Run the workflow in `folder`; seconds, CPU seconds, and the most memory in MB that one of its processes had."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder)]
    began = time.perf_counter()
    ran = subprocess.run(  # noqa: S603
        [*command, "--configfile", str(folder / "mine.yaml"), "--cores", str(cores)],
        capture_output=True,
        text=True,
        check=False,
    )
    took = time.perf_counter() - began
    if ran.returncode:
        sys.exit(f"{ran.stdout}\n{ran.stderr}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3


def by_rule(folder: Path) -> list[tuple[str, int, float, float, float]]:
    """(rule, jobs, mean seconds and CPU seconds of a job, most MB of one) as Snakemake measured them."""
    found = defaultdict(list)
    for file in sorted((folder / "logs/benchmarks").rglob("*.tsv")):
        with file.open(encoding="utf-8") as lines:
            (measured,) = csv.DictReader(lines, delimiter="\t")
        rule = file.relative_to(folder / "logs/benchmarks").parts[0].removesuffix(".tsv")
        # What a job that ended before the first measurement took is not known.
        figures = [measured[name] for name in ("s", "cpu_time", "max_rss")]
        found[rule].append([float(figure) if figure not in ("-", "NA") else 0.0 for figure in figures])
    return [
        (rule, len(jobs), *(sum(each) / len(jobs) for each in (seconds, cpu)), max(memory))
        for rule, jobs in found.items()
        for seconds, cpu, memory in [zip(*jobs, strict=True)]
    ]


def measure(folder: Path, options: argparse.Namespace) -> None:
    """Prepare, run, and write the tables."""
    prepare(folder, options.models, options.repeats, options.rows)
    took, cpu, memory = evaluate(folder, options.cores)
    size = sum(file.stat().st_size for file in folder.glob("*.parquet")) / 1e6
    heads = ("models", "repeats", "rows", "input MB", "cores", "s", "CPU s", "MB of the largest process")
    cells = (options.models, options.repeats, options.rows, f"{size:.0f}", options.cores)
    line(*heads)
    line(*["---"] * len(heads))
    line(*cells, f"{took:.1f}", f"{cpu:.1f}", f"{memory:,.0f}")
    sys.stdout.write("\n")
    line("rule", "jobs", "s of a job", "CPU s of a job", "MB")
    line(*["---"] * 5)
    for rule, jobs, seconds, busy, most in by_rule(folder):
        line(rule, jobs, f"{seconds:.1f}", f"{busy:.1f}", f"{most:,.0f}")


def line(*cells: object) -> None:
    """A line of a Markdown table."""
    sys.stdout.write(f"| {' | '.join(map(str, cells))} |\n")


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=21)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", type=int, default=2_740)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="an empty or new folder for tables and reports, which is kept")
    options = parser.parse_args()
    if options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
        measure(options.folder.resolve(), options)
    else:
        with tempfile.TemporaryDirectory() as folder:
            measure(Path(folder), options)


if __name__ == "__main__":
    main()
