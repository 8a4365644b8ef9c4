"""The names under which data sets keep the parts of a dialogue: WildChat, ShareGPT, and chat messages."""

ID = ("conversation_hash", "conversation_id", "id")
CONVERSATION = ("conversation", "conversations", "messages")
LANGUAGE = "language"
MODEL = "model"
TURN_ROLE = ("role", "from")
TURN_CONTENT = ("content", "value")
TURN = (*TURN_ROLE, *TURN_CONTENT)

# Every name of a role that is known, in lower case, to the four that a table holds.
ROLES = {
    "user": "user",
    "human": "user",
    "prompter": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bard": "assistant",
    "bing": "assistant",
    "claude": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
    "function_call": "tool",
    "observation": "tool",
}
