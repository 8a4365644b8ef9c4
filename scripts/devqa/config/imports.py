"""Tables from elsewhere that the evaluation reads: a benchmark, answers, people's grades, figures of other benchmarks.

A section's `columns` name the columns of its files. Those called as by default are taken where the file has them; one
with another name must be there, and null leaves one out.
"""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from devqa.config.base import Name, Section
from devqa.config.models import Price

Grade = Literal["CORRECT", "INCORRECT", "NOT_ATTEMPTED"]


def _as_text(words: Any) -> Any:
    """YAML reads the words 1 and true as numbers and truth values."""
    if not isinstance(words, dict):
        return words
    return {str(key).lower() if isinstance(key, bool | int) else key: grade for key, grade in words.items()}


Meanings = Annotated[dict[str, Grade], BeforeValidator(_as_text)]


class Columns(Section):
    """Role → column."""

    def named(self) -> list[str]:
        """The roles whose column is not called as it is by default, so that it has to be there.

        (What the configuration says, as against what it leaves to us, is lost once it has been validated and dumped.)
        """
        fields = type(self).model_fields
        return sorted(role for role in fields if getattr(self, role) not in (None, fields[role].default))

    @model_validator(mode="after")
    def _told_apart(self):
        named = [getattr(self, role) for role in self.named()]
        if twice := sorted({column for column in named if named.count(column) > 1}):
            raise ValueError(f"'{twice[0]}' is named for two things")
        return self


class BenchmarkColumns(Columns):
    """Of a benchmark: question and answer must be there. Without an id, one is made of both."""

    question: str = "question"
    answer: str = "answer"
    id: str | None = "id"
    language: str | None = "language"
    difficulty: str | None = "difficulty"
    domain: str | None = "domain"
    source: str | None = "source"
    dialogue_id: str | None = "dialogue_id"


class ImportedBenchmark(Section):
    """A benchmark that was made elsewhere: models are graded on it, and no dialogue is read."""

    path: str
    columns: BenchmarkColumns = BenchmarkColumns()


class AnswerColumns(Columns):
    """Of answers: id or question, and prediction, must be there. `answer` (the gold one) tells equal questions apart.

    Without `grade`, the judge grades the answers; where the file has such a column, null has to say so. Of tokens and
    confidence what is there is taken. Confidence is in percent, from 0 to 100; where all of an entry's are 1 or less,
    from 0 to 1.
    """

    prediction: str = "prediction"
    id: str | None = "id"
    question: str | None = "question"
    answer: str | None = "answer"
    grade: str | None = None
    confidence: str | None = "confidence"
    input_tokens: str | None = "input_tokens"
    output_tokens: str | None = "output_tokens"

    def grades_decided(self) -> bool:
        """Whether the configuration says what becomes of a column of grades: they are taken, or (null) left out."""
        return "grade" in self.model_fields_set

    @model_validator(mode="after")
    def _can_be_matched(self):
        if self.id is None and self.question is None:
            raise ValueError("id and question are both left out: answers are matched by one of them")
        return self


class ImportedAnswers(Section):
    """Answers of one model in one setting that were given elsewhere: one file, folder or glob for each repeat.

    `grades` says what the words of the grade column mean, beside CORRECT, INCORRECT, NOT_ATTEMPTED and A, B, C.
    """

    model: Name
    setting: Literal["plain", "rag", "confidence", "agentic"] = "plain"
    files: list[str] = Field(min_length=1)
    columns: AnswerColumns = AnswerColumns()
    grades: Meanings = {}
    family: str = ""
    price: Price = Price()
    note: str = ""


class HumanColumns(Columns):
    """Of people's grades: id, model and grade must be there; without setting or repeat it is the first one."""

    id: str = "id"
    model: str = "model"
    grade: str = "grade"
    setting: str | None = "setting"
    repeat: str | None = "repeat"


class HumanGrades(Section):
    """People's grades of answers, against which the judge is held (SimpleDevQA, 6.2)."""

    path: str
    columns: HumanColumns = HumanColumns()
    grades: Meanings = {}


class CodeGeneration(Section):
    """A figure of another benchmark for each model, such as pass@1 on HumanEval (SimpleDevQA, 7.4)."""

    path: str
    name: str = "HumanEval pass@1"
    model_column: str = "model"
    score_column: str = "pass@1"

    @model_validator(mode="after")
    def _two_columns(self):
        if self.model_column == self.score_column:
            raise ValueError("model_column and score_column are the same")
        return self
