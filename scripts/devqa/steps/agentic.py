"""benchmark → answers, in the setting `agentic`: the model may search and read pages before it answers.

The conversations are the same whatever the tools are: `converse` has them with the web's, or with a repository's. All
questions go through their rounds together, so that a round's requests are sent at once. A conversation depends on
nothing but its question and what was answered before, so a rerun reads all of it from the cache.
"""

import hashlib
import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Protocol

import orjson

from devqa.errors import UserError
from devqa.llm.chat import Answer, Chat, Request
from devqa.llm.toolcalls import ToolCall
from devqa.prompts import Prompt
from devqa.steps.accounts import asked
from devqa.steps.answer import MESSAGE_TOKENS, TOKENS, run
from devqa.steps.budget import fair_shares
from devqa.steps.outcomes import failed
from devqa.steps.toolcalls import TOOLS, identifiers, message, thoughts, understood
from devqa.tables import Row
from devqa.tokens import estimate
from devqa.web.tools import OK, Order, Result, Tools, nothing, open_tools

__all__ = ["Talk", "ToolSet", "Tools", "agentic", "converse", "open_tools"]

_log = logging.getLogger(__name__)

SETTING = "agentic"
# Tokens held back for short words that must be said: why a call gave nothing, that it was the last.
_MARGIN = 200
# With less room than this a further call would give nothing to read.
_LEAST = 300
# Of a context without a limit on answers, what is left to the answer.
_ANSWER_SHARE = 4
_LAST = "\n\n(No more calls are possible: answer the question now.)"


def agentic(
    questions: Sequence[Row],
    chat: Chat,
    prompt: Prompt,
    tools: Tools,
    repeats: Sequence[int],
    *,
    rounds: int,
    calls: int,
) -> list[Row]:
    """Rows of table `answers`, one per repeat and row of the benchmark: what the model said, and all that it did.

    After `rounds` rounds of calls it must answer, and sooner when its context is full. Of one message at most `calls`
    calls are carried out. A call that gives nothing costs no row: the model is told why. Each `repeat` is a sample of
    its own.

    Raises:
        UserError: the model, the search engine or a prompt needs mending.
    """
    given = [{"question": row["question"]} for row in questions]
    talks = converse(
        questions, given, chat, prompt, _WebTools(tools), repeats, rounds=rounds, calls=calls, lacks=tools.lacks
    )
    return [
        {**run(talk.question, SETTING, chat, talk.repeat), **talk.columns(chat), "passages": talk.passages}
        for talk in talks
    ]


class ToolSet(Protocol):
    """Tools of one kind: what the calls of models mean, and what comes of them.

    Attributes:
        names: of the tools, as tools.yaml has them.
    """

    names: Collection[str]

    def understood(self, call: ToolCall, talk: "Talk") -> Any | Result:
        """What `call`, made in `talk`, asks for; a result that says what is wrong with it where it can't be carried
        out.
        """

    def carry_out(self, orders: Sequence[Order]) -> Sequence[Result | None]:
        """What each of `orders` gives; None where it is not known and nothing may be sent."""


class _WebTools:
    """The tools of the web as a `ToolSet`."""

    names = TOOLS

    def __init__(self, tools: Tools):
        self.carry_out = tools.carry_out

    def understood(self, call: ToolCall, talk: "Talk") -> Any | Result:
        return understood(call, talk.links, talk.question.get("language") or "")


def converse(
    questions: Sequence[Row],
    given: Sequence[Mapping[str, Any]],
    chat: Chat,
    prompt: Prompt,
    tools: ToolSet,
    repeats: Sequence[int],
    *,
    rounds: int,
    calls: int,
    lacks: Callable[[], None] | None = None,
) -> list["Talk"]:
    """The ended conversations about `questions`, repeat by repeat; `given` is what `prompt` gets of each question.

    Args:
        lacks: called for each conversation that can't go on, because it is not known what `tools` would give.

    Raises:
        UserError: the model, a prompt or what the tools work with needs mending.
    """
    offered = _offered(prompt, tools)
    settings = {"rounds": rounds, "calls": calls}
    talks = [
        Talk(row, prompt.messages(settings, variables), chat, offered, repeat)
        for repeat, (row, variables) in product(repeats, list(zip(questions, given, strict=True)))
    ]
    for number in range(1, rounds + 2):
        going_on = [talk for talk in talks if talk.open]
        # Asked even when nobody has a question left: a bill counts the rounds.
        answers = chat.ask([talk.request(last=number > rounds) for talk in going_on])
        for talk, answer in zip(going_on, answers, strict=True):
            talk.take(answer, last=number > rounds)
        going_on = [talk for talk in going_on if talk.open]
        _carry_out(going_on, tools, number, rounds, calls)
        for talk in going_on:
            if lacks and not talk.open:
                lacks()
    return talks


def _offered(prompt: Prompt, tools: ToolSet) -> tuple[dict[str, Any], ...]:
    described = tuple(prompt.tools)
    names = [tool["function"]["name"] for tool in described]
    if sorted(names) != sorted(tools.names):
        raise UserError(f"prompts/{prompt.name}/tools.yaml must describe the tools {' and '.join(tools.names)}")
    return described


def _carry_out(talks: Sequence["Talk"], tools: ToolSet, number: int, rounds: int, calls: int) -> None:
    """Do what the models want of the tools, for all conversations together, and tell them what came of it."""
    wanted = [list(talk.wanted(calls, tools)) for talk in talks]
    orders = [each for part in wanted for each in part if isinstance(each, Order)]
    if talks:
        _log.info("round %d: %d conversations call tools, %d calls are carried out", number, len(talks), len(orders))
    results = iter(tools.carry_out(orders))
    for talk, part in zip(talks, wanted, strict=True):
        given = [next(results) if isinstance(each, Order) else each for each in part]
        if None in given:
            talk.leave()
        else:
            talk.tell(given, number, last=number == rounds)


class Talk:
    """The conversation about one question.

    Attributes:
        open: the model has not answered yet.
        question, repeat: what it is about: a row of the benchmark, and which draw.
        answers: all that the model has said, the last one is the answer.
        passages: what it was shown of pages.
        links: the addresses that have come up in it (`Result.links`).
    """

    def __init__(self, row: Row, messages: list[dict[str, Any]], chat: Chat, offered: Sequence[Any], repeat: int):
        self.open = True
        self.question = row
        self._messages = list(messages)
        self._offered = tuple(offered)
        self.repeat = repeat
        self.answers: list[Answer] = []
        self._log: list[dict[str, Any]] = []
        self.passages: list[dict[str, Any]] = []
        self.links: set[str] = set()
        self._ids: set[str] = set()
        self._left = False
        # Tokens of the longest thoughts so far that went back to the model.
        self._thoughts = 0
        longest = chat.max_tokens or chat.context // _ANSWER_SHARE
        taken = estimate(orjson.dumps(offered).decode()) + sum(_tokens(each) for each in messages)
        # Tokens that calls and their results may take.
        self._room = chat.context - longest - taken - _MARGIN

    def request(self, last: bool) -> Request:
        """What to ask now."""
        choice = "none" if last or self._full else "auto"
        return Request(tuple(self._messages), None, self.repeat, self._offered, choice)

    def take(self, answer: Answer, last: bool) -> None:
        """What the model said: calls of tools, or the end."""
        self.open = answer.outcome == OK and bool(answer.tool_calls) and not last and not self._full
        self.answers.append(answer)

    def wanted(self, calls: int, tools: ToolSet) -> Iterator[Order | Result]:
        """What each call of the last answer asks for; where nothing is to be done about it, its result."""
        called = self.answers[-1].tool_calls
        said = orjson.dumps([self._messages, self.repeat, [call.written for call in called]])
        before = hashlib.sha256(said).hexdigest()
        for place, call in enumerate(called):
            if place >= calls:
                yield nothing(f"at most {calls} calls of one message are carried out, and this was one too many")
                continue
            each = tools.understood(call, self)
            yield each if isinstance(each, Result) else Order(each, f"{before} {place}")

    def tell(self, results: Sequence[Result], number: int, last: bool) -> None:
        """Tell the model what its calls in round `number` have given, as far as there is room for it."""
        answer = self.answers[-1]
        ids = identifiers(answer.tool_calls, self._ids)
        said = message(answer, ids)
        self._thoughts = max(self._thoughts, thoughts(said))
        self._add(said)
        shares = fair_shares([estimate(result.whole) for result in results], max(0, self._room))
        for call, id, result, share in zip(answer.tool_calls, ids, results, shares, strict=True):
            shown = result.fitting(share)
            self._add({"role": "tool", "tool_call_id": id, "content": shown.whole})
            self.links |= shown.links
            if shown.url and shown.text:
                page = {"url": shown.url, "title": shown.title, "text": shown.text, "score": None}
                self.passages.append(page)
            entry = {"round": number, "tool": call.name, "arguments": call.arguments, "outcome": result.outcome}
            self._log.append({**entry, "result": shown.whole})
        if last or self._full:
            self._messages[-1]["content"] += _LAST
            self._log[-1]["result"] += _LAST

    def leave(self) -> None:
        """It can't go on, because nothing may be sent."""
        self.open, self._left = False, True

    def columns(self, chat: Chat) -> Row:
        """The columns of table `answers` that hold what was said and done.

        Their tokens are those of all rounds; null where one was not counted.
        """
        answers = self.answers
        counted = all(answer.counted for answer in answers) and any(answer.input_tokens for answer in answers)
        return {
            "answer": answers[-1].text,
            "tool_calls": self._log,
            **{name: sum(getattr(answer, name) for answer in answers) if counted else None for name in TOKENS},
            **asked(chat.label, *answers),
            **(failed("it is not known what the tools would give") if self._left else {}),
        }

    @property
    def _full(self) -> bool:
        # The next message may hold as long thoughts as those before.
        return self._room < _LEAST + self._thoughts

    def _add(self, message: dict[str, Any]) -> None:
        self._messages.append(message)
        self._room -= _tokens(message)


def _tokens(message: dict[str, Any]) -> int:
    """About what a message takes of the model's context."""
    functions = [call["function"] for call in message.get("tool_calls", ())]
    called = sum(MESSAGE_TOKENS + estimate(function["name"] + function["arguments"]) for function in functions)
    return MESSAGE_TOKENS + estimate(message["content"] or "") + called + thoughts(message)
