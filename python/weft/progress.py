"""Progress: how far a sweep has come, on a terminal and elsewhere."""

import sys
import time
from collections.abc import Callable
from typing import Any, Protocol, TextIO

from weft.backend.packet import Progress
from weft.sweep import Run
from weft.units import TIME

SPARSE_SECONDS = 10.0
"""Time between two lines where there is no terminal."""


class Observer(Protocol):
    """Is told what happens while runs are executed."""

    def plan(self, runs: int, finished: int) -> None:
        """`runs` are planned, of which `finished` are there already."""

    def begin(self, run: Run) -> None:
        """A run starts."""

    def advance(self, progress: Progress) -> None:
        """It has come this far."""

    def end(self, run: Run, outcome: str) -> None:
        """It is over; `outcome` is empty if all is well."""

    def close(self) -> None:
        """Nothing more happens."""


class Silent:
    """Says nothing."""

    def plan(self, runs: int, finished: int) -> None:
        """See Observer."""

    def begin(self, run: Run) -> None:
        """See Observer."""

    def advance(self, progress: Progress) -> None:
        """See Observer."""

    def end(self, run: Run, outcome: str) -> None:
        """See Observer."""

    def close(self) -> None:
        """See Observer."""


class Pace:
    """What observers compute: share done, speed and time left, from the runs and the current one's progress."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.runs = 0
        self.done = 0
        self._fresh = 0
        self._started = clock()
        self._run_started = clock()
        self.progress: Progress | None = None

    def plan(self, runs: int, finished: int) -> None:
        """See Observer."""
        self.runs, self.done = runs, finished
        self._started = self._clock()

    def begin(self) -> None:
        """See Observer."""
        self._run_started = self._clock()
        self.progress = None

    def end(self) -> None:
        """See Observer."""
        self.done += 1
        self._fresh += 1
        self.progress = None

    @property
    def share_of_run(self) -> float:
        """Share of the current run, by simulated time where its end is known, else by flows; 0..1."""
        progress = self.progress
        if progress is None:
            return 0.0
        if progress.end_ps:
            return min(1.0, progress.now_ps / progress.end_ps)
        return progress.flows_done / progress.flows_total if progress.flows_total else 0.0

    @property
    def events_per_second(self) -> float:
        """Of the current run, by the clock."""
        elapsed = self._clock() - self._run_started
        return self.progress.events / elapsed if self.progress and elapsed > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """As if what is left went as fast as what is done; None before there is anything to judge by."""
        done = self._fresh + self.share_of_run
        if done < 0.005:
            return None
        return (self._clock() - self._started) / done * (self.runs - self.done - self.share_of_run)

    def line(self) -> str:
        """One line about the current run."""
        progress = self.progress
        if progress is None:
            return ""
        parts = [
            f"{quantity(self.events_per_second)} events/s",
            f"{quantity(progress.packet_hops)} packet-hops",
            f"{simulated(progress.now_ps)} simulated",
            f"{progress.flows_done}/{progress.flows_total} flows done",
        ]
        return ", ".join(parts)


class Lines:
    """A line now and then, for files and pipes."""

    def __init__(self, stream: TextIO | None = None, every: float = SPARSE_SECONDS) -> None:
        self._stream = stream or sys.stderr
        self._every = every
        self._pace = Pace()
        self._said = time.monotonic()

    def plan(self, runs: int, finished: int) -> None:
        """See Observer."""
        self._pace.plan(runs, finished)
        there = f", {finished} of them already there" if finished else ""
        self._say(f"{runs} run{'s' if runs != 1 else ''}{there}")

    def begin(self, run: Run) -> None:
        """See Observer."""
        self._pace.begin()

    def advance(self, progress: Progress) -> None:
        """See Observer."""
        self._pace.progress = progress
        if time.monotonic() - self._said >= self._every:
            left = self._pace.seconds_left
            ending = f", {duration(left)} left" if left is not None else ""
            self._say(f"run {self._pace.done + 1} of {self._pace.runs}: {self._pace.line()}{ending}")

    def end(self, run: Run, outcome: str) -> None:
        """See Observer."""
        self._pace.end()
        # A single run says at the end what is wrong with it.
        if outcome and self._pace.runs > 1:
            self._say(f"run {run.name} ({run.cell}): {outcome}" if run.cell.chosen else f"run {run.name}: {outcome}")

    def close(self) -> None:
        """See Observer."""

    def _say(self, line: str) -> None:
        self._said = time.monotonic()
        print(line, file=self._stream, flush=True)


class Bar:
    """A bar with a line below it, on a terminal."""

    def __init__(self) -> None:
        from rich.console import Console, Group
        from rich.live import Live
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as RichProgress
        from rich.text import Text

        self._pace = Pace()
        self._bar = RichProgress(
            TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}")
        )
        self._line = Text(no_wrap=True, overflow="ellipsis")
        self._live = Live(Group(self._bar, self._line), console=Console(stderr=True), transient=True)
        self._task: Any = None

    def plan(self, runs: int, finished: int) -> None:
        """See Observer."""
        self._pace.plan(runs, finished)
        self._task = self._bar.add_task("runs", total=runs, completed=finished, left="")
        self._live.start()

    def begin(self, run: Run) -> None:
        """See Observer."""
        self._pace.begin()

    def advance(self, progress: Progress) -> None:
        """See Observer."""
        self._pace.progress = progress
        left = self._pace.seconds_left
        done = self._pace.done + self._pace.share_of_run
        self._bar.update(self._task, completed=done, left=f"{duration(left)} left" if left is not None else "")
        self._line.plain = self._pace.line()

    def end(self, run: Run, outcome: str) -> None:
        """See Observer."""
        self._pace.end()
        self._bar.update(self._task, completed=self._pace.done)
        if outcome and self._pace.runs > 1:
            self._live.console.print(f"run {run.name}: {outcome}", style="yellow", highlight=False)

    def close(self) -> None:
        """See Observer."""
        self._live.stop()


def observer() -> Observer:
    """A bar if standard error is a terminal, else sparse lines."""
    return Bar() if sys.stderr.isatty() else Lines()


def quantity(value: float) -> str:
    """Three digits and a prefix.

    >>> quantity(12_345_678), quantity(950)
    ('12.3 M', '950')
    """
    for size, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g} {prefix}"
    return f"{value:.3g}"


def simulated(ps: int) -> str:
    """Simulated time to three digits.

    >>> simulated(1_234_567_890)
    '1.23 ms'
    """
    for unit in ("s", "ms", "us", "ns"):
        size = TIME.units[unit]
        if ps >= size:
            value = ps / size
            return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"
    return f"{ps} ps"


def duration(seconds: float) -> str:
    """Hours, minutes and seconds.

    >>> duration(75), duration(3_700)
    ('1:15', '1:01:40')
    """
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
