"""Which row of the benchmark a row with an answer from elsewhere belongs to."""

import difflib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from devqa.imports.reading import Record, stripped, text
from devqa.tables import Row

# How alike the questions of one row are in two versions of a benchmark (difflib's ratio), with the same gold answer.
_SAME_QUESTION = 0.8
# A gold answer that more rows share, such as "yes", says little about which one is meant.
_SAME_ANSWER = 20


@dataclass
class Matches:
    """`by_id`: the row for each row of the benchmark that has one. `unmatched`: the others, each with the reason.

    `reworded`: the rows of the benchmark whose question reads otherwise in their row. `other_gold` counts rows that
    were matched although their gold answer is not the benchmark's.
    """

    by_id: dict[str, Record] = field(default_factory=dict)
    unmatched: list[tuple[Record, str]] = field(default_factory=list)
    reworded: set[str] = field(default_factory=set)
    other_gold: int = 0


def match(given: Sequence[Record], benchmark: Sequence[Row], asked: Collection[str]) -> Matches:
    """Match the rows of one repeat.

    A row belongs to the row of the benchmark with its id, unless their questions differ; else to the one with its
    question. Where several have that question, the gold answer decides; where it can't (there is none, or several are
    equal), they are taken in the order of the benchmark. Texts are compared as they are first, then in Unicode's NFC
    without outer white space and with plain line ends. Each row of the benchmark is taken once.

    Published benchmarks are corrected after answers were graded. So at the end a row that is left over belongs to the
    one row left over with the same gold answer and nearly the same question, if there is just one. Without a gold
    answer, it does not: two questions may differ in a word and be different questions.

    Args:
        given: with the roles `id`, `question` and `answer` (the gold one), as far as the file has them.
        asked: the ids of those rows of the benchmark that are asked; answers to others are unmatched.
    """
    places = {id(record): place for place, record in enumerate(given)}
    index = _Index(benchmark)
    found = Matches()
    by_question: list[Record] = []
    for record in given:
        row = index.by_id.get(stripped(record, "id"))
        if row and _same_question(record, row):
            _take(found, record, [row])
        else:
            by_question.append(record)
    undecided: list[tuple[Record, list[Row]]] = []
    strangers: list[Record] = []
    for record in by_question:
        rows = index.with_question(text(record, "question"))
        chosen = _with_gold(record, rows) if len(rows) > 1 else rows
        if chosen:
            _take(found, record, chosen)
        elif rows:
            undecided.append((record, rows))
        else:
            strangers.append(record)
    # Their gold answer is none of the benchmark's: they get what is left over.
    for record, rows in undecided:
        _take(found, record, rows)
    reworded = _reworded(strangers, [row for row in benchmark if row["id"] not in found.by_id])
    for record in strangers:
        if row := reworded.get(id(record)):
            found.by_id[row["id"]] = record
            found.reworded.add(row["id"])
        else:
            found.unmatched.append((record, _stranger(record, index)))
    _leave_out_unasked(found, benchmark, asked)
    gold = {row["id"]: row["answer"] for row in benchmark}
    found.other_gold = sum(not _agree(record, "answer", gold[row]) for row, record in found.by_id.items())
    found.unmatched.sort(key=lambda pair: places[id(pair[0])])
    return found


class _Index:
    """The benchmark's rows by id and by question."""

    def __init__(self, benchmark: Iterable[Row]):
        self.by_id: dict[str, Row] = {}
        self._exact: dict[str, list[Row]] = defaultdict(list)
        self._plain: dict[str, list[Row]] = defaultdict(list)
        for row in benchmark:
            self.by_id[row["id"]] = row
            self._exact[row["question"]].append(row)
            self._plain[_plain(row["question"])].append(row)

    def with_question(self, question: str | None) -> list[Row]:
        if not question:
            return []
        return self._exact.get(question) or self._plain.get(_plain(question), [])


def _take(found: Matches, record: Record, rows: Sequence[Row]) -> None:
    free = [row["id"] for row in rows if row["id"] not in found.by_id]
    if free:
        found.by_id[free[0]] = record
    else:
        found.unmatched.append((record, f"given twice: {found.by_id[rows[-1]['id']]} answers the same row"))


def _with_gold(record: Record, rows: Sequence[Row]) -> list[Row]:
    """Those of several `rows` that have the record's gold answer; all where it has no column for one."""
    if "answer" not in record.values:
        return list(rows)
    gold = text(record, "answer") or ""
    ways: tuple[Callable[[str], str], ...] = (str, _plain)
    return next((same for way in ways if (same := [row for row in rows if way(row["answer"]) == way(gold)])), [])


def _reworded(strangers: Iterable[Record], free: Iterable[Row]) -> dict[int, Row]:
    """The row of the benchmark whose question reads otherwise, for those `strangers` (by `id()`) that have one."""
    with_gold = defaultdict(list)
    for row in free:
        with_gold[_plain(row["answer"])].append(row)
    found = {}
    for record in strangers:
        gold, question = _plain(text(record, "answer") or ""), text(record, "question") or ""
        rows = with_gold[gold] if gold and question and len(with_gold[gold]) <= _SAME_ANSWER else []
        alike = [row for row in rows if _alike(question, row["question"])]
        if len(alike) == 1:
            found[id(record)] = alike[0]
    claims = Counter(row["id"] for row in found.values())
    return {record: row for record, row in found.items() if claims[row["id"]] == 1}


def _alike(one: str, other: str) -> bool:
    """Whether two questions are one in two wordings."""
    matcher = difflib.SequenceMatcher(None, _plain(one), _plain(other), autojunk=False)
    return all(ratio() >= _SAME_QUESTION for ratio in (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio))


def _stranger(record: Record, index: _Index) -> str:
    identifier, question = stripped(record, "id"), text(record, "question")
    if identifier in index.by_id:
        return "the benchmark's row with this id has another question"
    if question:
        return "the benchmark has no such question"
    return "the benchmark has no such id" if identifier else "there is neither id nor question"


def _leave_out_unasked(found: Matches, benchmark: Iterable[Row], asked: Collection[str]) -> None:
    for row in benchmark:
        if row["id"] in found.by_id and row["id"] not in asked:
            found.unmatched.append((found.by_id.pop(row["id"]), f"not asked: its difficulty is {row['difficulty']}"))


def _same_question(record: Record, row: Row) -> bool:
    return not text(record, "question") or _agree(record, "question", row["question"])


def _agree(record: Record, role: str, value: str) -> bool:
    """Whether a text is the same; also where the file has none."""
    return role not in record.values or _plain(text(record, role) or "") == _plain(value)


def _plain(value: str) -> str:
    return unicodedata.normalize("NFC", value.replace("\r\n", "\n").replace("\r", "\n")).strip()
