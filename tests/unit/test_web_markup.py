"""Making HTML harmless."""

from hypothesis import given
from hypothesis import strategies as st

from devqa.web import markup


def test_scripts_styles_comments_and_metadata_go():
    page = "<p>a<script>if (a<b) {}</script>b<STYLE >p{}</STYLE>c<!-- <p>x -->d<meta name=x content='y'>e"
    assert markup.pruned(f"{page}<svg><title>t</svg>").replace(" ", "") == "<p>abcde"


def test_an_unclosed_script_swallows_the_rest_and_an_unclosed_template_does_not():
    assert markup.pruned("<p>a<script>b</p>") == "<p>a"
    assert markup.pruned("<p>a<template>b<!-- c") == "<p>a<template>b<!-- c"


def test_elements_whose_names_only_begin_alike_stay():
    assert markup.pruned("<p>a<scripted>b</scripted>") == "<p>a<scripted>b</scripted>"


@given(st.lists(st.sampled_from(["<script>", "</script>", "<!--", "-->", "<svg>", "</svg>", "<meta ", "x", "<p>"])))
def test_nothing_is_made_up(parts):
    page = "".join(parts)
    assert markup.pruned(page).count("x") <= page.count("x")
    assert len(markup.pruned(page)) <= len(page)


def test_titles_and_canonical_addresses():
    head = "<head><title>\n A &amp; B </title><link href='https://a.example/?a=1&amp;b=2' rel='canonical'></head>"
    assert markup.title(head) == "A & B"
    assert markup.canonical(head) == "https://a.example/?a=1&b=2"
    assert markup.canonical('<link rel="canonical" href="/relative">') == ""
    assert markup.canonical('<link rel="canonical" href="javascript:x">') == ""
    assert markup.canonical('<link rel="icon" href="https://a.example">') == ""
    assert markup.title("<p>no title") == ""


def test_what_readers_do_not_see_is_dropped():
    root = markup.tree(
        "<div>seen<p hidden>A</p><p style='color:red; DISPLAY : none'>B</p><p aria-hidden='TRUE'>C</p>"
        "<p style='visibility:hidden'>D</p><h2>Head<a href='#h'>¶</a></h2><p style='color:red'>also seen</p></div>"
    )
    assert root.text_content() == "seenHeadalso seen"


def test_nothing_makes_no_tree():
    assert markup.tree("") is None
    assert markup.tree("<!-- -->") is None or markup.tree("<!-- -->").text_content() == ""


def test_depth_of_nesting():
    assert markup.depth("<div><div></div></div><div></div>") == 2
    assert markup.depth("</div></div><div>" * 3) == 1
    assert markup.depth("<div>" * 5_000) == 5_000
