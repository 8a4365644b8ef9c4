"""What a prompt shows of a pull request's context: the blocks that fit into the model's window."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from devqa.llm.chat import Chat, Request
from devqa.prompts import Message, Prompt
from devqa.steps.reasons import request_for
from devqa.tables import Row
from devqa.tokens import cut, estimate

# Of what the window has left, the share of the blocks; the rest is for what a chat template or a schema adds, and for
# tokenizers that make more of code than is reckoned with.
ROOM_SHARE = 0.9
# A block's tags.
TAG_TOKENS = 16
# However small the window: fewer tokens of code are worth no request.
LEAST_ROOM = 50


def room(chat: Chat, bare: Sequence[Message]) -> int:
    """Tokens for blocks in the window of `chat`, beside its answer and the messages without any block."""
    left = chat.context - chat.max_tokens - sum(estimate(message["content"]) for message in bare)
    return max(LEAST_ROOM, int(left * ROOM_SHARE))


def fitted(blocks: Sequence[Row], tokens: int, first: Collection[str] = ()) -> list[Row]:
    """Those of `blocks` that fit into `tokens` tokens, in their order; the last ones are dropped.

    Blocks whose node is one of `first` are dropped after all others. One that does not fit by itself is cut.
    """
    order = sorted(range(len(blocks)), key=lambda place: (blocks[place]["node"] not in first, place))
    kept: dict[int, Row] = {}
    left = tokens
    for place in order:
        block = blocks[place]
        around = estimate(block["node"]) + TAG_TOKENS
        if not kept and around + estimate(block["text"]) > left:
            block = {**block, "text": cut(block["text"], max(LEAST_ROOM // 2, left - around)), "cut": True}
        elif around + estimate(block["text"]) > left:
            break
        kept[place] = block
        left -= around + estimate(block["text"])
    return [kept[place] for place in sorted(kept)]


def messages_with(
    prompt: Prompt, given: Mapping[str, Any], blocks: Sequence[Row], chat: Chat, first: Collection[str] = ()
) -> tuple[list[Row], list[Message]]:
    """What is shown of `blocks`, and the messages of `prompt` with it and `given`: they fit into the model's window."""

    def showing(shown: list[Row]) -> list[Message]:
        return prompt.messages({}, {**given, "blocks": shown})

    shown = fitted(blocks, room(chat, showing([])), first)
    return shown, showing(shown)


def request_with(
    prompt: Prompt,
    given: Mapping[str, Any],
    blocks: Sequence[Row],
    chat: Chat,
    schema: dict[str, Any],
    first: Collection[str] = (),
) -> Request:
    """Asks for verdicts (`devqa.steps.reasons`) on `given`, of what is shown of `blocks`."""
    _, messages = messages_with(prompt, given, blocks, chat, first)
    return request_for(messages, schema)
