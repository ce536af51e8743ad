"""The four criteria of a multivariate effect, from the eigenvalues of its variation over that of the error.

Sources: Wilks, Biometrika 24, 1932, with the F of Rao, Bull. Int. Statist. Inst. 33, 1951; Pillai, Ann. Math.
Statist. 26, 1955; Lawley, Biometrika 30, 1938, and Hotelling 1951, with Pillai's F; Roy, Ann. Math. Statist. 24,
1953. The F and their degrees are those of R's summary.manova, of SPSS, and of SAS without MSTAT=EXACT.

With p responses, q degrees of the effect and v of the error: s = min(p, q). If s = 1 all four are one exact test.
Wilks' F is exact for s = 2 too. Roy's F is an upper bound: its p-value is too small.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

EXACT, APPROXIMATE, UPPER_BOUND = "exact", "approximate", "upper bound"


@dataclass(frozen=True)
class Criterion:
    """One criterion of one effect.

    `quality` says what its F is. F, degrees and p-value are None where the approximation has no degrees of freedom
    left.
    """

    effect: str
    criterion: str
    value: float
    f: float | None
    degrees: float
    error_degrees: float | None
    p_value: float | None
    quality: str
    partial_eta_squared: float


def criteria(effect: str, roots: Sequence[float], responses: int, degrees: int, error: int) -> tuple[Criterion, ...]:
    """Wilks, Pillai, Hotelling-Lawley and Roy of the roots of E^-1 H; at least as many error degrees as responses.

    >>> for found in criteria("rate", [1.0], responses=1, degrees=1, error=10):
    ...     print(found.criterion, found.value, found.f, round(found.p_value, 4), found.quality)
    Wilks' lambda 0.5 10.0 0.0101 exact
    Pillai's trace 0.5 10.0 0.0101 exact
    Hotelling-Lawley trace 1.0 10.0 0.0101 exact
    Roy's largest root 1.0 10.0 0.0101 exact
    """
    p, q, v = responses, degrees, error
    s = min(p, q)
    above, below = (abs(p - q) - 1) / 2, (v - p - 1) / 2
    always = EXACT if s == 1 else APPROXIMATE

    wilks = math.exp(-math.fsum(math.log1p(root) for root in roots))
    shape = math.sqrt((p * p * q * q - 4) / (p * p + q * q - 5)) if p * p + q * q > 5 else 1.0
    left = (v - (p - q + 1) / 2) * shape - (p * q - 2) / 2
    # (1 - w) / w with w = wilks^(1/shape), without the loss of digits at w near 1.
    ratio = math.expm1(math.fsum(math.log1p(root) for root in roots) / shape)

    pillai = math.fsum(root / (1.0 + root) for root in roots)
    hotelling, roy = math.fsum(roots), max(roots)
    wide, hotelling_left = 2 * above + s + 1, 2 * (s * below + 1)
    pillai_left, roy_left = s * (2 * below + s + 1), v - max(p, q) + q
    numbers = (
        ("Wilks' lambda", wilks, ratio, p * q, left, EXACT if s <= 2 else APPROXIMATE, 1.0 - wilks ** (1.0 / s)),
        ("Pillai's trace", pillai, pillai / (s - pillai), s * wide, pillai_left, always, pillai / s),
        (
            "Hotelling-Lawley trace",
            hotelling,
            hotelling / s,
            s * wide,
            hotelling_left,
            always,
            hotelling / (hotelling + s),
        ),
        ("Roy's largest root", roy, roy, max(p, q), roy_left, EXACT if s == 1 else UPPER_BOUND, roy / (1.0 + roy)),
    )
    return tuple(_criterion(effect, *number) for number in numbers)


def f_tail(f: float, degrees: float, error: float) -> float:
    """P(F > f): the p-value of an F test."""
    from scipy.special import fdtrc  # loaded late: importing weft loads no scipy

    return float(fdtrc(degrees, error, f))


def _criterion(
    effect: str, name: str, value: float, ratio: float, degrees: float, left: float, quality: str, share: float
) -> Criterion:
    """`ratio` is that of the effect's to the error's part, so F is it times the ratio of the degrees."""
    if left <= 0.0:
        return Criterion(effect, name, value, None, degrees, None, None, quality, share)
    f = ratio * left / degrees
    return Criterion(effect, name, value, f, degrees, left, f_tail(f, degrees, left), quality, share)
