"""The main content of pages: what is kept, what is left out, and what happens where extractors disagree."""

import lxml.html
import pytest

from devqa.web.cleaning import furniture, markup
from devqa.web.cleaning.agreement import Ballot, between, keep, likeness, majority, parts
from devqa.web.cleaning.content import main_content
from devqa.web.cleaning.markdown import render

_PROSE = (
    "This is a paragraph about the way in which a developer would use the library, and it is what you want to have. "
    "It says in its second sentence what the first one did not have the room for, as they do in all of the manuals."
)
_REMARK = "I think that this is not what the author had in mind when he wrote about it, but you may see it in a way."


def _content(body: str, head: str = "") -> str:
    root = markup.tree(markup.pruned(f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>"))
    return main_content(root, small=True)[0]


def _page(body: str) -> lxml.html.HtmlElement:
    return lxml.html.document_fromstring(f"<html><body>{body}</body></html>")


def _numbered(number: int, text: str = _PROSE) -> str:
    return "".join(f"<p>Number {i}. {text}</p>" for i in range(number))


def test_xhtml_with_an_encoding_in_its_declaration_is_a_page_like_others():
    page = f'<?xml version="1.0" encoding="UTF-8" standalone="no"?><html><body>{_numbered(4)}</body></html>'
    assert main_content(markup.tree(markup.pruned(page)), small=True)[0].count("Number") == 4


def test_a_question_and_its_answers_are_kept_without_votes_comments_and_cards():
    def post(kind: str, text: str) -> str:
        return (
            f'<div class="{kind.lower()}" itemscope itemtype="https://schema.org/{kind}"><div class="votecell">'
            f'<div class="js-vote-count">17</div></div><div class="s-prose js-post-body" itemprop="text">{text}</div>'
            '<div class="user-card"><a href="/u">ada</a> 1,234 3 gold badges</div>'
            f'<div class="comments"><div itemprop="comment" itemscope itemtype="https://schema.org/Comment">'
            f'<span itemprop="text" class="comment-copy">{_REMARK}</span></div></div></div>'
        )

    answers = "".join(post("Answer", f"<p>Answer {i}. {_PROSE}</p><pre>call({i})</pre>") for i in range(3))
    text = _content(
        f'<h1>How?</h1><div itemscope itemtype="https://schema.org/QAPage">'
        f"{post('Question', _numbered(1))}{answers}</div>"
        f'<div id="sidebar"><h4>Related</h4><ul>{"<li><a href=/q>Why is it so?</a>" * 9}</ul></div>'
    )
    assert all(f"Answer {i}. {_PROSE}" in text and f"```\ncall({i})\n```" in text for i in range(3))
    assert not any(junk in text for junk in ("17", "badges", "in mind", "Related"))


def test_comments_below_an_article_are_not_taken_for_a_thread():
    comments = f'<div class="comment-list">{f"<div class=comment><p>{_REMARK}</p></div>" * 5}</div>'
    text = _content(f'<article><h1>Head</h1>{_numbered(8)}</article><div id="comments">{comments}</div>')
    assert text.count("Number") == 8
    assert "in mind" not in text


def test_all_posts_of_a_thread_are_kept():
    posts = "".join(
        f'<article class="message"><div class="message-user">member{i} Joined 2019</div>'
        f'<div class="bbWrapper">Post {i}. {_REMARK}</div></article>'
        for i in range(6)
    )
    text = _content(f"<nav><a href=/>Home</a></nav><div class=block>{posts}</div><footer>Terms</footer>")
    assert all(f"Post {i}. {_REMARK}" in text for i in range(6))
    assert "Terms" not in text


@pytest.mark.parametrize(
    "junk",
    [
        '<div class="breadcrumbs"><a href=/>Docs</a> / <a href=/a>Junk</a></div>',
        '<a class="edit-this-page" href=/e>Junk</a>',
        '<div class="feedback"><p>Was this Junk helpful?</p></div>',
        '<div class="theme-doc-toc"><ul><li><a href="#a">Junk</a></ul></div>',
        '<nav class="pagination-nav">Next Junk</nav>',
        '<div class="cookie-banner"><p>We use cookies for Junk, and you have to accept them.</p></div>',
        '<div class="pagination"><a href=/p>Junk</a></div>',
        '<div class="table-of-contents"><a href="#a">Junk</a></div>',
    ],
)
def test_furniture_of_documentation_is_left_out(junk):
    text = _content(f"<main><h1>Head</h1>{junk}{_numbered(3)}<pre>code()</pre>{junk}</main>")
    assert text.count("Number") == 3
    assert "Junk" not in text


def test_code_between_short_lines_is_kept_where_no_extractor_says_a_word_of_it():
    code = "".join(f'<span class="lineno">{i}</span><b>import</b> <i>mod{i}</i>\n' for i in range(1, 3))
    text = _content(f"<article><h3>Imports</h3><p>First, import the required modules:</p><pre>{code}</pre></article>")
    assert "import mod1\nimport mod2" in text


def test_a_box_that_docbook_calls_a_sidebar_is_text_and_the_sidebar_of_a_site_is_not():
    links = "".join(f"<li><a href=/{i}>Chapter {i}</a>" for i in range(20))
    document = _page(
        f'<div class="sidebar"><ul>{links}</ul></div><div class="chapter"><h1>Head</h1>{_numbered(4)}'
        f'<div class="sidebar"><p>GOING FURTHER {_REMARK}</p><pre># apt update</pre></div></div>'
    )
    furniture.remove_boilerplate(document)
    text = render(document)
    assert "GOING FURTHER" in text
    assert "# apt update" in text
    assert "Chapter 7" not in text


def test_paragraphs_that_are_set_apart_by_line_breaks_alone():
    text = _content(f"<div>{'<br><br>'.join(f'Number {i}. {_PROSE}' for i in range(4))}</div>")
    assert text.split("\n\n") == [f"Number {i}. {_PROSE}" for i in range(4)]


def test_tables_and_lists_among_paragraphs_stay_whole_where_the_page_is_voted_on():
    table = "<table><tr><th>Name<th>Default</tr><tr><td>depth<td>17</tr><tr><td>width<td>23</tr></table>"
    aside = f'<div class="teaser"><h3>More</h3>{f"<p><a href=/x>{_REMARK}</a></p>" * 6}</div>'
    text = _content(f"<h1>Head</h1>{_numbered(3)}{table}<ul><li>one thing<li>another</ul>{_numbered(3)}{aside}")
    assert "| depth | 17 |\n| width | 23 |" in text
    assert "- one thing\n- another" in text


def test_an_empty_page_has_no_content():
    assert _content("<p></p>") == ""


def test_a_page_that_is_not_small_goes_to_the_fast_extractor():
    root = markup.tree(f"<html><body><main>{_numbered(3)}</main></body></html>")
    text, extractor = main_content(root, small=False)
    assert (text.count("Number"), extractor) == (3, "resiliparse")


def test_the_page_is_left_as_it_is():
    root = markup.tree(f"<html><body><nav>x</nav>{_numbered(3)}<div id=comments>{_REMARK}</div></body></html>")
    before = lxml.html.tostring(root)
    main_content(root, small=True)
    assert lxml.html.tostring(root) == before


def test_likeness_counts_words_and_chinese_characters():
    assert likeness("A b, c", "c B a") == 1
    assert likeness("缓存设置", "缓存") == pytest.approx(2 / 3)
    assert likeness("", "") == 0


def test_a_text_holds_what_it_says_in_other_marks():
    ballot = Ballot("# Heading\n\nUse **the cache** of `requests` well.\n\n- Yes")
    assert ballot.holds(["the", "cache", "of", "requests"])
    assert ballot.holds(["yes"])
    assert not ballot.holds(["cache"])
    assert not ballot.holds(["requests", "the", "of", "cache"])


def test_parts_are_what_holds_text_of_its_own_and_rows_are_whole():
    document = _page("<div>a <b>b</b><p>c<br>d</p>e</div><table><tr><td>f<td>g<p>h</table>")
    assert [(part.tag, words) for part, words in parts(document)] == [
        ("div", ["a", "b", "e"]),
        ("p", ["c", "d"]),
        ("tr", ["f", "g"]),
        ("p", ["h"]),
    ]


def test_keeping_parts_drops_the_text_of_all_others():
    document = _page("<div>a <b>b</b><p>c <i>d</i></p>e</div><table><tr><td>f<td>g<tr><td>h<td>i</table><h2>j</h2>")
    keep(document, [part for part, words in parts(document) if words in (["c", "d"], ["h", "i"])])
    assert render(document) == "c d\n\n| h | i |\n| --- | --- |"


def test_votes():
    assert majority([[True, True, False], [True, False, False], [False, True, False]]) == [True, True, False]
    assert majority([[True, False], [False, False]]) == [True, False]
    trusted, others = [False, True, False, True, False], [True] * 5
    assert between(trusted, others, [9, 9, 1, 9, 9]) == [False, True, True, True, False]
    assert between(trusted, others, [9, 9, 1, 2, 9]) == [False, True, False, True, False]


def test_a_name_removes_links_and_no_prose():
    document = _page(
        f"<div class=related>{_numbered(3)}</div><div class=share><a href=/>Tweet</a></div><p>{_PROSE * 3}"
    )
    furniture.remove_boilerplate(document)
    assert document.text_content().count("Number") == 3
    assert "Tweet" not in document.text_content()
