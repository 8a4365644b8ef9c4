"""Secrets in texts: keys, tokens and passwords, by their form and by what stands before them.

Tokens with a form of their own are found by the detectors of detect-secrets
(https://github.com/Yelp/detect-secrets), which here only look at strings (`analyze_string`) and ask no service, and by
the beginnings below that it does not know. Its detectors of random strings and of keywords are not used: the first take
hashes and data for secrets, and the other takes the rest of a line.
"""

import re
from bisect import bisect_right

from detect_secrets.plugins.artifactory import ArtifactoryDetector
from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.cloudant import CloudantDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.ibm_cloud_iam import IbmCloudIamDetector
from detect_secrets.plugins.ibm_cos_hmac import IbmCosHmacDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.npm import NpmDetector
from detect_secrets.plugins.openai import OpenAIDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.softlayer import SoftlayerDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

from devqa.study.scrubbing_values import SECRET, is_placeholder, without_assigned

_DETECTORS = tuple(
    detector()
    for detector in (
        ArtifactoryDetector,
        AWSKeyDetector,
        CloudantDetector,
        DiscordBotTokenDetector,
        GitHubTokenDetector,
        GitLabTokenDetector,
        IbmCloudIamDetector,
        IbmCosHmacDetector,
        MailchimpDetector,
        NpmDetector,
        OpenAIDetector,
        PypiTokenDetector,
        SendGridDetector,
        SlackDetector,
        SoftlayerDetector,
        SquareOAuthDetector,
        StripeDetector,
        TelegramBotTokenDetector,
        TwilioKeyDetector,
    )
)
# Some of their patterns take time that grows with the square of a string's length, so they see windows: a long word,
# and what stands around it.
_LONG_WORD = re.compile(r"(?<![\w-])[\w-]{16,512}(?![\w-])", re.ASCII)
_WINDOW_BEFORE, _WINDOW_AFTER = 60, 160
_LETTER_AND_DIGIT = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])")
_UNLIKE_WORDS = re.compile(r"[0-9]|[a-z][A-Z]")
_REST_OF_TOKEN = re.compile(r"[\w+/~.-]*\w=*|", re.ASCII)

# Beginning → what follows it, or whatever there is of it where the text was cut.
_BEGINNINGS = {
    "sk-": r"[\w-]{20,}",
    "sk_live_": r"\w{10,}",
    "sk_test_": r"\w{10,}",
    "pk_live_": r"\w{10,}",
    "rk_live_": r"\w{10,}",
    "whsec_": r"\w{16,}",
    "ghp_": r"\w{30,}",
    "gho_": r"\w{30,}",
    "ghu_": r"\w{30,}",
    "ghs_": r"\w{30,}",
    "ghr_": r"\w{30,}",
    "github_pat_": r"\w{30,}",
    "glpat-": r"[\w-]{16,}",
    "hf_": r"[A-Za-z0-9]{30,}",
    "AIza": r"[\w-]{30,}",
    "ya29.": r"[\w-]{20,}",
    "GOCSPX-": r"[\w-]{20,}",
    "AKIA": r"[A-Z0-9]{16}(?!\w)",
    "ASIA": r"[A-Z0-9]{16}(?!\w)",
    "xoxb-": r"[\w-]{20,}",
    "xoxp-": r"[\w-]{20,}",
    "xapp-": r"[\w-]{20,}",
    "npm_": r"[A-Za-z0-9]{36}",
    "dop_v1_": r"[a-f0-9]{40,}",
    "shpat_": r"[a-fA-F0-9]{30,}",
    "gsk_": r"[A-Za-z0-9]{30,}",
    "r8_": r"[A-Za-z0-9]{30,}",
    "nvapi-": r"[\w-]{30,}",
    "pplx-": r"[A-Za-z0-9]{30,}",
    "tskey-": r"[\w-]{16,}",
    "eyJ": r"[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?",
    "AccountKey=": r"[A-Za-z0-9+/=]{40,}",
    "SharedAccessKey=": r"[A-Za-z0-9+/=]{20,}",
    "sig=": r"[\w%+/=-]{20,}",
    "hooks.slack.com/services/": r"[\w/]{20,}",
    "discord.com/api/webhooks/": r"\d{10,}/[\w-]{20,}",
}
_CUT = r"[\w.+/=-]{6,}\Z"
_TOKENS = {
    start: re.compile(rf"(?<![\w-]){re.escape(start)}(?:{rest}|(?P<cut>{_CUT}))", re.ASCII)
    for start, rest in _BEGINNINGS.items()
}
# Words and names begin like these too.
_AMBIGUOUS = ("sk-", "sig=", "npm_", "pplx-", "r8_", "tskey-")
# These stay in the text, for what follows them is the secret.
_SHOWN = ("AccountKey=", "SharedAccessKey=", "sig=", "hooks.slack.com/services/", "discord.com/api/webhooks/")
_AWS_ID = re.compile(r"A[KS]IA[A-Z0-9]{16}")
_AWS_SECRET = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/]{40}(?![\w+/=-])", re.ASCII)
_AWS_NEAR = 300

_KEY_BEGINS = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_ENDS = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
# White space, also escaped, quotes and plus signs around the lines of a key that stands in code.
_KEY_LINES = re.compile(
    r"(?:(?:[\s\"'+,>|]|\\[nrt])*+(?:[A-Za-z0-9+/=]{16,}+|(?:Proc-Type|DEK-Info|Version|Comment): [^\n]{0,100}))++",
    re.ASCII,
)
_KEY_TAIL = re.compile(r"(?:(?:[\s\"'+,>|]|\\[nrt])*+[A-Za-z0-9+/=]{1,64}+)?+(?:[\s\"'+,>|]|\\[nrt])*+", re.ASCII)

_URL_PASSWORD = re.compile(r"(://[^\s:/@\"'<>`]{0,80}:)([^\s/\"'<>`]{1,200})@")


def without_secrets(text: str) -> str:
    """`text` with `<SECRET>` in place of each secret; names of keys and variables stay."""
    if "PRIVATE KEY" in text:
        text = _without_private_keys(text)
    if "://" in text and "@" in text:
        text = _URL_PASSWORD.sub(_url_password, text)
    if "AKIA" in text or "ASIA" in text:
        text = _without_aws_secrets(text)
    for start, pattern in _TOKENS.items():
        if start in text:
            text = pattern.sub(lambda match, start=start: _token(match, start), text)
    return without_assigned(_without_detected(text))


def _token(match: re.Match[str], start: str) -> str:
    value = match[0][len(start) :]
    doubtful = (match["cut"] or start in _AMBIGUOUS) and not _UNLIKE_WORDS.search(value)
    if doubtful or is_placeholder(value):
        return match[0]
    return f"{start}{SECRET}" if start in _SHOWN else SECRET


def _url_password(match: re.Match[str]) -> str:
    return match[0] if is_placeholder(match[2]) else f"{match[1]}{SECRET}@"


def _without_private_keys(text: str) -> str:
    """A key goes with its first and last line; one that is only named, as in code that looks for it, stays."""
    parts, end = [], 0
    for begin in _KEY_BEGINS.finditer(text):
        lines = _KEY_LINES.match(text, begin.end()) if begin.start() >= end else None
        if lines:
            parts += [text[end : begin.start()], SECRET]
            last = _KEY_TAIL.match(text, lines.end())
            closing = _KEY_ENDS.match(text, last.end())
            cut = last.end() == len(text)
            end = closing.end() if closing else last.end() if cut else lines.end()
    return "".join([*parts, text[end:]])


def _without_aws_secrets(text: str) -> str:
    """An access key's other half has no form of its own: 40 characters that stand near behind the first."""
    keys = [key.end() for key in _AWS_ID.finditer(text)]

    def near(match: re.Match[str]) -> str:
        before = bisect_right(keys, match.start())
        close = before and match.start() - keys[before - 1] <= _AWS_NEAR
        # A hash has no capital letters.
        secret = close and match[0].lower() != match[0] and not is_placeholder(match[0])
        return SECRET if secret else match[0]

    return _AWS_SECRET.sub(near, text) if keys else text


def _without_detected(text: str) -> str:
    """What the detectors find in the windows around long words that have letters and digits."""
    parts, end = [], 0
    for word in _LONG_WORD.finditer(text):
        if word.start() < end or not _LETTER_AND_DIGIT.match(word[0]):
            continue
        first = max(end, word.start() - _WINDOW_BEFORE)
        window = text[first : word.end() + _WINDOW_AFTER]
        for secret in (found for detector in _DETECTORS for found in detector.analyze_string(window)):
            place = window.find(secret)
            stop = _REST_OF_TOKEN.match(window, place + len(secret)).end()
            value = window[place:stop]
            if len(value) >= 16 and _LETTER_AND_DIGIT.match(value) and not is_placeholder(value):
                parts += [text[end : first + place], SECRET]
                end = first + stop
                break
    return "".join([*parts, text[end:]])
