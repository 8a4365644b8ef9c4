"""Making HTML harmless."""

from hypothesis import given
from hypothesis import strategies as st

from devqa.web.cleaning import markup


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


def test_what_stands_in_for_scripts_is_kept_where_it_is_the_page():
    post = "<p>" + "What a forum sends to readers without scripts. " * 20
    assert markup.pruned(f"a<noscript data-path='/t'>{post}<script>x()</script></noscript>b") == f"a{post}</noscript>b"
    assert markup.pruned("a<noscript>Turn scripts on!<img src=x></noscript>b") == "ab"


def test_nested_stand_ins_take_linear_time():
    page = "<noscript>x" * 50_000 + "y" * 600 + "</noscript>"
    assert markup.pruned(page).count("x") == 50_000


def test_characters_without_width_go():
    assert markup.pruned("auto\u00admo&shy;bile\u200b\ufeff") == "automobile"


def test_what_react_streams_after_the_page_is_put_in_its_place():
    page = (
        '<main><p>before</p><template id="B:0"></template><p>after</p></main>'
        '<div hidden id="S:0"><p>streamed</p></div>tail<div hidden id="S:1">no placeholder</div>'
    )
    assert markup.tree(markup.pruned(page)).text_content() == "beforestreamedaftertail"


def test_a_part_that_holds_its_own_placeholder_stays_where_it_is():
    page = '<div hidden id="S:0">a<template id="B:0"></template></div><p>b</p>'
    assert markup.tree(markup.pruned(page)).text_content() == "b"


def test_tabs_that_are_not_open_are_kept():
    page = "<div role=tabpanel>apt</div><div role=tabpanel hidden aria-hidden=true>dnf</div><div hidden>no</div>"
    assert markup.tree(page).text_content() == "aptdnf"


def test_a_page_behind_a_dialogue_is_kept():
    page = f"<div aria-hidden=true>{'the page ' * 20}</div><div>dialogue<i aria-hidden=true>icon</i></div>"
    assert markup.tree(page).text_content().endswith("the page dialogue")
