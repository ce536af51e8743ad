"""Bisection: how little joins two halves of a fabric's hosts. Found exactly only for small fabrics; here it is bounded.

From above by the best cut found: Kernighan and Lin (Bell System Technical Journal 49, 1970) exchange switches between
the halves, beginning with the sign of an eigenvector and with random halves. From below by the spectrum: with x = +-1
for the two sides, the cut is x'Lx / 4 (L is the Laplacian, weighted with the rates); among all x of that length whose
sum over hosts is zero, no x'Lx is below the number of switches times the smallest eigenvalue of L on that plane
(Fiedler, Czechoslovak Mathematical Journal 23, 1973). Hosts of one switch stay together; a switch without hosts may
lie on either side.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_SWITCHES = 1500
"""Above, no bisection is looked for: the spectrum takes time that grows with the third power."""

RANDOM_STARTS = 4
"""Halves drawn at random beside that of the spectrum."""


@dataclass(frozen=True)
class Bisection:
    """Bounds, in the unit of the weights; `share` of the hosts on the smaller side of the best cut."""

    lower: float
    best: float
    share: float


def bisection(weights: "NDArray[np.float64]", hosts: Sequence[int], seed: int = 1) -> Bisection:
    """Bounds for switches joined by `weights` (a symmetric matrix), with so many hosts each.

    Where the hosts do not divide, a half can have more of them than the other; the lower bound is for even halves.

    >>> ring = np.roll(np.eye(8), 1, 0) + np.roll(np.eye(8), -1, 0)
    >>> found = bisection(ring, [1] * 8)
    >>> found.best, found.share
    (2.0, 0.5)
    """
    matrix = np.asarray(weights, dtype=np.float64)
    load = np.asarray(hosts, dtype=np.float64)
    count = len(load)
    if count < 2:
        return Bisection(0.0, 0.0, 0.0)
    laplacian = np.diag(matrix.sum(1)) - matrix
    # On the plane across `load`: the other direction is lifted out of the way.
    unit = load / np.linalg.norm(load)
    project = np.eye(count) - np.outer(unit, unit)
    lifted = project @ laplacian @ project + np.outer(unit, unit) * (np.trace(laplacian) + 1)
    values, vectors = np.linalg.eigh(lifted)
    lower = max(0.0, float(values[0]) * count / 4)
    random = np.random.default_rng(seed)
    starts = [vectors[:, 0], *(random.standard_normal(count) for _ in range(RANDOM_STARTS))]
    best, side = min((_improved(matrix, load, _halves(start, load)) for start in starts), key=lambda found: found[0])
    total = float(load.sum())
    smaller = min(float(load[side > 0].sum()), float(load[side < 0].sum()))
    return Bisection(lower, best, smaller / total if total else 0.0)


def of_links(nodes: Mapping[str, Sequence[Any]], links: Mapping[str, Sequence[Any]]) -> "Bisection | None":
    """The bisection of a scenario, from its `nodes()` and `links()`, in bits per second one way.

    None for a single switch, and above MOST_SWITCHES of them.

    Each host counts at its first switch, and a cable with the slower of its directions that are up.
    """
    index = {name: n for n, name in enumerate(nodes["name"])}
    is_switch = [kind == "switch" for kind in nodes["kind"]]
    number = {n: at for at, n in enumerate(n for n, is_one in enumerate(is_switch) if is_one)}
    if not 1 < len(number) <= MOST_SWITCHES:
        return None
    weights = np.zeros((len(number), len(number)))
    hosts = [0] * len(number)
    seen = set()
    for src, dst, rate, is_up in zip(links["src"], links["dst"], links["rate_bps"], links["is_up"], strict=True):
        a, b = index[src], index[dst]
        if is_switch[a] and is_switch[b]:
            weights[number[a], number[b]] += rate if is_up else 0
        elif is_switch[b] and a not in seen:
            seen.add(a)
            hosts[number[b]] += 1
    return bisection(np.minimum(weights, weights.T), hosts)


def _halves(order: "NDArray[np.float64]", load: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Sides +1 and -1: switches in this order until half of the hosts are reached, as nearly as they go."""
    side = np.ones(len(load))
    filled, half = 0.0, load.sum() / 2
    for at in np.argsort(order, kind="stable"):
        if filled + load[at] <= half + 1e-9 and (load[at] or order[at] < 0):
            filled += load[at]
            side[at] = -1
    return side


def _improved(
    matrix: "NDArray[np.float64]", load: "NDArray[np.float64]", side: "NDArray[np.float64]"
) -> "tuple[float, NDArray[np.float64]]":
    """The cut after passes of exchanges, while they help; and the sides."""
    side = side.copy()
    while True:
        trial, total, best, moves = side.copy(), 0.0, 0.0, 0
        is_free = np.ones(len(load), dtype=bool)
        history: list[list[int]] = []
        pull = matrix @ trial
        for _ in range(len(load)):
            # What the cut loses when a switch alone changes its side.
            changed = _best_exchange(matrix, load, trial, -trial * pull, is_free)
            if changed is None:
                break
            which, gained = changed
            for at in which:
                trial[at] = -trial[at]
                pull += 2 * trial[at] * matrix[at]
                is_free[at] = False
            history.append(which)
            total += gained
            if total > best + 1e-9:
                best, moves = total, len(history)
        if not moves:
            cut = float((matrix.sum() - side @ matrix @ side) / 4)
            return cut, side
        for which in history[:moves]:
            side[which] = -side[which]


def _best_exchange(
    matrix: "NDArray[np.float64]",
    load: "NDArray[np.float64]",
    side: "NDArray[np.float64]",
    gain: "NDArray[np.float64]",
    is_free: "NDArray[np.bool_]",
) -> tuple[list[int], float] | None:
    """The switches that change sides, a pair with equally many hosts or one without any, and what the cut loses."""
    best: tuple[list[int], float] | None = None
    empty = np.flatnonzero(is_free & (load == 0))
    if len(empty):
        at = int(empty[np.argmax(gain[empty])])
        best = ([at], float(gain[at]))
    for hosts in np.unique(load[is_free & (load > 0)]):
        here = np.flatnonzero(is_free & (load == hosts) & (side > 0))
        there = np.flatnonzero(is_free & (load == hosts) & (side < 0))
        if not len(here) or not len(there):
            continue
        # Few candidates of each side hold the best pair: a pair loses its common cable twice.
        here, there = (some[np.argsort(-gain[some], kind="stable")[:40]] for some in (here, there))
        pairs = gain[here][:, None] + gain[there][None, :] - 2 * matrix[np.ix_(here, there)]
        a, b = np.unravel_index(int(np.argmax(pairs)), pairs.shape)
        if best is None or pairs[a, b] > best[1]:
            best = ([int(here[a]), int(there[b])], float(pairs[a, b]))
    return best
