"""Whether the judge can be trusted: against people's grades, and several judges among each other."""

from dataclasses import dataclass

import numpy as np

from devqa.evaluation.bootstrap import DRAWS, FEWEST_CLUSTERS, SEED, Estimate, intervals, one_sided, over
from devqa.evaluation.grading import GRADES
from devqa.evaluation.statistics import UNRESOLVED, at_the_edges

_KINDS = len(GRADES)


@dataclass(frozen=True)
class Agreement:
    """A judge against people on the rows that both graded.

    `rows` are those rows; `ungraded` those that a person graded and the judge did not (they count in nothing else).
    `confusion[i][j]`: rows that people gave GRADES[i] (or the i-th of other labels) and the judge GRADES[j].
    """

    rows: int
    ungraded: int
    confusion: tuple[tuple[int, ...], ...]
    accuracy: Estimate
    kappa: Estimate


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha over `rows`, those that at least two judges graded; None where all grades are one."""

    rows: int
    alpha: Estimate


def against_people(
    people: np.ndarray,
    judge: np.ndarray,
    clusters: np.ndarray,
    draws: int = DRAWS,
    seed: int = SEED,
    kinds: int = _KINDS,
) -> Agreement:
    """How far the judge's grades are those of people: accuracy and Cohen's kappa with 95 % intervals.

    Args:
        people, judge: (rows,) grades as `statistics.encode` gives them; a negative code is no grade.
        clusters: (rows,): the number of each row's dialogue.
        kinds: how many labels there are, where codes are not those of grades.

    Kappa is undefined (None) where both gave one and the same grade throughout. Where they agree throughout, the
    lower limits come from the exact limit of a rate that was never seen in so many clusters.
    """
    both = (people >= 0) & (judge >= 0)
    sums = confusions(people[both], judge[both], clusters[both], kinds)[:, None]
    bearing = np.array([[len(sums)]])
    accuracy = at_the_edges(intervals(sums, accuracies, bearing, draws, seed), bearing)
    table = sums.sum(axis=(0, 1))
    return Agreement(
        rows=int(both.sum()),
        ungraded=int(((people >= 0) & (judge < 0)).sum()),
        confusion=tuple(tuple(int(count) for count in row) for row in table),
        accuracy=accuracy.estimate(0, 0),
        kappa=_or_perfect(intervals(sums, kappas, bearing, draws, seed).estimate(0, 0), _chance(table), len(sums)),
    )


def confusions(people: np.ndarray, judge: np.ndarray, clusters: np.ndarray, kinds: int = _KINDS) -> np.ndarray:
    """Counts (clusters, kinds, kinds) of grades (people's, judge's) by cluster; every row must have both."""
    names, numbers = np.unique(clusters, return_inverse=True)
    shape = (len(names), kinds, kinds)
    place = np.ravel_multi_index((numbers, people, judge), shape)
    return np.bincount(place, minlength=np.prod(shape, dtype=int)).reshape(shape)


def accuracies(tables: np.ndarray) -> np.ndarray:
    """The share on the diagonal (..., 1) of tables (..., kinds, kinds); NaN for an empty table."""
    return over(np.trace(tables, axis1=-2, axis2=-1), tables.sum(axis=(-2, -1)))[..., None]


def kappas(tables: np.ndarray) -> np.ndarray:
    """Cohen's kappa (..., 1) of tables (..., kinds, kinds): (accuracy - chance) / (1 - chance); NaN for 0/0."""
    chance = _chance(tables)
    return over(accuracies(tables)[..., 0] - chance, 1 - chance)[..., None]


def krippendorff_alpha(
    grades: np.ndarray, clusters: np.ndarray, draws: int = DRAWS, seed: int = SEED, kinds: int = _KINDS
) -> Alpha:
    """Agreement of several judges: Krippendorff's alpha for nominal data with a 95 % interval.

    Args:
        grades: (judges, rows) codes; a negative code is no grade.
        clusters: (rows,): the number of each row's dialogue.
        kinds: how many labels there are, where codes are not those of grades.

    Source: Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), form C, with missing values.
    """
    given = np.stack([(grades == code).sum(axis=0) for code in range(kinds)], axis=-1)  # (rows, kinds)
    judges = given.sum(axis=-1)
    paired = judges >= 2
    given, judges = given[paired], judges[paired]
    # Of each row: the ordered pairs of judges that disagree, weighted so that every grade counts once; the grades.
    disagreement = (judges**2 - (given**2).sum(axis=-1)) / np.maximum(judges - 1, 1)
    names, numbers = np.unique(clusters[paired], return_inverse=True)
    sums = np.zeros((len(names), 1, 1 + kinds))
    np.add.at(sums[:, 0], numbers, np.column_stack([disagreement, given]))
    found = intervals(sums, alphas, draws=draws, seed=seed).estimate(0, 0)
    chance = 1 - float(_expected(sums.sum(axis=(0, 1))))
    return Alpha(int(paired.sum()), _or_perfect(found, chance, len(names)))


def alphas(totals: np.ndarray) -> np.ndarray:
    """Alpha (..., 1) from totals (..., 1 + kinds): weighted disagreements, then how often each grade was given."""
    return 1 - over(over(totals[..., 0], totals[..., 1:].sum(axis=-1)), _expected(totals))[..., None]


def majority(grades: np.ndarray) -> np.ndarray:
    """The grade (rows,) that more than half of all judges gave, else `UNRESOLVED`; `grades` (judges, rows).

    A judge without a grade counts among the judges: one grade out of three is no majority, and a tie is none.
    """
    votes = np.stack([(grades == code).sum(axis=0) for code in range(_KINDS)])
    return np.where(2 * votes.max(axis=0) > len(grades), votes.argmax(axis=0), UNRESOLVED).astype(np.int8)


def _expected(totals: np.ndarray) -> np.ndarray:
    """The share of disagreeing pairs if grades were dealt at random, from totals as of `alphas`."""
    given = totals[..., 1:]
    every = given.sum(axis=-1)
    return over(every**2 - (given**2).sum(axis=-1), every * (every - 1))


def _chance(tables: np.ndarray) -> np.ndarray:
    """The accuracy that the margins of tables (..., kinds, kinds) would give by chance."""
    agree = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1)
    return over(agree, np.asarray(tables.sum(axis=(-2, -1)), dtype=float) ** 2)


def _or_perfect(found: Estimate, chance: float, clusters: int) -> Estimate:
    """`found`, or where agreement is perfect, so that resamples say nothing: what one disagreement unseen allows."""
    if found.value is None or found.value < 1 or found.low is not None or clusters < FEWEST_CLUSTERS:
        return found
    return Estimate(1.0, float(1 - one_sided(clusters) / (1 - chance)), 1.0)
