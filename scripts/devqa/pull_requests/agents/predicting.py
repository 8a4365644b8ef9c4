"""repository_questions → predictions: what a model answers that is shown nothing, the true context, or what is found.

One function for each setting in which a question is one request, and the true answers as answers. Rows come repeat by
repeat, each with all questions in their order.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from types import MappingProxyType

from devqa.llm.chat import Answer, Chat, Request
from devqa.prompts import Prompt
from devqa.pull_requests import GROUND_TRUTH
from devqa.pull_requests.questions.showing import messages_with
from devqa.steps.answer import run, said_by
from devqa.steps.outcomes import OK
from devqa.tables import Row

_SHOWN = ("node", "kind", "path", "language", "start_line", "end_line", "score")


def no_context(questions: Sequence[Row], chat: Chat, prompt: Prompt, repeats: Sequence[int]) -> list[Row]:
    """Rows of table `predictions` of a model that knows the repository's name and nothing else: the lower bound."""
    return _asked("no_context", questions, {}, chat, prompt, repeats)


def full_context(questions: Sequence[Row], chat: Chat, prompt: Prompt, repeats: Sequence[int]) -> list[Row]:
    """Rows of a model that is shown what the question was made of, as far as its window has room: the upper bound.

    The blocks that the question rests on are the last to go.
    """
    context = {row["id"]: row["context"] for row in questions}
    nodes = {row["id"]: row["nodes"] for row in questions}
    return _asked("full_context", questions, context, chat, prompt, repeats, nodes)


def retrieval(
    questions: Sequence[Row], found: Mapping[str, Sequence[Row]], chat: Chat, prompt: Prompt, repeats: Sequence[int]
) -> list[Row]:
    """Rows of a model that is shown the blocks that are `found` for a question (by its id), best first."""
    return _asked("retrieval", questions, found, chat, prompt, repeats)


def ground_truth(questions: Sequence[Row]) -> list[Row]:
    """Rows in which the true answer is the answer: how many facts a judge finds in it says how far both are right."""
    run_ = {"setting": GROUND_TRUTH, "model": GROUND_TRUTH, "repeat": 1}
    return [
        {
            "id": row["id"],
            **run_,
            "answer": row["answer"],
            "shown": [],
            "tool_calls": [],
            "outcome": "ok",
            "usage": [],
            **OK,
        }
        for row in questions
    ]


def seconds(answers: Iterable[Answer]) -> float | None:
    """How long all of `answers` took together; None where it is not known of one."""
    each = [answer.seconds for answer in answers]
    return round(sum(each), 3) if each and None not in each else None


def _asked(
    setting: str,
    questions: Sequence[Row],
    blocks: Mapping[str, Sequence[Row]],
    chat: Chat,
    prompt: Prompt,
    repeats: Sequence[int],
    first: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> list[Row]:
    shown = [
        messages_with(
            prompt,
            {"question": row["question"], "repository": row["name"]},
            blocks.get(row["id"], []),
            chat,
            first.get(row["id"], []),
        )
        for row in questions
    ]
    given = chat.ask([Request(tuple(messages), repeat=repeat) for repeat, (_, messages) in product(repeats, shown)])
    return [
        {
            **run(row, setting, chat, repeat),
            **said_by(chat, said),
            "shown": [{name: block.get(name) for name in _SHOWN} for block in seen],
            "tool_calls": [],
            "seconds": said.seconds,
        }
        for (repeat, (row, (seen, _))), said in zip(
            product(repeats, list(zip(questions, shown, strict=True))), given, strict=True
        )
    ]
