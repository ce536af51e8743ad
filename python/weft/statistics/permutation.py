"""Permutation tests of the effects of a design: how often chance alone gives as large an effect.

Source: Freedman and Lane, "A nonstochastic interpretation of reported significance levels", J. Bus. Econ. Statist. 1,
1983; Winkler et al., NeuroImage 92, 2014 (with blocks). An effect is taken away by fitting only what is given to the
other effects before it (design.py); if it is not there, the residuals of that fit are in any order. So runs'
residuals, all responses of a run together, are shuffled over the runs (within their block, if the design has blocks),
and the effect is tested again. p = (b + 1) / (m + 1) with b of m shuffles at least as large (Phipson and Smyth 2010):
never zero.

Neither normality nor an approximation of F is needed. Unequal covariances still matter where cells have unequal numbers
of runs: what is shuffled must be exchangeable.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.statistics.design import Design, Term

if TYPE_CHECKING:
    import numpy as np

    from weft.statistics.design import Array

BATCH = 500
"""Shuffles that are computed at once: bounds the memory."""

TIE = 1e-9
"""Shuffles whose statistic differs by less than this share are as large: sums round."""


@dataclass(frozen=True)
class Permuted:
    """One effect: `exceeding` of `permutations` shuffles have at least the value that was observed."""

    effect: str
    statistic: str
    value: float
    exceeding: int
    permutations: int
    seed: int
    p_value: float


def permute(made: Design, values: "Array", permutations: int, seed: int) -> tuple[Permuted, ...]:
    """Test every effect by Pillai's trace of values, shape (runs, responses); for one response that is partial eta².

    Every effect draws from a stream of its own, so the same seed gives the same result whatever else is tested.
    """
    import numpy as np

    whole = made.basis(made.terms)
    return tuple(
        _effect(made, term, whole, values, permutations, seed, np.random.default_rng([seed, place]))
        for place, term in enumerate(made.terms)
    )


def _effect(
    made: Design,
    term: Term,
    whole: "Array",
    values: "Array",
    permutations: int,
    seed: int,
    random: "np.random.Generator",
) -> Permuted:
    import numpy as np

    before, owned = made.own(term)
    residuals = values - before @ (before.T @ values)
    observed = float(_pillai(residuals[None], owned, whole)[0])
    exceeding = 0
    for start in range(0, permutations, BATCH):
        orders = _orders(made, min(BATCH, permutations - start), random)
        exceeding += int(np.sum(_pillai(residuals[orders], owned, whole) >= observed * (1.0 - TIE)))
    p_value = (exceeding + 1) / (permutations + 1)
    return Permuted(term.name, "Pillai's trace", observed, exceeding, permutations, seed, p_value)


def _orders(
    made: Design, count: int, random: "np.random.Generator"
) -> "np.ndarray[tuple[int, int], np.dtype[np.intp]]":
    """Orders of the runs, shape (count, runs); a run stays in its block."""
    import numpy as np

    orders = np.tile(np.arange(made.runs), (count, 1))
    groups = np.zeros(made.runs, dtype=np.intp) if made.blocks is None else made.blocks
    for group in range(int(groups.max()) + 1):
        places = np.flatnonzero(groups == group)
        orders[:, places] = random.permuted(orders[:, places], axis=1)
    return orders


def _pillai(shuffled: "Array", owned: "Array", whole: "Array") -> "Array":
    """Pillai's trace, tr H (H + E)^-1, of each of (shuffles, runs, responses); shape (shuffles,).

    The fit of the other effects, which Freedman and Lane add to the shuffled residuals, is orthogonal to `owned` and
    part of `whole`, so it would change neither H nor E and is left out.
    """
    import numpy as np

    own = owned.T @ shuffled
    fitted = whole.T @ shuffled
    between = np.swapaxes(own, 1, 2) @ own
    error = np.swapaxes(shuffled, 1, 2) @ shuffled - np.swapaxes(fitted, 1, 2) @ fitted
    found: Array = np.trace(np.linalg.solve(between + error, between), axis1=1, axis2=2)
    return found
