"""How far people agree with each other and with what was settled in the end, and whose agreement falls.

Rows are those of a table of decisions (`deciding.KEYS`), one per thing and person. Adjudicators see what the others
said, so that only annotators' decisions, which are taken blind, are compared with each other.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from devqa.evaluation.agreement import against_people, krippendorff_alpha
from devqa.evaluation.as_json import as_json
from devqa.evaluation.bootstrap import Estimate, intervals, over
from devqa.evaluation.statistics import at_the_edges
from devqa.review import deciding
from devqa.review.settling import by_thing
from devqa.tables import Row

# Decisions on each side of a fall, the p value below which it is one, and how often it is sought in shuffled decisions.
FEWEST_DECISIONS = 20
DRIFT_LEVEL = 0.01
_SHUFFLES = 1_999
_SEED = 1
# Places at which a fall is looked for.
_PLACES = 100

_NONE = -1


@dataclass(frozen=True)
class _Thing:
    """All decisions about one thing, and what they come to.

    `counts`: it was settled by more than one person's word, so that each annotator was right or wrong about it.
    """

    own: Sequence[Row]
    state: deciding.State
    counts: bool


def summary(table: str, rows: Iterable[Row], annotators: int, rejection: str = "adjudicated") -> list[dict[str, Any]]:
    """Agreement by criterion, as plain JSON values; an estimate is {value, low, high} with its 95 % interval.

    Args:
        table: the table of decisions.
        annotators, rejection: as of `deciding.state`.

    Criteria are the labels that decisions of the table have; of pairs `decision`, and then each criterion that somebody
    named as failed (yes or no). A label that is null is a missing value. Of each criterion there are

        `criterion`, `things` (that at least two annotators labelled),
        `alpha`: Krippendorff's (nominal) over them,
        `pairs`: of every two annotators who share at least two things `first`, `second`, `things`, `kappa` (Cohen's),
        `accuracy`: the share of all annotators' labels that are the settled one, as of SimpleDevQA, section 3, over
            `labels` labels,
        `disputed`: the same over the `disputed_labels` of those things on whose label annotators differed, and
        `people`: by annotator `annotator`, and their `accuracy`, `labels`, `disputed`, `disputed_labels`.

    A label is settled by annotators who agree in their whole decisions, or else by an adjudicator: what one person
    alone has settled counts in no accuracy. Where annotators agree both are right by construction, so that `accuracy`
    is too good if they err alike; `disputed` shows who was right where they didn't: 0.5 for two of whom one always is.

    Intervals are bootstrapped over things (`devqa.evaluation.bootstrap`): none for fewer than ten.
    """
    things = _things(table, rows, annotators, rejection)
    names = sorted({row["annotator"] for thing in things for row in thing.own})
    return as_json([_criterion(name, label, things, names) for name, label in _labels(table, things).items()])


def drift(table: str, rows: Iterable[Row], annotators: int, rejection: str = "adjudicated") -> list[dict[str, Any]]:
    """Whose agreement has fallen, one entry per annotator, sorted by name.

    A decision agrees if it says what was settled (`deciding.agreeing`), or as long as nothing is settled what all the
    other annotators of the thing say: until somebody adjudicates, both sides of a dispute disagree.

    In the order in which they were taken, agreement before and after each of up to 100 places is compared, with at
    least 20 decisions on each side; the statistic is the largest fall, as the standardised difference of two shares.
    Its p value is one-sided, from a permutation test: how often the decisions in random order show a fall as large.
    (Only how many disagreeing ones come to lie between two places matters, which is multivariate hypergeometric.) So
    one test looks at all places, and p < 0.01 is a false alarm about once in a hundred annotators.

    Pairs that the evidence did not support come first and are the harder ones: that may hide a fall, but makes none.

    Returns `annotator`, `decisions` (that others can be held against), `p` (None for fewer than 40), `drifting`
    (p < 0.01), and of the largest fall `before`, `latest` (shares that agree), `latest_decisions` and `since`
    (`decided_at` of the first of them), None where there is none.
    """
    agreed = _agreements(table, _things(table, rows, annotators, rejection))
    return [{"annotator": name, **_fall(agreed[name])} for name in sorted(agreed)]


def _things(table: str, rows: Iterable[Row], annotators: int, rejection: str) -> list[_Thing]:
    return [_thing(table, decisions, annotators, rejection) for decisions in by_thing(table, rows).values()]


def _thing(table: str, decisions: Sequence[Row], annotators: int, rejection: str) -> _Thing:
    state = deciding.state(decisions, table, annotators, rejection)
    own = sorted((row for row in decisions if row["role"] == "annotator"), key=lambda row: row["annotator"])
    agreeing = deciding.agreeing(table)
    # One person's rejection may settle a pair by rule, whatever the other says.
    together = state.final is not None and sum(agreeing(row, state.final) for row in own) > 1
    return _Thing(own, state, state.adjudicated or together)


def _labels(table: str, things: Sequence[_Thing]) -> dict[str, Callable[[Mapping], Hashable]]:
    """How each criterion's label is had from a decision."""
    if table != "pair_decisions":
        return {label: partial(_column, label) for label in deciding.LABELS[table]}
    failed = {name for thing in things for row in thing.own for name in row["failed_criteria"] or ()}
    return {"decision": partial(_column, "decision"), **{name: partial(_failed, name) for name in sorted(failed)}}


def _column(name: str, row: Mapping) -> Hashable:
    return row[name]


def _failed(criterion: str, row: Mapping) -> bool:
    return criterion in (row["failed_criteria"] or ())


def _criterion(
    criterion: str, label: Callable[[Mapping], Hashable], things: Sequence[_Thing], names: Sequence[str]
) -> dict[str, Any]:
    given = [{row["annotator"]: label(row) for row in thing.own} for thing in things]
    kinds = sorted({each for labels in given for each in labels.values() if each is not None}, key=str)
    number = {kind: code for code, kind in enumerate(kinds)} | {None: _NONE}
    codes = np.array([[number[labels.get(name)] for labels in given] for name in names], dtype=int)
    codes = codes.reshape(len(names), len(things))
    final = [label(thing.state.final) if thing.counts else None for thing in things]
    # A label that only an adjudicator gave has a number beyond theirs.
    truth = np.array([number.get(each, len(kinds)) for each in final], dtype=int)
    apart = np.array([len({each for each in labels.values() if each is not None}) > 1 for labels in given], dtype=bool)
    alpha = krippendorff_alpha(codes, np.arange(len(things)), kinds=max(1, len(kinds)))
    everyone, each = _accuracies(codes, truth, apart)
    return {
        "criterion": criterion,
        "things": alpha.rows,
        "alpha": alpha.alpha,
        "pairs": _pairs(codes, names, len(kinds)),
        **everyone,
        "people": [{"annotator": name, **own} for name, own in zip(names, each, strict=True)],
    }


def _pairs(codes: np.ndarray, names: Sequence[str], kinds: int) -> list[dict[str, Any]]:
    found = []
    for one, other in combinations(range(len(names)), 2):
        shared = (codes[one] >= 0) & (codes[other] >= 0)
        things = int(shared.sum())
        if things >= 2:
            both = against_people(codes[one][shared], codes[other][shared], np.arange(things), kinds=kinds)
            found.append({"first": names[one], "second": names[other], "things": things, "kappa": both.kappa})
    return found


def _accuracies(codes: np.ndarray, truth: np.ndarray, apart: np.ndarray) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Accuracy over all settled things and over those on which annotators differ: of everyone, and of each.

    Args:
        codes: (people, things) labels, negative where there is none.
        truth: (things,) the settled labels, negative where there is none.
        apart: (things,) annotators differ.
    """
    counted = (codes >= 0) & (truth >= 0)
    right = counted & (codes == truth)
    shares = {}
    for name, which in (("accuracy", np.ones_like(apart)), ("disputed", apart)):
        tallies = np.stack([right & which, counted & which], axis=-1).astype(float)  # (people, things, 2)
        shares[name] = _shares(np.concatenate([tallies.sum(axis=0)[None], tallies]).transpose(1, 0, 2))
    entries = [
        {
            "accuracy": accuracy[0],
            "labels": accuracy[1],
            "disputed": disputed[0],
            "disputed_labels": disputed[1],
        }
        for accuracy, disputed in zip(shares["accuracy"], shares["disputed"], strict=True)
    ]
    return entries[0], entries[1:]


def _shares(sums: np.ndarray) -> list[tuple[Estimate, int]]:
    """The share right, and of how many labels, for each column of `sums` (things, columns, 2): right, labelled."""
    bearing = (sums[..., 1] > 0).sum(axis=0)[:, None]
    found = at_the_edges(intervals(sums, _share, bearing), bearing)
    return [(found.estimate(place, 0), int(count)) for place, count in enumerate(sums[..., 1].sum(axis=0))]


def _share(totals: np.ndarray) -> np.ndarray:
    return over(totals[..., 0], totals[..., 1])[..., None]


def _agreements(table: str, things: Sequence[_Thing]) -> dict[str, list[tuple[str, bool]]]:
    """Of each annotator, in the order of time: when a decision was taken, and whether it agrees."""
    agreeing = deciding.agreeing(table)
    found = defaultdict(list)
    for thing in things:
        for row in thing.own:
            others = [thing.state.final] if thing.counts else [other for other in thing.own if other is not row]
            if others:
                found[row["annotator"]].append((row["decided_at"], all(agreeing(row, other) for other in others)))
    return {name: sorted(decisions, key=lambda each: each[0]) for name, decisions in found.items()}


def _fall(decisions: Sequence[tuple[str, bool]]) -> dict[str, Any]:
    count = len(decisions)
    nothing = dict.fromkeys(("p", "before", "latest", "latest_decisions", "since"))
    if count < 2 * FEWEST_DECISIONS:
        return {"decisions": count, "drifting": False, **nothing}
    wrong = np.array([not agrees for _, agrees in decisions], dtype=int)
    places = np.unique(np.linspace(FEWEST_DECISIONS, count - FEWEST_DECISIONS, _PLACES).round().astype(int))
    between = np.diff(places, prepend=0, append=count)
    seen = _falls(np.add.reduceat(wrong, [0, *places])[None], places, count)[0]
    generator = np.random.default_rng(_SEED)
    shuffled = generator.multivariate_hypergeometric(between, int(wrong.sum()), size=_SHUFFLES, method="marginals")
    # Rounding must not tell two equal falls apart.
    as_large = (_falls(shuffled, places, count).max(axis=1) >= seen.max() - 1e-9).sum()
    p = float(1 + as_large) / (1 + _SHUFFLES)
    if seen.max() <= 0:
        return {"decisions": count, "drifting": False, **nothing, "p": p}
    place = int(places[seen.argmax()])
    return {
        "decisions": count,
        "drifting": p < DRIFT_LEVEL,
        "p": p,
        "before": float(1 - wrong[:place].mean()),
        "latest": float(1 - wrong[place:].mean()),
        "latest_decisions": count - place,
        "since": decisions[place][0],
    }


def _falls(wrong: np.ndarray, places: np.ndarray, count: int) -> np.ndarray:
    """The standardised fall (n, places) of agreement at each of `places`.

    Args:
        wrong: (n, places + 1): how many decisions disagree between two places.
    """
    before = wrong[:, :-1].cumsum(axis=1)
    total = wrong.sum(axis=1, keepdims=True)
    share = total / count
    error = np.sqrt(share * (1 - share) * (1 / places + 1 / (count - places)))
    return over((total - before) / (count - places) - before / places, error, otherwise=0.0)
