"""The section `pull_requests`: what a command may say."""

import pytest
from pydantic import ValidationError

from devqa.config.pull_requests import Command


@pytest.mark.parametrize(
    "command",
    [
        "agent {question}",
        "agent --in={checkout} -q '{question}'",
        """claude -p {question} --mcp-config '{"mcpServers":{}}'""",
        "agent '{question} {} {0} {a,b} {2..3} { } {\"a\":1} {x_y}'",
        "agent {{question}}",
        "agent '{'{question}",
    ],
)
def test_braces_that_are_no_placeholders_belong_to_the_program(command):
    assert Command(command=command).command == command


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("", "it is empty"),
        ("'' {question}", "it is empty"),
        ("agent", "the question goes nowhere"),
        ("agent {checkout}", "the question goes nowhere"),
        # A shell's quoting may take it apart.
        (r"agent \{question", "the question goes nowhere"),
        ("agent {question} {chekout}", "{chekout} means nothing here"),
        ("agent {Question}", "{Question} means nothing here"),
        ("agent {question} ${HOME}", "{HOME} means nothing here"),
        ("{question}", r"{question} is never put into the first word"),
        ("{checkout}/agent {question}", "{checkout} is never put into the first word"),
        ("agent '{question}", "No closing quotation"),
    ],
)
def test_what_can_only_be_a_mistake_is_refused_in_words(command, says):
    with pytest.raises(ValidationError) as refused:
        Command(command=command)
    assert says in str(refused.value)
