"""Personal data in texts: e-mail addresses, bank accounts, cards, telephone numbers, computers, names in paths.

Letters and digits are ASCII's in the patterns (`re.ASCII`), because Chinese has no space before a number.
"""

import ipaddress
import re

from phonenumbers import Leniency, PhoneNumberMatcher
from stdnum import iban, luhn

EMAIL, IBAN, CARD, PHONE, IP, NAME = "<EMAIL>", "<IBAN>", "<CARD>", "<PHONE>", "<IP>", "<NAME>"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The lengths are those of RFC 5321, so that no search is longer.
_EMAIL = re.compile(
    r"(?<![A-Za-z0-9._%+-])([A-Za-z0-9._%+-]{1,64})@((?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24})(?![A-Za-z0-9@-])"
)
# Where the text was cut; not react@latest.
_EMAIL_CUT = re.compile(
    r"(?<![A-Za-z0-9._%+-])([A-Za-z0-9._%+-]{2,64})@"
    r"(?!latest|next|beta|alpha|main|master|stable)([A-Za-z][A-Za-z0-9.-]{0,60})\Z"
)
_EMAIL_CYRILLIC = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[а-яё0-9-]{1,63}\.){1,4}рф(?!\w)", re.IGNORECASE)
# RFC 2606 and 6761, and what people write in their place.
_NO_DOMAIN = re.compile(
    r"(?:^|\.)(?:(?:example|domain|(?:my|your)(?:domain|company|site))\.(?:com|org|net|(?:co\.)?[a-z]{2})"
    r"|example|test|invalid|localhost|local)$"
)
# git@github.com:owner/name.git is no mailbox, and icon@2x.png no address.
_ROLES = frozenset({"git", "hg", "svn", "ssh", "noreply", "no-reply"})
_FILES = _words("""
    png jpg jpeg gif svg webp ico css scss less js mjs cjs jsx ts tsx vue py rb rs java kt cs cpp hpp php html htm xml
    json yml yaml toml md txt zip gz tgz pdf
""")

_IBAN = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?(?![A-Za-z0-9])", re.ASCII
)
_CARD = re.compile(
    r"(?<![\w.+=/-])(?:\d{4}(?:[ -]?\d{4}){3}(?:\d{0,3})|3[47]\d{2}[ -]?\d{6}[ -]?\d{5})(?![\w-]|\.\d)", re.ASCII
)
# Visa, Mastercard, Mir, Discover, JCB, American Express; and UnionPay, whose numbers may be longer.
_ISSUER = re.compile(r"(?:4|5[1-5]|2[2-7]|6011|64[4-9]|65|35|62)\d*|3[47]\d{13}", re.ASCII)
_UNIONPAY = "62"

_NUMBER = re.compile(
    r"(?<![\w.+=/#-])\+?[ ]?\(?\d[\d ()\u00a0\u2010-\u2013.-]{6,20}\d(?![\w=]|[.:-]\d)",
    re.ASCII,
)
# Written as only telephone numbers are, in North America and Russia.
_FORMATTED = re.compile(
    r"(?:1[ -])?(?:\(\d{3}\) ?\d{3}-\d{4}|\d{3}-\d{3}-\d{4})"
    r"|[78][ -]?\(?9\d{2}\)?[ -]?\d{3}[ -]\d{2}[ -]?\d{2}",
    re.ASCII,
)
# What is said before a number; not in a mark of ours.
_SAID = re.compile(
    r"tel\b|tel[:.]|phone(?!>)|mobile|cell\b|\bcall|fax|whatsapp|viber|sms\b|contact|"
    r"телефон|тел\b|моб\b|мобильн|звон|电话|電話|手机|手機|联系|微信|拨打|telefon|tél|móvil",
    re.IGNORECASE,
)
_BEFORE = 30
_REGIONS = ("US", "RU", "CN", "GB", "DE", "FR", "IN", "UA", "BR", "ES", "IT", "PL", "TR", "KR", "JP")

_IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\d)", re.ASCII)
_IPV6 = re.compile(r"(?<![\w:.])[23][0-9A-Fa-f]{3}:[0-9A-Fa-f:]{4,34}(?![\w:])", re.ASCII)
# What stands before a version number of four parts: Chrome/120.0.0.0, Version=4.0.0.0, AssemblyVersion("1.0.0.0"),
# tool-1.2.3.4.jar, tool==1.2.3.4.
_VERSION = re.compile(
    r"(?:[A-Za-z][/-]|(?:version|\bver|release|\brev)\W{0,6}|\bv\.?|версия |版本 ?|[\w\]][=>~<]=|[\^~])$",
    re.IGNORECASE,
)
_LOOK_BACK = 16
# All parts below this: the number of a section or a version. One address in 10,000 is like that.
_SMALL = 26
_RESOLVERS = _words("""
    1.1.1.1 1.0.0.1 8.8.8.8 8.8.4.4 9.9.9.9 208.67.222.222 208.67.220.220 114.114.114.114 223.5.5.5 77.88.8.8
""")

_HOME = re.compile(
    r"(?<![\w.])(?<!<NAME>)(?:/home/|/Users/|/mnt/[a-z]/Users/|/[a-z]/Users/"
    r"|[A-Za-z]:(?:\\{1,4}|/)(?:[Uu]sers|Documents and Settings|Пользователи|用户)(?:\\{1,4}|/))"
)
_WORD = r"[^\s/\\\"'`<>|:;*?(){}\[\]$%,，。、）]{1,40}"
# With spaces, on Windows alone.
_USER = re.compile(rf"{_WORD}(?: {_WORD}){{0,2}}(?=\\)|{_WORD}")
# anna@laptop:~/project$, or scp file anna@server:/tmp
_AT_HOST = re.compile(r"(?<![\w.@/-])([A-Za-z_][\w.-]{0,31})@([\w-]{1,63}(?:\.[\w-]{1,63}){0,3}):(?=[~/])", re.ASCII)
_HOST = re.compile(r"@[\w.-]{1,80}:[~/]", re.ASCII)
_NOBODY = _words("""
    user users username user_name yourname your_name yourusername your_username your-username name me you myuser
    myname someuser someone somebody ubuntu debian root admin administrator runner vagrant ec2-user centos pi node
    jovyan app appuser developer dev work workspace default public shared all guest test tester travis circleci vsts
    docker git www www-data coder codespace gitpod linuxbrew postgres mysql jenkins student foo bar xxx xxxx example
    demo index page main home login about dashboard ... … .. . ~ имя имя_пользователя пользователь
    用户 用户名 你的用户名
""")


def without_emails(text: str) -> str:
    """Mailboxes but those at example.com and its like, and addresses of repositories."""
    if "@" not in text:
        return text
    text = _EMAIL_CUT.sub(_cut_email, _EMAIL.sub(_email, text))
    return _EMAIL_CYRILLIC.sub(EMAIL, text) if ".рф" in text.lower() else text


def without_ibans(text: str) -> str:
    """Bank accounts whose check digits are right."""
    return _IBAN.sub(lambda match: IBAN if iban.is_valid(match[0]) else match[0], text)


def without_cards(text: str) -> str:
    """Numbers of cards of the large issuers whose check digit is right."""
    return _CARD.sub(_card, text)


def without_phones(text: str) -> str:
    """Telephone numbers: international ones, and others that are written like one, or that a word announces."""
    return _NUMBER.sub(_phone, text)


def without_ips(text: str) -> str:
    """Public addresses of computers but those of well-known name servers; version numbers stay."""
    text = _IPV4.sub(_ipv4, text)
    return _IPV6.sub(_ipv6, text) if ":" in text else text


def without_names(text: str) -> str:
    """Names of users in paths of home folders, in prompts of shells and addresses of scp."""
    if "/home/" in text or "sers" in text or "Пользователи" in text or "用户" in text or "Documents and" in text:
        text = _without_homes(text)
    return _AT_HOST.sub(_at_host, text) if "@" in text and _HOST.search(text) else text


def _email(match: re.Match[str]) -> str:
    local, domain = match[1].lower(), match[2].lower()
    no_mailbox = local in _ROLES or domain.rpartition(".")[2] in _FILES or len(local) + len(domain) < 7
    return match[0] if no_mailbox or _NO_DOMAIN.search(domain) else EMAIL


def _cut_email(match: re.Match[str]) -> str:
    # root@server may as well be the end of a question.
    return match[0] if match[1].lower() in _NOBODY | _ROLES else _email(match)


def _card(match: re.Match[str]) -> str:
    digits = re.sub(r"\D", "", match[0])
    known = _ISSUER.fullmatch(digits) and (len(digits) <= 16 or digits.startswith(_UNIONPAY))
    return CARD if known and len(set(digits)) > 1 and luhn.is_valid(digits) else match[0]


def _phone(match: re.Match[str]) -> str:
    number = match[0]
    digits = sum(map(str.isdigit, number))
    if not 9 <= digits <= 15:
        return number
    if number.startswith("+"):
        regions = (None,)
    elif _SAID.search(match.string, max(0, match.start() - _BEFORE), match.start()):
        regions = _REGIONS
    elif _FORMATTED.fullmatch(number):
        regions = ("US", "RU")
    else:
        return number
    found = [each for region in regions for each in PhoneNumberMatcher(number, region, leniency=Leniency.VALID)]
    if not found:
        return number
    longest = max(found, key=lambda each: each.end - each.start)
    return number[: longest.start] + PHONE + number[longest.end :]


def _ipv4(match: re.Match[str]) -> str:
    found = match[0]
    try:
        address = ipaddress.IPv4Address(found)
    except ValueError:
        # A part above 255, or with a leading zero.
        return found
    small = all(part < _SMALL for part in address.packed)
    if not address.is_global or address.is_multicast or small or found in _RESOLVERS:
        return found
    before = match.string[max(0, match.start() - _LOOK_BACK) : match.start()]
    return found if _VERSION.search(before) else IP


def _ipv6(match: re.Match[str]) -> str:
    try:
        return IP if ipaddress.IPv6Address(match[0]).is_global else match[0]
    except ValueError:
        return match[0]


def _without_homes(text: str) -> str:
    parts, end = [], 0
    for home in _HOME.finditer(text):
        name = _USER.match(text, home.end())
        user = name[0].rstrip(".!") if name else ""
        if user and home.start() >= end and user.lower() not in _NOBODY:
            parts += [text[end : home.end()], NAME]
            end = home.end() + len(user)
    return "".join([*parts, text[end:]])


def _at_host(match: re.Match[str]) -> str:
    return match[0] if match[1].lower() in _NOBODY else f"{NAME}@{match[2]}:"
