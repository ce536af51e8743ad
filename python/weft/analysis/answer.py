"""From a question of the file to an answer: one per value of `by`."""

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weft.errors import ResultsError
from weft.experiment.values import said

if TYPE_CHECKING:
    import polars as pl

    from weft.results import Results


@dataclass(frozen=True)
class Question:
    """An entry of `[[analysis]]`; `where` has the value of `by` that it is asked for."""

    kind: str
    metrics: tuple[str, ...]
    factors: tuple[str, ...]
    by: str | None = None
    alpha: float = 0.05
    type: int = 3
    blocks: bool = False
    permutations: int = 9999
    where: Mapping[str, object] = field(default_factory=dict)

    @property
    def block(self) -> str | None:
        """The column of blocks: repeats, which have the same seed in every cell."""
        return "repeat" if self.blocks else None

    @property
    def title(self) -> str:
        """What is analysed, and where."""
        at = "".join(f", {key} = {said(value)}" for key, value in self.where.items())
        return f"{self.kind.upper()} of {', '.join(self.metrics)} over {', '.join(self.factors)}{at}"


@dataclass(frozen=True)
class Answer:
    """What an analysis says: sentences first, then every table as text; `rows` has the numbers for programs.

    `refused` is why it could not be made, empty if it was.
    """

    question: Question
    sentences: tuple[str, ...] = ()
    text: str = ""
    rows: Mapping[str, Any] = field(default_factory=dict)
    refused: str = ""


def analyse(results: "Results") -> list[Answer]:
    """The answers to all `[[analysis]]` of the experiment, in the order of the file."""
    answers = []
    for question in _questions(results):
        frame = results.numbers(question.metrics)
        for one, part in _parts(question, frame):
            answers.append(answer(one, part))
    return answers


def answer(question: Question, frame: "pl.DataFrame") -> Answer:
    """The answer to one question from a frame with a row per run: factors, repeat, and a column per metric."""
    import polars as pl

    # A metric that no run has, or that some lack, would be a fault of every row.
    lacking = [metric for metric in question.metrics if frame[metric].null_count()]
    whole = frame.drop_nulls(list(question.metrics))
    try:
        if whole.is_empty():
            raise ResultsError(f"no run has a value of {', '.join(lacking)}")
        module = importlib.import_module(f"weft.analysis.{question.kind}")
        made: Answer = module.make(question, whole.with_columns(pl.col("repeat").cast(pl.String)))
    except ResultsError as error:
        return Answer(question, refused=str(error))
    if whole.height < frame.height:
        left_out = (
            f"{frame.height - whole.height} of {frame.height} runs have no {' or no '.join(lacking)} and are left out"
        )
        made = Answer(question, (left_out, *made.sentences), made.text, made.rows)
    return made


def _questions(results: "Results") -> Iterator[Question]:
    for entry in results.described.get("experiment", {}).get("analysis", ()):
        by = entry.get("by")
        factors = entry.get("factors") or [
            key for key in results.swept if key != by and results.plan[key].n_unique() > 1
        ]
        yield Question(
            entry["kind"],
            tuple(entry["metrics"]),
            tuple(factors),
            by,
            entry["alpha"],
            3 if entry["type"] == "III" else 2,
            entry["blocks"],
            entry["permutations"],
        )


def _parts(question: Question, frame: "pl.DataFrame") -> Iterator[tuple[Question, "pl.DataFrame"]]:
    from dataclasses import replace

    import polars as pl

    if question.by is None:
        yield question, frame
        return
    for value in frame[question.by].unique(maintain_order=True).to_list():
        yield replace(question, where={question.by: value}), frame.filter(pl.col(question.by).eq_missing(value))
