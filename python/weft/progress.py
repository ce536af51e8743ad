"""Progress: how far a sweep has come, on a terminal and elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TextIO

from weft.backend.simulation import Progress
from weft.sweep import Run
from weft.units import TIME

SPARSE_SECONDS = 10.0
"""Time between two lines where there is no terminal."""


class Observer(Protocol):
    """Is told what happens while runs are executed; several may be under way at once."""

    def check(self, cells: int) -> None:
        """So many cells are checked before anything runs."""

    def plan(self, runs: int, finished: int) -> None:
        """`runs` are planned, of which `finished` are there already."""

    def planned(self, runs: int) -> None:
        """The plan has grown to `runs`."""

    def found(self, run: Run) -> None:
        """A run by which the plan has grown is there already."""

    def begin(self, run: Run) -> None:
        """A run starts."""

    def advance(self, run: Run, progress: Progress) -> None:
        """It has come this far."""

    def retry(self, run: Run, reason: str) -> None:
        """It will be tried again."""

    def end(self, run: Run, outcome: str) -> None:
        """It is over; `outcome` is empty if all is well."""

    def close(self) -> None:
        """Nothing more happens."""


class Silent:
    """Says nothing."""

    def check(self, cells: int) -> None:
        """See Observer."""

    def plan(self, runs: int, finished: int) -> None:
        """See Observer."""

    def planned(self, runs: int) -> None:
        """See Observer."""

    def found(self, run: Run) -> None:
        """See Observer."""

    def begin(self, run: Run) -> None:
        """See Observer."""

    def advance(self, run: Run, progress: Progress) -> None:
        """See Observer."""

    def retry(self, run: Run, reason: str) -> None:
        """See Observer."""

    def end(self, run: Run, outcome: str) -> None:
        """See Observer."""

    def close(self) -> None:
        """See Observer."""


class Pace:
    """What observers compute: share done, speed and time left, from the runs and the progress of those under way."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.runs = 0
        self.done = 0
        self._fresh = 0
        self._started = clock()
        self._under_way: dict[str, tuple[float, Progress | None]] = {}

    def plan(self, runs: int, finished: int) -> None:
        """See Observer."""
        self.runs, self.done = runs, finished
        self._started = self._clock()

    def found(self, run: Run) -> None:
        """See Observer."""
        self.done += 1

    def begin(self, run: Run) -> None:
        """See Observer."""
        self._under_way[run.name] = (self._clock(), None)

    def advance(self, run: Run, progress: Progress) -> None:
        """See Observer."""
        started, _ = self._under_way.get(run.name, (self._clock(), None))
        self._under_way[run.name] = (started, progress)

    def retry(self, run: Run) -> None:
        """See Observer."""
        self._under_way.pop(run.name, None)

    def end(self, run: Run) -> None:
        """See Observer."""
        self.done += 1
        self._fresh += 1
        self._under_way.pop(run.name, None)

    @property
    def share_under_way(self) -> float:
        """Sum of the shares done of the runs under way, each 0..1."""
        return sum(_share(progress) for _, progress in self._under_way.values() if progress)

    @property
    def events_per_second(self) -> float:
        """Of all runs under way, by the clock."""
        now = self._clock()
        return sum(
            progress.events / (now - started)
            for started, progress in self._under_way.values()
            if progress and now > started
        )

    @property
    def seconds_left(self) -> float | None:
        """As if what is left went as fast as what is done; None before there is anything to judge by."""
        share = self.share_under_way
        done = self._fresh + share
        if done < 0.005:
            return None
        return (self._clock() - self._started) / done * max(0.0, self.runs - self.done - share)

    def line(self) -> str:
        """One line about the runs under way; only their number and speed if they are several."""
        known = [progress for _, progress in self._under_way.values() if progress]
        if not known:
            return ""
        speed = f"{quantity(self.events_per_second)} events/s"
        if len(self._under_way) > 1:
            return f"{len(self._under_way)} runs under way, {speed}"
        (progress,) = known
        return ", ".join(
            [
                speed,
                *([f"{quantity(progress.packet_hops)} packet-hops"] if progress.packet_hops else []),
                f"{simulated(progress.now_ps)} simulated",
                f"{progress.flows_done}/{progress.flows_total} flows done",
            ]
        )


def _share(progress: Progress) -> float:
    """Share of a run, by simulated time where its end is known, else by flows; 0..1."""
    if progress.end_ps:
        return min(1.0, progress.now_ps / progress.end_ps)
    return progress.flows_done / progress.flows_total if progress.flows_total else 0.0


class Lines:
    """A line now and then, for files and pipes."""

    def __init__(self, stream: TextIO | None = None, every: float = SPARSE_SECONDS) -> None:
        self._stream = stream or sys.stderr
        self._every = every
        self._pace = Pace()
        self._said = time.monotonic()

    def check(self, cells: int) -> None:
        """See Observer."""
        if time.monotonic() - self._said >= self._every:
            self._say(f"{cells:,} cells checked")

    def plan(self, runs: int, finished: int) -> None:
        """See Observer."""
        self._pace.plan(runs, finished)
        there = f", {finished} of them already there" if finished else ""
        self._say(f"{runs} run{'s' if runs != 1 else ''}{there}")

    def planned(self, runs: int) -> None:
        """See Observer."""
        self._pace.runs = runs

    def found(self, run: Run) -> None:
        """See Observer."""
        self._pace.found(run)
        self._now_and_then()

    def begin(self, run: Run) -> None:
        """See Observer."""
        self._pace.begin(run)

    def advance(self, run: Run, progress: Progress) -> None:
        """See Observer."""
        self._pace.advance(run, progress)
        self._now_and_then()

    def retry(self, run: Run, reason: str) -> None:
        """See Observer."""
        self._pace.retry(run)
        self._say(_of(run, reason))

    def end(self, run: Run, outcome: str) -> None:
        """See Observer."""
        self._pace.end(run)
        # Unfinished flows are told at the end, and so is what is wrong with a single run.
        if outcome.startswith("failed") and self._pace.runs > 1:
            self._say(_of(run, outcome))
        else:
            self._now_and_then()

    def close(self) -> None:
        """See Observer."""

    def _now_and_then(self) -> None:
        if time.monotonic() - self._said < self._every:
            return
        left = self._pace.seconds_left
        parts = [self._pace.line(), f"{duration(left)} left" if left is not None else ""]
        self._say(f"{self._pace.done} of {self._pace.runs} runs done: {', '.join(part for part in parts if part)}")

    def _say(self, line: str) -> None:
        self._said = time.monotonic()
        print(line, file=self._stream, flush=True)


def _of(run: Run, said: str) -> str:
    return f"run {run.name} ({run.cell}): {said}" if run.cell.chosen else f"run {run.name}: {said}"


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
        self._started = time.monotonic()
        self._task: Any = None

    def check(self, cells: int) -> None:
        """See Observer."""
        # A check that takes less needs no bar.
        if time.monotonic() - self._started > 1.0:
            self._live.start()
            self._line.plain = f"checking: {cells:,} cells"

    def plan(self, runs: int, finished: int) -> None:
        """See Observer."""
        self._pace.plan(runs, finished)
        self._task = self._bar.add_task("runs", total=runs, completed=finished, left="")
        self._live.start()

    def planned(self, runs: int) -> None:
        """See Observer."""
        self._pace.runs = runs
        self._bar.update(self._task, total=runs)

    def found(self, run: Run) -> None:
        """See Observer."""
        self._pace.found(run)
        self._update()

    def begin(self, run: Run) -> None:
        """See Observer."""
        self._pace.begin(run)

    def advance(self, run: Run, progress: Progress) -> None:
        """See Observer."""
        self._pace.advance(run, progress)
        self._update()
        self._line.plain = self._pace.line()

    def retry(self, run: Run, reason: str) -> None:
        """See Observer."""
        self._pace.retry(run)
        self._live.console.print(_of(run, reason), style="yellow", highlight=False, markup=False)

    def end(self, run: Run, outcome: str) -> None:
        """See Observer."""
        self._pace.end(run)
        self._update()
        if outcome.startswith("failed") and self._pace.runs > 1:
            self._live.console.print(_of(run, outcome), style="yellow", highlight=False, markup=False)

    def close(self) -> None:
        """See Observer."""
        self._live.stop()

    def _update(self) -> None:
        left = self._pace.seconds_left
        done = self._pace.done + self._pace.share_under_way
        self._bar.update(self._task, completed=done, left=f"{duration(left)} left" if left is not None else "")


def observer() -> Observer:
    """A bar if standard error is a terminal, else sparse lines."""
    return Bar() if sys.stderr.isatty() else Lines()


@contextmanager
def telling(title: str, after: float = 1.0) -> Iterator[Callable[[str, int, int], None]]:
    """Shows how far a piece of work has come: gives a function that is told what is done, how much of it, of how much.

    On a terminal it is a bar, once the work has taken `after` seconds; elsewhere a line now and then.
    """
    started = said = time.monotonic()
    if not sys.stderr.isatty():

        def line(what: str, done: int, of: int) -> None:
            nonlocal said
            if time.monotonic() - said >= SPARSE_SECONDS:
                said = time.monotonic()
                print(f"{title}: {what}, {done:,} of {of:,}", file=sys.stderr, flush=True)

        yield line
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as RichProgress

    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    bar = RichProgress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("")

    def update(what: str, done: int, of: int) -> None:
        if time.monotonic() - started > after:
            bar.start()
            bar.update(task, description=what, completed=done, total=of)

    try:
        yield update
    finally:
        bar.stop()


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
