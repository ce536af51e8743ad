"""Factorial MANOVA of several metrics, its assumptions, and the permutation test where they are doubtful."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from weft.analysis.answer import Answer, Question
from weft.analysis.said import best, effect, number
from weft.errors import ResultsError

if TYPE_CHECKING:
    import polars as pl


def make(question: Question, frame: "pl.DataFrame") -> Answer:
    """Multivariate tests, then every metric alone where they show an effect.

    A metric that is constant, or follows from those before it, says nothing of its own; it is left out, and that is
    said. Raises ResultsError if fewer than two are left.
    """
    from weft.statistics.manova import manova

    metrics, left_out = _informative(question, frame)
    if len(metrics) < 2:
        raise ResultsError("; ".join(left_out))
    found = manova(
        frame,
        metrics,
        question.factors,
        question.type,
        block=question.block,
        alpha=question.alpha,
        permutations=question.permutations,
    )
    together = "the metrics together"
    permuted = {row.effect: row for row in found.permuted}
    sentences = [*left_out]
    shown = []
    for row in found.rows:
        # Pillai's trace bears unequal covariances best (Olson, Psychol. Bull. 83, 1976).
        if not row.criterion.startswith("Pillai") or row.effect == question.block:
            continue
        test = f"Pillai's trace {number(row.value)}"
        p_value = row.p_value
        if row.f is not None and row.error_degrees is not None:
            test += f", F({row.degrees:g}, {row.error_degrees:g}) = {number(row.f)}"
        if row.effect in permuted:
            p_value = permuted[row.effect].p_value
            test += f", by {permuted[row.effect].permutations:,} permutations"
        sentences.append(effect(row.effect, together, p_value, question.alpha, test))
        if p_value is not None and p_value < question.alpha:
            shown.append(row.effect)
    for table in found.between if shown else ():
        alone = [row.source for row in table.rows if row.source in shown and (row.p_value or 0.0) < question.alpha]
        if alone:
            which = best(frame, table.response, question.factors)
            sentences.append(f"{table.response} alone is changed by {', '.join(alone)}; {which}")
    sentences += list(found.assumptions.doubts)
    rows = asdict(found) | {"doubts": list(found.assumptions.doubts)}
    return Answer(question, tuple(sentences), found.text(), rows)


def _informative(question: Question, frame: "pl.DataFrame") -> tuple[list[str], list[str]]:
    """The metrics that a MANOVA can have, and why it cannot have the others."""
    from weft.statistics.anova import anova
    from weft.statistics.manova import manova

    kept: list[str] = []
    left_out = []
    for metric in question.metrics:
        try:
            if kept:
                manova(frame, [*kept, metric], question.factors, block=question.block, permutations=0)
            else:
                anova(frame, metric, question.factors, block=question.block)
        except ResultsError as error:
            reason = str(error).partition("; leave")[0]
            left_out.append(f"{metric} is left out: {reason}")
        else:
            kept.append(metric)
    return kept, left_out
