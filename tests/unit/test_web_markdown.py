"""HTML to Markdown."""

import lxml.html
import pytest

from devqa.web.cleaning.markdown import code_blocks, render


def _render(body: str) -> str:
    return render(lxml.html.document_fromstring(f"<body>{body}</body>").body)


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<h2>A  <em>b</em>\n c</h2><p>d", "## A b c\n\nd"),
        ("loose <b>text</b> <p>para</p> tail", "loose text\n\npara\n\ntail"),
        ("<div>a<br>b<div>c</div></div>", "a\nb\n\nc"),
        ("<p>Use <code>a  b</code>, <code>`x`</code><code></code>.", "Use `a b`, `` `x` ``."),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>", "- a\n- b\n  - c"),
        ("<ol><li><p>a<pre>x\n\n  y</pre><li>b</ol>", "1. a\n\n   ```\n   x\n\n     y\n   ```\n2. b"),
        ("<blockquote><p>a<p>b</blockquote>", "> a\n>\n> b"),
        ("<dl><dt>term<dd>meaning</dl>", "term\n\nmeaning"),
        ("<table><tr><th>a<th>b<tr><td>1|2<td><code>c</code></table>", "| a | b |\n| --- | --- |\n| 1\\|2 | `c` |"),
        ("<table><tr><td>a</table>", "a"),
        ("<table><tr><td><p>layout</p><h2>H</h2><td>side</table>", "layout\n\n## H\n\nside"),
        ("<p>a <math><mi>x</mi><annotation encoding='application/x-tex'>x^2</annotation></math> b", "a $x^2$ b"),
        ("<p>a <math><mi>x</mi><mo>=</mo><mn>2</mn></math> b", "a x=2 b"),
        ("<p>a<button>Copy</button><select><option>x</select> b", "a b"),
    ],
)
def test_elements(html, markdown):
    assert _render(html) == markdown


def test_code_keeps_its_white_space_its_language_and_its_fences():
    html = '<pre class="language-python"><code><span>def</span> f():\n\n    return "```"<br>f()\n</code></pre>'
    assert _render(html) == '````python\ndef f():\n\n    return "```"\nf()\n````'


def test_line_numbers_beside_code_are_left_out():
    html = (
        '<table class="highlighttable"><tr><td class="linenos"><pre>1\n2</pre></td>'
        '<td class="code"><div class="highlight-c"><pre>int a;\nint b;</pre></div></td></tr></table>'
        '<pre><span class="lineno">1</span>x = 1\n<span class="lineno">2</span>y = 2</pre>'
    )
    assert _render(html) == "```c\nint a;\nint b;\n```\n\n```\nx = 1\ny = 2\n```"
    assert code_blocks(lxml.html.fragment_fromstring(html, create_parent=True)) == ["int a;\nint b;", "x = 1\ny = 2"]


def test_code_whose_lines_are_numbered_by_a_style_sheet_stays():
    assert _render('<pre class="line-numbers">a = 1</pre>') == "```\na = 1\n```"


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ('<figure class="highlight python"><pre>x</pre></figure>', "python"),
        ('<pre><code class="language-c++" data-lang="c++">x</code></pre>', "c++"),
        ('<pre data-language="ts">x</pre>', "ts"),
        ('<div class="highlight-default notranslate"><div class="highlight"><pre>x</pre></div></div>', ""),
        ('<div class="highlight-source-shell"><pre>x</pre></div>', "shell"),
    ],
)
def test_languages_as_generators_note_them(html, language):
    assert _render(html) == f"```{language}\nx\n```"


def test_a_button_within_code_is_no_code_and_lines_that_are_elements_end():
    html = "<pre><button>Copy</button><code><div>a = 1</div><div>b = 2\n</div><div>c = 3</div></code></pre>"
    assert _render(html) == "```\na = 1\nb = 2\nc = 3\n```"
