"""What analyses say in sentences: an effect, and the best cell of a metric."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft.experiment.values import said
from weft.metric import METRICS
from weft.statistics.plain import said_p

if TYPE_CHECKING:
    import polars as pl


def effect(name: str, of: str, p_value: float | None, alpha: float, test: str) -> str:
    """Whether an effect is shown, by which test.

    >>> effect("transport.rack", "goodput", 0.25, 0.05, "F(1, 36) = 1.3")
    'no effect of transport.rack on goodput is shown: F(1, 36) = 1.3, p = 0.2500'
    """
    if p_value is None:
        return f"the effect of {name} on {of} cannot be judged: {test}"
    shown = f"p {said_p(p_value)}" if said_p(p_value).startswith("<") else f"p = {said_p(p_value)}"
    if p_value < alpha:
        return f"{name} changes {of}: {test}, {shown}"
    return f"no effect of {name} on {of} is shown: {test}, {shown}"


def number(value: float) -> str:
    """Four significant digits; what is left of rounding is 0.

    >>> number(12.34567), number(1.4e-34)
    ('12.35', '0')
    """
    return f"{value:.4g}" if abs(value) >= 1e-12 else "0"


def best(frame: "pl.DataFrame", metric: str, factors: Sequence[str]) -> str:
    """The cell with the best mean of a metric."""
    import polars as pl

    from weft.report.quantity import quantity

    name = metric.partition(".")[0]
    means = frame.group_by(list(factors), maintain_order=True).agg(pl.col(metric).mean())
    ordered = means.sort(metric, descending=METRICS[name].better == "higher")
    row = ordered.row(0, named=True)
    shown = quantity(METRICS[name].column, abs(row[metric]))
    where = ", ".join(f"{factor} = {said(row[factor])}" for factor in factors)
    unit = f" {shown.unit}" if shown.unit else ""
    return f"best mean of {metric}: {row[metric] * shown.factor:.4g}{unit} with {where}"
