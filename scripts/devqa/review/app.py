"""The page on which people decide, as a Flask application. It works without JavaScript, which adds keys and drafts."""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
from flask import Flask, Response, abort, redirect, render_template, request, send_from_directory
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import HTTPException

import devqa.reporting
from devqa.review import acting, forms, pages
from devqa.review.acting import Task, TooLate
from devqa.review.agreement import drift, summary
from devqa.review.decisions import CRITERIA, GRADES
from devqa.review.guarding import form_token, guard, present
from devqa.review.items import KINDS
from devqa.review.store import Store
from devqa.tables import Row
from devqa.web.urls import is_web

_REPORTS = Path(devqa.reporting.__file__).parent / "templates"
_SAID = {"decided": "Kept.", "undone": "Taken back: decide it again.", "skipped": "Left for later."}
# What each criterion asks, and what it is to fail it (SimpleDevQA, 4.3).
_CRITERIA = dict(
    zip(
        CRITERIA,
        (
            ("one answer, clear on its own", "It has more than one answer, or is not clear on its own"),
            ("real knowledge of software development", "It asks for no real knowledge, or gives its answer away"),
            ("verifiable and timeless", "It can’t be checked in public sources, or its answer changes over time"),
        ),
        strict=True,
    )
)
_GRADES = dict(
    zip(
        GRADES,
        (
            "says what the true answer says, and contradicts nothing of it",
            "contradicts the true answer, or states something else",
            "neither states nor contradicts it, or says that it does not know",
        ),
        strict=True,
    )
)
_ASPECTS = dict(
    zip(
        forms.ASPECTS,
        (
            "Is it about certain code, details of a language, the use of code, or debugging?",
            "Does it have a single answer?",
            "Will the answer be the same in years to come?",
            "Can the answer be supported by evidence that everybody can look at?",
        ),
        strict=True,
    )
)


@dataclass(frozen=True)
class Desk:
    """What there is to decide, and with which labels.

    Attributes:
        kinds: the kinds that are shown.
        tasks: the tasks that a dialogue may be (name → what belongs there); `knowledge` is the one that has aspects.
        domains: the knowledge domains.
        changed: called with a kind of which the decisions are others now.
    """

    store: Store
    kinds: tuple[str, ...]
    tasks: Mapping[str, str] = field(default_factory=dict)
    knowledge: str | None = None
    domains: Mapping[str, str] = field(default_factory=dict)
    changed: Callable[[str], None] = lambda kind: None

    def labels(self, kind: str) -> Mapping[str, str]:
        """The labels of a kind of which one is chosen."""
        return {"grades": _GRADES, "dialogues": self.tasks, "domains": self.domains}[kind]


def create_app(desk: Desk) -> Flask:
    """The application for the things on `desk`."""
    app = Flask(__name__)
    app.jinja_env.autoescape = True
    app.jinja_env.undefined = jinja2.StrictUndefined
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    guard(app, desk.store)
    view = _Views(desk)
    app.jinja_env.globals |= {
        "form_token": form_token,
        "is_web": is_web,
        "kinds": [KINDS[kind] for kind in desk.kinds],
    }
    app.add_url_rule("/", view_func=view.home)
    app.add_url_rule("/look.css", view_func=look)
    app.add_url_rule("/agreement", view_func=view.agreement)
    app.add_url_rule("/<kind>", view_func=view.task)
    app.add_url_rule("/<kind>/undo", view_func=view.undo, methods=["POST"])
    # SQLite's numbers go no further.
    thing = f"/<kind>/<int(max={2**63 - 1}):number>"
    for act in (view.draft, view.answer, view.decide, view.skip):
        app.add_url_rule(f"{thing}/{act.__name__}", view_func=act, methods=["POST"])
    app.add_url_rule(f"{thing}/texts", view_func=view.texts)
    app.register_error_handler(HTTPException, _told)
    app.register_error_handler(sqlite3.Error, _not_kept)
    return app


def look() -> Response:
    """The style of the reports, which the page shares."""
    return send_from_directory(_REPORTS, "style.css")


class _Views:
    """One method for each address."""

    def __init__(self, desk: Desk):
        self._desk, self._store = desk, desk.store

    def home(self) -> str:
        progress = {kind: acting.progress(self._store, present(), kind) for kind in self._desk.kinds}
        return render_template("home.html", person=present(), progress=progress, annotators=self._store.annotators)

    def agreement(self) -> str:
        """How far people agree. Not for annotators: from it, they could tell what the others have decided."""
        if present().annotates:
            abort(404)
        found = {kind: self._store.rows(kind) for kind in self._desk.kinds}
        rules = (self._store.annotators, self._store.rejection)
        figures = {
            KINDS[kind].title: {
                "summary": summary(KINDS[kind].decisions, rows, *rules),
                "drift": drift(KINDS[kind].decisions, rows, *rules),
            }
            for kind, rows in found.items()
            if rows
        }
        return render_template("agreement.html", person=present(), agreement=figures)

    def task(self, kind: str) -> str | tuple[str, int]:
        self._known(kind)
        return self._page(kind, acting.current(self._store, present(), kind))

    def texts(self, kind: str, number: int) -> str:
        task = self._theirs(kind, number, "annotator" if present().annotates else "adjudicator")
        if kind != "pairs":
            abort(404)
        row = {name: task.payload[name] for name in ("question", "language")}
        return render_template("texts.html", documents=pages.documents(task.payload), row=row)

    def draft(self, kind: str, number: int) -> tuple[str, int]:
        task = self._theirs(kind, number, request.form.get("role", ""))
        # What was typed before the pair's answer was shown must not come late, over what is typed now.
        if _stage(task) == request.form.get("stage"):
            acting.keep_draft(self._store, present(), number, forms.filled_in(kind, request.form))
        return "", 204

    def answer(self, kind: str, number: int) -> str | Response | tuple[str, int]:
        """An annotator's own answer to a pair's question; or a rejection, for which none is needed."""
        if request.form.get("act") == "reject":
            return self.decide(kind, number)
        task = self._theirs(kind, number, "annotator")
        if kind != "pairs":
            abort(404)
        content = forms.filled_in(kind, request.form)
        if problems := forms.problems_of_answer(content):
            return self._page(kind, task, content, problems)
        draft = {**content, "answer": content["own_answer"], "reason": ""}
        acting.answer_first(self._store, present(), number, content["own_answer"], draft)
        return redirect(f"/{kind}")

    def decide(self, kind: str, number: int) -> str | Response | tuple[str, int]:
        task = self._theirs(kind, number, request.form.get("role", ""))
        content = forms.filled_in(kind, request.form)
        if kind == "pairs":
            content["own_answer"] = task.own_answer or (content["own_answer"] if _stage(task) == "first" else "")
            if request.form.get("act") == "reject":
                content["decision"] = "reject"
            problems = forms.problems_of_pair(content, _stage(task) == "second")
        else:
            problems = forms.problems_of_label(kind, content, self._desk.labels(kind), self._desk.knowledge)
        if problems:
            return self._page(kind, task, content, problems)
        return self._done(kind, "decided", acting.decide, task, forms.decision(kind, content, self._desk.knowledge))

    def skip(self, kind: str, number: int) -> str | Response | tuple[str, int]:
        self._theirs(kind, number, request.form.get("role", ""))
        return self._done(kind, "skipped", acting.skip, number)

    def undo(self, kind: str) -> str | Response | tuple[str, int]:
        self._known(kind)
        return self._done(kind, "undone", acting.undo, kind)

    def _done(self, kind: str, said: str, act: Callable, *arguments: Any) -> Response | tuple[str, int]:
        """Do it, and go on to what comes next; where it is too late for it, say so there."""
        try:
            act(self._store, present(), *arguments)
        except TooLate as error:
            task = acting.current(self._store, present(), kind)
            return self._page(kind, task, None, [str(error)], 409)
        self._desk.changed(kind)
        return redirect(f"/{kind}?said={said}")

    def _known(self, kind: str) -> None:
        if kind not in self._desk.kinds:
            abort(404)

    def _theirs(self, kind: str, number: int, role: str) -> Task:
        self._known(kind)
        return acting.shown(self._store, present(), kind, number, role) or abort(404)

    def _page(
        self,
        kind: str,
        task: Task | None,
        content: Row | None = None,
        problems: list[str] | None = None,
        status: int = 422,
    ) -> tuple[str, int]:
        """The form for `task`, filled in as `content`, else as the person's draft."""
        values: Row = {
            "kind": KINDS[kind],
            "person": present(),
            "progress": acting.progress(self._store, present(), kind),
            "problems": problems or [],
            "said": _SAID.get(request.args.get("said", ""), ""),
            "role": task.role if task else "",
            "stage": _stage(task) if task else "",
        }
        code = status if problems else 200
        if task is None:
            return render_template("nothing.html", **values), code
        content = content or task.draft or forms.filled_in(kind, MultiDict())
        values |= {"task": task, "content": content}
        if kind == "pairs":
            return render_template(f"pair_{_stage(task)}.html", **values, **_pair(task, content)), code
        values["row"] = task.payload
        labels = list(pages.choices(self._desk.labels(kind)))
        values |= {"choices": labels, "aspects": _ASPECTS, "knowledge": self._desk.knowledge}
        return render_template(f"{kind}.html", **values), code


def _stage(task: Task) -> str:
    """`first`: a pair of which the person has to give an answer of their own before its answer is shown."""
    blind = task.kind == "pairs" and task.role == "annotator" and task.own_answer is None
    return "first" if blind else "second"


def _pair(task: Task, content: Row) -> Row:
    """What the forms for pairs show. The first one is given no more than it may show."""
    offered = pages.picks(task.payload, content["evidence_urls"], task.others)
    values = {
        "picks": offered,
        "typed": pages.typed(content["evidence_urls"], offered),
        "criteria": _CRITERIA,
    }
    if _stage(task) == "first":
        return values | {"row": {name: task.payload[name] for name in ("question", "language")}}
    references, passages = pages.references(task.payload), pages.passages(task.payload)
    return values | {"row": task.payload, "references": references, "passages": passages}


def _told(error: HTTPException) -> tuple[str, int]:
    return render_template("told.html", title=error.name, text=error.description), error.code


def _not_kept(error: sqlite3.Error) -> tuple[str, int]:
    text = f"The store can't be written ({error}). Nothing of this was kept: mend that, go back and send it again."
    return render_template("told.html", title="Not kept", text=text), 500
