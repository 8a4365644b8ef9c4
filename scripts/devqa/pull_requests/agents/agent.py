"""repository_questions → predictions, in the setting `agentic`: a model looks into the repository before it answers."""

from collections.abc import Mapping, Sequence

from devqa.llm.chat import Chat
from devqa.prompts import Prompt
from devqa.pull_requests.agents.checkout import Checkout
from devqa.pull_requests.agents.predicting import seconds
from devqa.pull_requests.agents.tools import RepositoryTools
from devqa.steps.agentic import SETTING, converse
from devqa.steps.answer import run
from devqa.tables import Row


def agentic(
    questions: Sequence[Row],
    checkouts: Mapping[str, Checkout],
    chat: Chat,
    prompt: Prompt,
    repeats: Sequence[int],
    *,
    rounds: int,
    calls: int,
    result_tokens: int,
) -> list[Row]:
    """Rows of table `predictions`, one for each repeat and question: what the model said, and all that it looked at.

    `seconds` are those of all rounds, without what the tools took.

    Args:
        checkouts: of the questions' repositories, by label.
        rounds, calls, result_tokens: the bounds of section `pull_requests.evaluation.agentic`.

    Raises:
        UserError: the model or a prompt needs mending.
    """
    given = [{"question": row["question"], "repository": row["name"]} for row in questions]
    tools = RepositoryTools(checkouts, result_tokens)
    talks = converse(questions, given, chat, prompt, tools, repeats, rounds=rounds, calls=calls)
    return [
        {
            **run(talk.question, SETTING, chat, talk.repeat),
            **talk.columns(chat),
            "shown": [],
            "seconds": seconds(talk.answers),
        }
        for talk in talks
    ]
