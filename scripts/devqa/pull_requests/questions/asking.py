"""context → pull_questions: one question about what a pull request changed (DeepCodeBench).

The model sees the changed definitions as they are now, with title and description for what they are about. It names the
definitions that the question rests on; whether it is deep or broad is computed from these.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from devqa.llm.chat import Answer, Chat, Request
from devqa.prompts import Message, Prompt
from devqa.pull_requests.questions.showing import messages_with, room
from devqa.steps.accounts import asked
from devqa.steps.outcomes import failed
from devqa.tables import Row, picked
from devqa.text import plain
from devqa.tokens import cut

DIFFICULTIES = ("easy", "moderate", "hard")
# A question that rests on more definitions has no short answer.
MOST_NODES = 10
LONGEST_QUESTION = 400
# Of the room for blocks, this share shows the title and the description at most.
DESCRIPTION_SHARE = 0.2


def schema(nodes: Sequence[str]) -> dict[str, Any]:
    """The JSON schema of the model's answer. The nodes come first, so that the question is built on them."""
    properties = {
        "nodes": {
            "type": "array",
            "items": {"type": "string", "enum": [*nodes]},
            "minItems": 1,
            "maxItems": min(len(nodes), MOST_NODES),
        },
        "question": {"type": "string", "maxLength": LONGEST_QUESTION},
        "core": {"type": "boolean"},
        "difficulty": {"type": "string", "enum": [*DIFFICULTIES]},
    }
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


class _Asked(NamedTuple):
    """What the model is shown of a pull request."""

    nodes: list[str]
    messages: list[Message]


def questions(context: Sequence[Row], chat: Chat, prompt: Prompt, *, deep_blocks: int, deep_tokens: int) -> list[Row]:
    """Rows of table `pull_questions`, one for each of `context`, sorted by pull request.

    A question is deep if it rests on at most `deep_blocks` blocks of at most `deep_tokens` tokens together. Blocks that
    the model's window has no room for are not shown, the last ones first, and no question rests on them.
    """
    context = sorted(context, key=lambda row: row["pull_id"])
    shown = [_asked(row, chat, prompt) for row in context]
    answers = chat.ask([Request(tuple(each.messages), schema(each.nodes)) for each in shown])
    return [
        {
            **picked(row, "pull_questions"),
            **asked(chat.label, answer),
            **(_question(row["blocks"], answer, deep_blocks, deep_tokens) if answer.outcome == "ok" else {}),
        }
        for row, answer in zip(context, answers, strict=True)
    ]


def _asked(row: Row, chat: Chat, prompt: Prompt) -> _Asked:
    bare = prompt.messages({}, {"title": "", "description": "", "blocks": []})
    said = int(room(chat, bare) * DESCRIPTION_SHARE) // 2
    given = {"title": cut((row["title"] or "").strip(), said), "description": cut((row["body"] or "").strip(), said)}
    blocks, messages = messages_with(prompt, given, row["blocks"], chat)
    return _Asked(list(dict.fromkeys(block["node"] for block in blocks)), messages)


def _question(blocks: Sequence[Row], answer: Answer, deep_blocks: int, deep_tokens: int) -> Row:
    data = answer.data
    question = " ".join(data["question"].split())
    named = set(data["nodes"])
    rests_on = [block for block in blocks if block["node"] in named]
    deep = len(rests_on) <= deep_blocks and sum(block["tokens"] for block in rests_on) <= deep_tokens
    row = {
        "question": question,
        "scope": "deep" if deep else "broad",
        "core": data["core"],
        "difficulty": data["difficulty"],
        "nodes": [block["node"] for block in rests_on],
    }
    return row if plain(question) else row | failed("the model left the question empty")
