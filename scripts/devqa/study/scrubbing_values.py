"""Secrets that only what stands before them gives away: values of variables, options, headers, and words of people.

    password = "hunter2"     DB_PASSWORD=hunter2     "apiKey": "…"     --token …     Authorization: Bearer …
    IDENTIFIED BY '…'     curl -u name:…     my password is …     пароль: …     密码是…

A value in quotes is a secret unless it is a placeholder, a type, several words, or the name of something. One without
quotes may be a variable of the program, so it needs digits or signs that such names don't have.
"""

import re
from typing import Literal

SECRET = "<SECRET>"  # noqa: S105 -- the mark in place of one

Kind = Literal["password", "key", "token"]

# What a name ends with; searched in lower case, and each alternative begins with a letter, which makes the search many
# times faster than one that looks at every place.
_NAME = re.compile(
    r"pass(?:word|wd|phrase|code)?|pwd|secret|key|credentials?|парол[ья]|密码|密碼|口令|密钥|contraseña|"
    r"token|bearer|jwt|cookie|sessionid|session_id|phpsessid|jsessionid|connect\.sid"
)
_NAMES = ("pass", "pwd", "secret", "key", "credential", "парол", "密", "口令", "contrase", "token", "bearer", "jwt")
_NAMES += ("cookie", "session", "sessid", "connect.sid")
# Of keys only these are secrets: there are keys of tables and dictionaries too.
_SECRET_KEY = re.compile(
    r"(?:api|access|account|auth|client|consumer|encryption|jwt|licen[sc]e|master|private|secret|service|shared|signing|"
    r"storage|subscription|app|secure|db)[_ -]?$|[?&]$"
)
_QUALIFIER = 13  # characters of the longest, and what joins it

_SUFFIX = r"(?:[_-]?(?:key|value|str|string|text|raw|plain|prod|dev|live|base64|[0-9]{1,2})\b)?"
_CLOSING = r"\\?[\"'`]?\]?\)?"
# password: str = "…", char password[] = "…"
_TYPE = r"(?:\[\d{0,4}\]|:[ \t]?[A-Za-z][\w.\[\]|?]{0,30}(?=[ \t]?=))?"
_SIGN = (
    r"(?:(?P<sign>[ \t]{0,8}(?:={1,3}|!={1,2}|:=|=>|:|：|＝)[ \t]{0,8})"
    r"|(?P<said>[ \t](?:is|was|это|ist|es)[ \t]{1,2}|[ \t]?(?:是|为|為)[ \t]?[:：]?[ \t]?)"
    r"|[\"'][ \t]{1,4}(?:value|content)[ \t]?=[ \t]?|>|\((?=\\?[\"'])|[ \t]{1,4}(?=[\"']))"
)
_QUOTED = (
    # The second form is that of Google's passwords for applications.
    r"(?:[@$fFrRbBuU]{1,2}(?=[\"']))?\\?[\"'`](?P<quoted>[^\"'`\s\\]{3,200}|(?:[a-z]{4} ){3}[a-z]{4})"
    r"(?:(?=[\"'`\\])|\Z)"
)
_BARE = r"(?P<bare>[^\s\"'`,;&<>(){}\[\]\\，。；、（）]{4,200})(?P<code>[(\[])?"
_VALUE = re.compile(rf"{_SUFFIX}{_CLOSING}{_TYPE}{_SIGN}(?:{_QUOTED}|{_BARE})", re.IGNORECASE)

_DIGIT, _LETTER = re.compile(r"[0-9]"), re.compile(r"[^\W\d_]")
_SYMBOL = re.compile(r".[@#!$%^*]")
_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_PATH = re.compile(r"[A-Za-z_]\w*(?:(?:\??\.|->|::)\w+)+", re.ASCII)
_MIXED = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])|.{16,}")
_NO_VALUE = re.compile(
    r"(?:u?int|float|char|varchar|nvarchar|text|str|string|bytes?|vec|sha|md|aes|rsa|hs|rs|es|utf|base|[iuf])[_-]?\d+"
    r"|v?\d+(?:\.\d+)+|\d+-?(?:bits?|bytes?|chars?|characters?)",
    re.IGNORECASE,
)
_NAMES_SOMETHING = re.compile(r"pass|pwd|secret|token|key|login|field|input|auth|required|\||^[.#/]", re.IGNORECASE)

_PLACEHOLDER = re.compile(
    r"your|example|placeholder|change[_-]?(?:me|this|it)|redacted|replace|dummy|xxxx|\*\*\*|\.\.\.|…|你的|您的|ваш|твой|"
    r"^(?:required|nullable|string|min|max|confirmed)[|:]|[<{]|^[$%@:&~?](?=[A-Za-z_(]\w*\W*$)|^\.{0,2}/|^https?:|^[*xX•._#?-]+$",
    re.IGNORECASE,
)
_WORDS = frozenset(
    ("password", "passwd", "pass", "pwd", "passphrase", "secret", "token", "value", "key", "пароль", "密码")
)
_WORDS |= {"none", "null", "nil", "true", "false", "undefined", "required", "nullable", "hidden", "optional", "any"}
_WORDS |= {"string", "str", "text", "bytes", "number", "integer", "varchar", "object", "boolean"}

# What a text must have in lower case, and what then is looked for: the secret, behind what stands before it.
_FORMS = {
    ("authorization", "x-api-key", "x-auth-token"): (
        r"(\b(?:authorization|x-api-key|x-auth-token)\\?[\"']?[ \t]{0,4}[:=,][ \t]{0,4}\\?[\"'`]?"
        r"(?:(?:basic|bearer|token|apikey)[ \t]{1,4})?)([\w+/=.~-]{12,})"
    ),
    ("bearer", "basic"): r"(\b(?:bearer|basic)[ \t]{1,4})([\w+/=.~-]{16,})",
    ("identified",): (
        r"(\bidentified[ \t]{1,4}(?:with[ \t]{1,4}\w{1,40}[ \t]{1,4})?by[ \t]{1,4}[\"'])([^\"'\s]{3,100})"
    ),
    ("requirepass",): r"(\brequirepass[ \t]{1,4})(\S{3,100})",
    ("curl",): r"(\bcurl\b[^\n]{0,200}?[ \t](?:-u|--user)[ \t]{0,4}[\"']?[^\s:\"']{1,60}:)([^\s\"']{3,100})",
    ("mysql", "mariadb"): r"(\b(?:mysql|mysqldump|mysqladmin|mariadb)[ \t][^\n]{0,100}?-p)([^\s\"'-][^\s\"']{3,100})",
    ("sshpass",): r"(\bsshpass[ \t]{1,4}-p[ \t]{0,4}[\"']?)([^\s\"']{3,100})",
    ("--pass", "--token", "--api-key", "--secret"): (
        r"(--(?:password|passwd|pass|token|api-key|secret)[ \t]{1,4}[\"']?)([^\s\"'-][^\s\"']{3,100})"
    ),
    ("env ", "arg "): r"(\b(?:ENV|ARG)[ \t]{1,4}\w{0,40}(?:PASS|PASSWORD|SECRET|TOKEN|KEY)[ \t]{1,4})([^\s=]{4,200})",
    # Arguments of calls: a name and a password; a server, a name and a password.
    ("auth", "login(", ".begin("): (
        r"((?:\bauth[ \t]?=[ \t]?\(|BasicAuth\(|\blogin\(|WiFi\.begin\()[ \t]{0,4}"
        r"[\"'][^\"'\n]{1,80}[\"'],[ \t]{0,4}[\"'])"
        r"([^\"'\s]{3,100})(?=[\"'])"
    ),
    ("mysqli", "mysql_connect", "pdo(", "getconnection("): (
        r"((?:mysqli?_connect|\bmysqli|\bPDO|getConnection)\("
        r"(?:[ \t]{0,4}[\"'][^\"'\n]{0,120}[\"'],){2}[ \t]{0,4}[\"'])"
        r"([^\"'\s]{3,100})(?=[\"'])"
    ),
}
_COMPILED = {hints: re.compile(pattern, re.IGNORECASE | re.ASCII) for hints, pattern in _FORMS.items()}


def without_assigned(text: str) -> str:
    """`text` with `<SECRET>` in place of values that their names or forms give away."""
    lower = _lower(text)
    if any(name in lower for name in _NAMES):
        text = _without_named(text, lower)
    for hints, form in _COMPILED.items():
        if any(hint in lower for hint in hints):
            text = form.sub(_formed, text)
    return text


def is_placeholder(value: str) -> bool:
    """Does `value` only say that a secret belongs there?"""
    return value.lower() in _WORDS or bool(_PLACEHOLDER.search(value))


def _without_named(text: str, lower: str) -> str:
    parts, end = [], 0
    for name in _NAME.finditer(lower):
        ours = text.startswith(SECRET, name.start() - 1)
        kind = None if ours or name.start() < end else _kind(name)
        if kind and (value := _VALUE.match(text, name.end())) and (span := _secret_span(value, kind)):
            parts += [text[end : span[0]], SECRET]
            end = span[1]
    return "".join([*parts, text[end:]])


def _lower(text: str) -> str:
    """In lower case, with every character in its place."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(character.lower() if len(character.lower()) == 1 else character for character in text)


def _kind(name: re.Match[str]) -> Kind | None:
    """What a name lets expect of its value; None if it is no name of a secret."""
    found, start = name[0], name.start()
    if found == "key":
        return "key" if _SECRET_KEY.search(name.string, max(0, start - _QUALIFIER), start) else None
    if found == "pass" and start and name.string[start - 1].isalpha():
        # bypass, compass
        return None
    if found.startswith(("pass", "pwd", "парол", "密码", "密碼", "口令", "contrase", "secret", "credential")):
        return "password"
    return "key" if found == "密钥" else "token"


def _secret_span(value: re.Match[str], kind: Kind) -> tuple[int, int] | None:
    """Where the secret stands, if the value of a name is one."""
    if (quoted := value["quoted"]) is not None:
        return value.span("quoted") if _is_secret_in_quotes(quoted, kind) else None
    bare = value["bare"].rstrip(".?:")
    if value["code"] or not _is_bare_secret(bare, kind, value["sign"], bool(value["said"])):
        return None
    return value.start("bare"), value.start("bare") + len(bare)


def _is_secret_in_quotes(value: str, kind: Kind) -> bool:
    if is_placeholder(value):
        return False
    digit, letter = _DIGIT.search(value), _LETTER.search(value)
    if kind == "token":
        return bool(digit and letter) and len(value) >= 16
    if kind == "key":
        return bool(digit) and len(value) >= 8
    return bool(digit) or (value.isascii() and not _NAMES_SOMETHING.search(value))


def _is_bare_secret(value: str, kind: Kind, sign: str | None, said: bool) -> bool:
    """Is it more likely a secret than a part of a program? `sign` is what stands between it and its name."""
    if len(value) < 4 or is_placeholder(value) or _NO_VALUE.fullmatch(value):
        return False
    digit, letter = _DIGIT.search(value), _LETTER.search(value)
    if kind != "password":
        long_enough = len(value) >= (16 if kind == "token" else 8)
        return bool(digit and letter) and long_enough and not _PATH.fullmatch(value)
    if value.isdigit():
        return True
    if not digit:
        return bool(letter and _SYMBOL.search(value))
    if _PATH.fullmatch(value):
        return False
    # A variable, unless it is written where none can stand.
    spaced_equals = sign is not None and "=" in sign and sign != sign.strip()
    return not (_VARIABLE.fullmatch(value) and spaced_equals) or bool(_MIXED.match(value))


def _formed(match: re.Match[str]) -> str:
    value = match[2]
    return (
        match[0]
        if is_placeholder(value) or not (_DIGIT.search(value) or _SYMBOL.search(value))
        else f"{match[1]}{SECRET}"
    )
