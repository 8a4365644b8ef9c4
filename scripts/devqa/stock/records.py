"""What a record must look like that comes from somebody else."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt, ValidationError

from devqa.llm.cache import Record


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
