"""Knowledge domains in the configuration: the paper's by default, and groups of them."""

import pytest
from pydantic import ValidationError

from devqa.config.evaluation import DOMAIN_GROUPS, DOMAINS, Domains

OWN = {"tools": "containers", "web": "protocols"}


def test_the_default_is_the_paper_s_taxonomy():
    section = Domains(model="m")
    assert section.names == DOMAINS
    assert section.groups == DOMAIN_GROUPS
    assert [len(names) for names in section.groups.values()] == [2, 7]
    assert sorted(name for names in section.groups.values() for name in names) == sorted(DOMAINS)


def test_names_of_one_s_own_have_the_groups_that_are_given():
    assert Domains(model="m", names=OWN).groups == {}
    assert Domains(model="m", names=OWN, groups={"semantic": ["web"]}).groups == {"semantic": ["web"]}
    assert Domains(model="m", groups={}).groups == {}


@pytest.mark.parametrize("given", [{}, {"names": OWN}, {"groups": {}}])
def test_what_is_written_out_is_the_same_section_when_it_is_read_again(given):
    section = Domains(model="m", **given)
    assert Domains(**section.model_dump(mode="json")) == section


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ({"semantic": ["web", "shell"]}, "groups: 'shell' is not one of names"),
        ({"semantic": ["web"], "syntactic": ["web"]}, "groups: 'web' stands there more than once"),
        ({"semantic": ["web", "web"]}, "groups: 'web' stands there more than once"),
    ],
)
def test_groups_hold_each_name_once_at_most(groups, said):
    with pytest.raises(ValidationError, match=said):
        Domains(model="m", names=OWN, groups=groups)
