"""The bill as text: a table of at most 120 columns, and what one has to know about it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from devqa.bill.dialogues import Dialogues
from devqa.bill.estimate import Cost, total
from devqa.bill.flow import RULES, SEARCHING, Basis
from devqa.bill.pull_requests import becoming_questions
from devqa.bill.searches import paid
from devqa.bill.sizes import PULLING, STUDYING

# Heading and width of each column; the first two are aligned to the left.
_COLUMNS = (
    ("step", 17),
    ("model", 18),
    ("requests", 9),
    ("cached", 9),
    ("to send", 9),
    ("input", 7),
    ("output", 7),
    ("USD", 9),
    ("low to high", 18),
    ("basis", 7),
)
# The least certain first: a line that was counted on several has the name of the first.
_BASES: tuple[Basis, ...] = ("guess", "paper", "earlier", "present", "exact")
_MEANINGS: dict[Basis, str] = {
    "exact": "the step's tables are there and stay as they are: these very requests will be sent.",
    "present": "tables before the step will be made again, or tables or answers before it are not there yet: counted "
    "on what there is.",
    "earlier": "the step's tables are not there yet: reckoned from {count:,} dialogues at the rates of earlier runs.",
    "paper": "the step's tables are not there yet: reckoned from {count:,} dialogues at the rates of SimpleDevQA.",
    "guess": "the tables are not there yet: {share:.0%} of {pulls:,} pull requests (latest), and the facts of "
    "DeepCodeBench.",
}
# The parts that models play in questions from pull requests.
_PULLED = [part for parts in PULLING.values() for part in parts]


def page(costs: Sequence[Cost], dialogues: Dialogues, config: Mapping[str, Any]) -> str:
    """The whole bill."""
    if not costs:
        return "Nothing would be asked: every table that a model has a part in is up to date."
    unpriced = _unpriced(costs, config)
    rows = [_row(cost, cost.model in unpriced) for cost in costs]
    table = [_line([name for name, _ in _COLUMNS]), *rows, _row(total(costs), False)]
    width = max(map(len, table))
    table.insert(1, "-" * width)
    table.insert(-1, "-" * width)
    return "\n".join(
        [
            "What this run would ask, and what that would cost. Nothing has been sent. Tokens and USD are of what is "
            "to send.",
            "",
            *table,
            "",
            *_notes(costs, dialogues, config),
        ]
    )


def _unpriced(costs: Sequence[Cost], config: Mapping[str, Any]) -> list[str]:
    """The models that may cost something, but have no price. Weights that run in the job itself cost nothing."""
    free = dict.fromkeys(cost.model for cost in costs if cost.free and cost.sent)
    return [label for label in free if config["models"][label]["runtime"] != "llama.cpp"]


def _row(cost: Cost, unpriced: bool) -> str:
    requests = cost.cached + cost.sent
    price = ["-", "no price"] if unpriced else [_usd(cost.usual), f"{_usd(cost.low)} to {_usd(cost.high)}"]
    basis = next((basis for basis in _BASES if basis in cost.bases), "")
    return _line(
        [
            cost.step,
            cost.model,
            _count(requests),
            _count(cost.cached),
            _count(cost.sent),
            _short(cost.input_tokens),
            _short(cost.output_tokens),
            *price,
            basis,
        ]
    )


def _line(cells: Sequence[str]) -> str:
    aligned = [
        _cut(cell, width).ljust(width) if number < 2 else cell.rjust(width)
        for number, (cell, (_, width)) in enumerate(zip(cells, _COLUMNS, strict=True))
    ]
    return " ".join(aligned).rstrip()


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _count(number: float) -> str:
    return f"{round(number):,}"


def _short(tokens: float) -> str:
    """A number of tokens in three or four figures."""
    for unit, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if tokens >= factor:
            return f"{tokens / factor:.3g} {unit}" if tokens < 1_000 * factor else f"{tokens / factor:,.0f} {unit}"
    return f"{tokens:.0f}"


def _usd(usd: float) -> str:
    if usd == 0:
        return "0"
    if usd < 1:
        return f"{usd:.4f}"
    return f"{usd:,.2f}" if usd < 1_000 else f"{usd:,.0f}"


def _notes(costs: Sequence[Cost], dialogues: Dialogues, config: Mapping[str, Any]) -> Iterator[str]:
    bases = total(costs).bases
    for basis in reversed(_BASES):
        if basis in bases:
            known = {"count": dialogues.count, "pulls": _latest(config), "share": becoming_questions()}
            yield f"{basis}: {_MEANINGS[basis].format(**known)}"
    sent, most = sum(cost.sent for cost in costs), sum(cost.most for cost in costs)
    if bases != {"exact"}:
        yield f"At most {_count(most)} requests will be sent, if every row passes."
        yield "The low end has only what is certain to be sent."
    if not dialogues.read:
        yield "The dialogues are too many to be read for a bill: their number is that of the records."
    yield from _study(costs)
    yield from _pull_requests(costs, config)
    yield from _models(costs, config)
    if sent and (budget := config["budget_usd"]):
        yield _budget(budget, total(costs))
    # Several lines may belong to one step.
    steps = {cost.step.split()[0] for cost in costs}
    if resting := [rule for rule in _configured(config) if rule not in steps]:
        yield f"Nothing to ask at: {', '.join(resting)}."


def _study(costs: Sequence[Cost]) -> Iterator[str]:
    bases = {basis for cost in costs if cost.step in STUDYING for basis in cost.bases}
    if bases:
        yield "Lines of the study (study_…) are asked by `snakemake study`, the others by `snakemake`."
    if "paper" in bases:
        yield (
            "Where tables of the study are not there yet, it is reckoned from the number of raw records: "
            "`snakemake study --until study_unique` asks nothing, and makes the filter's line exact."
        )


def _pull_requests(costs: Sequence[Cost], config: Mapping[str, Any]) -> Iterator[str]:
    steps = {cost.step for cost in costs}
    if not steps.isdisjoint(_PULLED):
        yield "Lines of pull requests (pr_…) are asked by `snakemake pull_requests`; up to pr_context it asks nothing."
    if "pr_judge" in steps:
        for name in config["pull_requests"]["evaluation"]["commands"]:
            yield f"pull_requests.evaluation.commands.{name}: what it costs is not known, and not in the bill."


def _latest(config: Mapping[str, Any]) -> int:
    """How many pull requests are looked at, at most."""
    section = config.get("pull_requests") or {"repositories": {}}
    return sum(repository["latest"] for repository in section["repositories"].values())


def _pulled(config: Mapping[str, Any]) -> list[str]:
    """The parts that models play in questions from pull requests."""
    section = config.get("pull_requests")
    if not section:
        return []
    agents = section["evaluation"]
    settings = {f"pr_{setting}" for setting in agents["settings"] if agents["models"]}
    return [part for part in _PULLED if part not in PULLING["pr_predict"] or part in settings]


def _configured(config: Mapping[str, Any]) -> list[str]:
    """The steps that the configuration has."""
    evaluation = config["evaluation"]
    rules = RULES if evaluation["benchmark"] is None else RULES[RULES.index("domains") :]
    wanted = {
        "domains": evaluation["domains"],
        "answer": evaluation["models"],
        "judge": evaluation["judge"] or evaluation["panel"],
        **dict.fromkeys(SEARCHING, paid(config)),
        "retrieve": paid(config) and "rag" in _settings(evaluation),
    }
    studying = STUDYING if config.get("study") else ()
    return [*studying, *_pulled(config), *(rule for rule in rules if wanted.get(rule, True))]


def _settings(evaluation: Mapping[str, Any]) -> set[str]:
    """The settings in which models are asked."""
    own = evaluation["model_settings"]
    return {setting for model in evaluation["models"] for setting in own.get(model, evaluation["settings"])}


def _models(costs: Sequence[Cost], config: Mapping[str, Any]) -> Iterator[str]:
    for label in dict.fromkeys(cost.model for cost in costs if cost.sent):
        model = config["models"].get(label)
        if model and model["mode"] == "batch":
            yield f"models.{label}: at {model['price']['batch']:g} of the price, because mode is batch."
    for label in _unpriced(costs, config):
        yield f"models.{label}.price is not set: what it costs is not in the bill."
    if paid(config) and any(cost.step == "answer agentic" and cost.most for cost in costs):
        bounds = config["evaluation"]["agentic"]
        yield (
            f"What models search for by themselves (agentic) is not in the bill: at most "
            f"{bounds['rounds'] * bounds['calls']} searches for each question."
        )


def _budget(budget: float, whole: Cost) -> str:
    if whole.high <= budget:
        says = "all of it lies below"
    elif whole.low > budget:
        says = "even the low end lies above: the run will stop there"
    elif whole.usual > budget:
        says = "the run will probably stop there"
    else:
        says = "the run may stop there, because the high end lies above"
    return f"budget_usd is {_usd(budget)}: {says}."
