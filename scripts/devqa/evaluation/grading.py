"""Reading a judge's verdict out of what it wrote.

The letters are those of SimpleQA's grader (A correct, B incorrect, C not attempted), which SimpleDevQA
(arXiv 2512.08867, section 6) grades with. A verdict that can't be read for certain is no verdict: the row
stays ungraded and is counted apart, because a wrong guess here would move every metric silently.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Grade = Literal["CORRECT", "INCORRECT", "NOT_ATTEMPTED"]

GRADES: tuple[Grade, ...] = ("CORRECT", "INCORRECT", "NOT_ATTEMPTED")

_SPOKEN: dict[str, Grade] = {
    "a": "CORRECT",
    "b": "INCORRECT",
    "c": "NOT_ATTEMPTED",
    "correct": "CORRECT",
    "incorrect": "INCORRECT",
    "not correct": "INCORRECT",
    "not attempted": "NOT_ATTEMPTED",
    "notattempted": "NOT_ATTEMPTED",
}
_KEYS = {"grade", "grade_letter", "verdict", "label"}

# Some chat templates put the opening tag into the prompt, so that the answer has the closing one alone.
_REASONING_END = re.compile(r"</(?:think|thinking|reasoning)>", re.I)
_REASONING_START = re.compile(r"<(?:think|thinking|reasoning)>", re.I)
# Longer than any judge's answer; bounds what searching a hostile text can cost.
_LONGEST = 20_000

_REFUSAL = re.compile(
    r"\W*(?:(?:i['’]?m|i am) (?:very |so )?sorry|sorry|i apologi[sz]e|as an ai\b[^.,]*)?[\s,.!]*(?:but )?"
    r"(?:i (?:can['’]?t|cannot|can not|won['’]?t|will not|am unable|am not able)|i['’]m (?:unable|not able))\b",
    re.I,
)
# `{"grade": "C` may have become CORRECT.
_CUT_OBJECT = re.compile(r"\W*(?:json\s*)?\{[^}]*$", re.I)
_FLAT_OBJECT = re.compile(r"\{[^{}]*\}")

# Wrappers whose content stands for itself.
_LATEX_FONT = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mathsf)\{([^{}]*)\}")
_WRAPPERS = re.compile(r"\\boxed\{([^{}]*)\}|</?(?:grade|verdict|label|answer)>", re.I)
# A trailing '+' or '#' is no decoration: C++ and C# are languages, and A+ is no grade of this scale.
_DECORATION = re.compile(r"^\W+|[^\w+#]+$")
_EMPHASIS = re.compile(r"[*`_\"“”«»]+")

_LETTER_END = r"(?=['’]*(?:\s*$|[.,;:!?)\]}](?:\s|$)|\s*[(\[–—/|-]))"
_LABEL = re.compile(
    r"\b(?:grade|verdict|label|judge?ment|rating)\b[\s'’]*(?:(?:is|as|of|it|this)\b[\s'’]*)*(?:[:=]|->|→|-)?[\s'’(\[{]*"
    rf"(?:(?P<letter>[ABC]){_LETTER_END}|(?=(?:not[\s-]*attempted|incorrect|correct)\b))",
    re.I,
)
_ANSWER_LABEL = re.compile(
    r"^\W*(?:(?:so|therefore|thus|hence),? )?(?:the |my )?(?:final )?answer(?: is)?\s*:?[\s'’(\[]*"
    r"(?:(?P<letter>[ABC])[.!)\]'’\s]*$|(?=(?:not[\s-]*attempted|incorrect|correct)\b))",
    re.I,
)
_GRADED_AS = re.compile(rf"\b(?:graded?|marked?|rated?) (?:it |this |this answer )?(?:as )?[('’]*([ABC]){_LETTER_END}")
_LEADING_LETTER = re.compile(
    r"^[^\w\\]*([ABC])(?:\s*[)\]'’]*[.:;,)\]–—-](?=\s|$)|\s*\(|\s+(?=(?:CORRECT|INCORRECT|NOT[\s-]*ATTEMPTED)\s*(?:$|[^\w\s])))"
)
_LETTER = re.compile(r"(?<![\w.\\'’-])([ABC])(?![\w+#'’\\-])(?!\s+[a-z])")

_WORD = re.compile(r"\b(?:not[\s-]*attempted|incorrect|correct)\b", re.I)
_NOT = re.compile(r"\bnot\s+$", re.I)
_UNSURE_BEFORE = re.compile(
    r"(?:\b(?:not|never|neither|nor|cannot|hardly|whether|either|if|unless|might|could|without|\w+n['’]t)"
    r"(?:\s+[\w'’]+){0,4}|\b(?:in|partially|partly|mostly|half|semi|almost|nearly|somewhat|arguably))[\s-]+$",
    re.I,
)
# One of several verdicts to choose from: "CORRECT or …", "A/INCORRECT".
_CHOICE_BEFORE = re.compile(r"(?:\b(?:or|nor)\W+|\b[ABC]\b\s*(?:and|[/|,])\s*)$", re.I)
_CHOICE_AFTER = re.compile(r"\W*(?:or|nor)\b|\s*(?:and|[/|,])\s*[ABC]\b(?!\s+[a-z])")
_SAID_OF_ANSWER = re.compile(
    r"(?:^\W*|[:=>–—,/|-]\W*|\b(?:and|or)\W+|\b(?:is|was|are|be|as|it['’]s|judged|graded?|marked?|rated?|deemed|considered|verdict|label|"
    r"judge?ment|rating)\W+(?:\w+ly\W+)?)$",
    re.I,
)
_NAMES_THE_GOLD = re.compile(r"\s+(?:answers?|ones?|solution|response|target|value|option|choice)\b", re.I)
_CLAUSE_ENDS = re.compile(
    r"\s*(?:$|[^\w\s])|\s+(?:because|since|as|and|or|but|so|given|according|in|due|when|here|per)\b", re.I
)


@dataclass(frozen=True)
class Verdict:
    """What a judge said: `grade` is None where no verdict could be read, and `reason` says why."""

    grade: Grade | None
    reason: str = ""


def parse_verdict(text: str) -> Verdict:
    """The verdict in a judge's answer: a letter or a word, bare, decorated, labelled, in JSON, or in a sentence.

    Reasoning blocks are left out. What is stated formally (JSON, a line of its own, a label) goes before
    what prose says; two different verdicts at one level are no verdict. Never raises.
    """
    answer = _REASONING_END.split(text)[-1]
    if _REASONING_START.search(answer):
        return Verdict(None, "the judge's reasoning was cut off before a verdict")
    if len(answer) > _LONGEST:
        return Verdict(None, f"the judge's answer is longer than {_LONGEST:,} characters")
    answer = _LATEX_FONT.sub(r"\1", answer)
    if not answer.strip():
        return Verdict(None, "the judge's answer is empty")
    if _CUT_OBJECT.match(answer):
        return Verdict(None, "the judge's JSON was cut off")
    if grade := bare_grade(answer):
        return Verdict(grade)
    if _REFUSAL.match(answer):
        return Verdict(None, "the judge refused")
    lines = [line for line in _WRAPPERS.sub(r"\n\1\n", answer).splitlines() if line.strip()]
    for level in (_in_json(answer), _declared(lines), _in_prose(lines)):
        if level:
            return _only(level)
    return Verdict(None, "the judge's answer holds no verdict")


def _only(found: set[Grade | None]) -> Verdict:
    """The one verdict that was found; None among them stands for a statement that could be read either way."""
    if len(found) == 1 and (grade := next(iter(found))):
        return Verdict(grade)
    named = [grade for grade in GRADES if grade in found]
    return Verdict(None, f"the judge's answer is ambiguous: {' or '.join(named) or 'hedged, negated or unknown'}")


def bare_grade(text: str) -> Grade | None:
    """The verdict that `text` consists of (a letter or a word, in any case), whatever decoration is around it."""
    core = _DECORATION.sub("", text).strip("_ ")
    core = _DECORATION.sub("", core)
    return _SPOKEN.get(re.sub(r"[\s_-]+", " ", core).casefold()) if len(core) < 40 else None


def _in_json(text: str) -> set[Grade | None]:
    """What the grade keys of JSON objects in `text` say; a value that is no verdict counts as unreadable."""
    whole = text[text.find("{") : text.rfind("}") + 1]
    said = _grade_values(whole)
    if not said:
        said = [value for match in _FLAT_OBJECT.finditer(text) for value in _grade_values(match.group())]
    return {bare_grade(value) or _only(_declared([value])).grade if isinstance(value, str) else None for value in said}


def _grade_values(text: str) -> list:
    """The values of all grade keys, at any depth; also of a key that is given twice."""
    values = []

    def collect(pairs):
        values.extend(value for key, value in pairs if key.casefold() in _KEYS)

    try:
        json.loads(text, object_pairs_hook=collect)
    except (ValueError, RecursionError):
        return []
    return values


def _declared(lines: list[str]) -> set[Grade | None]:
    """Verdicts that stand on a line of their own, open a line as a letter, or follow a label.

    All that such a line says counts, so that "Grade: A or B" and an echoed "Grade: CORRECT/INCORRECT" are
    seen to be ambiguous.
    """
    found: set[Grade | None] = set()
    for line in lines:
        plain = _EMPHASIS.sub(" ", line)
        if grade := bare_grade(line):
            found.add(grade)
        elif label := _LABEL.search(plain) or _ANSWER_LABEL.search(plain):
            letter = label["letter"]
            found |= {_SPOKEN[letter.casefold()]} if letter else set()
            found |= set(_letters(plain[label.start() :])) | set(_words(plain[label.start() :]))
        elif letter := _GRADED_AS.search(plain) or _LEADING_LETTER.search(plain):
            found |= {_SPOKEN[letter[1].casefold()], *_letters(plain), *_words(plain)}
    return found


def _in_prose(lines: list[str]) -> set[Grade | None]:
    return {grade for line in lines for grade in _words(_EMPHASIS.sub(" ", line))}


def _letters(line: str) -> Iterator[Grade]:
    """Capital letters that stand alone and are no article ("A judge …")."""
    return (_SPOKEN[match[1].casefold()] for match in _LETTER.finditer(line))


def _words(line: str) -> Iterator[Grade | None]:
    """Verdicts that words of a line state about an answer; None for one that is negated or hedged."""
    for match in _WORD.finditer(line):
        word = re.sub(r"[\s-]+", " ", match.group())
        before, after = line[max(0, match.start() - 80) : match.start()], line[match.end() :][:40]
        head = _NOT.sub("", before)
        if _NAMES_THE_GOLD.match(after):
            continue
        if _UNSURE_BEFORE.search(head) or _CHOICE_BEFORE.search(head) or _CHOICE_AFTER.match(after):
            yield None
        elif word.isupper() or _predicate(head, after):
            yield _SPOKEN.get(("not " if head != before else "") + word.casefold())


def _predicate(before: str, after: str) -> bool:
    """Is the word said of an answer ("… is incorrect.") and not part of a name ("an incorrect password")?"""
    return bool(_SAID_OF_ANSWER.search(before) and _CLAUSE_ENDS.match(after))
