"""Analyses: what `[[analysis]]` asks of the results of a sweep, and the answer in sentences and tables.

`ANALYSES` is the list: a line says what a kind is; the file of its name makes it, in its function `make`.

    [[analysis]]
    kind = "manova"
    metrics = ["goodput", "fct"]
    factors = ["load_balance.kind", "transport.rack"]
    by = "workload[0].size"           # one analysis for each value
"""

from weft.analysis.answer import Answer, Question, analyse

ANALYSES: dict[str, str] = {
    "anova": "Analysis of variance: which factors change the mean of each metric, alone and together.",
    "manova": "Multivariate analysis of variance: which factors change several metrics at once.",
}

__all__ = ["ANALYSES", "Answer", "Question", "analyse"]
