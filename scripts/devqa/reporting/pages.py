"""Reports as HTML pages that need nothing but themselves: no network, no inline style, texts only ever as text."""

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
import orjson
from markupsafe import Markup

from devqa.evaluation.grading import GRADES
from devqa.evaluation.metrics import UNUSABLE
from devqa.pull_requests import GROUND_TRUTH
from devqa.reporting import blog, charts, paper, plots, words

_TEMPLATES = Path(__file__).parent / "templates"
# Where the browser's data goes. Escaped texts can't hold it.
_DATA = '<script type="application/json" id="data">'

# Segments of the outcome bar: words for the reader, CSS class, and the fates that they hold.
_OUTCOMES = (
    ("CORRECT", "correct", ("CORRECT",)),
    ("INCORRECT", "incorrect", ("INCORRECT",)),
    ("NOT_ATTEMPTED", "not-attempted", ("NOT_ATTEMPTED",)),
    ("ungraded", "ungraded", ("ungraded",)),
    ("no usable answer", "unusable", UNUSABLE),
)
_STATUSES = (("ok", "correct", "ok"), ("rejected", "not-attempted", "rejected"), ("failed", "incorrect", "failed"))


def model_report(data: dict[str, Any]) -> bytes:
    """The HTML page of one model; `data` as `data.report_data` gives it."""
    page = _page("report.html.j2", ["sort.js", "browse.js", "rows.js"], data=data)
    return _filled(page, {key: data[key] for key in ("rows", "passages", "runs")})


def index_page(data: dict[str, Any]) -> bytes:
    """The HTML page that compares all models; `data` as `overview.index_data` gives it."""
    return _page("index.html.j2", ["sort.js"], data=data).encode()


def study_page(data: dict[str, Any]) -> bytes:
    """The HTML page of the study; `data` as `studying.study_data` gives it."""
    return _page("study.html.j2", ["sort.js"], data=data).encode()


def pull_requests_page(data: dict[str, Any]) -> bytes:
    """The HTML page of questions from pull requests; `data` as `recalling.recalling_data` gives it."""
    scripts, styles = ["sort.js", "browse.js", "questions.js"], ["style.css", "questions.css"]
    page = _page("pull_requests.html.j2", scripts, styles, data=data)
    return _filled(page, {key: data[key] for key in ("agents", "rows", "runs")})


def _filled(page: str, browsed: dict[str, Any]) -> bytes:
    """A page with the data that its browser of rows shows."""
    # In an HTML page's script, "<" is all that could end it.
    packed = orjson.dumps(browsed, option=orjson.OPT_SORT_KEYS).replace(b"<", b"\\u003c")
    head, tag, tail = page.partition(_DATA)
    # Joined as bytes: as text, one rare character would make every character of it four bytes wide.
    return b"".join([head.encode(), tag.encode(), packed, tail.encode()])


def _page(template: str, scripts: list[str], styles: Sequence[str] = ("style.css",), **values: Any) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = ("share", "signed", "percent", "number", "usd", "p_value")
    environment.filters |= {name: getattr(words, name) for name in filters}
    environment.globals |= {
        "outcome_parts": _outcome_parts,
        "status_parts": _status_parts,
        "charts": charts,
        "plots": plots,
        "words": words,
        "paper": paper,
        "blog": blog,
        "GROUND_TRUTH": GROUND_TRUTH,
        "GRADES": GRADES,
        "UNUSABLE": UNUSABLE,
    }
    style = "".join(map(_source, styles))
    sources = [_source(name) for name in scripts]
    return environment.get_template(template).render(
        style=Markup(style),  # noqa: S704 - the project's own file
        scripts=[Markup(source) for source in sources],  # noqa: S704
        policy=_policy(style, sources),
        **values,
    )


def _source(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _policy(style: str, scripts: list[str]) -> str:
    """A content security policy under which only the page's own style and scripts work, and nothing is fetched."""
    allowed = " ".join(_hash(script) for script in scripts)
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {allowed}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(source: str) -> str:
    digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _outcome_parts(outcomes: dict[str, int]) -> list[tuple[str, str, float]]:
    """Label, CSS class and number of answers of each way in which an answer can end."""
    return [(label, part, sum(outcomes.get(fate, 0) for fate in fates)) for label, part, fates in _OUTCOMES]


def _status_parts(by_status: dict[str, int]) -> list[tuple[str, str, float]]:
    return [(label, part, by_status.get(status, 0)) for status, part, label in _STATUSES]
