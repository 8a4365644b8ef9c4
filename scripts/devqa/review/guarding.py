"""Who may do what on the page: tokens, forms of our own alone, and what browsers must not do with it."""

import secrets
from urllib.parse import urlsplit

from flask import Blueprint, Flask, Response, abort, current_app, g, redirect, render_template, request
from werkzeug.exceptions import SecurityError

from devqa.review.people import Person, digest, holder
from devqa.review.store import Store

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    # Other sites learn nothing of this one. (With `no-referrer` forms would not say where they come from, either.)
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# Names under which a browser finds this machine, or the end of a tunnel. Any other is a web site that has made its own
# name point here.
_HOSTS = ["127.0.0.1", "localhost"]
_YEAR_S = 365 * 24 * 3600
_LARGEST_FORM = 1_000_000

entrance = Blueprint("entrance", __name__)


def guard(app: Flask, store: Store) -> None:
    """Let only people in who hold a token, and take forms only from pages of `app`.

    The token comes once in an address (/enter/<token>) and is a cookie from then on; a form shows by a token of its
    own, which only its page can know, that it is one of ours.
    """
    app.config.update(
        TRUSTED_HOSTS=_HOSTS, MAX_CONTENT_LENGTH=_LARGEST_FORM, MAX_FORM_MEMORY_SIZE=_LARGEST_FORM, STORE=store
    )
    # Cookies know no ports: the pages of two projects on one machine need names of their own.
    app.config["COOKIE"] = f"devqa-{digest(str(store.path.resolve()))[:12]}"
    app.register_blueprint(entrance)
    app.before_request(_admitted)
    app.after_request(_with_headers)


def form_token() -> str:
    """What a form of the present person must come with."""
    return digest(f"form {g.token}")


@entrance.get("/enter/<token>")
def enter(token: str) -> Response | tuple[str, int]:
    """The address that a person was given: the token becomes a cookie, and vanishes from the address."""
    if holder(current_app.config["STORE"], token) is None:
        return _refused()
    response = redirect("/")
    response.set_cookie(current_app.config["COOKIE"], token, max_age=_YEAR_S, httponly=True, samesite="Strict")
    return response


def _admitted() -> tuple[str, int] | None:
    """Stops what came under another host name, whoever holds no token, and forms that are none of ours."""
    if isinstance(request.routing_exception, SecurityError):
        raise request.routing_exception
    if request.endpoint in ("entrance.enter", "static", "look"):
        return None
    g.token = request.cookies.get(current_app.config["COOKIE"], "")
    person = holder(current_app.config["STORE"], g.token) if g.token else None
    if person is None:
        return _refused()
    g.person = person
    if request.method == "POST" and not (_from_here() and _with_form_token()):
        abort(403, "This form did not come from this page. Reload it and send it again.")
    return None


def present() -> Person:
    """Who has sent the request."""
    return g.person


def _from_here() -> bool:
    origin = request.headers.get("Origin")
    return origin is None or urlsplit(origin).netloc == request.host


def _with_form_token() -> bool:
    return secrets.compare_digest(request.form.get("form_token", "").encode(), form_token().encode())


def _refused() -> tuple[str, int]:
    return render_template("refused.html"), 401


def _with_headers(response: Response) -> Response:
    response.headers.update(_HEADERS)
    return response
