"""BM25 over texts that are already split into words: an index for many, a look at each for a few."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import tantivy

_HEAP_BYTES = 64_000_000
_K1, _B = 1.2, 0.75


def best(documents: Sequence[Counter[str]], words: Iterable[str], limit: int) -> list[tuple[int, float]]:
    """The `limit` best of a few `documents` that hold at least one of `words`: (number, score), best first.

    Each document is the counts of its words. Scores are those of `Index`, but for its rounding of the lengths of long
    documents; to build one takes longer than to look through hundreds of documents. Equal scores come in the order of
    the documents' numbers.
    """
    lengths = [document.total() for document in documents]
    usual = sum(lengths) / len(documents) if documents else 0.0
    scores: dict[int, float] = {}
    for word in sorted(set(words)):
        holding = [(number, document[word]) for number, document in enumerate(documents) if word in document]
        rarity = math.log1p((len(documents) - len(holding) + 0.5) / (len(holding) + 0.5))
        for number, count in holding:
            saturated = count + _K1 * (1 - _B + _B * lengths[number] / usual)
            scores[number] = scores.get(number, 0.0) + rarity * count * (_K1 + 1) / saturated
    # Rounded as those of `Index` are.
    ranked = sorted(((number, round(score, 4)) for number, score in scores.items()), key=lambda hit: (-hit[1], hit[0]))
    return ranked[:limit]


class Index:
    """A full-text index (tantivy, whose BM25 has k1 = 1.2 and b = 0.75), in memory or in an empty `folder`.

    `documents` are lists of words, or strings of words separated by spaces (see `devqa.web.words`); a
    document's number is its position.
    """

    def __init__(self, documents: Iterable[list[str] | str], folder: Path | None = None):
        builder = tantivy.SchemaBuilder()
        # No positions: phrases are never searched.
        builder.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
        builder.add_integer_field("number", fast=True)
        self._schema = builder.build()
        self._index = tantivy.Index(self._schema, path=str(folder) if folder else None)
        writer = self._index.writer(heap_size=_HEAP_BYTES, num_threads=1)
        for number, document in enumerate(documents):
            text = document if isinstance(document, str) else " ".join(document)
            writer.add_document(tantivy.Document(words=text, number=number))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()

    def search(self, words: list[str], limit: int) -> list[tuple[int, float]]:
        """The `limit` best documents that hold at least one of `words`: (number, score), best first.

        Equal scores come in the order of the documents' numbers, whatever the index looks like inside.
        """
        # Built by hand: tantivy's query parser stumbles over words such as c++ or std::vector<int>.
        terms = [tantivy.Query.term_query(self._schema, "words", word, "freq") for word in sorted(set(words))]
        if not terms or limit < 1:
            return []
        query = tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms])
        hits = self._with_all_ties(query, limit)
        numbers = self._searcher.fast_field_values("number", [address for _, address in hits])
        ranked = sorted(zip(numbers, (score for score, _ in hits), strict=True), key=lambda hit: (-hit[1], hit[0]))
        return ranked[:limit]

    def _with_all_ties(self, query: tantivy.Query, limit: int) -> list[tuple[float, tantivy.DocAddress]]:
        """At least the `limit` best hits, and all that score like the last of them."""
        wanted = limit + 1
        while True:
            found = self._searcher.search(query, wanted, count=False).hits
            # Rounded: the terms' scores are added up in an order that differs from document to document.
            hits = [(round(score, 4), address) for score, address in found]
            if len(hits) < wanted or hits[-1][0] < hits[limit - 1][0]:
                return hits
            wanted *= 2
