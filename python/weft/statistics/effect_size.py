"""Effect sizes: how large a difference is beside the spread of the repeats, whatever its unit.

Sources: Cohen, "Statistical Power Analysis for the Behavioral Sciences", 1988, section 2.3.5 (d_z); Hedges,
"Distribution theory for Glass's estimator of effect size", J. Educ. Statist. 6, 1981 (g); Cliff, "Dominance
statistics", Psychol. Bull. 114, 1993 (delta). A simulation can be made as quiet as one likes, so an effect size says
how easily the difference is seen, not whether it matters: that is what the margin is for.
"""

import math
from collections.abc import Sequence

from weft.errors import ResultsError


def cohens_dz(differences: Sequence[float]) -> float | None:
    """Mean of paired differences over their standard deviation; None with one pair or a spread of zero.

    No difference at all is 0.

    >>> cohens_dz([1.0, 2.0, 3.0])
    2.0
    """
    _check(differences)
    return _over_spread(math.fsum(differences) / len(differences), _squares(differences), len(differences) - 1)


def hedges_g(reference: Sequence[float], other: Sequence[float]) -> float | None:
    """Difference of means over the pooled standard deviation, freed of its bias in small samples (exactly).

    None with fewer than three values in all, or a spread of zero with a difference; no difference at all is 0.

    >>> round(hedges_g([1.0, 2.0, 3.0], [3.0, 4.0, 5.0]), 6)
    1.595769
    """
    _check(reference)
    _check(other)
    degrees = len(reference) + len(other) - 2
    apart = math.fsum(other) / len(other) - math.fsum(reference) / len(reference)
    biased = _over_spread(apart, _squares(reference) + _squares(other), degrees)
    if biased is None or biased == 0.0:
        return biased
    if degrees == 1:
        return None  # the correction, Gamma(1/2) / Gamma(0), is zero: nothing unbiased can be said
    logarithm = math.lgamma(degrees / 2) - math.lgamma((degrees - 1) / 2) - math.log(degrees / 2) / 2
    return biased * math.exp(logarithm)


def cliffs_delta(reference: Sequence[float], other: Sequence[float]) -> float:
    """How often a value of `other` is above one of `reference`, minus how often below: -1 to 1.

    >>> cliffs_delta([1.0, 2.0, 3.0], [2.0, 3.0, 4.0])
    0.5555555555555556
    """
    _check(reference)
    _check(other)
    above = sum(after > before for after in other for before in reference)
    below = sum(after < before for after in other for before in reference)
    return (above - below) / (len(reference) * len(other))


def _over_spread(apart: float, squares: float, degrees: int) -> float | None:
    if degrees < 1:
        return None
    if squares == 0.0:
        return 0.0 if apart == 0.0 else None
    return apart / math.sqrt(squares / degrees)


def _squares(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values)


def _check(values: Sequence[float]) -> None:
    if len(values) == 0:
        raise ResultsError("an effect size needs at least one value, got none")
    if not all(math.isfinite(value) for value in values):
        raise ResultsError("an effect size of values that are not finite; leave out runs without a value")
