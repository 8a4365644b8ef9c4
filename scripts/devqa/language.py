"""The language of a text, and ISO 639-1 codes for language names.

Developers' texts are prose mixed with code, and code is written in Latin letters whatever the prose is written
in. So the script is decided first, by counting words of prose per script, and a classifier (py3langid) only
chooses among the languages of that script. Scripts that stand for one language need no classifier, which is
what makes questions of ten characters work.
"""

import re
from functools import cache

_TEXT_LIMIT = 20_000  # characters looked at: enough to decide, and bounds the time
_LEAST_CONFIDENCE = 0.15  # of the classifier, among the script's languages; below it "hello" may be Finnish
_ENGLISH_PRIOR = 3.0  # English against any other language in Latin letters: weighs in texts of a few words only
_SURE_RUSSIAN = 40  # letters of the Russian alphabet up to which Bulgarian, Serbian … are not considered

_CODE = re.compile(
    r"```.*?(?:```|\Z)"  # fenced code; an unclosed fence runs to the end
    r"|`[^`\n]{1,200}`"
    r"|\b(?:https?|ftp)://[^\s\u3000-\u9fff]+"
    r"|</?[a-zA-Z][^<>\n]{0,200}>",
    re.DOTALL,
)
# A word of prose: not a part of a_name, a.name, name(), name=, #name, $name, /name or name1, and no camelCase.
_LATIN = re.compile(
    r"(?<![A-Za-z0-9_.$@#/\\:<>(){}\[\]=-])[A-Za-z\u00c0-\u024f\u1e00-\u1eff]?[a-z\u00c0-\u024f\u1e00-\u1eff']+"
    r"(?![A-Za-z0-9_(){}\[\]=\\/<>]|[.:-][A-Za-z0-9_:])"
)
_CYRILLIC = re.compile(r"[\u0400-\u052f]+")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")
_KANA = re.compile(r"[\u3041-\u30ff\uff66-\uff9f]")
_HANGUL = re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]+")
_OTHER = re.compile(r"[^\W\d_A-Za-z\u00aa-\u036f\u0400-\u052f\u1100-\u11ff\u1e00-\u1eff\u2070-\ud7ff\uf900-\uffff]+")
_HAN_PER_WORD = 1.6
_KANA_SHARE = 0.1  # of Han and kana characters from which a text is Japanese

# Labels of the classifier, by script. Latin: those that people write to models in, so that a few words do not
# come out as Breton or Nigerian Pidgin.
_LATIN_LANGUAGES = (
    "af az ca cs cy da de en eo es et eu fi fr ga gl hr hu id is it lt lv ms nl no pl pt ro sk sl sq sv sw tl tr uz vi"
)
_RUSSIAN = frozenset("абвгдеёжзийклмнопрстуфхцчшщъыьэюя")
_RUSSIAN_ONLY = frozenset("ыэё")  # of the languages that get by with the Russian alphabet
_RUSSIAN_ALPHABET_LANGUAGES = "ru bg mk sr uk"
_CYRILLIC_LANGUAGES = "ru uk be bg sr mk kk ky mn tg tt ba"
_OTHER_LANGUAGES = "am ar as bn el fa gu he hi hy ka km kn lo ml mr my ne or pa ps sa si ta te th ug ur"


def detect(text: str) -> str:
    """The ISO 639-1 code of the language of `text`, "" where unsure (nothing but code, digits, a lone name).

    Code fences, inline code, URLs and tags are left out, and only the first 20,000 characters are looked at.
    """
    prose = _CODE.sub(" ", text[:_TEXT_LIMIT])
    if prose.isupper():  # shouted prose; capitals within a text are names and constants
        prose = prose.lower()
    words = {
        "latin": _LATIN.findall(prose),
        "cyrillic": _CYRILLIC.findall(prose),
        "hangul": _HANGUL.findall(prose),
        "other": _OTHER.findall(prose),
    }
    han, kana = len(_HAN.findall(prose)), len(_KANA.findall(prose))
    counts = {script: float(len(found)) for script, found in words.items()}
    counts["cjk"] = (han + kana) / _HAN_PER_WORD
    script = max(counts, key=lambda name: counts[name])
    # Prose that is not in Latin letters counts double: product names and code that was not recognised are Latin.
    foreign = max((name for name in counts if name != "latin"), key=lambda name: counts[name])
    if script == "latin" and 2 * counts[foreign] > counts["latin"]:
        script = foreign
    if not counts[script]:
        return ""
    if script == "cjk":
        return "ja" if kana >= _KANA_SHARE * (han + kana) else "zh"
    if script == "hangul":
        return "ko"
    if script == "cyrillic":
        return _cyrillic(words[script])
    return _classified(" ".join(words[script]), _LATIN_LANGUAGES if script == "latin" else _OTHER_LANGUAGES)


def code(name: str) -> str:
    """The ISO 639-1 code for a language as data sets write it: "Chinese", "zh", "zho", "zh-CN", "zh_Hans"; else "".

    Names are those of ISO 639 (pycountry), in any case; "" also for languages that have no two-letter code.
    """
    names = _names()
    key = name.strip().casefold()
    return names.get(key) or names.get(re.split(r"[-_]", key)[0] if re.fullmatch(r"\w{2,3}[-_]\w+", key) else "", "")


def _cyrillic(words: list[str]) -> str:
    """The language of words in Cyrillic letters, by its alphabet where that decides."""
    text = " ".join(words).lower()
    letters = set(text) - {" "}
    if letters <= _RUSSIAN:
        if letters & _RUSSIAN_ONLY or len(text) <= _SURE_RUSSIAN:
            return "ru"
        return _classified(text, _RUSSIAN_ALPHABET_LANGUAGES) or "ru"
    return _classified(text, _CYRILLIC_LANGUAGES)


def _classified(text: str, languages: str) -> str:
    """The most likely of `languages` (codes, space-separated), "" where even that one is unlikely."""
    allowed = languages.split()
    ranked = [
        (label, likelihood * _ENGLISH_PRIOR if label == "en" else likelihood)
        for label, likelihood in _classifier().rank(text)
        if label in allowed
    ]
    label, likelihood = max(ranked, key=lambda pair: pair[1])
    return label if likelihood >= _LEAST_CONFIDENCE * sum(pair[1] for pair in ranked) else ""


@cache
def _classifier():
    """py3langid's model; an instance of our own, because the module's is shared and can be restricted by others."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


@cache
def _names() -> dict[str, str]:
    """Lower-case names and codes of all languages that have a two-letter code, to that code."""
    import pycountry

    names: dict[str, str] = {}
    for language in pycountry.languages:
        if not (short := getattr(language, "alpha_2", None)):
            continue
        for field in ("alpha_2", "alpha_3", "bibliographic", "name", "common_name", "inverted_name"):
            if value := getattr(language, field, None):
                # "Malay (macrolanguage)" and "Greek, Modern (1453-)" are written as "Malay" and "Greek".
                plain = value.split(" (")[0]
                names |= dict.fromkeys((value.casefold(), plain.casefold()), short)
    return names | {
        "greek": "el",
        "farsi": "fa",
        "punjabi": "pa",
        "pashto": "ps",
        "kyrgyz": "ky",
        "uyghur": "ug",
        "bokmal": "nb",
        "nynorsk": "nn",
        "mandarin": "zh",
        "cantonese": "zh",
        "ganda": "lg",
    }
