"""What an oracle is, and the rows that it gives.

An oracle is a set-up whose result is known from elsewhere: a formula, a separate program, a published number. It runs
the set-up and gives one row for each number: the value, what it should be, and a tolerance that has a reason.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weft.statistics.interval import mean_interval

if TYPE_CHECKING:
    from weft.results import Results

PASS, FAIL, SHOWN = "pass", "fail", "shown"

MARKS: Mapping[str, str] = {
    "A": "analytic: exact up to the stated assumption",
    "C": "computed with a separate program",
    "H": "measured with htsim",
    "P": "simulated by weft at the packet level",
    "V": "read in the published text",
    "R": "recalled from the paper, not re-read",
}
"""Where an expected value comes from."""


@dataclass(frozen=True)
class Row:
    """One number of an oracle; `low` and `high` bound it by 95 % where it is a mean over seeds."""

    metric: str
    setup: str
    value: float
    expected: float | None
    tolerance: str
    verdict: str
    low: float | None = None
    high: float | None = None
    unit: str = ""


@dataclass(frozen=True)
class Oracle:
    """A set-up with a known result. `rows(is_full)` runs it, sampled or in the size of the table of oracles.

    `number` is that of the table, `mark` one of `MARKS`.
    """

    number: int
    title: str
    source: str
    mark: str
    rows: Callable[[bool], Iterable[Row]]


def near(
    metric: str,
    setup: str,
    value: float,
    expected: float,
    *,
    relative: float = 0.0,
    absolute: float = 0.0,
    unit: str = "",
    reason: str = "",
) -> Row:
    """A value that may be off by a share of what is expected, or by an amount; by nothing, if neither is given.

    >>> near("wait", "a queue", 1.01, 1.0, relative=0.02).verdict
    'pass'
    >>> near("hops", "a tree", 5, 6).verdict, near("hops", "a tree", 5, 6).tolerance
    ('fail', 'exact')
    """
    allowed = max(relative * abs(expected), absolute)
    text = f"{100 * relative:.3g} %" if relative else f"{absolute:.3g}" if absolute else "exact"
    verdict = PASS if abs(value - expected) <= allowed else FAIL
    return Row(metric, setup, value, expected, f"{text} {reason}".rstrip(), verdict, unit=unit)


def near_mean(
    metric: str,
    setup: str,
    values: Sequence[float],
    expected: float,
    *,
    relative: float,
    unit: str = "",
    errors: float = 3.0,
) -> Row:
    """The mean of independent runs. It may be off by a share of what is expected, or by three standard errors.

    The second rule is for sampled sizes: with ten runs a right simulator fails it
    once in 70 (Student's t with 9 degrees), never by its size alone.
    """
    interval = mean_interval(values)
    spread = math.sqrt(math.fsum((v - interval.mean) ** 2 for v in values) / max(len(values) - 1, 1) / len(values))
    allowed = max(relative * abs(expected), errors * spread)
    text = f"{100 * relative:.3g} %"
    if errors and errors * spread > relative * abs(expected):
        text += f", or {errors:.3g} s.e. = {100 * errors * spread / abs(expected):.2g} %"
    verdict = PASS if abs(interval.mean - expected) <= allowed else FAIL
    return Row(metric, setup, interval.mean, expected, text, verdict, interval.low, interval.high, unit)


def between(
    metric: str, setup: str, value: float, low: float, high: float, *, expected: float | None = None, unit: str = ""
) -> Row:
    """A value that must lie between two bounds."""
    text = f"at least {low:g}" if high == math.inf else f"{low:g} to {high:g}"
    return Row(metric, setup, value, expected, text, PASS if low <= value <= high else FAIL, unit=unit)


def shown(metric: str, setup: str, value: float, expected: float | None = None, unit: str = "") -> Row:
    """A value that is compared, not tested."""
    return Row(metric, setup, value, expected, "", SHOWN, unit=unit)


def simulate(experiment: Mapping[str, Any]) -> "Results":
    """The results of an experiment given as nested tables. Raises what `weft.run` raises."""
    import weft

    return weft.run(experiment)


def per_run(frame: Any, column: str) -> list[float]:
    """One number per run of a frame that has one row per run, in the order of the plan."""
    return [float(value) for value in frame[column].to_list()]


def total(column: Any) -> float:
    """The sum of a polars column of numbers."""
    return float(column.sum())


def average(column: Any) -> float:
    """The mean of a polars column of numbers."""
    return float(column.mean())


def chosen(frame: Any, **equal: Any) -> Any:
    """The rows of a polars frame in which every named column has the given value."""
    for column, value in equal.items():
        frame = frame.filter(frame[column] == value)
    return frame


def timed(rows: Iterable[Row], clock: Callable[[], float]) -> Iterator[tuple[Row, float]]:
    """Every row with the seconds that it took."""
    before = clock()
    for row in rows:
        now = clock()
        yield row, now - before
        before = clock()
