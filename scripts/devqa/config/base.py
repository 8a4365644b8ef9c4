"""What all configuration models share."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A part of the configuration: unknown keys are refused, values can't be changed later."""

    model_config = ConfigDict(extra="forbid", frozen=True)
