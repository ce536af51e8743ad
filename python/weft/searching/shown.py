"""A search in the terminal: what was found, how sure that is, what is around it, what matters."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from weft.experiment.objective import Constraint, Goal
from weft.experiment.readable import inline
from weft.report.quantity import Quantity, quantity
from weft.report.table import decimals
from weft.searching.found import Found, Neighbour
from weft.searching.point import Point
from weft.statistics.interval import Interval, mean_interval
from weft.terminal import said_value
from weft.words import count

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

MOST_POINTS = 12
"""Points of a front that are listed; all are in trials.parquet."""
WIDE_KEY = 20
"""Characters of a key that stands on one line of the neighbours' table."""


@dataclass(frozen=True)
class Numbers:
    """How the numbers of a goal are shown: all in one unit, so that they can be compared."""

    goal: Goal
    shown: Quantity
    places: int

    @classmethod
    def of(cls, found: Found, place: int) -> "Numbers":
        """From the largest mean of all trials."""
        goal = found.objective.goals[place]
        means = [abs(interval.mean) for point in found.points if (interval := point.interval(place))]
        largest = max(means, default=1.0)
        shown = quantity(goal.measure.metric.column, largest)
        return cls(goal, shown, decimals(largest * shown.factor))

    def number(self, value: float, sign: str = "") -> str:
        """A number without its unit."""
        return f"{value * self.shown.factor:{sign},.{self.places}f}"

    def interval(self, point: Point, place: int) -> str:
        """Mean and half the interval."""
        found = point.interval(place)
        if found is None:
            return "-"
        half = "" if found.half_width is None else f" ± {self.number(found.half_width)}"
        return self.number(found.mean) + half

    @property
    def unit(self) -> str:
        """With a space before it, or nothing."""
        return f" {self.shown.unit}" if self.shown.unit else ""


def print_found(console: "Console", found: Found) -> None:
    """The whole result."""
    console.print(Text(asked(found), style="bold"))
    console.print(Text(counted(found)))
    console.print()
    if found.front:
        _print_front(console, found)
    elif found.best is not None:
        _print_best(console, found, found.best)
        _print_neighbours(console, found)
    else:
        for line in nothing_feasible(found):
            console.print(Text(line), soft_wrap=line.startswith("again"))
        console.print()
    _print_importances(console, found)


def text(found: Found, width: int = 80) -> str:
    """The same as plain text."""
    from rich.console import Console

    out = io.StringIO()
    print_found(Console(file=out, width=width, no_color=True), found)
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().split("\n"))


def asked(found: Found) -> str:
    """The objective as a sentence: "maximize goodput of bulk, with goodput of victim at least 99 % of alone"."""
    goals = " and ".join(f"{goal.direction} {goal.measure.name}" for goal in found.objective.goals)
    kept = "; ".join(constraint.text for constraint in found.objective.constraints)
    return f"{found.experiment.name}: {goals}" + (f", with {kept}" if kept else "")


def counted(found: Found) -> str:
    """How many trials became what."""
    counts = found.counts
    feasible = sum(1 for point in found.trial_points if point.is_feasible(found.objective))
    parts = [f"{counts['complete']} complete"]
    if found.objective.constraints:
        parts[0] += f" ({feasible} feasible)"
    parts += [f"{counts[state]} {state}" for state in ("pruned", "failed") if counts[state]]
    repeats = found.experiment.sweep.fewest
    each = f" of {repeats} repeats" if repeats > 1 else ""
    said = f"{count(len(found.trial_points), 'trial')}{each} by {found.experiment.search.sampler}: {', '.join(parts)}"
    return f"{said}; {count(found.runs, 'run')} ({found.simulated} of them new)"


def nothing_feasible(found: Found) -> Iterator[str]:
    """What to say when no trial keeps the constraints."""
    closest = found.closest
    if closest is None:
        yield "no trial is complete"
        return
    point, constraint, missed = closest
    yield "no trial keeps the constraints"
    for place, each in enumerate(found.objective.constraints):
        if each is constraint:
            value = shown_constraint(constraint, mean_interval(point.constraint(place)))
            yield f"closest: trial {point.number} with {value}, which misses {constraint.text} by {missed:.2%} of it"
    yield f"  {', '.join(f'{key} = {said_of(value)}' for key, value in point.values.items())}"
    if command := found.command(point):
        yield f"again: {command}"
    yield "ask for less, widen [space], or allow more trials"


def verdict(found: Found) -> str:
    """Whether the best point differs from the one as written by more than noise."""
    best, written = found.best, found.written
    if best is None or written is None:
        return ""
    if found.is_written(best):
        return "the point as written is the best one"
    against = found.against_written
    if against is None:
        return f"the point as written failed: {written.error}"
    gained, is_fresh = against
    numbers = Numbers.of(found, 0)
    percent = f" ({gained.ratio - 1:+.1%})" if gained.ratio is not None else ""
    where = (
        "the point as written" if written.is_feasible(found.objective) else "the point as written, which is infeasible"
    )
    size = numbers.number(gained.difference, "+")
    if gained.low is None or gained.high is None:
        deterministic = "one run each, so nothing is known of noise: [sweep] repeats = 5 tells"
        return f"{size}{numbers.unit}{percent} against {where}; {deterministic}"
    half = numbers.number(gained.high - gained.difference)
    is_clear = found.goal.sign * gained.difference > 0 and (gained.low > 0) == (gained.high > 0)
    said = "better by more than noise" if is_clear else "no more than noise"
    seeds = "on seeds that had no part in the choice" if is_fresh else "on the seeds of the search"
    return f"{size} ± {half}{numbers.unit}{percent} against {where}, {seeds}: {said}"


def shown_constraint(constraint: Constraint, found: Interval) -> str:
    """The number of a constraint with half its interval: per cent of the yardstick, or in the unit of the metric.

    >>> from weft.experiment.objective import Measure
    >>> from weft.metric import METRICS
    >>> share = Constraint(Measure(METRICS["goodput"], "mean"), 0.95, None, "alone", "at least 95 % of alone")
    >>> shown_constraint(share, Interval(0.9641, 0.9532, 0.975, 5))
    '96.41 ± 1.09 %'
    >>> shown_constraint(share, Interval(1.0, None, None, 1))
    '100.00 %'
    """
    half = found.half_width
    if constraint.of:
        return f"{100 * found.mean:.2f}" + ("" if half is None else f" ± {100 * half:.2f}") + " %"
    shown = quantity(constraint.measure.metric.column, found.mean)
    places = decimals(abs(found.mean) * shown.factor)
    around = "" if half is None else f" ± {half * shown.factor:,.{places}f}"
    return f"{found.mean * shown.factor:,.{places}f}{around} {shown.unit}".rstrip()


def is_kept_by_chance(constraint: Constraint, found: Interval) -> bool:
    """Whether the mean keeps the bound and the interval reaches beyond it, so that other seeds may miss it."""
    if found.low is None or found.high is None:
        return False
    return constraint.shortfall(found.mean) <= 0.0 < max(map(constraint.shortfall, (found.low, found.high)))


def kept(found: Found, best: Point) -> Iterator[tuple[str, str]]:
    """The constraints of the best point with its numbers, and what they are with other seeds."""
    checked = found.checked()
    for place, constraint in enumerate(found.objective.constraints):
        here = mean_interval(best.constraint(place))
        said = shown_constraint(constraint, here)
        if is_kept_by_chance(constraint, here):
            said += ", kept by less than noise"
        if checked is not None:
            again = mean_interval(checked.constraint(place))
            said += f" (with other seeds {shown_constraint(constraint, again)}"
            said += ": missed, leave a margin)" if constraint.shortfall(again.mean) > 0 else ")"
        yield constraint.text, said


def missed_by(found: Found, point: Point) -> str:
    """The constraints that a complete point misses, with its numbers; empty if it keeps all, or is not complete."""
    said = []
    for place in point.missed(found.objective):
        constraint = found.objective.constraints[place]
        said.append(f"{constraint.text}: {shown_constraint(constraint, mean_interval(point.constraint(place)))}")
    return f"misses {'; '.join(said)}" if said else ""


def said_of(value: object) -> str:
    """The value of a key, a whole table in one line.

    >>> said_of("10 us"), said_of({"kind": "red"})
    ('10 us', '{ kind = "red" }')
    """
    return inline(value) if isinstance(value, dict | list) else said_value(value)


def change_of(neighbour: Neighbour, numbers: Numbers) -> str:
    """The difference that a neighbour makes, with half its interval."""
    gain = neighbour.gain
    if gain is None:
        return neighbour.point.state
    half = "" if gain.high is None else f" ± {numbers.number(gain.high - gain.difference)}"
    return numbers.number(gain.difference, "+") + half


def caveat(found: Found) -> str:
    """What the importances do not say."""
    known = found.counts["complete"] + found.counts["pruned"]
    of = found.goal.measure.name if len(found.objective.goals) == 1 else "each goal"
    return (
        f"Shares of the variance of {of} over {count(known, 'trial')}: in all of the space "
        "(fANOVA), and among the best tenth (PED-ANOVA). The sampler went where it was good, keys may act together, "
        "and few trials mislead: a hint, no measurement."
    )


def _print_best(console: "Console", found: Found, best: Point) -> None:
    table = _table()
    table.show_header = False
    table.add_column(no_wrap=False, overflow="fold")
    table.add_column(overflow="fold")
    for key, value in best.values.items():
        table.add_row(Text(key), Text(said_of(value), style="bold"))
    numbers = Numbers.of(found, 0)
    name = found.goal.measure.name
    table.add_row(Text(name), Text(numbers.interval(best, 0) + numbers.unit, style="bold"))
    checked = found.checked()
    if checked is not None:
        table.add_row(Text("  with other seeds"), Text(numbers.interval(checked, 0) + numbers.unit))
    for constraint, said in kept(found, best):
        table.add_row(Text(constraint), Text(said))
    console.print(Text(f"best: trial {best.number}", style="bold"))
    console.print(table)
    if said := verdict(found):
        console.print(Text(said))
    if command := found.command(best):
        console.print(Text(f"again: {command}"), soft_wrap=True)
    console.print()


def _print_neighbours(console: "Console", found: Found) -> None:
    if not found.neighbours:
        return
    numbers = Numbers.of(found, 0)
    unit = f", {numbers.shown.unit}" if numbers.shown.unit else ""
    table = _table()
    table.add_column("changed alone", overflow="fold")
    table.add_column("to", overflow="fold")
    table.add_column(Text(f"difference{unit}"), justify="right", no_wrap=True)
    table.add_column("", overflow="fold", min_width=20)
    before = ""
    for each in found.neighbours:
        table.add_row(
            Text("" if each.key == before else _broken(each.key)),
            Text(said_of(each.value)),
            Text(change_of(each, numbers)),
            Text(missed_by(found, each.point), style="yellow"),
        )
        before = each.key
    console.print(Text("around the best point", style="bold"))
    console.print(table)
    better = found.better_neighbour
    if better is not None:
        more = "" if found.is_temporary else f" (--trials {2 * len(found.trial_points)} goes on from here)"
        said = f"{better.key} = {said_of(better.value)} is better still: more trials may find more{more}"
        console.print(Text(said))
    console.print()


def _print_importances(console: "Console", found: Found) -> None:
    if not any(found.importances):
        return
    for goal, shares in zip(found.objective.goals, found.importances, strict=True):
        if not shares:
            continue
        table = _table()
        table.add_column(Text("importance" if len(found.importances) == 1 else goal.measure.name), overflow="fold")
        table.add_column("in all", justify="right")
        table.add_column("among the best", justify="right")
        for key, share in sorted(shares.items(), key=lambda item: -item[1]["fanova"]):
            table.add_row(Text(key), f"{share['fanova']:.0%}", f"{share['ped_anova']:.0%}")
        console.print(table)
    console.print(Text(caveat(found), style="dim"))
    console.print()


def _print_front(console: "Console", found: Found) -> None:
    table = _table()
    table.add_column("trial", justify="right")
    columns = [Numbers.of(found, place) for place in range(len(found.objective.goals))]
    for numbers in columns:
        unit = f", {numbers.shown.unit}" if numbers.shown.unit else ""
        table.add_column(Text(f"{numbers.goal.measure.name}{unit}"), justify="right", overflow="fold")
    for key in found.front[0].values:
        section, dot, last = key.rpartition(".")
        table.add_column(Text(f"{section}{dot}\n{last}" if dot else f"\n{key}"), overflow="fold")
    step = max(1, -(-len(found.front) // MOST_POINTS))
    for point in found.front[::step]:
        table.add_row(
            str(point.number),
            *(Text(numbers.interval(point, place)) for place, numbers in enumerate(columns)),
            *(Text(said_of(value)) for value in point.values.values()),
        )
    console.print(Text(f"front: {count(len(found.front), 'point')} of which none beats another in both", style="bold"))
    console.print(table)
    if step > 1:
        console.print(Text(f"every {step}th of them; all are in trials.parquet", style="dim"))
    if command := found.command(found.front[0]):
        console.print(Text(f"again, trial {found.front[0].number}: {command}"), soft_wrap=True)
    console.print()


def _table() -> "Table":
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)


def _broken(key: str) -> str:
    """A long key on two lines, its name below its section: a column that is short of room would break it in a word."""
    section, dot, last = key.rpartition(".")
    return f"{section}{dot}\n{last}" if len(key) > WIDE_KEY else key
