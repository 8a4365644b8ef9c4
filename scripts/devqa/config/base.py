"""What all configuration models share."""

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

from devqa.llm.access import is_address


def _variable(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError("this is no variable's name: it names the variable that holds the key, not the key")
    return name


def _address(text: str) -> str:
    if "@" in urlsplit(text).netloc:
        raise ValueError("it holds a name or a password, which would be shown: use api_key_env")
    if not is_address(text):
        raise ValueError("this is no address such as http://localhost:8000/v1")
    return text


# Names become folders, file names and wildcards.
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
# The name of an environment variable, and the address of a service.
Variable = Annotated[str, AfterValidator(_variable)]
Address = Annotated[str, AfterValidator(_address)]


class Section(BaseModel):
    """A part of the configuration: unknown keys are refused, values can't be changed later."""

    model_config = ConfigDict(extra="forbid", frozen=True)
