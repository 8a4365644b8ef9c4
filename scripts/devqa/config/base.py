"""What all configuration models share."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

# Names become folders, file names and wildcards.
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]


class Section(BaseModel):
    """A part of the configuration: unknown keys are refused, values can't be changed later."""

    model_config = ConfigDict(extra="forbid", frozen=True)
