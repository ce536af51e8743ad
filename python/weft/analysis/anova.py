"""Factorial analysis of variance of each metric alone, with Levene's test and Shapiro and Wilk's beside it."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from weft.analysis.answer import Answer, Question
from weft.analysis.said import best, effect, number

if TYPE_CHECKING:
    import polars as pl

NOT_EFFECTS = ("corrected model", "error", "corrected total")


def make(question: Question, frame: "pl.DataFrame") -> Answer:
    """One table per metric. Raises ResultsError for a design that does not permit it."""
    from weft.statistics.anova import anova
    from weft.statistics.assumptions import check_assumptions
    from weft.statistics.design import design, responses_of

    made = design(frame, question.factors, question.type, None, question.block)
    columns = [*question.factors, *([question.block] if question.block else [])]
    sentences, texts, rows = [], [], {}
    for metric in question.metrics:
        table = anova(frame, metric, question.factors, question.type, block=question.block)
        checks = check_assumptions(made, [metric], responses_of(frame, [metric], columns), question.alpha)
        error = table.row("error")
        is_shown = False
        for row in table.rows:
            if row.source in NOT_EFFECTS or row.source == question.block:
                continue
            ratio = "no error" if row.f is None else f"F({row.degrees}, {error.degrees}) = {number(row.f)}"
            is_shown |= row.p_value is not None and row.p_value < question.alpha
            sentences.append(effect(row.source, metric, row.p_value, question.alpha, ratio))
        if is_shown:
            sentences.append(best(frame, metric, question.factors))
        sentences += checks.doubts
        texts.append(f"{table.text()}\n\n{checks.text()}")
        rows[metric] = asdict(table) | {"assumptions": asdict(checks)}
    return Answer(question, tuple(sentences), "\n\n".join(texts), rows)
