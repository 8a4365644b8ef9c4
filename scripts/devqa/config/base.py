"""What all configuration models share."""

import re
from functools import partial
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

from devqa.llm.access import is_address


def _variable(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError("this is no variable's name: it names the variable that holds the key, not the key")
    return name


def service_address(text: str, example: str) -> str:
    """`text`, if requests can be sent to it.

    Args:
        example: an address for the message.

    Raises:
        ValueError: it is no address, or holds a name or a password.
    """
    if re.search(r"//[^/?#]*@", text):
        raise ValueError("it holds a name or a password, which would be shown: use api_key_env")
    try:
        # A port that is no number shows only when it is asked for.
        good = is_address(text) and urlsplit(text).port != 0
    except ValueError:
        good = False
    if not good:
        raise ValueError(f"this is no address such as {example}")
    return text


# Names become folders, file names and wildcards.
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
# The name of an environment variable, and the address of a service.
Variable = Annotated[str, AfterValidator(_variable)]
Address = Annotated[str, AfterValidator(partial(service_address, example="http://localhost:8000/v1"))]


class Section(BaseModel):
    """A part of the configuration: unknown keys are refused, values can't be changed later."""

    model_config = ConfigDict(extra="forbid", frozen=True)
