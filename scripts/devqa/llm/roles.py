"""The model that plays a role in a job, ready to be asked."""

from devqa.job import Job
from devqa.llm.cache import Cache
from devqa.llm.chat import Chat


def chat_for(this: Job, role: str, number: int | None = None) -> Chat:
    """The `Chat` for `role` of the job's recipe, or for its `number`th where several models play it."""
    asked = this.asked[role] if number is None else this.asked[role][number]
    runtime = this.config["models"][asked["label"]]
    return Chat(asked, runtime, Cache(this.cache / "responses"), role)
