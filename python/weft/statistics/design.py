"""Factorial designs: which runs got which levels, and the part of the variation that each effect owns.

Sources: Searle, "Linear Models for Unbalanced Data", Wiley 1987; for the types Yates, J. Am. Statist. Assoc. 29,
1934, and Speed, Hocking and Hackney, "Methods of analysis of linear models with unbalanced data", ibid. 73, 1978.

Factors are coded to sum to zero, so a main effect is a deviation from the unweighted mean of the cells. An effect
owns what its columns explain after the others were given theirs: *type III* gives to all others first, *type II* to
all that do not contain it. With equal cells both are the classic analysis. Projections are by QR, never by
differences of large sums.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from weft.errors import ResultsError

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]
    Places: TypeAlias = NDArray[np.intp]

CROSS = " × "
"""Between the factors of an interaction's name."""

MOST_CELLS = 10_000
"""Cells up to which the empty ones are looked for, if there are more cells than runs."""

MOST_NAMED = 5
"""Empty cells that an error names one by one."""


@dataclass(frozen=True, eq=False)
class Term:
    """An effect: places of its factors (none: the block), its name, and its coded columns, shape (runs, degrees)."""

    factors: tuple[int, ...]
    name: str
    columns: "Array"

    @property
    def degrees(self) -> int:
        """Degrees of freedom."""
        return int(self.columns.shape[1])


@dataclass(frozen=True, eq=False)
class Design:
    """The terms of a model over `runs` runs, the cell of each run, and how many runs each cell has.

    `cells` has shape (runs,) and counts from 0 in the order of `counts`; `blocks` likewise, or is None. Bases are
    computed once and kept, read-only, for all responses: with hundreds of columns they are nearly all of the work.
    """

    factors: tuple[str, ...]
    runs: int
    type: int
    terms: tuple[Term, ...]
    counts: Mapping[tuple[Any, ...], int]
    cells: "Places"
    blocks: "Places | None"
    _bases: "dict[tuple[Term, ...], Array]" = field(default_factory=dict, init=False, repr=False)
    _owned: "dict[Term, Array]" = field(default_factory=dict, init=False, repr=False)

    @property
    def model_degrees(self) -> int:
        """Degrees of freedom of all terms together, without the mean."""
        return sum(term.degrees for term in self.terms)

    @property
    def error_degrees(self) -> int:
        """Degrees of freedom that are left for the error."""
        return self.runs - 1 - self.model_degrees

    @property
    def is_balanced(self) -> bool:
        """Whether every cell has the same number of runs."""
        return len(set(self.counts.values())) == 1

    def basis(self, terms: Sequence[Term]) -> "Array":
        """Orthonormal columns that span the mean (the first) and the terms, shape (runs, 1 + degrees)."""
        import numpy as np

        asked = tuple(terms)
        if asked in self._bases:
            return self._bases[asked]
        columns = np.hstack([np.ones((self.runs, 1)), *(term.columns for term in terms)])
        basis, triangle = np.linalg.qr(columns)
        diagonal = np.abs(np.diag(triangle))
        if diagonal.min() < 1e-9 * diagonal.max():
            raise ResultsError(
                "the effects cannot be told apart: too many runs of the blocks are missing; add them, or leave out "
                "the block"
            )
        basis.flags.writeable = False
        self._bases[asked] = basis
        return basis

    def given(self, term: Term) -> list[Term]:
        """The terms that are served before this one, by the type of the sums of squares."""
        others = [other for other in self.terms if other is not term]
        if self.type == 3:
            return others
        return [other for other in others if not (term.factors and set(term.factors) < set(other.factors))]

    def own(self, term: Term) -> tuple["Array", "Array"]:
        """Orthonormal bases of what is given to the others first, and of what the term owns after that."""
        import numpy as np

        before = self.basis(self.given(term))
        if term in self._owned:
            return before, self._owned[term]
        columns = term.columns - before @ (before.T @ term.columns)
        # Once more: what rounding left of the others is small against the columns, not against their remainder.
        columns -= before @ (before.T @ columns)
        owned, _ = np.linalg.qr(columns)
        owned.flags.writeable = False
        self._owned[term] = owned
        return before, owned


def design(
    frame: "pl.DataFrame",
    factors: Sequence[str],
    type: int = 3,
    order: int | None = None,
    block: str | None = None,
) -> Design:
    """Design of a polars frame with one row per run.

    `order` is the largest number of factors in one interaction, all of them if None. `block` names a column whose
    levels shift all runs equally (a repeat that shares its seed over the cells); it interacts with nothing. Raises
    ResultsError for a column that is missing, empty or has one level, for empty cells, and if no degrees of freedom
    are left.

    >>> import polars as pl
    >>> found = design(pl.DataFrame({"a": [0, 0, 1, 1] * 2, "b": ["x", "y"] * 4}), ["a", "b"])
    >>> [(term.name, term.degrees) for term in found.terms], found.error_degrees
    ([('a', 1), ('b', 1), ('a × b', 1)], 4)
    """
    if type not in (2, 3):
        raise ResultsError(f"sums of squares of type {type}: expected 2 or 3")
    if not factors:
        raise ResultsError("a design needs at least one factor")
    if order is not None and not 1 <= order <= len(factors):
        raise ResultsError(f"order {order}: expected 1 (no interactions) to {len(factors)}, the number of factors")
    named = [*factors, *([block] if block is not None else [])]
    for name in named:
        if named.count(name) > 1:
            raise ResultsError(f'"{name}" is named twice among the factors and the block')
    columns = [_levels(frame, name) for name in named]
    counts, cells = _cells(factors, columns[: len(factors)])
    coded = [_sum_to_zero(codes, len(levels)) for codes, levels in columns]
    terms = [Term((), block, coded[-1])] if block is not None else []
    for size in range(1, (order or len(factors)) + 1):
        for places in itertools.combinations(range(len(factors)), size):
            name = CROSS.join(factors[place] for place in places)
            terms.append(Term(places, name, _product([coded[place] for place in places])))
    blocks = columns[-1][0] if block is not None else None
    found = Design(tuple(factors), frame.height, type, tuple(terms), counts, cells, blocks)
    if found.error_degrees < 1:
        raise ResultsError(
            f"{found.runs} runs and {1 + found.model_degrees} parameters leave nothing to estimate the error from; run "
            "more repeats, or leave out interactions (order = 1)"
        )
    found.basis(found.terms)
    return found


def responses_of(frame: "pl.DataFrame", responses: Sequence[str], factors: Sequence[str]) -> "Array":
    """Columns of numbers, shape (runs, responses). Raises ResultsError for what is missing or not a finite number."""
    import numpy as np

    if not responses:
        raise ResultsError("an analysis of variance needs at least one response")
    found = []
    for name in responses:
        if name in factors or responses.count(name) > 1:
            raise ResultsError(f'"{name}" is named twice: a column is one response or one factor')
        values = _column(frame, name)
        for row, value in enumerate(values):
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
                raise ResultsError(
                    f'response "{name}" is {value} in row {row}; expected a number: leave out runs without a value'
                )
        found.append([float(value) for value in values])
    return np.array(found, dtype=np.float64).T


def _column(frame: "pl.DataFrame", name: str) -> list[Any]:
    if name not in frame.columns:
        raise ResultsError(f'no column "{name}"; the frame has {", ".join(frame.columns)}')
    return frame[name].to_list()


def _levels(frame: "pl.DataFrame", name: str) -> tuple["Places", list[Any]]:
    """The level of each run as a number, and the levels in the order of their first run."""
    import numpy as np

    values = _column(frame, name)
    for row, value in enumerate(values):
        if value is None or value != value:
            raise ResultsError(f'factor "{name}" has no level in row {row}; leave out such runs first')
        if isinstance(value, (list, dict)):
            raise ResultsError(f'factor "{name}" is {value} in row {row}; expected a text, a number or a truth value')
    levels = list(dict.fromkeys(values))
    if len(levels) < 2:
        only = f'only the level "{levels[0]}"' if levels else "no runs"
        raise ResultsError(
            f'factor "{name}" has {only}; an effect is a difference between levels: leave the factor out'
        )
    place = {level: code for code, level in enumerate(levels)}
    return np.array([place[value] for value in values], dtype=np.intp), levels


def _cells(
    factors: Sequence[str], columns: Sequence[tuple["Places", list[Any]]]
) -> tuple[dict[tuple[Any, ...], int], "Places"]:
    import numpy as np

    shape = [len(levels) for _, levels in columns]
    runs = len(columns[0][0])
    if math.prod(shape) > max(runs, MOST_CELLS):
        raise ResultsError(
            f"{runs} runs cannot fill the {math.prod(shape)} cells of {' x '.join(factors)}; leave out factors"
        )
    cells = np.ravel_multi_index(tuple(codes for codes, _ in columns), shape)
    counted = np.bincount(cells, minlength=math.prod(shape))
    names = list(itertools.product(*(levels for _, levels in columns)))
    empty = [name for name, count in zip(names, counted, strict=True) if count == 0]
    if empty:
        said = "; ".join(
            ", ".join(f"{factor} = {level}" for factor, level in zip(factors, name, strict=True))
            for name in empty[:MOST_NAMED]
        )
        more = f" and {len(empty) - MOST_NAMED} more" if len(empty) > MOST_NAMED else ""
        raise ResultsError(
            f"{len(empty)} of {len(names)} cells have no runs ({said}{more}), so effects mean nothing; run them, or "
            "leave out a level or a factor so that every combination has runs"
        )
    return dict(zip(names, counted.tolist(), strict=True)), cells


def _sum_to_zero(codes: "Places", levels: int) -> "Array":
    """One column per level but the last, which is -1 in all of them."""
    import numpy as np

    rows = np.vstack([np.eye(levels - 1), -np.ones((1, levels - 1))])
    return np.asarray(rows[codes], dtype=np.float64)


def _product(columns: Sequence["Array"]) -> "Array":
    """All products of one column of each, row by row."""
    found = columns[0]
    for other in columns[1:]:
        found = (found[:, :, None] * other[:, None, :]).reshape(len(found), -1)
    return found
