"""Intervals and paired tests of fact recall, clustered by repository and pull request.

Each pull request has one question, so questions are the pull requests. Questions about one repository share its code
and its people, so where there are several repositories these are drawn first, with replacement, and then as many pull
requests within each; where there is one, pull requests alone are drawn (`devqa.evaluation.bootstrap`). With two levels
the interval is the plain percentile one: what widens BCa for few clusters would make it useless at a handful of
repositories.

Where draws say nothing, at a mean of exactly 0 or 1 and for a difference that all questions share, the exact limit and
the sign test count questions, as if they were independent. Nothing in such data tells one repository from another, and
repositories alone would leave an agent with 59 of 60 facts surer than one with all: three of them give a limit of 0.29.

Measured in 1,000 simulated draws each (a question's recall varies by 0.3, a repository's by what is given), the mean
over all repositories that could have been drawn is covered in 93 to 97 % of draws by 3 to 20 repositories that vary by
up to 0.05, in 84 % by 3 that vary by 0.1; drawing pull requests alone covers it in 62 to 82 %, and 58 %. Of 200 to 400
null differences each, whose repositories vary by 0.1, the test rejects 2 to 6 % at 5 % with 2 to 10 repositories; 1 %
with 5 that vary by 0.03, and 6 % with one.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from devqa.evaluation.bootstrap import (
    DRAWS,
    FEWEST_CLUSTERS,
    LEVEL,
    SEED,
    Estimate,
    Intervals,
    intervals,
    number,
    over,
    resampled,
    sound,
    spread,
)
from devqa.evaluation.comparison import Comparison, holm
from devqa.evaluation.distributions import t_quantile, t_two_sided
from devqa.evaluation.statistics import at_the_edges

_LIMITS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)


def levels(repositories: Sequence[str]) -> list[str]:
    """What is drawn, outermost first, for questions about these repositories (one entry for each question)."""
    return ["repository", "pull_request"] if len(set(repositories)) > 1 else ["pull_request"]


def totals(sums: np.ndarray, repositories: Sequence[str], draws: int = DRAWS, seed: int = SEED) -> np.ndarray:
    """Totals (draws, ...) of resamples of the questions, from what each adds to them: `sums` (questions, ...)."""
    if not sums.size:
        return np.zeros((draws, *sums.shape[1:]))
    if len(set(repositories)) < 2:
        return resampled(sums, draws, seed)
    times = _times_drawn(tuple(repositories), draws, seed)
    return (times @ sums.reshape(len(sums), -1)).reshape(draws, *sums.shape[1:])


def mean_intervals(values: np.ndarray, repositories: Sequence[str]) -> list[Estimate]:
    """The mean of each run's `values` (runs, questions; NaN for none) with its 95 % interval.

    None below `FEWEST_CLUSTERS` questions with a value. A mean of exactly 0 or 1 has an exact one-sided limit by the
    number of questions, as in `statistics.at_the_edges`.
    """
    if not values.shape[1]:
        return [Estimate(None, None, None)] * len(values)
    sums = _sums(values)
    bearing = (~np.isnan(values)).sum(axis=1)[:, None]
    if len(set(repositories)) < 2:
        found = intervals(sums, _ratio, bearing)
    else:
        value = _ratio(sums.sum(axis=0))
        drawn = _ratio(totals(sums, repositories))
        low, high = _percentiles(drawn, sound(drawn, bearing) & (spread(drawn) > 1e-9))
        found = Intervals(value, low, high)
    found = at_the_edges(found, bearing)
    return [found.estimate(run, 0) for run in range(len(values))]


def compare_means(
    names: Sequence[str], values: np.ndarray, repositories: Sequence[str], pairs: Sequence[tuple[int, int]]
) -> list[Comparison]:
    """Compare runs pairwise by the mean of their `values` (runs, questions; NaN for none), with Holm's correction.

    Paired: on the questions of which both have a value. The standard error is that of the resamples; test and interval
    are by Student's t with the degrees of freedom that `_freedom` gives, so that they say the same. `rows` and
    `clusters` are these questions. None for what can't be given: too few questions, or none that differs.
    """
    found = []
    for start in range(0, len(pairs), 100):
        part = pairs[start : start + 100]
        differences = np.stack([values[one] - values[other] for one, other in part])
        errors = _deviation(_ratio(totals(_sums(differences), repositories)))[:, 0]
        for (one, other), own, error in zip(part, differences, errors, strict=True):
            known = ~np.isnan(own)
            about = [repository for repository, kept in zip(repositories, known, strict=True) if kept]
            found.append(_compared(names[one], names[other], own[known], about, float(error)))
    adjusted = holm([each.p for each in found])
    return [replace(each, p_holm=p) for each, p in zip(found, adjusted, strict=True)]


def gap_share(lower: np.ndarray, value: np.ndarray, upper: np.ndarray, repositories: Sequence[str]) -> Estimate:
    """How much of the way from `lower` to `upper` the mean of `value` is: (value - lower) / (upper - lower).

    Args:
        lower, value, upper: (questions,) each, NaN for none; questions that all three have count.

    All None where the upper mean is not over the lower one; no interval where that is so in more than 5 % of the
    resamples, or with fewer than `FEWEST_CLUSTERS` questions.
    """
    known = ~np.isnan(lower + value + upper)
    sums = np.stack([value - lower, upper - lower], axis=-1)[known][:, None]
    share = _ratio(sums.sum(axis=0))[0, 0] if known.any() else np.nan
    if np.isnan(share):
        return Estimate(None, None, None)
    drawn = _ratio(totals(sums, np.asarray(repositories)[known].tolist()))
    low, high = _percentiles(drawn, sound(drawn, known.sum()))
    return Estimate(float(share), number(low[0, 0]), number(high[0, 0]))


def _compared(
    first: str, second: str, differences: np.ndarray, repositories: Sequence[str], error: float
) -> Comparison:
    rows = len(differences)
    if not rows:
        return Comparison(first, second, 0, 0, Estimate(None, None, None), None, None)
    difference = float(differences.mean())
    if rows < FEWEST_CLUSTERS:
        return Comparison(first, second, rows, rows, Estimate(difference, None, None), None, None)
    if error < 1e-12:
        # All questions say the same: a sign test, of them as if they were independent.
        p = 1.0 if abs(difference) < 1e-12 else 2.0 ** (1 - rows)
        return Comparison(first, second, rows, rows, Estimate(difference, None, None), None, p)
    error, freedom = _freedom(differences, repositories, error)
    reach = float(t_quantile(_LIMITS[1], freedom)) * error
    estimate = Estimate(difference, max(difference - reach, -1.0), min(difference + reach, 1.0))
    p = min(1.0, t_two_sided(difference / error, freedom))
    return Comparison(first, second, rows, rows, estimate, error, p, freedom=freedom)


def _freedom(values: np.ndarray, repositories: Sequence[str], error: float) -> tuple[float, float]:
    """The standard error of a mean from that of its resamples, and its degrees of freedom.

    Where repositories are drawn, few of them may be what the error rests on: the degrees of freedom are those of its
    two parts, between repositories and within them (Satterthwaite, 1946, https://doi.org/10.2307/3002019).
    """
    groups = [values[np.array(repositories) == name] for name in sorted(set(repositories))]
    rows, count = len(values), len(groups)
    if count < 2:
        return error, rows - 1
    # What is drawn from few varies less than they do.
    whole = error**2 * count / (count - 1)
    within = sum(len(group) * group.var() for group in groups) / rows**2
    between = max(0.0, whole - within)
    freedom = whole**2 / (between**2 / (count - 1) + min(within, whole) ** 2 / max(rows - count, 1))
    return whole**0.5, freedom


def _sums(values: np.ndarray) -> np.ndarray:
    """(questions, runs, 2) of values (runs, questions): each question's value, and 1 where it has one."""
    known = ~np.isnan(values)
    return np.stack([np.where(known, values, 0), known], axis=-1).transpose(1, 0, 2).astype(float)


def _ratio(sums: np.ndarray) -> np.ndarray:
    """(..., 1) from totals (..., 2): the mean; NaN where there is nothing to divide by."""
    return over(sums[..., :1], sums[..., 1:])


def _deviation(drawn: np.ndarray) -> np.ndarray:
    """The standard deviation of draws (n, ...), of those that are defined."""
    known = ~np.isnan(drawn)
    count = np.maximum(known.sum(axis=0), 1)
    drawn = np.where(known, drawn, 0)
    distances = np.where(known, drawn - drawn.sum(axis=0) / count, 0)
    return np.sqrt((distances**2).sum(axis=0) / count)


def _percentiles(drawn: np.ndarray, given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The limits from draws (n, ...), NaN where they are not `given` (...)."""
    limits = np.full((2, *given.shape), np.nan)
    if given.any():
        limits[:, given] = np.nanquantile(drawn[:, given], _LIMITS, axis=0)
    return limits[0], limits[1]


# One table serves all agents and figures of a segment.
@lru_cache(maxsize=2)
def _times_drawn(repositories: tuple[str, ...], draws: int, seed: int) -> np.ndarray:
    """How often each question is in each resample (draws, questions): repositories are drawn, then questions in them.

    A repository that is drawn m times is resampled m times over, which is the same as drawing m times as many of its
    questions.
    """
    generator = np.random.default_rng(seed)
    names, own = np.unique(np.array(repositories), return_inverse=True)
    picked = generator.multinomial(len(names), np.full(len(names), 1 / len(names)), size=draws)
    times = np.empty((draws, len(repositories)))
    for place in range(len(names)):
        questions = np.flatnonzero(own == place)
        share = np.full(len(questions), 1 / len(questions))
        times[:, questions] = generator.multinomial(picked[:, place] * len(questions), share)
    times.flags.writeable = False
    return times
