"""The tables from dialogues to a benchmark and its evaluation, of people's decisions, and of the study."""

import pyarrow as pa

from devqa.schemas.parts import ASKED, CRITERIA, RUN, STATUS, TEXTS, TOOL_CALLS, USAGE

_REFERENCES = pa.list_(pa.struct([("url", pa.string()), ("title", pa.string()), ("text", pa.string())]))
_PASSAGES = pa.list_(
    pa.struct([("url", pa.string()), ("title", pa.string()), ("text", pa.string()), ("score", pa.float64())])
)
# Where a pair's answer stands: the number of a reference, the sentence, and how it is found in the page's own text
# (exact, near).
_SUPPORTS = pa.list_(pa.struct([("reference", pa.int32()), ("span", pa.string()), ("match", pa.string())]))
_DIALOGUE = [("dialogue_id", pa.string()), ("source", pa.string()), ("language", pa.string())]
# A raw dialogue: where it stands (`origin`, as file:number), its turns and the characters of all of them.
_STUDIED = [
    *_DIALOGUE,
    ("model", pa.string()),
    ("origin", pa.string()),
    ("turns", pa.int32()),
    ("characters", pa.int64()),
]
_PAGE = [("dialogue_id", pa.string()), ("rank", pa.int32()), ("url", pa.string()), ("title", pa.string())]
_PAIR = [
    ("pair_id", pa.string()),
    *_DIALOGUE,
    ("number", pa.int32()),
    ("question", pa.string()),
    ("answer", pa.string()),
    ("supports", _SUPPORTS),
    ("references", _REFERENCES),
]
_ATTEMPTS = pa.list_(
    pa.struct(
        [
            ("model", pa.string()),
            ("answer", pa.string()),
            ("outcome", pa.string()),
            ("grade", pa.string()),
            ("judge_outcome", pa.string()),
            ("judge_text", pa.string()),
        ]
    )
)
_PERSON = [("annotator", pa.string()), ("role", pa.string())]
_DECIDED = ("decided_at", pa.string())

TABLES = {
    # Local corpus: one row per page, with the words that the search engine indexes.
    "corpus": [
        ("url", pa.string()),
        ("title", pa.string()),
        ("language", pa.string()),
        ("text", pa.string()),
        ("words", pa.string()),
        ("content", pa.binary()),
        ("content_type", pa.string()),
        *STATUS,
    ],
    "dialogues": [
        *_DIALOGUE,
        ("model", pa.string()),
        ("origin", pa.string()),
        ("messages", pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))),
        *STATUS,
    ],
    "queries": [*_DIALOGUE, ("topics", TEXTS), ("queries", TEXTS), *ASKED, *STATUS],
    "search": [
        *_DIALOGUE,
        ("queries", TEXTS),
        (
            "results",
            pa.list_(
                pa.struct(
                    [("rank", pa.int32()), ("url", pa.string()), ("title", pa.string()), ("snippet", pa.string())]
                )
            ),
        ),
        # Requests to the engine, as calls of `search:<engine>`.
        ("usage", USAGE),
        *STATUS,
    ],
    "pages": [
        *_PAGE,
        ("final_url", pa.string()),
        ("http_status", pa.int32()),
        ("content_type", pa.string()),
        # Of the raw content, which the cache holds under it; null where there is none.
        ("sha256", pa.string()),
        ("bytes", pa.int64()),
        # When the content came, in ISO 8601 and UTC; "" for pages of a local corpus.
        ("fetched", pa.string()),
        *STATUS,
    ],
    "references": [
        *_PAGE,
        ("language", pa.string()),
        ("extractor", pa.string()),
        # The address or name of the licence that the page states, "" where it states none.
        ("license", pa.string()),
        ("text", pa.string()),
        *STATUS,
    ],
    "condensed": [*_PAGE, ("method", pa.string()), ("text", pa.string()), *ASKED, *STATUS],
    "pairs": [*_PAIR, *ASKED, *STATUS],
    "checked": [*_PAIR, ("criteria", CRITERIA), *ASKED, *STATUS],
    "evidence": [*_PAIR, ("passages", _PASSAGES), ("usage", USAGE), *STATUS],
    "verified": [
        *_PAIR,
        ("passages", _PASSAGES),
        ("verdict", pa.string()),
        ("evidence_answer", pa.string()),
        ("explanation", pa.string()),
        ("cited", pa.list_(pa.int32())),
        *ASKED,
        *STATUS,
    ],
    "rated": [*_PAIR, ("difficulty", pa.string()), ("attempts", _ATTEMPTS), ("usage", USAGE), *STATUS],
    # What people look at: pairs that the evidence did not support, and those that may become the benchmark.
    "review": [
        *_PAIR,
        ("difficulty", pa.string()),
        ("criteria", CRITERIA),
        ("passages", _PASSAGES),
        ("verdict", pa.string()),
        ("evidence_answer", pa.string()),
        ("explanation", pa.string()),
        ("cited", pa.list_(pa.int32())),
    ],
    # The sample of graded answers that people grade too.
    "review_grades": [
        *RUN,
        ("question", pa.string()),
        ("answer", pa.string()),
        ("prediction", pa.string()),
        ("language", pa.string()),
        ("grade", pa.string()),
        ("stratum", pa.string()),
    ],
    # People's decisions, one row per thing and person. `role` is annotator or adjudicator, `decided_at` ISO 8601
    # in UTC. Of pairs: accept, reject or correct; `answer` is the corrected one, `own_answer` what was typed
    # before the pair's answer was seen.
    "pair_decisions": [
        ("pair_id", pa.string()),
        *_PERSON,
        ("decision", pa.string()),
        ("failed_criteria", TEXTS),
        ("reason", pa.string()),
        ("own_answer", pa.string()),
        ("answer", pa.string()),
        ("evidence_urls", TEXTS),
        _DECIDED,
    ],
    # Of graded answers, for the judge's reliability: CORRECT, INCORRECT, NOT_ATTEMPTED.
    "grade_decisions": [*RUN, *_PERSON, ("grade", pa.string()), _DECIDED],
    # Of dialogues of the study: a task of Table 2; and of knowledge questions what 3.2 and 3.3 ask (else null).
    "dialogue_decisions": [
        ("dialogue_id", pa.string()),
        *_PERSON,
        ("task", pa.string()),
        ("code_centred", pa.bool_()),
        ("single_answer", pa.bool_()),
        ("timeless", pa.bool_()),
        ("evidenced", pa.bool_()),
        _DECIDED,
    ],
    # Of rows of the benchmark: the knowledge domain.
    "domain_decisions": [("id", pa.string()), *_PERSON, ("domain", pa.string()), _DECIDED],
    # What became of each pair that was up for review: `decision` is accepted, corrected, rejected, or "" where it
    # is open; `decisions` how many there are, `adjudicated` whether a third settled it.
    "reviewed": [
        ("pair_id", pa.string()),
        ("supported", pa.bool_()),
        ("decision", pa.string()),
        ("answer", pa.string()),
        ("evidence_urls", TEXTS),
        ("decisions", pa.int32()),
        ("adjudicated", pa.bool_()),
        *STATUS,
    ],
    # Every rated pair with the row of the benchmark that it became or was merged into.
    "merged": [*_PAIR, ("difficulty", pa.string()), ("merged_into", pa.string()), *STATUS],
    "benchmark": [
        ("id", pa.string()),
        ("question", pa.string()),
        ("answer", pa.string()),
        ("language", pa.string()),
        ("difficulty", pa.string()),
        ("dialogue_id", pa.string()),
        ("source", pa.string()),
        ("references", _REFERENCES),
        ("supports", _SUPPORTS),
        ("evidence_urls", TEXTS),
        # What people made of it: accepted, corrected, or "" as long as nobody has decided.
        ("reviewed", pa.string()),
        # The knowledge domain, where the benchmark comes with one.
        ("domain", pa.string()),
        # What the difficulty filter's models made of the question.
        ("filtered", pa.list_(pa.struct([("model", pa.string()), ("grade", pa.string())]))),
        ("models", pa.list_(pa.struct([("step", pa.string()), ("model", pa.string()), ("endpoint", pa.string())]))),
        ("prompts", pa.list_(pa.struct([("step", pa.string()), ("sha256", pa.string())]))),
    ],
    # The frozen evidence: every page that a row of the benchmark cites, as reference or as evidence (ids of rows).
    "sources": [
        ("url", pa.string()),
        ("final_url", pa.string()),
        ("fetched", pa.string()),
        ("http_status", pa.int32()),
        ("content_type", pa.string()),
        ("license", pa.string()),
        ("sha256", pa.string()),
        ("bytes", pa.int64()),
        ("referenced_by", TEXTS),
        ("evidence_of", TEXTS),
        *STATUS,
    ],
    # The study. `scanned`: every raw record, one file for each raw file; `text` is what the user said, cut, where
    # the dialogue goes on; `sketch` its MinHash, `exact` a hash of the whole.
    "scanned": [
        *_STUDIED,
        ("number", pa.int64()),
        ("exact", pa.int64()),
        ("sketch", pa.binary()),
        ("toxic", pa.bool_()),
        ("redacted", pa.bool_()),
        ("topic_score", pa.float64()),
        ("text", pa.string()),
        *STATUS,
    ],
    # The same without duplicates and off-topic dialogues, in shards; `text` is scrubbed: nothing else is sent.
    "unique": [*_STUDIED, ("topic_score", pa.float64()), ("text", pa.string()), ("scrubbed", TEXTS), *STATUS],
    # What the model says: is it about software development?
    "filtered": [*_STUDIED, ("text", pa.string()), *ASKED, *STATUS],
    # The population with its strata: drawn (ok), or rejected as not drawn.
    "sampled": [*_STUDIED, ("text", pa.string()), ("stratum", pa.string()), ("weight", pa.float64()), *STATUS],
    "classified": [
        *_STUDIED,
        ("text", pa.string()),
        ("weight", pa.float64()),
        ("task", pa.string()),
        ("code_centred", pa.bool_()),
        ("single_answer", pa.bool_()),
        ("timeless", pa.bool_()),
        ("evidenced", pa.bool_()),
        *ASKED,
        *STATUS,
    ],
    # In WildChat's columns, so that `dialogues` can name it.
    "seeds": [
        ("conversation_hash", pa.string()),
        ("model", pa.string()),
        ("language", pa.string()),
        ("conversation", pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))),
    ],
    # Which knowledge domain a question of the benchmark belongs to.
    "domains": [("id", pa.string()), ("domain", pa.string()), *ASKED, *STATUS],
    # What the setting `rag` shows with each question.
    "retrieved": [("id", pa.string()), ("passages", _PASSAGES), ("usage", USAGE), *STATUS],
    "answers": [
        *RUN,
        ("answer", pa.string()),
        # From 0 to 100, where the setting asks for it and the model stated it in the form that was asked for.
        ("confidence", pa.float64()),
        # What the model was shown (rag), or has found itself (agentic).
        ("passages", _PASSAGES),
        ("tool_calls", TOOL_CALLS),
        # Null where none were counted.
        ("input_tokens", pa.int64()),
        ("output_tokens", pa.int64()),
        ("reasoning_tokens", pa.int64()),
        *ASKED,
        *STATUS,
    ],
    # `grade` is CORRECT, INCORRECT, NOT_ATTEMPTED, or null where there is none (`reason` says why).
    # `judge` is the judge's name in the configuration; null where the grade came with the answer.
    "grades": [
        *RUN,
        ("judge", pa.string()),
        ("grade", pa.string()),
        ("judge_text", pa.string()),
        *ASKED,
        *STATUS,
    ],
    "scores": [
        ("model", pa.string()),
        ("setting", pa.string()),
        ("slice", pa.string()),
        ("value", pa.string()),
        ("metric", pa.string()),
        ("mean", pa.float64()),
        ("spread", pa.float64()),
        # 95 % interval, and worst and best case over rows without a grade; null for what has none.
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("worst", pa.float64()),
        ("best", pa.float64()),
        ("repeats", pa.int32()),
        ("rows", pa.int64()),
    ],
}
