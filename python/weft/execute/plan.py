"""The plan: which runs there are, in the order in which they are done, one at a time.

Where each repeat of a cell is a fixed number, the plan is every cell of repeat 0, then every cell of repeat 1, and so
on: an interrupted sweep then has whole comparisons. On a real network (emulated or measured) each such block is in
random order, so that heat and drift of the machine do not look like an effect (a randomized block design: Montgomery,
Design and Analysis of Experiments, chapter 4).
"""

import hashlib
import math
import random
from array import array
from collections import deque
from collections.abc import Callable, Iterator
from typing import Protocol

from weft.experiment.experiment import Experiment
from weft.sweep import Cell, Run, Until


class Plan(Protocol):
    """What the driver asks."""

    planned: int
    """Runs that are planned so far."""

    most: int
    """Runs that it may come to."""

    @property
    def warnings(self) -> list[str]:
        """What to look at before the numbers are trusted."""

    def next(self) -> Run | None:
        """The next run to do; None if there is none now."""

    def ended(self, run: Run, is_there: bool) -> None:
        """A run that `next` gave is over; `is_there`: its results are."""

    def rows(self) -> Iterator[Run]:
        """Every run planned so far."""


def plan_of(experiment: Experiment, value_of: Callable[[Run, str], float | None], is_real_time: bool = False) -> Plan:
    """The plan of an experiment; `value_of` gives the value of a metric in a finished run."""
    if isinstance(experiment.sweep.repeats, Until):
        return UntilNarrow(experiment, experiment.sweep.repeats, value_of, is_real_time)
    return FixedRepeats(experiment, is_real_time)


def order_seed(experiment: Experiment) -> int:
    """The seed of the order in which the cells of a block are done."""
    digest = hashlib.blake2b(f"weft order {experiment.seed}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 11


def block(experiment: Experiment, repeat: int, is_random: bool) -> Iterator[Cell]:
    """Every cell once, in the order of the axes or at random."""
    if not is_random:
        yield from experiment.cells()
        return
    order = array("Q", (cell.index for cell in experiment.cells()))
    random.Random(f"{order_seed(experiment)}/{repeat}").shuffle(order)
    for index in order:
        yield experiment.sweep.cell(index)


class FixedRepeats:
    """As many repeats of every cell as the file says."""

    def __init__(self, experiment: Experiment, is_real_time: bool = False) -> None:
        self.planned = self.most = experiment.sweep.size * experiment.sweep.fewest
        self.warnings: list[str] = []
        self._experiment = experiment
        self._is_random = is_real_time
        self._runs = self.rows()

    def next(self) -> Run | None:
        """See Plan."""
        return next(self._runs, None)

    def ended(self, run: Run, is_there: bool) -> None:
        """See Plan."""

    def rows(self) -> Iterator[Run]:
        """See Plan."""
        for repeat in range(self._experiment.sweep.fewest):
            for cell in block(self._experiment, repeat, self._is_random):
                yield self._experiment.run(cell, repeat)


class UntilNarrow:
    """Repeats of each cell until the t interval of a metric is narrow enough.

    After `least` repeats the interval is looked at; while it is too wide, the cell gets as many repeats as would make
    it narrow if its deviation stays as it is (n times the square of width over asked width), but at most half as many
    again, so that a first guess from few repeats does not run away. The looks depend on the results in the order of the
    repeats alone: the same experiment plans the same runs with any number of jobs, and resumed. Looking several times
    makes the interval slightly too narrow; with five repeats at least and growing steps its coverage stays within a few
    per cent of what is asked (92.9 % of 4000 cells for 95 %; tests/execute/test_plan.py).
    """

    def __init__(
        self,
        experiment: Experiment,
        until: Until,
        value_of: Callable[[Run, str], float | None],
        is_real_time: bool = False,
    ) -> None:
        self.planned = experiment.sweep.size * until.least
        self.most = experiment.sweep.size * until.most
        self._said: dict[int, str] = {}
        self._experiment, self._until, self._value_of = experiment, until, value_of
        self._is_random = is_real_time
        self._first = self._first_runs()
        self._ready: deque[tuple[Cell, int]] = deque()
        self._wanted: dict[int, int] = {}
        self._values: dict[int, dict[int, float | None]] = {}

    @property
    def warnings(self) -> list[str]:
        """See Plan. In the order of the cells, whichever ended first."""
        return [self._said[index] for index in sorted(self._said)]

    def next(self) -> Run | None:
        """See Plan."""
        run = next(self._first, None)
        if run is None and self._ready:
            run = self._experiment.run(*self._ready.popleft())
        return run

    def ended(self, run: Run, is_there: bool) -> None:
        """See Plan."""
        index = run.cell.index
        value = self._value_of(run, self._until.metric) if is_there else None
        self._values.setdefault(index, {})[run.repeat] = value
        wanted = self._wanted.setdefault(index, self._until.least)
        if len(self._values[index]) < wanted:
            return
        more = self._more(run.cell, [self._values[index][repeat] for repeat in range(wanted)])
        if more:
            self._wanted[index] = wanted + more
            self.planned += more
            self._ready.extend((run.cell, repeat) for repeat in range(wanted, wanted + more))
        else:
            del self._values[index]

    def rows(self) -> Iterator[Run]:
        """See Plan."""
        for cell in self._experiment.cells():
            for repeat in range(self._wanted.get(cell.index, self._until.least)):
                yield self._experiment.run(cell, repeat)

    def _first_runs(self) -> Iterator[Run]:
        for repeat in range(self._until.least):
            for cell in block(self._experiment, repeat, self._is_random):
                yield self._experiment.run(cell, repeat)

    def _more(self, cell: Cell, values: list[float | None]) -> int:
        """How many repeats a cell gets in addition."""
        where = f" in the cell {cell}" if cell.chosen else ""
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            self._said[cell.index] = (
                f"{len(values) - len(known)} of {len(values)} runs{where} have no {self._until.metric}, so that its "
                "interval was not waited for"
            )
            return 0
        ratio = self._too_wide(known)
        if ratio <= 1.0:
            return 0
        have = len(values)
        if have >= self._until.most:
            self._said[cell.index] = (
                f"after {have} repeats{where} the interval of {self._until.metric} is still {ratio:.2g} times as wide "
                "as asked; raise repeats.most, or ask for less"
            )
            return 0
        guess = min(math.ceil(have * ratio * ratio), math.ceil(1.5 * have))
        return min(max(guess, have + 1), self._until.most) - have

    def _too_wide(self, values: list[float]) -> float:
        """Half the width of the interval over the one that is asked for."""
        from weft.statistics.interval import mean_interval

        interval = mean_interval(values, self._until.confidence)
        half_width = interval.half_width
        assert half_width is not None
        asked = self._until.half_width * (abs(interval.mean) if self._until.relative else 1.0)
        if half_width == 0.0:
            return 0.0
        return half_width / asked if asked > 0 else math.inf
