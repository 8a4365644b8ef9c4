"""Pages that came with HTTP 200 and are no references all the same: bot checks, login walls, soft 404s and their like.

They are known by signs: what such pages, and hardly any others, say. A sign counts alone on a page that has little text
beside it (each sign has its own measure), and on a longer one together with a sign of the same kind in another place
(title, text, markup). So a page about bot checks is none: it says more, and its title says what it is about.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from devqa.web.cleaning import signs_blanks, signs_servers, signs_walls

# Up to how many characters of main text two signs of a kind count that stand in different places.
_TOGETHER = {
    "bot check": 2_000,
    "rate limit": 1_500,
    "login wall": 1_000,
    "consent wall": 2_500,
    "paywall": 1_000,
    "page not found": 1_500,
    "parked domain": 2_500,
    "empty application": 300,
    "server's default page": 6_000,
    "server error": 1_000,
    "error report": 20_000,
    "maintenance": 1_000,
    "unsupported browser": 1_000,
    "redirection": 500,
    "directory listing": 200_000,
}
# Lists of files and traces stand in <pre>, so a block of code says nothing against these.
_WITH_CODE = frozenset(("directory listing", "error report"))
# What the signs' braces stand for.
_PAGE = "(?:page|file|url|document|article|topic|post|thread|content|resource|address)"
_PAGINA = "(?:страниц[аы]|файл|документ|стать[яи]|тема|запись|материал|адрес)"
_PARTS = {
    "{site}": r"(?:https?://)?[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}",
    "{page}": _PAGE,
    "{the page}": rf"(?:the|this|that) (?:requested )?{_PAGE}\b[^.!?]{{0,60}}",
    "{pagina}": _PAGINA,
    "{the pagina}": rf"(?:\w+ ){{0,2}}{_PAGINA}[^.!?]{{0,60}}",
    # Forms: who it is, what stands between a password and the next word, and that.
    "{email}": r"(?:(?:work |your |business )?e-?mail(?: address)?|user ?name|login|phone(?: number)?| or |[/*:])+",
    "{почта}": r"(?:логин|e-?mail|(?:электронная )?почта|имя пользователя|(?:номер )?телефона?| или |[/*:])+",
    "{账号}": "(?:手机号码?|用户名|邮箱|账号|帐号|[/或])+",
    "{between}": r"(?:(?:(?:show|hide|показать|скрыть)(?: (?:password|пароль))?|(?:sign|log) ?in|войти)\W{1,9})?",
    "{forgotten}": r"(?:remember me|keep me|stay (?:signed|logged)|forgot(?:ten)?\b|lost your|reset your)",
    # Reports of errors have headings before them alone.
    "{no prose}": r"\A(?:#{1,6} .{0,300}\s+|```\w*\s+){0,4}\W{0,9}",
    "{sort of}": "(?:application|runtime|fatal|unexpected|unhandled|uncaught|system)",
    "{php place}": r"\.php(?:\(\d+\)|:\d+| on line \d+)",
    "{a link}": """<a href="[^"<>]{1,300}">[^<>]{1,300}</a>""",
    # A file's link is called as its address ends.
    "{a file}": (
        r"""<a href="(?:[^"<>]{0,200}/)?(?P<file>[^"<>/]{1,100}(?:/|\.\w{1,10}))"[^<>]{0,100}>\s?(?P=file)</a>"""
    ),
    "{yemian}": "(?:页面|网页|文章|内容|帖子|文件|主题|资源)",
}
_POLITE = (
    r"(?:(?:please|we're sorry|we are sorry|sorry|oops|unfortunately|пожалуйста|к сожалению|извините|простите|упс"
    r"|非常抱歉|很抱歉|抱歉|对不起|很遗憾|您好|请您|请)[,!.:，。！]* ?(?:but |но )?){0,2}"
)
# A sentence begins where a line does or another one ends, perhaps after marks of a heading or a list. What is quoted
# begins neither.
_SENTENCE = r"(?:^|[.!?…]\s|[。！？，]\s?)[ #*\-•]{0,9}" + _POLITE
# Between the parts of a title: the page's name, the site's.
_BETWEEN = re.compile(r"\s[-|·•:»«/—–]+\s|\s?[|»_·—–]\s?")
_PLAIN = str.maketrans({**dict.fromkeys("‘’‛", "'"), **dict.fromkeys("“”„", '"'), "\u00a0": " ", "ё": "е"})
_SPACES = re.compile(r"[^\S\n]+")
_HAN = re.compile(r"[\u3400-\u9fff]")
_HEAD_CHARACTERS = 200_000
_BEGINNING = 3_000
# Who stands in the way says so at once, while an article says other things first. A paywall comes after a beginning.
_AT_ONCE = 200


class _Sign(NamedTuple):
    kind: str
    place: str
    longest: int
    pattern: re.Pattern[str]


def no_reference(titles: Iterable[str], text: str, markup: str = "") -> str:
    """Why a page is no reference (`login wall: sign in to continue`), "" where nothing says so.

    Args:
        titles: the page's title and its main headings.
        text: its main content. Fenced code means that it is one, but for lists of files and reports of errors.
        markup: its HTML with all scripts, of which the first 200,000 characters are looked at.
    """
    # A Chinese character says as much as two letters at least.
    size = len(text) + len(_HAN.findall(text[:_HEAD_CHARACTERS]))
    has_code = "```" in text
    signs = [sign for sign in _signs() if size <= _TOGETHER[sign.kind] and (not has_code or sign.kind in _WITH_CODE)]
    if not signs:
        return ""
    places = {
        "title": _title_parts(titles),
        "text": [_plain(text[:_BEGINNING])],
        "markup": [markup[:_HEAD_CHARACTERS].lower()],
    }
    seen: dict[str, tuple[str, str]] = {}
    for sign in signs:
        words = _found(sign, places[sign.place])
        if words is None:
            continue
        place, before = seen.setdefault(sign.kind, (sign.place, words))
        if size <= sign.longest or place != sign.place:
            return f"{sign.kind}: {words if size <= sign.longest else before}"
    return ""


def _found(sign: _Sign, parts: list[str]) -> str | None:
    """The words in which `sign` stands, as a reason may quote them."""
    for part in parts:
        match = sign.pattern.search(part)
        if match and (match.start() < _AT_ONCE or sign.place == "markup" or sign.kind == "paywall"):
            # Markup says nothing to a reader.
            return "by its markup" if sign.place == "markup" else " ".join(match[1].split())[:60].replace(":", "")
    return None


def _plain(text: str) -> str:
    return _SPACES.sub(" ", text.translate(_PLAIN)).lower()


def _title_parts(titles: Iterable[str]) -> list[str]:
    """All titles in plain lower case, whole and in their parts, without marks at their ends."""
    whole = [" ".join(_plain(title[:500]).split()) for title in titles]
    parts = [part for title in whole for part in (title, *_BETWEEN.split(title))]
    return list(dict.fromkeys(filter(None, (part.strip(" .…!?:#*\"'。！？") for part in parts))))


@cache
def _signs() -> tuple[_Sign, ...]:
    signs = []
    for kind, place, longest, block in (*signs_walls.SIGNS, *signs_blanks.SIGNS, *signs_servers.SIGNS):
        pattern = "|".join(line.strip() for line in block.strip().splitlines())
        for name, meaning in _PARTS.items():
            pattern = pattern.replace(name, meaning)
        around = {
            "title": r"\A({})\Z",
            "text": _SENTENCE.replace("{", "{{").replace("}", "}}") + "({})",
            "markup": "({})",
        }
        signs.append(_Sign(kind, place, longest, re.compile(around[place].format(pattern), re.MULTILINE)))
    return tuple(signs)
