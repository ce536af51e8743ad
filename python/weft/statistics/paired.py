"""The difference of two means: of pairs, or of two independent samples.

Sources: Student, "The probable error of a mean", Biometrika 6, 1908 (pairs); Welch, "The generalization of Student's
problem when several different population variances are involved", Biometrika 34, 1947, with the degrees of freedom of
Satterthwaite, Biometrics Bulletin 2, 1946 (independent samples); Fieller, "Some problems in interval estimation",
J. R. Statist. Soc. B 16, 1954 (ratio of two means).

Everything here, and in equivalence.py, is a question about one contrast: other - factor x reference. With factor 1 it
is the difference; with factor 1.05 it asks whether `other` is 5 % above `reference`, with the noise of both counted. A
sample is a list of runs, never of flows: the flows of one run share their fate.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from weft.errors import ResultsError
from weft.statistics.interval import student_t

ROUNDING = 1e-12
"""Two numbers that differ by less than this share of their size are the same number: sums round."""


@dataclass(frozen=True)
class Contrast:
    """An estimate of other - factor x reference, with its standard error and degrees of freedom."""

    value: float
    standard_error: float
    degrees: float

    def p_above(self, bound: float = 0.0) -> float:
        """One-sided p-value against "the contrast is at most `bound`"; small says that it is above."""
        return self._tail(bound - self.value)

    def p_below(self, bound: float = 0.0) -> float:
        """One-sided p-value against "the contrast is at least `bound`"; small says that it is below."""
        return self._tail(self.value - bound)

    @property
    def p_value(self) -> float:
        """Two-sided p-value against "the contrast is zero"; 1 if there is neither difference nor spread."""
        return min(1.0, 2.0 * min(self.p_above(), self.p_below()))

    def half_width(self, confidence: float) -> float:
        """Half the width of the two-sided interval."""
        return 0.0 if self.standard_error == 0.0 else student_t_of(self.degrees, confidence) * self.standard_error

    def _tail(self, distance: float) -> float:
        from scipy.special import stdtr  # loaded late: importing weft loads no scipy

        if self.standard_error == 0.0:
            return 0.0 if distance < 0.0 else 1.0
        return float(stdtr(self.degrees, distance / self.standard_error))


@dataclass(frozen=True)
class Difference:
    """Mean of other minus mean of reference with its interval, and their ratio with its own.

    Bounds, `t`, `degrees` and `p_value` are None with one repeat: it says nothing about the spread. The ratio is None
    where the reference's mean is zero, its bounds also where that mean is not clearly apart from zero (then Fieller's
    interval has no end). `t` is None without spread.
    """

    reference: float
    other: float
    difference: float
    low: float | None
    high: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    t: float | None
    degrees: float | None
    p_value: float | None
    is_paired: bool

    @property
    def is_zero(self) -> bool:
        """Whether both samples are the same numbers without any spread between them."""
        return self.difference == 0.0 and self.low == 0.0 == self.high


def contrast(reference: Sequence[float], other: Sequence[float], factor: float, is_paired: bool) -> Contrast:
    """Estimate other - factor x reference from at least 2 pairs, or 2 values of each.

    Raises ResultsError for fewer, for pairs of unequal number, and for a value that is not finite.

    >>> contrast([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], 1.0, is_paired=True)
    Contrast(value=2.0, standard_error=0.5773502691896257, degrees=2)
    """
    _check(reference, other, is_paired)
    if min(len(reference), len(other)) < 2:
        raise ResultsError("a difference with an interval needs at least two repeats of each")
    if is_paired:
        pairs = zip(reference, other, strict=True)
        mean, variance = _moments([_difference(factor * before, after) for before, after in pairs])
        return Contrast(mean, math.sqrt(variance / len(other)), len(other) - 1)
    (mean_a, variance_a), (mean_b, variance_b) = _moments(reference), _moments(other)
    part_a, part_b = factor * factor * variance_a / len(reference), variance_b / len(other)
    value, squared = _difference(factor * mean_a, mean_b), part_a + part_b
    if squared == 0.0:
        return Contrast(value, 0.0, len(reference) + len(other) - 2)
    # Shares of the variance, not the variances: squares of tiny ones would vanish.
    share_a, share_b = part_a / squared, part_b / squared
    degrees = 1.0 / (share_a**2 / (len(reference) - 1) + share_b**2 / (len(other) - 1))
    return Contrast(value, math.sqrt(squared), degrees)


def difference(
    reference: Sequence[float], other: Sequence[float], confidence: float = 0.95, is_paired: bool = True
) -> Difference:
    """Difference and ratio of two means with two-sided intervals; `is_paired` says that equal places belong together.

    Raises ResultsError for no values, pairs of unequal number, values that are not finite, and a confidence outside
    0..1.

    >>> found = difference([10.0, 20.0, 30.0], [11.0, 22.0, 33.0])
    >>> found.difference, round(found.low, 3), round(found.high, 3), round(found.ratio, 3)
    (2.0, -0.484, 4.484, 1.1)
    """
    if not 0.0 < confidence < 1.0:
        raise ResultsError(f"confidence {confidence} is not between 0 and 1; 0.95 is usual")
    _check(reference, other, is_paired)
    before, after = math.fsum(reference) / len(reference), math.fsum(other) / len(other)
    ratio = None if before == 0.0 else after / before
    if min(len(reference), len(other)) < 2:
        # One repeat of either side: numbers, but no statement.
        plain = _difference(before, after)
        return Difference(before, after, plain, None, None, ratio, None, None, None, None, None, is_paired)
    found = contrast(reference, other, 1.0, is_paired)
    half = found.half_width(confidence)
    ratio_low, ratio_high = _ratio_bounds(reference, other, confidence, is_paired)
    return Difference(
        before,
        after,
        found.value,
        found.value - half,
        found.value + half,
        ratio,
        ratio_low,
        ratio_high,
        found.value / found.standard_error if found.standard_error else None,
        found.degrees,
        found.p_value,
        is_paired,
    )


def differences(reference: Sequence[float], other: Sequence[float]) -> list[float]:
    """Other minus reference, pair by pair; what is rounding of the same number is zero.

    >>> differences([0.3, 1.0], [0.1 + 0.2, 1.5])
    [0.0, 0.5]
    """
    return [_difference(before, after) for before, after in zip(reference, other, strict=True)]


def student_t_of(degrees: float, confidence: float) -> float:
    """Two-sided critical value also for the broken degrees of freedom of Welch."""
    if float(degrees).is_integer():
        return student_t(int(degrees), confidence)
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.5 + confidence / 2.0))


def _ratio_bounds(
    reference: Sequence[float], other: Sequence[float], confidence: float, is_paired: bool
) -> tuple[float | None, float | None]:
    """Fieller: the factors for which the contrast is not apart from zero, the roots of a quadratic equation.

    Independent samples use the degrees of freedom of the difference for every factor, which is an approximation.
    """
    (mean_a, variance_a), (mean_b, variance_b) = _moments(reference), _moments(other)
    var_a, var_b, covariance = variance_a / len(reference), variance_b / len(other), 0.0
    if is_paired:
        products = [(a - mean_a) * (b - mean_b) for a, b in zip(reference, other, strict=True)]
        covariance = math.fsum(products) / (len(products) - 1) / len(products)
    squared_t = student_t_of(contrast(reference, other, 1.0, is_paired).degrees, confidence) ** 2
    square = mean_a**2 - squared_t * var_a
    if square <= 0.0:
        return None, None
    half = mean_a * mean_b - squared_t * covariance
    root = math.sqrt(max(0.0, half**2 - square * (mean_b**2 - squared_t * var_b)))
    return (half - root) / square, (half + root) / square


def _difference(before: float, after: float) -> float:
    found = after - before
    return 0.0 if abs(found) <= ROUNDING * max(abs(before), abs(after)) else found


def _moments(values: Sequence[float]) -> tuple[float, float]:
    """Mean and variance (over n - 1)."""
    mean = math.fsum(values) / len(values)
    return mean, math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _check(reference: Sequence[float], other: Sequence[float], is_paired: bool) -> None:
    for name, values in (("reference", reference), ("other", other)):
        if len(values) == 0:
            raise ResultsError(f"a difference needs at least one value of each side; the {name} has none")
        for place, value in enumerate(values):
            if not math.isfinite(value):
                raise ResultsError(f"value {place} of the {name} is {value}; leave out runs without a value")
    if is_paired and len(reference) != len(other):
        raise ResultsError(
            f"{len(reference)} values cannot be paired with {len(other)}; leave out those without a partner, or "
            "compare unpaired"
        )
