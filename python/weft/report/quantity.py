"""Quantities: from a column's name and size to the title, unit and factor it is shown with.

Columns carry their unit in the name (`fct_ns`, `goodput_bps`); people read seconds and megabits. Rates and sizes
are decimal, as in the experiment file.
"""

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from weft import units

STEPS: dict[str, tuple[tuple[float, str], ...]] = {
    "bps": ((1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s")),
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")),
    "bytes": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
    "packets": ((1.0, "packets"),),
    "share": ((0.01, "%"),),
}
"""Per unit of a column the units to show it in, largest first."""

LOG_FROM = 50.0
"""Largest over smallest value from which an axis of measured values, or of two swept ones, is logarithmic."""

TITLES = {
    "fct": "Flow completion time",
    "ideal_fct": "Ideal flow completion time",
    "acked": "Time until acknowledged",
    "closed": "Time until closed",
    "size": "Flow size",
    "queue": "Queue depth",
    "cwnd": "Congestion window",
    "srtt": "Smoothed round-trip time",
    "sent": "Sent",
    "rtt": "Round-trip time",
    "tx": "Sent",
    "max": "Largest queue",
    "mean": "Mean queue",
    "dropped": "Dropped",
    "retransmitted": "Sent again",
    "wire": "Wire bytes",
}


@dataclass(frozen=True)
class Quantity:
    """How values are shown: multiplied by `factor`, in `unit` (empty for a share or a ratio)."""

    stem: str
    title: str
    unit: str
    factor: float

    @property
    def axis(self) -> str:
        """Title of an axis.

        >>> quantity("fct_ns", 3.2e6).axis
        'Flow completion time (ms)'
        """
        return f"{self.title} ({self.unit})" if self.unit else self.title

    @property
    def column(self) -> str:
        """Name of the scaled column in a figure's table.

        >>> quantity("goodput_bps", 19e6).column
        'goodput_Mbps'
        """
        ascii_unit = self.unit.replace("/s", "ps").replace("µ", "u").replace("%", "percent")
        return f"{self.stem}_{ascii_unit}" if self.unit else self.stem


def quantity(name: str, largest: float) -> Quantity:
    """Quantity of a column, in the largest unit of which `largest` is at least one."""
    stem, _, unit = name.rpartition("_")
    if unit not in STEPS or not stem:
        return Quantity(name, title(name), "", 1.0)
    steps = STEPS[unit]
    size, symbol = next((step for step in steps if abs(largest) >= step[0]), steps[-1])
    return Quantity(stem, title(stem), symbol, 1.0 / size)


def title(stem: str) -> str:
    """Words for a column without its unit.

    >>> title("lost_packets"), title("fct")
    ('Lost packets', 'Flow completion time')
    """
    return TITLES.get(stem, stem.replace("_", " ").replace(".", " ").capitalize())


def rounded(value: float, digits: int = 4) -> str:
    """Significant digits for a reader, without exponents between 0.0001 and a million.

    >>> rounded(12.3456), rounded(0.98765), rounded(1234567.0), rounded(20.0), rounded(0.0)
    ('12.35', '0.9877', '1,234,567', '20', '0')
    """
    if value == 0:
        return "0"
    if abs(value) >= 10**digits:
        return f"{value:,.0f}"
    if abs(value) < 1e-4:
        return f"{value:.{digits - 1}g}"
    text = f"{value:.{digits}g}"
    return f"{float(text):,}".removesuffix(".0") if "e" in text else text


def swept_numbers(words: Sequence[str]) -> tuple[list[float], str] | None:
    """Swept values as numbers in one unit, and that unit as a column would carry it; None if one is a word.

    >>> swept_numbers(["500 Mbps", "1 Gbps"]), swept_numbers(["4", "8"]), swept_numbers(["ecmp"])
    (([500000000.0, 1000000000.0], 'bps'), ([4.0, 8.0], ''), None)
    """
    found = [_number(word) for word in words]
    numbers = [number for number in found if number is not None]
    if len(numbers) < len(words) or len({unit for _, unit in numbers}) != 1:
        return None
    return [number for number, _ in numbers], numbers[0][1]


def common_unit(words: Sequence[str]) -> str:
    """The unit that all of several swept values are written with, so that the axis can say it once; or nothing.

    >>> common_unit(["10 packets", "20 packets"]), common_unit(["1 Mbps", "1 Gbps"]), common_unit(["ecmp", "spray"])
    ('packets', '', '')
    """
    units_written = set()
    for word in words:
        number, _, unit = word.partition(" ")
        if _number(number) is None or not unit or _number(word) is None:
            return ""
        units_written.add(unit)
    return units_written.pop() if len(units_written) == 1 and len(words) > 1 else ""


def is_geometric(numbers: Sequence[float]) -> bool:
    """Whether values are spaced by ratio rather than by difference: then a logarithmic axis shows them evenly.

    Compared are the coefficients of variation of the steps and of the steps of the logarithms; two values are by ratio
    from `LOG_FROM` on.

    >>> [is_geometric(values) for values in ([4, 8, 16], [1, 2, 5, 10, 20], [10, 20, 30], [0, 1, 2], [1, 2])]
    [True, True, False, False, False]
    """
    ordered = sorted(set(numbers))
    if len(ordered) < 2 or ordered[0] <= 0:
        return False
    if len(ordered) == 2:
        return ordered[1] / ordered[0] > LOG_FROM
    steps = [after - before for before, after in itertools.pairwise(ordered)]
    ratios = [math.log(after / before) for before, after in itertools.pairwise(ordered)]
    return statistics.pstdev(ratios) / statistics.fmean(ratios) < statistics.pstdev(steps) / statistics.fmean(steps)


def _number(word: str) -> tuple[float, str] | None:
    """A number and its unit: bps, ns, bytes, packets, or none."""
    try:
        return float(word), ""
    except ValueError:
        pass
    for family, unit, factor in ((units.RATE, "bps", 1.0), (units.TIME, "ns", 1e-3), (units.SIZE, "bytes", 1.0)):
        try:
            return family.parse(word) * factor, unit
        except units.UnitError:
            continue
    try:
        return float(units.parse_capacity(word)["packets"]), "packets"
    except (units.UnitError, KeyError):
        return None
