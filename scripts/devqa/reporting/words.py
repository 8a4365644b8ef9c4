"""Figures in words, for the pages."""

from collections.abc import Mapping, Sequence
from typing import Any

# What a model did that took part in the benchmark or in the grading, by the role's name in `devqa.config.families`.
_ROLES = {
    "queries": "writer of the search queries",
    "condense": "condenser of the pages",
    "generate": "generator of the questions",
    "check": "checker of the questions",
    "verify": "verifier of the answers",
    "filter": "difficulty filter",
    "filter judge": "difficulty filter’s judge",
    "judge": "judge",
    "panel": "further judge",
    "domains": "classifier of domains",
}


def share(value: float | None) -> str:
    """A share or a coefficient, to three decimals."""
    return "–" if value is None else f"{value:.3f}".replace("-", "−")


def signed(value: float | None) -> str:
    """A difference, to three decimals, with its sign."""
    return "–" if value is None else f"{value:+.3f}".replace("-", "−")


def span(low: float | None, high: float | None) -> str:
    """An interval; nothing where it can't be given."""
    return "" if low is None or high is None else f"{share(low)} to {share(high)}"


def number(value: float | None) -> str:
    """A count or an average: thousands separated, one decimal where it is no whole number."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value - round(value)) < 0.05 else f"{value:,.1f}"


def usd(value: float | None) -> str:
    """An amount of money, with the digits that say something."""
    if value is None:
        return "–"
    return f"${value:,.2f}" if value >= 0.1 or value == 0 else f"${value:.2g}" if value >= 0.0001 else f"${value:.1e}"


def p_value(value: float | None) -> str:
    """A p value, as papers print it."""
    return "–" if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"


def family_notice(entry: Mapping[str, Any]) -> str:
    """What an evaluated model has in common with those that took part, as `devqa.config.families` says it."""
    roles = [(_ROLES.get(each["role"], each["role"]), each) for each in entry["roles"]]
    itself = [what for what, each in roles if each["same_model"]]
    others = [f"{what} ({each['model']})" for what, each in roles if not each["same_model"]]
    parts = [f"it is itself the {_listed(itself)}"] if itself else []
    if others:
        parts.append(f"same family ({entry['family']}) as the {_listed(others)}")
    return f"{entry['model']}: {'; '.join(parts)}. Models tend to favour their own kind: its figures may be too good."


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def resolution(
    found: Mapping[str, Any] | None, difference: str = "F-score difference", between: str = "two models"
) -> str:
    """How small a `difference` the benchmark can show."""
    if not found or found["median"] is None:
        return ""
    size = f"A true {difference} of {found['median']:.3f} between {between} would be found in four cases of five"
    if found["comparisons"] == 1:
        return f"{size} (test at 5\xa0%, 80\xa0% power). Smaller ones may go unseen."
    return (
        f"{size} if just these two were compared (test at 5\xa0%, 80\xa0% power; median over "
        f"{number(found['comparisons'])} pairs, {found['largest']:.3f} for the hardest), and one of "
        f"{found['corrected']:.3f} with the correction for all pairs. Smaller ones may go unseen."
    )


def gap(found: Mapping[str, Any]) -> str:
    """How the distance between the weakest and the strongest model changes from plain to another setting."""
    before, after, change = found["before"], found["after"], found["change"]
    if change["value"] is None:
        return (
            f"The gap between weakest and strongest can't be given: no row has all four grades in {found['setting']}."
        )
    interval = span(change["low"], change["high"])
    within = f" (95\xa0% interval {interval})" if interval else ""
    return (
        f"Between {found['weakest']}, the weakest of {number(found['models'])} in plain, and {found['strongest']}, the "
        f"strongest, the gap in F-score is {share(before['value'])} in plain and {share(after['value'])} in "
        f"{found['setting']}: a change of {signed(change['value'])}{within}."
    )


# Criteria of people's decisions, where the table's own name says too little.
_CRITERIA = {
    "code_centred": "centred on code",
    "single_answer": "single answer",
    "evidenced": "supported by evidence",
}


def criterion(name: str) -> str:
    """A criterion that people decide by."""
    return _CRITERIA.get(name, name.replace("_", " "))


def percent(value: float | None) -> str:
    """A share in percent, to one decimal."""
    return "–" if value is None else f"{100 * value:.1f}\xa0%"


def drift(found: Mapping[str, Any]) -> str:
    """Whose agreement has fallen, as `devqa.review.agreement.drift` says it."""
    before = found["decisions"] - found["latest_decisions"]
    return (
        f"{found['annotator']} agrees less than before: {percent(found['latest'])} of the latest "
        f"{number(found['latest_decisions'])} decisions (since {found['since']}), {percent(found['before'])} of the "
        f"{number(before)} before (p {p_value(found['p'])})."
    )
