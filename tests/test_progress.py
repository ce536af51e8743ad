"""Progress: speed and time left from what has happened."""

import io

from weft.backend.simulation import Progress
from weft.progress import Lines, Pace, duration, quantity, simulated
from weft.sweep import Cell, Run

RUN = Run("0123456789abcdef", Cell(0, {}), 0, 1)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def progress(now_ps: int, end_ps: int | None, done: int = 0) -> Progress:
    """A progress of 1000 events and ten flows."""
    return Progress(now_ps, end_ps, events=1000, packet_hops=800, flows_done=done, flows_total=10)


def test_time_left_is_what_is_left_at_the_pace_so_far() -> None:
    clock = Clock()
    pace = Pace(clock)
    # Four runs, one there already: after 10 s one is done and the next half done, 1.5 of 3. The rest takes as long.
    pace.plan(4, 1)
    assert pace.seconds_left is None
    pace.begin(RUN)
    pace.end(RUN)
    pace.begin(RUN)
    clock.now = 10.0
    pace.advance(RUN, progress(50, 100))
    assert pace.seconds_left == 10.0


def test_a_run_that_is_found_later_is_done_and_says_nothing_of_the_pace() -> None:
    clock = Clock()
    pace = Pace(clock)
    pace.plan(2, 0)
    pace.begin(RUN)
    clock.now = 10.0
    pace.end(RUN)
    pace.runs = 4
    # Two of four are there, one of them took 10 s: the two that are left take 20 s.
    pace.found(RUN)
    assert (pace.done, pace.seconds_left) == (2, 20.0)


def test_without_an_end_the_share_is_that_of_flows() -> None:
    pace = Pace(Clock())
    pace.begin(RUN)
    pace.advance(RUN, progress(50, None, done=3))
    assert pace.share_under_way == 0.3


def test_events_per_second_are_those_of_the_runs_under_way() -> None:
    clock = Clock()
    pace = Pace(clock)
    clock.now = 5.0
    pace.begin(RUN)
    clock.now = 7.0
    pace.advance(RUN, progress(1, 2))
    assert pace.events_per_second == 500.0


def test_lines_are_sparse_and_trouble_is_told() -> None:
    stream = io.StringIO()
    lines = Lines(stream, every=1000.0)
    lines.plan(2, 1)
    lines.begin(RUN)
    for now in range(100):
        lines.advance(RUN, progress(now, 100))
    lines.end(RUN, "failed: no reason")
    lines.close()
    assert stream.getvalue().splitlines() == [
        "2 runs, 1 of them already there",
        "run 0123456789abcdef: failed: no reason",
    ]


def test_numbers_are_short() -> None:
    assert [quantity(value) for value in (0.0, 12.0, 999.0, 1e3, 12_345_678.0)] == ["0", "12", "999", "1 k", "12.3 M"]
    assert [simulated(value) for value in (5, 1_500, 10**12)] == ["5 ps", "1.5 ns", "1 s"]
    assert [duration(value) for value in (0.4, 61.0, 3_661.0)] == ["0:00", "1:01", "1:01:01"]
