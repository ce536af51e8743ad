"""Verdicts: from the numbers of two sides to one word.

Two questions, each with its own test (docs/comparing.md):

- is there a difference? The t test of no difference, adjusted for the family of all tests.
- does it matter? Two one-sided tests against the margin: is it shown to be within, or beyond?
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from weft.comparison.margin import Margin
from weft.statistics.effect_size import cliffs_delta, cohens_dz, hedges_g
from weft.statistics.equivalence import Equivalence, equivalence
from weft.statistics.paired import Difference, difference, differences

IDENTICAL = "identical"
EQUIVALENT = "equivalent"
WITHIN = "different, within the margin"
BETTER, WORSE = "better", "worse"
BETTER_PERHAPS, WORSE_PERHAPS = "better, perhaps within the margin", "worse, perhaps within the margin"
UNDECIDED = "undecided (more repeats)"
ONE_REPEAT = "no verdict: one repeat"

VERDICTS = {
    BETTER: "a difference, and more than the margin",
    WORSE: "a difference, and more than the margin",
    BETTER_PERHAPS: "a difference; more repeats tell whether it is more than the margin",
    WORSE_PERHAPS: "a difference; more repeats tell whether it is more than the margin",
    WITHIN: "a difference, and less than the margin",
    EQUIVALENT: "any difference is less than the margin",
    IDENTICAL: "every run has the fingerprint of its partner",
    UNDECIDED: "neither a difference nor equivalence is shown",
    ONE_REPEAT: "one repeat says nothing about chance",
}
"""Every verdict and what it says, the clearest first."""


@dataclass(frozen=True)
class Compared:
    """What the numbers of two sides say, before the family of tests is known.

    `d` is Cohen's d_z of pairs or Hedges' g of independent samples. `p_value`s are None with one repeat.
    """

    found: Difference
    sizes: Equivalence | None
    margin: Margin
    d: float | None
    delta: float
    counts: tuple[int, int]
    is_identical: bool = False


def compared(
    reference: Sequence[float],
    other: Sequence[float],
    margin: Margin,
    confidence: float,
    is_paired: bool,
    is_identical: bool = False,
) -> Compared:
    """Compare the values of two sides, of one run each. Raises ResultsError for what statistics/ refuses."""
    found = difference(reference, other, confidence, is_paired)
    counts = (len(reference), len(other))
    sizes = None
    if min(counts) > 1:
        sizes = equivalence(reference, other, margin.size, margin.is_relative, is_paired)
    d = cohens_dz(differences(reference, other)) if is_paired else hedges_g(reference, other)
    return Compared(found, sizes, margin, d, cliffs_delta(reference, other), counts, is_identical)


def verdict(one: Compared, p_adjusted: float | None, better: Literal["higher", "lower"], level: float) -> str:
    """The word for a comparison; `level` is 1 - confidence, and `better` the direction of improvement."""
    if one.is_identical:
        return IDENTICAL
    if one.sizes is None or p_adjusted is None:
        return ONE_REPEAT
    if one.found.is_zero:
        return EQUIVALENT
    is_different = p_adjusted <= level
    if one.sizes.p_within <= level:
        return WITHIN if is_different else EQUIVALENT
    if not is_different:
        return UNDECIDED
    is_up = one.found.difference > 0
    is_beyond = (one.sizes.p_above if is_up else one.sizes.p_below) <= level
    if is_up == (better == "higher"):
        return BETTER if is_beyond else BETTER_PERHAPS
    return WORSE if is_beyond else WORSE_PERHAPS
