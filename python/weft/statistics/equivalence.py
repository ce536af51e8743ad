"""Equivalence: whether a difference is small enough not to matter, or large enough to matter.

Source: Schuirmann, "A comparison of the two one-sided tests procedure and the power approach for assessing the
equivalence of average bioavailability", J. Pharmacokin. Biopharm. 15, 1987 (TOST). For a margin that is a share of the
reference's mean: Sasabuchi, "A multivariate one-sided test with composite hypotheses when the covariance matrix is
completely unknown", Mem. Fac. Sci. Kyushu 42, 1988, and Hauschke et al., Statist. Med. 18, 1999: the noise of the mean
that the margin is taken of counts too, so the test is right also where the reference itself is uncertain.

A p-value above 0.05 never says that two things are the same; a small `p_within` does.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from weft.errors import ResultsError
from weft.statistics.paired import contrast


@dataclass(frozen=True)
class Equivalence:
    """One-sided p-values about a difference and a margin on both sides of zero.

    `p_within` (TOST): small says that the difference is inside the margin. `p_above`, `p_below`: small says that it is
    beyond the margin on that side. Each is a test of its own: a wrong claim happens with at most the level chosen.
    """

    p_within: float
    p_above: float
    p_below: float


def equivalence(
    reference: Sequence[float],
    other: Sequence[float],
    margin: float,
    is_relative: bool = True,
    is_paired: bool = True,
) -> Equivalence:
    """Ask whether mean(other) - mean(reference) lies within -margin..margin.

    A relative margin is a share of the reference's mean, between 0 and 1; an absolute one is in the values' unit.
    Raises ResultsError for a margin that is negative, a relative one of at least 1, or fewer than two repeats.

    >>> found = equivalence([99.0, 100.0, 101.0], [99.5, 100.0, 101.0], margin=0.05)
    >>> found.p_within < 0.001, found.p_above > 0.999
    (True, True)
    """
    if margin < 0.0 or (is_relative and margin >= 1.0):
        raise ResultsError(f"margin {margin}: expected at least 0{', and below 1 as a share' if is_relative else ''}")
    if is_relative:
        lower, upper = (contrast(reference, other, factor, is_paired) for factor in (1.0 - margin, 1.0 + margin))
        from_below, from_above = lower.p_above(), upper.p_below()
        return Equivalence(max(from_below, from_above), upper.p_above(), lower.p_below())
    found = contrast(reference, other, 1.0, is_paired)
    return Equivalence(
        max(found.p_above(-margin), found.p_below(margin)), found.p_above(margin), found.p_below(-margin)
    )
