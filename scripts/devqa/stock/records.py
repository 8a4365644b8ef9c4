"""What a record must look like that comes from somebody else."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt, ValidationError

from devqa.llm import attached
from devqa.llm.cache import Record
from devqa.pull_requests.agents.process import End


def _call(call: list[Any]) -> list[Any]:
    """id, name, arguments, and what is attached if anything (`devqa.llm.toolcalls.ToolCall`)."""
    if len(call) not in (3, 4) or not all(isinstance(each, str) for each in call[:3]):
        raise ValueError("no id, name and arguments")
    if len(call) == 4 and not (isinstance(call[3], dict) and call[3] == attached.to_call(call[3])):
        raise ValueError("something is attached that no endpoint wants back")
    return call


def _beside(fields: dict[str, Any]) -> dict[str, Any]:
    if fields != attached.to_message(fields):
        raise ValueError("something is attached that no endpoint wants back")
    return fields


class _Record(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)

    # It is shown on terminals.
    step: str = Field(pattern=r"^[a-z_]{1,40}$")
    time: NonNegativeFloat


class _Answered(_Record):
    """What a model has answered."""

    outcome: Literal["ok"]
    reason: str
    text: str
    data: Any
    raw: str
    input_tokens: NonNegativeInt
    output_tokens: NonNegativeInt
    reasoning_tokens: NonNegativeInt = 0
    cached_tokens: NonNegativeInt = 0
    counted: bool = True
    sent_bytes: NonNegativeInt = 0
    tool_calls: list[Annotated[list[Any], AfterValidator(_call)]] = []
    # It is sent with the calls in the next request.
    attached: Annotated[dict[str, Any], AfterValidator(_beside)] = {}
    seconds: NonNegativeFloat | None = None


class _Ran(_Record):
    """How an external agent's run has ended, and what it has printed (`devqa.pull_requests.agents.runs`)."""

    outcome: Literal["ok", "error"]
    stdout: str
    stderr: str
    # As wide as its column.
    exit_code: int | None = Field(ge=-(2**31), lt=2**31)
    seconds: NonNegativeFloat
    end: Annotated[str, AfterValidator(End)]
    trouble: str
    timeout_s: NonNegativeFloat
    usd: NonNegativeFloat | None = Field(le=1e6)


_KINDS = {"responses": _Answered, "commands": _Ran}


def objection(record: Record, part: str) -> str:
    """Why `record` is none that a run could be answered with, out of this part of the cache; "" if it is one."""
    try:
        _KINDS[part].model_validate(record)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
    return ""
