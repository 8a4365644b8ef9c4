"""What an endpoint attaches to a message that calls tools, and wants back in the conversation's next request.

- `extra_content` of each call: Gemini's thought signatures, without which it refuses the request
  (https://ai.google.dev/gemini-api/docs/thought-signatures, "OpenAI compatibility").
- `reasoning_content`: DeepSeek in thinking mode, which refuses the request without it where tools were called
  (https://api-docs.deepseek.com/guides/thinking_mode), GLM, Kimi, llama.cpp.
- `reasoning`: vLLM (https://docs.vllm.ai/en/latest/features/interleaved_thinking/), Groq, Ollama, OpenRouter.
- `reasoning_details`: OpenRouter, with signatures and encrypted thoughts
  (https://openrouter.ai/docs/guides/best-practices/reasoning-tokens, "Preserving reasoning").
- `thinking_blocks`, and of each call `provider_specific_fields`: LiteLLM, with the signatures of Anthropic's models
  (https://docs.litellm.ai/docs/reasoning_content) and of Gemini (https://docs.litellm.ai/blog/gemini_3).

An endpoint gets back what it has sent itself, as it was, and nothing else: others refuse fields that they don't know.
"""

import logging
from collections.abc import Mapping
from typing import Any

import orjson

from devqa.llm.parsing import plain

_log = logging.getLogger(__name__)

_OF_MESSAGE = {"reasoning_content": str, "reasoning": str, "reasoning_details": list, "thinking_blocks": list}
_OF_CALL = {"extra_content": dict, "provider_specific_fields": dict}
# The fields of a message, and of a call.
IN_MESSAGE = tuple(_OF_MESSAGE)
IN_CALL = tuple(_OF_CALL)
# Bytes of one field as JSON: more than the longest thoughts that models have. Signatures take some thousand.
_LONGEST = 1 << 20
# Those that are known have three levels; what is nested deeper than some hundred can't be written as JSON.
_DEEPEST = 20


def to_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """What is attached to a `message` that calls tools, by the field's name."""
    return _kept(message, _OF_MESSAGE)


def to_call(call: Mapping[str, Any]) -> dict[str, Any]:
    """What is attached to one entry of a message's `tool_calls`, by the field's name."""
    return _kept(call, _OF_CALL)


def _kept(holder: Mapping[str, Any], kinds: Mapping[str, type]) -> dict[str, Any]:
    kept = {}
    for name, kind in kinds.items():
        # An empty text counts, null does not: DeepSeek wants the field back even where there was no thought.
        if isinstance(value := holder.get(name), kind):
            try:
                kept[name] = _whole(value)
            except ValueError as error:
                _log.warning(
                    "the %s of a message with calls of tools is not kept (%s): the endpoint may refuse what comes next",
                    name,
                    error,
                )
    return kept


def _whole(value: Any) -> Any:
    """`value` as strict JSON would give it, never a part of it: a signature that was cut would be refused.

    Raises:
        ValueError: it can't be kept.
    """
    if not _shallow(value):
        raise ValueError(f"more than {_DEEPEST} levels")
    value = plain(value)
    if (length := len(orjson.dumps(value))) > _LONGEST:
        raise ValueError(f"{length} bytes, more than {_LONGEST}")
    return value


def _shallow(value: Any, levels: int = _DEEPEST) -> bool:
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_shallow(each, levels - 1) for each in inner)
