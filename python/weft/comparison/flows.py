"""Flows side by side: of runs paired by seed, the same flow in both, and the ratio of its numbers.

A flow is the same if workload, number, source and destination are. Its start may differ where it waits for another
flow; how often it does is counted.

Flows of one run share its network, so they are no independent observations: the intervals resample whole runs
(cluster bootstrap; Field and Welsh, "Bootstrapping clustered data", J. R. Statist. Soc. B 69, 2007). The table of flows
describes; the verdicts rest on the runs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from weft.errors import ResultsError

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from weft.metric import Tables

IDENTITY = ("workload", "flow", "src", "dst")
COLUMNS: dict[str, Literal["higher", "lower"]] = {"fct_ns": "lower", "goodput_bps": "higher"}
"""Columns of which the ratio is taken, and which direction is better."""

FEWEST_CLUSTERS = 5
"""With fewer runs a bootstrap interval is much too narrow, so none is given."""

RESAMPLES = 2000
AT_ONCE = 250
"""Resamples in memory at a time."""
GRID = 4000
"""Quantiles at which the ratios of a run are counted: a median is exact to a four-thousandth of the flows."""


@dataclass(frozen=True)
class Ratios:
    """Other over reference of one column, over the flows that have it in both runs of a pair.

    Quantiles and shares are of all flows together; intervals are None with fewer than 5 pairs of runs.
    """

    column: str
    flows: int
    p10: float
    median: float
    median_low: float | None
    median_high: float | None
    p90: float
    share_better: float
    share_better_low: float | None
    share_better_high: float | None
    share_equal: float


@dataclass(frozen=True)
class FlowsCompared:
    """The flows of all pairs of runs of a cell."""

    pairs: int
    matched: int
    only_reference: int
    only_other: int
    other_start: int
    """Matched flows that start at another time."""
    unfinished_reference: int
    """Matched flows that finished in the other run only."""
    unfinished_other: int
    ratios: tuple[Ratios, ...]
    absent: dict[str, str]
    """Columns without a ratio, and why."""


def compare_flows(pairs: "Sequence[tuple[Tables, Tables]]", confidence: float) -> FlowsCompared:
    """Compare the flows of pairs of runs. Raises ResultsError if a run has no flows or no names for them."""
    import numpy as np
    import polars as pl

    joined, only_reference, only_other = [], 0, 0
    for tables in pairs:
        reference, other = (_flows(each) for each in tables)
        both = reference.join(other, on=list(IDENTITY), how="inner", suffix="_other", nulls_equal=True)
        only_reference += reference.height - both.height
        only_other += other.height - both.height
        joined.append(both)
    whole = pl.concat(joined, how="vertical_relaxed")
    ratios, absent = [], {}
    for column, better in COLUMNS.items():
        per_run = []
        for frame in joined:
            ratio = frame.filter((pl.col(column) > 0) & (pl.col(f"{column}_other") > 0)).select(
                ratio=pl.col(f"{column}_other") / pl.col(column)
            )["ratio"]
            per_run.append(np.sort(ratio.to_numpy().astype(np.float64)))
        if sum(map(len, per_run)) == 0:
            absent[column] = _why_absent(whole, column)
        else:
            ratios.append(_ratios(column, per_run, better, confidence))
    finished = pl.col("fct_ns").is_not_null()
    finished_other = pl.col("fct_ns_other").is_not_null()
    return FlowsCompared(
        len(joined),
        whole.height,
        only_reference,
        only_other,
        whole.filter(pl.col("start_ns") != pl.col("start_ns_other")).height,
        whole.filter(~finished & finished_other).height,
        whole.filter(finished & ~finished_other).height,
        tuple(ratios),
        absent,
    )


def _flows(tables: "Tables") -> "pl.DataFrame":
    import polars as pl

    if "flows" not in tables:
        raise ResultsError("flows: the run has no such table")
    frame = tables["flows"]
    if missing := [name for name in IDENTITY if name not in frame.columns]:
        raise ResultsError(f"flows.{missing[0]}: no such column, so flows cannot be told apart")
    # A backend that cannot know a column may also leave it out.
    numbers = ("start_ns", *COLUMNS)
    added = frame.with_columns(pl.lit(None).alias(name) for name in numbers if name not in frame.columns)
    # Of one type, whatever a backend writes.
    flows = added.select(
        pl.col("flow").cast(pl.Int64),
        *(pl.col(name).cast(pl.String) for name in IDENTITY if name != "flow"),
        *(pl.col(name).cast(pl.Float64) for name in numbers),
    )
    if flows.select(IDENTITY).is_duplicated().any():
        raise ResultsError(f"flows: several have the same {', '.join(IDENTITY)}, so they cannot be told apart")
    return flows


def _why_absent(frame: "pl.DataFrame", column: str) -> str:
    if frame.is_empty():
        return "no flow is in both runs"
    for name, side in ((column, "the reference"), (f"{column}_other", "the other side")):
        if frame[name].null_count() == frame.height:
            return f"{side} does not know it of any flow"
    return "no flow has it in both runs"


def _ratios(column: str, per_run: "list[np.ndarray]", better: Literal["higher", "lower"], confidence: float) -> Ratios:
    import numpy as np

    pooled = np.sort(np.concatenate(per_run))
    p10, median, p90 = (float(value) for value in np.quantile(pooled, (0.1, 0.5, 0.9)))
    # Counts per run at the quantiles of all: a resample is then a weighted sum of rows, however many flows there are.
    places = np.linspace(0, len(pooled) - 1, min(GRID, len(pooled))).round().astype(int)
    grid = np.unique(pooled[places])
    below = np.stack([np.searchsorted(values, grid, side="right") for values in per_run])
    sizes = np.array([len(values) for values in per_run])
    is_better: Callable[[np.ndarray], np.ndarray] = (lambda v: v < 1.0) if better == "lower" else (lambda v: v > 1.0)
    faster = np.array([int(is_better(values).sum()) for values in per_run])
    bounds: list[tuple[float | None, float | None]] = [(None, None), (None, None)]
    if len(per_run) >= FEWEST_CLUSTERS:
        generator = np.random.default_rng(0)  # the same results give the same interval
        medians: list[float] = []
        shares: list[float] = []
        for _ in range(RESAMPLES // AT_ONCE):
            weights = generator.multinomial(len(per_run), np.full(len(per_run), 1.0 / len(per_run)), size=AT_ONCE)
            # A resample of runs without a single flow says nothing.
            weights = weights[weights @ sizes > 0]
            totals = weights @ sizes
            medians.extend(_medians(grid, weights @ below, totals))
            shares.extend((weights @ faster) / totals)
        tails = ((1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0)
        bounds = [(float(low), float(high)) for low, high in (np.quantile(v, tails) for v in (medians, shares))]
    return Ratios(
        column,
        len(pooled),
        p10,
        median,
        *bounds[0],
        p90,
        float(faster.sum()) / len(pooled),
        *bounds[1],
        float((pooled == 1.0).sum()) / len(pooled),
    )


def _medians(grid: "np.ndarray", reached: "np.ndarray", totals: "np.ndarray") -> "np.ndarray":
    """The middle value of each resample, a row of `reached`: how many of its `totals` flows are at most `grid`.

    Of an even number it is halfway between the two in the middle.
    """
    # The first place at which the count is reached; the grid ends with the largest value, so there is one.
    lower = (reached >= ((totals + 1) // 2)[:, None]).argmax(axis=1)
    upper = (reached >= (totals // 2 + 1)[:, None]).argmax(axis=1)
    middle: np.ndarray = (grid[lower] + grid[upper]) / 2.0
    return middle
