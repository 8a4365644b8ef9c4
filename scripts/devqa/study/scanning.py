"""Raw records → scanned: what each one is, whether it goes on, and why not."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from devqa import tokens
from devqa.ingest import parquet
from devqa.ingest.normalise import normalise
from devqa.ingest.record import Record
from devqa.ingest.run import records
from devqa.study import flags, sketches
from devqa.study.topics import Topic
from devqa.tables import Row

# How much is looked at together: rows, and characters of what users said.
_ROWS = 500
_CHARACTERS = 1_000_000


def scanned(file: str, topic: Topic, options: Mapping[str, Any]) -> Iterator[Row]:
    """Rows of table `scanned`, one per record of `file`, in its order; as they are needed.

    A record that `devqa.ingest` would reject is rejected with the same reason. Of the others are rejected, by the
    first that holds: those flagged `toxic`, or `redacted`, unless the options of that name are true; those in none of
    `languages` (if there are any): "other language"; those whose topic score is below the threshold: "off topic".
    Those that go on have `text`, what the user said cut to `text_tokens`, on which the topic is judged; and `exact` and
    `sketch`, of all that the user said (`devqa.study.sketches`). The others don't have them.

    Args:
        file: Parquet or JSON lines, as `devqa.ingest` reads them.
        topic: the first pass.
        options: of the rule's recipe: `source`, `label` (what `origin` calls the file), `limits` (of `ingest`),
            `topic`, `languages`, `toxic`, `redacted`, `text_tokens`.

    Raises:
        UserError: the file can't be read to its end, or holds no dialogues; the topic's program does not work.
    """
    for batch in _batches(_flagged(file, options), options):
        yield from _judged(batch, topic, options)


def _flagged(file: str, options: Mapping[str, Any]) -> Iterator[tuple[Record, bool, bool]]:
    """Each record of a file with its flags, toxic and redacted."""
    if file.lower().endswith(".parquet"):
        for record, (toxic, redacted) in zip(parquet.read(file), flags.of_parquet(file), strict=True):
            yield record, toxic, redacted
    else:
        for record in records(file, options["limits"]):
            yield record, *flags.of_value(record.value)


def _batches(
    records: Iterable[tuple[Record, bool, bool]], options: Mapping[str, Any]
) -> Iterator[list[tuple[Row, str | None]]]:
    """Rows, and what the user said where nothing is known against them yet; so many that they fit into memory."""
    batch, characters = [], 0
    for record, toxic, redacted in records:
        row, said = _studied(record, toxic, redacted, options)
        batch.append((row, said))
        characters += len(said or "")
        if len(batch) >= _ROWS or characters >= _CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _studied(record: Record, toxic: bool, redacted: bool, options: Mapping[str, Any]) -> tuple[Row, str | None]:
    """The row of one record, as far as its own fields decide it, and what the user said if it may go on."""
    row = normalise(record, options["label"], options["source"], options["limits"])
    messages = row.pop("messages")
    row |= {"number": record.number, "toxic": toxic, "redacted": redacted}
    if row["status"] != "ok":
        return row, None
    row |= {"turns": len(messages), "characters": sum(len(message["content"]) for message in messages)}
    if reason := _unwanted(row, options):
        return row | {"status": "rejected", "reason": reason}, None
    return row, "\n\n".join(message["content"] for message in messages if message["role"] == "user")


def _unwanted(row: Row, options: Mapping[str, Any]) -> str:
    """Why nobody wants to study a usable dialogue, "" if somebody may."""
    for flag in flags.FLAGS:
        if row[flag] and not options[flag]:
            return flag
    if options["languages"] and row["language"] not in options["languages"]:
        return f"other language: {row['language'] or 'unknown'}"
    return ""


def _judged(batch: Sequence[tuple[Row, str | None]], topic: Topic, options: Mapping[str, Any]) -> Iterator[Row]:
    """The rows of a batch, whole."""
    open_rows = [row for row, said in batch if said is not None]
    texts = [tokens.cut(said, options["text_tokens"]) for _, said in batch if said is not None]
    for row, text, score in zip(open_rows, texts, topic.scores(texts), strict=True):
        row["topic_score"] = score
        if score < options["topic"]["threshold"]:
            row |= {"status": "rejected", "reason": "off topic"}
        else:
            row["text"] = text
    going_on = [(row, sketches.normal(said)) for row, said in batch if "text" in row]
    for (row, said), sketch in zip(going_on, sketches.sketches([said for _, said in going_on]), strict=True):
        row |= {"exact": sketches.exact(said), "sketch": sketch.tobytes()}
    for row, _ in batch:
        yield row
