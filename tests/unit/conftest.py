"""What the unit tests share."""

import pytest

from scripted import ScriptedEndpoint


@pytest.fixture(scope="module")
def endpoint():
    with ScriptedEndpoint() as server:
        yield server
