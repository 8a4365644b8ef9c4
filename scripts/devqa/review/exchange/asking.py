"""What an annotation tool shows of each thing and asks about it, whatever its form of JSON."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from devqa.config.root import Config
from devqa.errors import UserError
from devqa.review.decisions import CRITERIA, DECISIONS, GRADES
from devqa.review.forms import decision
from devqa.review.items import KINDS, Kind
from devqa.study import UNRELATED
from devqa.tables import Row

YES, NO = "yes", "no"


@dataclass(frozen=True)
class Question:
    """One question about a thing; the answer goes into the column of that `name`.

    `form`: one of `options`, several of them, a text, a text of which each word is one address, or yes and no.
    """

    name: str
    title: str
    form: Literal["one", "several", "text", "addresses", "flag"]
    options: tuple[str, ...] = ()
    required: bool = False


@dataclass(frozen=True)
class Asking:
    """What is asked about things of `kind`, and what is shown of each: texts by name, in the order of `shown`.

    `knowledge` is the task of a dialogue that further questions are about.
    """

    kind: Kind
    shown: tuple[str, ...]
    show: Callable[[Row], Mapping[str, str]]
    questions: tuple[Question, ...]
    knowledge: str | None = None


def asking(name: str, config: Config) -> Asking:
    """What is asked about things of the kind of that name.

    Raises:
        UserError: the configuration does not say what the answers may be.
    """
    if name == "pairs":
        return Asking(KINDS[name], _PAIR, _pair, _PAIR_QUESTIONS)
    if name == "grades":
        grade = Question("grade", "Is the prediction correct, given the true answer?", "one", GRADES, required=True)
        return Asking(KINDS[name], ("question", "answer", "prediction"), _plain, (grade,))
    if name == "dialogues":
        if not config.study:
            raise UserError("study: there is none in the configuration, so no dialogues are classified")
        tasks = (*config.study.tasks.categories, UNRELATED)
        task = Question("task", "What does the user want?", "one", tasks, required=True)
        return Asking(KINDS[name], ("text",), _plain, (task, *_ASPECTS), config.study.tasks.knowledge)
    if not config.evaluation.domains:
        raise UserError("evaluation.domains: there are none in the configuration: name what a question may belong to")
    names = tuple(config.evaluation.domains.names)
    domain = Question("domain", "Which knowledge does the question ask for?", "one", names, required=True)
    return Asking(KINDS[name], ("question",), _plain, (domain,))


def decided(asked: Asking, key: str, person: str, role: str, at: str, answers: Mapping[str, Any]) -> Row:
    """A row of the kind's table of decisions from somebody's `answers`: by question a text, or a list of texts.

    What does not belong to a decision, such as a reason to accept, is left out, as the page does.

    Raises:
        UserError: the key or an answer is not in the form that was asked for.
    """
    columns = {question.name: _answer(question, answers.get(question.name)) for question in asked.questions}
    try:
        about = asked.kind.key_columns(key)
    except (ValueError, TypeError):
        raise UserError(f"{key!r} does not name one of the {asked.kind.name} that were exported from here") from None
    content = decision(asked.kind.name, columns, asked.knowledge)
    return {**about, "annotator": person, "role": role, **content, "decided_at": at}


def _answer(question: Question, given: Any) -> Any:
    if given is not None and not isinstance(given, str) and not _texts(given):
        raise UserError(f"the answer to '{question.name}' is {given!r}: it must be a text, or a list of texts")
    texts = [given] if isinstance(given, str) else list(given or [])
    if unknown := [text for text in texts if question.options and text not in question.options]:
        known = ", ".join(question.options)
        raise UserError(f"the answer to '{question.name}' is {unknown[0]!r}: it must be one of {known}")
    match question.form:
        case "several":
            return texts
        case "addresses":
            return list(dict.fromkeys(" ".join(texts).split()))
        case "flag":
            return {YES: True, NO: False}.get("\n".join(texts))
        case _:
            return "\n".join(texts).strip()


def _texts(given: Any) -> bool:
    return isinstance(given, Sequence) and all(isinstance(each, str) for each in given)


def _plain(row: Row) -> dict[str, str]:
    return {name: str(value) for name, value in row.items() if value is not None}


_PAIR = ("question", "answer", "references", "evidence", "checks", "verification")
_PAIR_QUESTIONS = (
    Question("own_answer", "Your own answer, before you look at the pair's", "text"),
    Question("decision", "What becomes of the pair?", "one", DECISIONS, required=True),
    Question("failed_criteria", "Which criteria does it fail?", "several", CRITERIA),
    Question("reason", "Why is it rejected?", "text"),
    Question("answer", "The correct answer, where the pair's is not", "text"),
    Question("evidence_urls", "Addresses of two pages or more that show it, one on a line", "addresses"),
)
_ASPECTS = tuple(
    Question(name, title, "flag", (YES, NO))
    for name, title in {
        "code_centred": "A knowledge question: does it centre on code?",
        "single_answer": "A knowledge question: does it have a single answer?",
        "timeless": "A knowledge question: will its answer be the same in years to come?",
        "evidenced": "A knowledge question: can its answer be supported by evidence?",
    }.items()
)


def _pair(row: Row) -> dict[str, str]:
    spans = {support["reference"]: support["span"] for support in row["supports"] or []}
    references = [
        "\n".join(filter(None, [each["url"], spans.get(place) and f"States the answer: {spans[place]}", each["text"]]))
        for place, each in enumerate(row["references"] or [], 1)
    ]
    checks = [
        f"{each['criterion']}: {'passed' if each['passed'] else 'failed'} ({each['reason']})"
        for each in row["criteria"] or []
    ]
    found = {"verdict": row["verdict"], "answer of the evidence": row["evidence_answer"], "why": row["explanation"]}
    return {
        "question": row["question"],
        "answer": row["answer"],
        "references": _joined(references),
        "evidence": _joined(f"{each['url']}\n{each['text']}" for each in row["passages"] or []),
        "checks": "\n".join(checks),
        "verification": "\n".join(f"{name}: {text}" for name, text in found.items() if text),
    }


def _joined(texts: Iterable[str]) -> str:
    return "\n\n".join(f"[{place}] {text}" for place, text in enumerate(texts, 1))
