"""Analysis of variance of one response under any number of fixed factors with their interactions.

Sources: Fisher, "Statistical Methods for Research Workers", 1925; sums of squares of type II and III as in design.py.
Partial eta squared is the effect's share of itself and the error (Cohen 1973); omega squared its share of the whole
variation, less what chance would give it (Hays 1963): zero on average where there is no effect, hence sometimes
negative.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.errors import ResultsError
from weft.statistics.criteria import f_tail
from weft.statistics.design import Design, design, responses_of
from weft.statistics.plain import plain_table, said, said_p

if TYPE_CHECKING:
    import polars as pl

    from weft.statistics.design import Array

MODEL, ERROR, TOTAL = "corrected model", "error", "corrected total"

ROUNDING = 16 * 2.0**-52
"""Deviations below this share of the values themselves are rounding, not variation."""

ROMAN = {2: "II", 3: "III"}


@dataclass(frozen=True)
class AnovaRow:
    """One source of variation; what has no meaning for it is None."""

    source: str
    sum_of_squares: float
    degrees: int
    mean_square: float | None
    f: float | None
    p_value: float | None
    partial_eta_squared: float | None
    omega_squared: float | None


@dataclass(frozen=True)
class Anova:
    """Tests of between-subjects effects of one response.

    `rows`: the corrected model (all effects together), every effect, the error, the corrected total.
    """

    response: str
    type: int
    runs: int
    is_balanced: bool
    rows: tuple[AnovaRow, ...]
    r_squared: float
    adjusted_r_squared: float

    def row(self, source: str) -> AnovaRow:
        """The row of a source. Raises ResultsError if there is none of that name."""
        for row in self.rows:
            if row.source == source:
                return row
        raise ResultsError(f'no source "{source}"; this table has {", ".join(row.source for row in self.rows)}')

    def text(self) -> str:
        """The table as plain text."""
        header = ("source", "SS", "df", "MS", "F", "p", "partial η²", "ω²")
        body = [
            (
                row.source,
                said(row.sum_of_squares),
                said(row.degrees),
                said(row.mean_square),
                said(row.f),
                said_p(row.p_value),
                said(row.partial_eta_squared, 3),
                said(row.omega_squared, 3),
            )
            for row in self.rows
        ]
        return (
            f"{self.response}: {title(self.type, self.is_balanced)}, {self.runs} runs\n{plain_table(header, body)}\n"
            f"R² = {self.r_squared:.4f}, adjusted {self.adjusted_r_squared:.4f}"
        )


def anova(
    frame: "pl.DataFrame",
    response: str,
    factors: Sequence[str],
    type: int = 3,
    order: int | None = None,
    block: str | None = None,
) -> Anova:
    """Analysis of variance of a frame with one row per run; the arguments are those of `design`.

    `manova` of a single response is the same analysis with its assumptions, and with permutations where they are
    doubtful. Raises what `design` raises, and ResultsError for a response that is constant, or constant within every
    cell.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"a": ["x", "x", "y", "y"], "v": [1.0, 2.0, 3.0, 4.0]})
    >>> found = anova(frame, "v", ["a"]).row("a")
    >>> round(found.sum_of_squares, 9), round(found.f, 9), round(found.partial_eta_squared, 9)
    (4.0, 8.0, 0.8)
    """
    made = design(frame, factors, type, order, block)
    values = responses_of(frame, [response], [*factors, *([block] if block is not None else [])])
    return analyse(made, response, values[:, 0])


def title(type: int, is_balanced: bool) -> str:
    """How the sums of squares were made.

    >>> title(3, False)
    'sums of squares of type III (unequal cells), sum-to-zero coding'
    """
    cells = "equal cells" if is_balanced else "unequal cells"
    return f"sums of squares of type {ROMAN[type]} ({cells}), sum-to-zero coding"


def analyse(made: Design, response: str, values: "Array") -> Anova:
    """Analysis of values, shape (runs,), under a design."""
    import numpy as np

    scaled, scale = standardized(response, values)
    basis = made.basis(made.terms)
    residuals = residuals_of(made, scaled)
    degrees, left = made.model_degrees, made.error_degrees
    error = float(residuals @ residuals)
    if error / made.runs <= (ROUNDING * float(np.abs(values).max()) / scale) ** 2:
        raise ResultsError(
            f'"{response}" is the same in all runs of a cell, so there is no error to compare an effect with; vary the '
            "seed between repeats, or compare the cells as they are"
        )
    # The first column of the basis is the mean.
    model = float(np.sum((basis[:, 1:].T @ scaled) ** 2))
    total = model + error
    rows = [_row(MODEL, model, degrees, error, left, total, scale)]
    for term in made.terms:
        _, owned = made.own(term)
        rows.append(_row(term.name, float(np.sum((owned.T @ scaled) ** 2)), term.degrees, error, left, total, scale))
    squared = scale * scale
    rows.append(AnovaRow(ERROR, error * squared, left, error * squared / left, None, None, None, None))
    rows.append(AnovaRow(TOTAL, total * squared, made.runs - 1, None, None, None, None, None))
    adjusted = 1.0 - (error / left) / (total / (made.runs - 1))
    return Anova(response, made.type, made.runs, made.is_balanced, tuple(rows), model / total, adjusted)


def residuals_of(made: Design, values: "Array") -> "Array":
    """What the whole model leaves of values, shape (runs,) or (runs, responses)."""
    basis = made.basis(made.terms)
    residuals: Array = values - basis @ (basis.T @ values)
    # Once more, for residuals that are small beside the values.
    return residuals - basis @ (basis.T @ residuals)


def standardized(response: str, values: "Array") -> tuple["Array", float]:
    """Values about their mean in units of their standard deviation, and that deviation.

    Raises ResultsError if they are all the same number.
    """
    import numpy as np

    centered = values - values.mean()
    scale = float(np.sqrt(np.mean(centered**2)))
    if scale <= ROUNDING * float(np.abs(values).max()):
        raise ResultsError(
            f'"{response}" is {values[0]:g} in every run: there is no variation to explain; leave it out'
        )
    return centered / scale, scale


def _row(source: str, own: float, degrees: int, error: float, left: int, total: float, scale: float) -> AnovaRow:
    mean_error = error / left
    f = own / degrees / mean_error
    return AnovaRow(
        source,
        own * scale * scale,
        degrees,
        own * scale * scale / degrees,
        f,
        f_tail(f, degrees, left),
        own / (own + error),
        (own - degrees * mean_error) / (total + mean_error),
    )
