"""What (M)ANOVA takes for granted, tested: equal covariances, normal residuals, equal variances.

Sources: Box, "A general distribution theory for a class of likelihood criteria", Biometrika 36, 1949; Mardia,
"Measures of multivariate skewness and kurtosis with applications", Biometrika 57, 1970, and Sankhya B 36, 1974 (small
samples); Levene 1960; Brown and Forsythe, J. Am. Statist. Assoc. 69, 1974; Shapiro and Wilk, Biometrika 52, 1965.

A test that does not reject proves nothing: with few repeats only gross violations show. Mardia's and Shapiro-Wilk's
tests are made for independent draws; residuals are nearly that when there are many more runs than cells. Measured on
normal data of 4 cells at the 5 % level: with 10 runs a cell and 4 responses Box's M (F) rejects in 5 % of all samples,
Mardia's skewness in 4 %, kurtosis in 2 %, Brown-Forsythe in 3 %, and something is called doubtful in 9 %. With 5 runs a
cell Box's M rejects in 15 %: it wants cells clearly larger than the number of responses.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.errors import ResultsError
from weft.statistics.anova import residuals_of
from weft.statistics.criteria import f_tail
from weft.statistics.design import Design
from weft.statistics.multiple_comparison import holm
from weft.statistics.plain import plain_table, said, said_p

if TYPE_CHECKING:
    from weft.statistics.design import Array, Places

COVARIANCES, NORMALITY, VARIANCES = "equal covariances", "normal residuals", "equal variances"

SMALL = 20
"""Runs below which Mardia's skewness is corrected (Mardia 1974)."""

SINGULAR = 1e-10
"""What is left below this share of a length is rounding."""

SHAPIRO_MOST = 5000
"""Runs up to which the p-value of Shapiro and Wilk is known (Royston 1995)."""


@dataclass(frozen=True)
class Check:
    """One test of one assumption, of all responses or of one.

    `is_judged` marks those that the verdict rests on. Numbers are None where the test cannot be made; `note` says why.
    """

    assumption: str
    test: str
    of: str
    statistic: float | None
    degrees: float | None
    error_degrees: float | None
    p_value: float | None
    is_judged: bool
    note: str = ""


@dataclass(frozen=True)
class Assumptions:
    """The checks of one analysis, and the level of the verdict.

    Tests of one assumption are judged together by Holm's adjusted p-values: several responses do not raise more alarms.
    """

    rows: tuple[Check, ...]
    alpha: float

    @property
    def doubts(self) -> tuple[str, ...]:
        """One sentence for each test that rejects its assumption."""
        return tuple(_doubt(row) for row, adjusted in self._judged() if adjusted < self.alpha)

    @property
    def verdict(self) -> str:
        """What the checks say, in a sentence or several."""
        unmade = [f"{row.test} was not made: {row.note}" for row in self.rows if row.is_judged and row.p_value is None]
        said_doubts = list(self.doubts) or [f"no assumption is doubtful at the {self.alpha:g} level"]
        return "\n".join([*said_doubts, *unmade])

    def text(self) -> str:
        """The table and the verdict as plain text."""
        header = ("assumption", "test", "of", "statistic", "df", "error df", "p")
        body = [
            (
                row.assumption,
                row.test,
                row.of,
                said(row.statistic),
                said(row.degrees),
                said(row.error_degrees, 5),
                said_p(row.p_value),
            )
            for row in self.rows
        ]
        return f"assumptions\n{plain_table(header, body, left=3)}\n{self.verdict}"

    def _judged(self) -> Iterable[tuple[Check, float]]:
        for assumption in dict.fromkeys(row.assumption for row in self.rows):
            family = [
                (row, row.p_value)
                for row in self.rows
                if row.assumption == assumption and row.is_judged and row.p_value is not None
            ]
            adjusted = holm([p_value for _, p_value in family])
            yield from ((row, p) for (row, _), p in zip(family, adjusted, strict=True))


def check_assumptions(made: Design, responses: Sequence[str], values: "Array", alpha: float = 0.05) -> Assumptions:
    """All checks of values, shape (runs, responses), under a design; their units do not matter.

    With one response the multivariate ones give way to Shapiro-Wilk. Raises ResultsError for an alpha outside 0..1.
    """
    if not 0.0 < alpha < 1.0:
        raise ResultsError(f"alpha {alpha} is not between 0 and 1; 0.05 is usual")
    residuals = residuals_of(made, values)
    # A block shifts all cells alike, so what it shifts is no difference within a cell. The tests count its degrees of
    # freedom as still there, which makes them careful: of ten blocks and 2 x 2 cells, Box's M rejects in 1 %.
    blocks = [term for term in made.terms if not term.factors]
    if blocks:
        _, owned = made.own(blocks[0])
        values = values - owned @ (owned.T @ values)
    is_one = len(responses) == 1
    rows: list[Check] = []
    if not is_one:
        rows += box_m(values, made.cells, "all responses")
        rows += mardia(residuals, "all responses")
    for place, name in enumerate(responses):
        rows.append(shapiro_wilk(residuals[:, place], name, is_judged=is_one))
    for place, name in enumerate(responses):
        rows += levene(values[:, place], made.cells, name)
    return Assumptions(tuple(rows), alpha)


def box_m(values: "Array", cells: "Places", of: str) -> list[Check]:
    """Box's M with its approximations by chi-square and by F; the latter is judged, as it holds for small cells too.

    `values` has shape (runs, responses), `cells` numbers the cell of each run.
    """
    import numpy as np

    p = values.shape[1]
    groups = [values[cells == cell] for cell in np.unique(cells)]
    smallest = min(len(group) for group in groups)
    if smallest <= p:
        note = f"{p} responses need more than {p} runs in every cell, the smallest has {smallest}"
        return [Check(COVARIANCES, "Box's M", of, None, None, None, None, True, note)]
    free = [len(group) - 1 for group in groups]
    deviations = [group - group.mean(axis=0) for group in groups]
    stacked = np.vstack(deviations)
    logs = [_log_determinant(part, degrees) for part, degrees in zip(deviations, free, strict=True)]
    if not all(np.isfinite(logs)):
        note = "the responses depend on each other linearly within a cell"
        return [Check(COVARIANCES, "Box's M", of, None, None, None, None, True, note)]
    total, g = sum(free), len(groups)
    m = total * _log_determinant(stacked, total) - sum(v * log for v, log in zip(free, logs, strict=True))
    degrees = p * (p + 1) * (g - 1) / 2
    first = (sum(1 / v for v in free) - 1 / total) * (2 * p * p + 3 * p - 1) / (6 * (p + 1) * (g - 1))
    second = (sum(1 / v**2 for v in free) - 1 / total**2) * (p - 1) * (p + 2) / (6 * (g - 1))
    f, left = _box_f(m, degrees, first, second)
    p_value = _chi_square_tail((1 - first) * m, degrees) if left is None else f_tail(f, degrees, left)
    return [
        Check(COVARIANCES, "Box's M (F)", of, f, degrees, left, p_value, True),
        Check(
            COVARIANCES,
            "Box's M (χ²)",
            of,
            (1 - first) * m,
            degrees,
            None,
            _chi_square_tail((1 - first) * m, degrees),
            False,
        ),
    ]


def mardia(residuals: "Array", of: str) -> list[Check]:
    """Mardia's multivariate skewness (chi-square) and kurtosis (normal) of residuals, shape (runs, responses)."""
    import numpy as np

    n, p = residuals.shape
    # Whitened by the covariance over n, as in the definition: products of rows are then g_ij.
    centered = residuals - residuals.mean(axis=0)
    whitened = np.linalg.qr(centered)[0] * np.sqrt(n)
    products = whitened @ whitened.T
    skewness = float(np.mean(products**3))
    kurtosis = float(np.mean(np.diag(products) ** 2))
    degrees = p * (p + 1) * (p + 2) / 6
    correction = (p + 1) * (n + 1) * (n + 3) / (n * ((n + 1) * (p + 1) - 6)) if n < SMALL else 1.0
    chi_square = correction * n * skewness / 6
    z = (kurtosis - p * (p + 2)) / (8 * p * (p + 2) / n) ** 0.5
    return [
        Check(NORMALITY, "Mardia skewness", of, chi_square, degrees, None, _chi_square_tail(chi_square, degrees), True),
        Check(NORMALITY, "Mardia kurtosis (z)", of, z, None, None, _two_tails(z), True),
    ]


def shapiro_wilk(residuals: "Array", of: str, is_judged: bool) -> Check:
    """Shapiro-Wilk of the residuals of one response, shape (runs,)."""
    name = "Shapiro-Wilk"
    if not 3 <= len(residuals) <= SHAPIRO_MOST:
        note = f"it is known for 3 to {SHAPIRO_MOST} runs, here are {len(residuals)}"
        return Check(NORMALITY, name, of, None, None, None, None, is_judged, note)
    from scipy.stats import shapiro

    found = shapiro(residuals)
    return Check(NORMALITY, name, of, float(found.statistic), None, None, float(found.pvalue), is_judged)


def levene(values: "Array", cells: "Places", of: str) -> list[Check]:
    """Levene's test about the medians (Brown-Forsythe), which is judged as it bears skewed values, and the means."""
    import numpy as np

    groups = [values[cells == cell] for cell in np.unique(cells)]
    degrees, left = len(groups) - 1, len(values) - len(groups)
    found = []
    for name, center, is_judged in (("Brown-Forsythe", np.median, True), ("Levene", np.mean, False)):
        spreads = [np.abs(group - center(group)) for group in groups]
        overall = np.concatenate(spreads).mean()
        between = sum(len(spread) * (spread.mean() - overall) ** 2 for spread in spreads)
        within = sum(np.sum((spread - spread.mean()) ** 2) for spread in spreads)
        if left < 1 or within <= SINGULAR**2 * sum(np.sum(spread**2) for spread in spreads):
            note = "the distances from the center of a cell do not vary: it needs at least three runs in a cell"
            found.append(Check(VARIANCES, name, of, None, None, None, None, is_judged, note))
            continue
        f = float(between / degrees / (within / left))
        found.append(Check(VARIANCES, name, of, f, degrees, left, f_tail(f, degrees, left), is_judged))
    return found


def _box_f(m: float, degrees: float, first: float, second: float) -> tuple[float, float | None]:
    """F and its error degrees (Box 1949); without them where F is chi-square over its degrees."""
    gap = second - first**2
    if gap > 0.0:
        left = (degrees + 2) / gap
        return m * (1 - first - degrees / left) / degrees, left
    if gap == 0.0:
        return m * (1 - first) / degrees, None
    left = (degrees + 2) / -gap
    scale = left / (1 - first + 2 / left)
    # Beyond the scale M is larger than any that the approximation knows.
    return (left * m / (degrees * (scale - m)) if m < scale else math.inf), left


def _log_determinant(deviations: "Array", degrees: int) -> float:
    """Logarithm of the determinant of the covariance of deviations from the mean; not finite if it is singular."""
    import numpy as np

    _, triangle = np.linalg.qr(deviations)
    diagonal, lengths = np.abs(np.diag(triangle)), np.sqrt(np.sum(deviations**2, axis=0))
    if np.any(diagonal <= SINGULAR * lengths):
        return float("-inf")
    return float(2 * np.sum(np.log(diagonal)) - deviations.shape[1] * np.log(degrees))


def _chi_square_tail(value: float, degrees: float) -> float:
    from scipy.special import chdtrc

    return float(chdtrc(degrees, max(value, 0.0)))


def _two_tails(z: float) -> float:
    from scipy.special import ndtr

    return float(2.0 * ndtr(-abs(z)))


def _doubt(row: Check) -> str:
    whose = "" if row.of == "all responses" else f" of {row.of}"
    free = "" if row.degrees is None else f" (df {said(row.degrees)}"
    free += "" if row.degrees is None else f", {said(row.error_degrees, 5)})" if row.error_degrees else ")"
    return f"{row.assumption}{whose} are doubtful: {row.test} = {said(row.statistic)}{free}, p {_equals(row.p_value)}"


def _equals(p_value: float | None) -> str:
    text = said_p(p_value)
    return text if text.startswith("<") else f"= {text}"
