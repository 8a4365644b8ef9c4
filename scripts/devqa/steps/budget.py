"""Dividing a budget of tokens among texts."""

from collections.abc import Sequence

from devqa.tokens import cut, estimate


def fair_shares(needs: Sequence[int], budget: int) -> list[int]:
    """What each of `needs` gets of `budget`: small needs in full, the rest in equal parts.

    The sum never exceeds `budget` (at least 0), and nobody gets more than they need.
    """
    shares, left = [0] * len(needs), budget
    for position, index in enumerate(sorted(range(len(needs)), key=lambda index: needs[index])):
        shares[index] = min(needs[index], left // (len(needs) - position))
        left -= shares[index]
    return shares


def fitted(texts: Sequence[str], budget: int) -> list[str]:
    """`texts`, each cut to its fair share of `budget` tokens; whole where all fit."""
    needs = [estimate(text) for text in texts]
    return [
        text if share == need else cut(text, share)
        for text, need, share in zip(texts, needs, fair_shares(needs, budget), strict=True)
    ]


def shown(messages: Sequence[dict[str, str]], budget: int) -> list[dict[str, str]]:
    """The turns of a dialogue as a prompt shows them: long ones cut, so that all fit into `budget` tokens."""
    # Stripped first: else leading blank lines may be all that is left of a turn.
    contents = fitted([message["content"].strip() for message in messages], budget)
    return [
        {"role": message["role"], "content": content}
        for message, content in zip(messages, contents, strict=True)
        if content.strip()
    ]
