"""Reading the confidence that a model states at the end of its answer (SimpleDevQA, 7.3)."""

import re

# Nothing is before the line's end but what is named in `split`; \d would take digits of other scripts.
_MARKS = r"[ \t*]*"
_LINE = re.compile(
    rf"{_MARKS}confidence{_MARKS}[:\uff1a]{_MARKS}(100|[1-9]?[0-9]){_MARKS}%?{_MARKS}", re.IGNORECASE | re.ASCII
)


def split(text: str) -> tuple[str, float | None]:
    """An answer without the line that states its confidence, and that confidence from 0 to 100.

    The last line that is not blank has to be `Confidence: N`, N being a whole number from 0 to 100 in ASCII digits,
    without a sign, a fraction or leading zeros. Upper and lower case do not matter, blanks and asterisks (bold) may
    stand anywhere between word, colon, number and sign, the colon may be full-width, and `%` may follow. Whatever
    else is there makes it unreadable: a range, a word, a full stop, text before or after, a second number. The word is
    English whatever the language of the answer, as the prompt says: a list of translations would have no end, and a
    model that does not keep to the form is counted, not guessed at.

    Where the line can't be read, the whole text is the answer and the confidence None. An answer that has
    nothing but the line is "".
    """
    lines = text.rstrip().split("\n")
    stated = _LINE.fullmatch(lines[-1].rstrip())
    if stated is None:
        return text.strip(), None
    return "\n".join(lines[:-1]).strip(), float(stated[1])
