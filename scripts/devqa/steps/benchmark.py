"""rated → merged → benchmark: exact and near duplicates merged into one row, people's decisions applied."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rensa import RMinHash, RMinHashLSH

from devqa.steps.outcomes import OK, rejected
from devqa.tables import Row, picked
from devqa.text import literal

SHINGLE = 3
PERMUTATIONS = 128
# Candidates are looked for well below the threshold and then confirmed with the true similarity.
BANDS = 32


def merged(rated: Sequence[Row], similarity: float) -> list[Row]:
    """Rows of table `merged`, one per rated pair, sorted by pair: those kept are `ok`, the others name theirs.

    Two pairs of one language are the same when both their questions and their answers are alike: Jaccard
    similarity of character trigrams of at least `similarity`. The pair that sorts first is kept. Whatever is merged is
    the same as the pair that it names, and no pair that is kept was found to be the same as another.
    """
    rated = sorted(rated, key=lambda row: row["pair_id"])
    kept_for: dict[str, str] = {}
    for first, second in _alike(rated, similarity):
        # Only into pairs that are kept: else a chain of small differences merges pairs that are not alike.
        if first not in kept_for:
            kept_for.setdefault(second, first)
    return [
        {
            **picked(row, "merged"),
            "merged_into": kept_for.get(row["pair_id"]),
            **(rejected("duplicate of another pair") if row["pair_id"] in kept_for else OK),
        }
        for row in rated
    ]


def benchmark(
    pairs: Sequence[Row],
    cited: Mapping[str, Sequence[str]],
    filtered: Mapping[str, Sequence[Row]],
    reviewed: Sequence[Row],
    models: Sequence[Row],
    prompts: Sequence[Row],
) -> list[Row]:
    """Rows of table `benchmark` for the pairs kept. The knowledge domain is null: table `domains` has it.

    What people rejected is left out; what they corrected has their answer, and no sentences that state it, because
    those stated the old one. Its difficulty is still that of the question with the old answer.

    By pair, `cited` gives the addresses of the evidence that verified it (`cited_urls`), `filtered` the grades of the
    filter models (`filter_grades`). `reviewed` has a row of that table for each pair. `models` and `prompts` are the
    provenance that all rows share: which model each step asked, and the hash of its prompt.
    """
    columns = ("question", "answer", "language", "difficulty", "dialogue_id", "source", "references", "supports")
    fates = {row["pair_id"]: row for row in reviewed}
    return [
        {
            "id": row["pair_id"],
            **{key: row[key] for key in columns},
            **({"answer": fate["answer"], "supports": []} if fate["decision"] == "corrected" else {}),
            # What people have looked at stands in front.
            "evidence_urls": list(dict.fromkeys([*fate["evidence_urls"], *cited.get(row["pair_id"], [])])),
            "reviewed": fate["decision"],
            "domain": None,
            "filtered": list(filtered[row["pair_id"]]),
            "models": list(models),
            "prompts": list(prompts),
        }
        for row in pairs
        if (fate := fates[row["pair_id"]])["status"] == "ok"
    ]


def cited_urls(verified: Iterable[Row]) -> dict[str, list[str]]:
    """The addresses of the passages that each pair's verification cited, by pair, each address once."""
    return {
        row["pair_id"]: list(dict.fromkeys(row["passages"][number - 1]["url"] for number in row["cited"] or []))
        for row in verified
    }


def filter_grades(rated: Iterable[Row]) -> dict[str, list[Row]]:
    """By pair, the grade of each model's attempt at it: `{model, grade}`; null where the attempt has none."""
    return {
        row["pair_id"]: [{"model": attempt["model"], "grade": attempt["grade"]} for attempt in row["attempts"]]
        for row in rated
    }


def _alike(rows: Sequence[Row], similarity: float) -> Iterator[tuple[str, str]]:
    """Pairs of ids of rows that are the same, the one that sorts first in front, in the order of `rows`."""
    questions = [_shingles(row["question"]) for row in rows]
    answers = [_shingles(row["answer"]) for row in rows]
    # Both are looked for: questions of one kind may all be alike, and answers such as a number are.
    for number, others in enumerate(map(set.intersection, _candidates(questions), _candidates(answers))):
        for other in sorted(others):
            if (
                rows[number]["language"] == rows[other]["language"]
                and _jaccard(answers[number], answers[other]) >= similarity
                and _jaccard(questions[number], questions[other]) >= similarity
            ):
                yield rows[other]["pair_id"], rows[number]["pair_id"]


def _candidates(texts: Sequence[set[str]]) -> Iterator[set[int]]:
    """For each of `texts` (their shingles) the numbers of those before it that may be alike."""
    index = RMinHashLSH(0.5, PERMUTATIONS, BANDS)
    for number, text in enumerate(texts):
        sketch = RMinHash(PERMUTATIONS, 42)
        sketch.update(sorted(text))
        yield set(index.query(sketch))
        index.insert(number, sketch)


def _shingles(text: str) -> set[str]:
    text = literal(text).casefold()
    return {text[start : start + SHINGLE] for start in range(max(1, len(text) - SHINGLE + 1))}


def _jaccard(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other)
