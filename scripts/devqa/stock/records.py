"""What a record must look like that comes from somebody else."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt, ValidationError

from devqa.llm import attached
from devqa.llm.cache import Record


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


class _Answered(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)

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
    # It is shown on terminals.
    step: str = Field(pattern=r"^[a-z_]{1,40}$")
    time: NonNegativeFloat


def objection(record: Record) -> str:
    """Why `record` is none that a run could be answered with; "" if it is one."""
    try:
        _Answered.model_validate(record)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
    return ""
