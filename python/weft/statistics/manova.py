"""Multivariate analysis of variance: whether factors shift several responses of a run taken together.

Sources: Rencher and Christensen, "Methods of Multivariate Analysis", 3rd ed., Wiley 2012, chapter 6; Johnson and
Wichern, "Applied Multivariate Statistical Analysis", chapter 6. For every effect the matrix H of sums of squares and
products that it owns (design.py) is held against that of the error, E: criteria.py has the four criteria.

Why not statsmodels: with interactions its MANOVA tests coefficients of whatever coding the formula chose, which for the
default coding are not main effects (statsmodels issues 6464 and 8713). Here all factors are coded to sum to zero.

Responses are standardized first and E enters by the triangle R of its QR decomposition, so that bits per second (1e9)
beside shares (1) lose no digits: the roots of E^-1 H are the squared singular values of Q'Y R^-1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.errors import ResultsError
from weft.statistics.anova import Anova, analyse, residuals_of, standardized, title
from weft.statistics.assumptions import Assumptions, check_assumptions
from weft.statistics.criteria import Criterion, criteria
from weft.statistics.design import Design, design, responses_of
from weft.statistics.permutation import Permuted, permute
from weft.statistics.plain import plain_table, said, said_p

if TYPE_CHECKING:
    import polars as pl

    from weft.statistics.design import Array

DEPENDENT = 1e-7
"""A response of which less than this share is its own, not explained by the others, is refused; the limit of R."""

MANOVA_COLUMNS = ("effect", "criterion", "value", "F", "df", "error df", "p", "F is", "partial η²")
PERMUTED_COLUMNS = ("effect", "statistic", "value", "as large or larger", "permutations", "p")


@dataclass(frozen=True)
class Manova:
    """Multivariate tests of every effect, four rows each, with what they rest on.

    `between` holds the tests of between-subjects effects of each response alone. `permuted` is empty unless an
    assumption is doubtful: then it has one row per effect, whose p-value needs neither normal residuals nor the F
    approximations.
    """

    responses: tuple[str, ...]
    factors: tuple[str, ...]
    type: int
    runs: int
    error_degrees: int
    is_balanced: bool
    rows: tuple[Criterion, ...]
    between: tuple[Anova, ...]
    assumptions: Assumptions
    permuted: tuple[Permuted, ...]

    def row(self, effect: str, criterion: str) -> Criterion:
        """The row of an effect whose criterion begins with the given text, such as "Wilks".

        Raises ResultsError if there is none.
        """
        for row in self.rows:
            if row.effect == effect and row.criterion.startswith(criterion):
                return row
        effects = ", ".join(dict.fromkeys(row.effect for row in self.rows))
        names = ", ".join(dict.fromkeys(row.criterion for row in self.rows))
        raise ResultsError(f'no test "{criterion}" of "{effect}"; effects: {effects}; criteria: {names}')

    def text(self) -> str:
        """All tables as plain text: multivariate tests, assumptions, permutations, between-subjects effects."""
        body = [
            (
                row.effect,
                row.criterion,
                said(row.value),
                said(row.f),
                said(row.degrees),
                said(row.error_degrees, 5),
                said_p(row.p_value),
                row.quality,
                said(row.partial_eta_squared, 3),
            )
            for row in self.rows
        ]
        parts = [
            f"MANOVA of {', '.join(self.responses)}: {title(self.type, self.is_balanced)}, {self.runs} runs, "
            f"{self.error_degrees} error degrees of freedom\n{plain_table(MANOVA_COLUMNS, body, left=2)}",
            self.assumptions.text(),
        ]
        if self.permuted:
            permuted = [
                (
                    row.effect,
                    row.statistic,
                    said(row.value),
                    str(row.exceeding),
                    str(row.permutations),
                    said_p(row.p_value),
                )
                for row in self.permuted
            ]
            parts.append(f"permutation of residuals (Freedman-Lane)\n{plain_table(PERMUTED_COLUMNS, permuted, left=2)}")
        parts += [table.text() for table in self.between]
        return "\n\n".join(parts)


def manova(
    frame: "pl.DataFrame",
    responses: Sequence[str],
    factors: Sequence[str],
    type: int = 3,
    order: int | None = None,
    block: str | None = None,
    alpha: float = 0.05,
    permutations: int = 9999,
    seed: int = 0,
) -> Manova:
    """MANOVA of a polars frame with one row per run.

    `type`, `order` and `block` are those of `design`. `alpha` is the level below which an assumption is called
    doubtful; then every effect is tested by `permutations` permutations too (0: never), drawn from `seed`.

    Raises what `design` raises, and ResultsError for a response that is constant, constant within all cells or a linear
    combination of others, and for more responses than error degrees of freedom.

    >>> import polars as pl
    >>> frame = pl.DataFrame(
    ...     {"host": ["a"] * 4 + ["b"] * 4, "rate": [1, 2, 3, 4, 3, 4, 5, 6], "wait": [2, 1, 4, 3, 9, 8, 7, 9]}
    ... )
    >>> found = manova(frame, ["rate", "wait"], ["host"], permutations=0).row("host", "Wilks")
    >>> round(found.value, 4), round(found.f, 4), found.degrees, found.error_degrees, round(found.p_value, 4)
    (0.1049, 21.3421, 2, 5.0, 0.0036)
    """
    if permutations < 0:
        raise ResultsError(f"permutations {permutations}: expected a number of at least 1, or 0 for none")
    made = design(frame, factors, type, order, block)
    values = responses_of(frame, responses, [*factors, *([block] if block is not None else [])])
    # One by one first: constant responses are named there.
    between = tuple(analyse(made, name, values[:, place]) for place, name in enumerate(responses))
    scaled = standardized_all(responses, values)
    triangle = error_triangle(made, responses, residuals_of(made, scaled))
    rows: list[Criterion] = []
    for term in made.terms:
        roots = roots_of(made.own(term)[1].T @ scaled, triangle)
        rows += criteria(term.name, roots, len(responses), term.degrees, made.error_degrees)
    assumptions = check_assumptions(made, responses, scaled, alpha)
    permuted: tuple[Permuted, ...] = ()
    if permutations and assumptions.doubts:
        permuted = permute(made, scaled, permutations, seed)
    return Manova(
        tuple(responses),
        made.factors,
        type,
        made.runs,
        made.error_degrees,
        made.is_balanced,
        tuple(rows),
        between,
        assumptions,
        permuted,
    )


def standardized_all(responses: Sequence[str], values: "Array") -> "Array":
    """All columns about their means in units of their deviations."""
    import numpy as np

    return np.column_stack([standardized(name, values[:, place])[0] for place, name in enumerate(responses)])


def error_triangle(made: Design, responses: Sequence[str], residuals: "Array") -> "Array":
    """R of residuals = QR, so that E = R'R. Raises ResultsError if E cannot be inverted."""
    import numpy as np

    if made.error_degrees < len(responses):
        raise ResultsError(
            f"{len(responses)} responses need at least {len(responses)} error degrees of freedom, the design leaves "
            f"{made.error_degrees}: run more repeats, or test fewer responses together"
        )
    lengths = np.sqrt(np.sum(residuals**2, axis=0))
    _, triangle = np.linalg.qr(residuals / lengths)
    for place, name in enumerate(responses):
        if abs(triangle[place, place]) < DEPENDENT:
            weights = np.linalg.solve(triangle[:place, :place], triangle[:place, place])
            named = [f'"{other}"' for other, weight in zip(responses, weights, strict=False) if abs(weight) > 1e-6]
            raise ResultsError(
                f'within the cells "{name}" is a linear combination of {" and ".join(named)}: it says nothing of its '
                "own; leave one of them out"
            )
    found: Array = triangle * lengths
    return found


def roots_of(owned: "Array", triangle: "Array") -> list[float]:
    """Non-zero roots of E^-1 H, largest first, from H = owned'owned and E = triangle'triangle."""
    import numpy as np

    held = np.linalg.solve(triangle.T, owned.T)
    return [float(value) ** 2 for value in np.linalg.svd(held, compute_uv=False)]
