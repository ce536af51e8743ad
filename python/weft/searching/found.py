"""What a search found: the trials, the best point and how sure that is, its neighbours, what matters, and the front."""

import shlex
import shutil
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.experiment.experiment import Experiment
from weft.experiment.objective import Constraint, Goal, Objective
from weft.experiment.readable import inline
from weft.experiment.sections import READ_ELSEWHERE
from weft.experiment.space import Choice
from weft.searching.point import Point, best_of, closest_of, front_of
from weft.statistics.interval import mean_interval
from weft.statistics.paired import Difference, difference
from weft.sweep import columns_of

if TYPE_CHECKING:
    import polars as pl

STATES = ("complete", "pruned", "failed")


@dataclass(frozen=True)
class Neighbour:
    """A point with one key changed: what that makes of the first goal, seed by seed."""

    key: str
    value: Any
    point: Point
    is_below: bool | None
    """Whether the value lies below the best one; None where values have no order."""
    gain: Difference | None
    """Against the best point, in the unit of the goal; None if the point failed."""


@dataclass(frozen=True, repr=False)
class Found:
    """The end of a search, or how far it has come.

    `points` are all points, trials first in their order; `importances` holds, for each goal, by key the shares of the
    variance (`fanova` over the whole space, `ped_anova` among the best tenth of the trials).
    """

    experiment: Experiment
    directory: Path
    points: tuple[Point, ...]
    importances: tuple[Mapping[str, Mapping[str, float]], ...] = ()
    warnings: tuple[str, ...] = ()
    runs: int = 0
    """Runs of all points and yardsticks."""
    simulated: int = 0
    """Those that this call did; the others were there."""
    is_temporary: bool = False
    """Whether the folder is deleted with this object, so that nothing can go on in it."""

    def __post_init__(self) -> None:
        if self.is_temporary:
            weakref.finalize(self, shutil.rmtree, self.directory, ignore_errors=True)

    @property
    def objective(self) -> Objective:
        """What was looked for."""
        assert self.experiment.search.objective is not None
        return self.experiment.search.objective

    @property
    def goal(self) -> Goal:
        """The first goal."""
        return self.objective.goals[0]

    @property
    def trial_points(self) -> list[Point]:
        """The points that the sampler chose, in order."""
        return [point for point in self.points if point.role == "trial"]

    @cached_property
    def best(self) -> Point | None:
        """The feasible trial with the best mean of the first goal; None if none is feasible."""
        return best_of(self.trial_points, self.objective)

    @cached_property
    def front(self) -> list[Point]:
        """With two goals, the feasible trials that no other trial beats in both, in the order of the first goal."""
        return front_of(self.trial_points, self.objective) if len(self.objective.goals) > 1 else []

    @property
    def written(self) -> Point | None:
        """The point as the file has it."""
        own = next((point for point in self.points if point.role == "written"), None)
        if own is not None:
            return own
        first = next(iter(self.trial_points), None)
        return first if first is not None and first.number == 0 else None

    @property
    def closest(self) -> tuple[Point, Constraint, float] | None:
        """The point that came closest to being feasible, the constraint that it misses most, and by which share."""
        point = closest_of(self.trial_points, self.objective)
        if point is None or not self.objective.constraints:
            return None
        missed = point.shortfalls(self.objective)
        worst = max(range(len(missed)), key=missed.__getitem__)
        return point, self.objective.constraints[worst], missed[worst]

    @cached_property
    def against_written(self) -> tuple[Difference, bool] | None:
        """The best point against the one as written, and whether on seeds that had no part in the choice.

        None if one of them is missing, or they are the same.
        """
        best, written = self.best, self.written
        if best is None or written is None or self.is_written(best) or written.state == "failed":
            return None
        fresh = [self._checked(point) for point in (written, best)]
        if all(point is not None for point in fresh):
            before, after = (point.goal(0) for point in fresh if point is not None)
            return difference(before, after), True
        n = min(len(written.goal(0)), len(best.goal(0)))
        return difference(written.goal(0)[:n], best.goal(0)[:n]), False

    def checked(self) -> Point | None:
        """The best point once more, with seeds that had no part in the choice."""
        return self._checked(self.best) if self.best is not None else None

    def _checked(self, of: Point) -> Point | None:
        checks = [point for point in self.points if point.role == "check" and point.state == "complete"]
        return next((point for point in checks if point.values == of.values), None)

    def is_written(self, point: Point) -> bool:
        """Whether a point is the one as the file has it."""
        written = self.written
        return written is not None and (written is point or list(written.runs.values()) == list(point.runs.values()))

    @cached_property
    def neighbours(self) -> list[Neighbour]:
        """The points around the best one, key by key."""
        best, found = self.best, []
        if best is None:
            return []
        for dimension in self.experiment.search.space:
            for point in self.points:
                if point.role != "neighbour" or point.values[dimension.key] == best.values[dimension.key]:
                    continue
                gain = None
                if point.state == "complete":
                    gain = difference(best.goal(0), point.goal(0))
                is_ordered = not isinstance(dimension, Choice) or dimension.is_ordered
                below = point.places[dimension.key] < best.places[dimension.key] if is_ordered else None
                found.append(Neighbour(dimension.key, point.values[dimension.key], point, below, gain))
        return found

    @property
    def better_neighbour(self) -> Neighbour | None:
        """The feasible neighbour whose mean is best, if it is better than the best trial's."""
        better = [
            neighbour
            for neighbour in self.neighbours
            if neighbour.gain is not None
            and neighbour.point.is_feasible(self.objective)
            and self.goal.sign * neighbour.gain.difference > 0
        ]
        return max(better, key=lambda each: self.goal.sign * (each.gain.difference if each.gain else 0.0), default=None)

    def command(self, point: Point) -> str | None:
        """The command that runs a point again, with its repeats.

        None for a search of a mapping in a temporary folder: no file holds its experiment.
        """
        # What is searched for changes no run.
        given = [text for text in self.experiment.document.settings if not text.startswith(READ_ELSEWHERE[1:])]
        settings = [*given, *(f"{key}={inline(value)}" for key, value in point.values.items())]
        said = [part for setting in settings for part in ("--set", setting)]
        place = self.experiment.document.place
        if Path(place).is_file():
            file = place
        elif self.is_temporary:
            return None
        else:
            file = str(self.directory / "experiment.toml")
        out = [] if self.is_temporary else ["--out", str(self.directory) + "-best"]
        return shlex.join(["weft", "run", file, *said, *out])

    @cached_property
    def trials(self) -> "pl.DataFrame":
        """A row per trial, and after them one per other point.

        Columns trial (null for what the sampler did not choose), role, state, feasible, n (repeats), one per searched
        key, for each goal its mean with _low and _high (95 % t interval), for each constraint its number and by which
        share it is missed (at most 0: kept), runs (a list of names), and error.
        """
        import polars as pl

        from weft.execute.plan_table import column

        points = self.points
        swept = [
            {name: part for key, value in point.values.items() for name, part in columns_of(key, value)}
            for point in points
        ]
        names = list(dict.fromkeys(name for row in swept for name in row))
        series = [
            pl.Series("trial", [point.number for point in points], dtype=pl.Int64),
            pl.Series("role", [point.role for point in points], dtype=pl.String),
            pl.Series("state", [point.state for point in points], dtype=pl.String),
            pl.Series("feasible", [point.is_feasible(self.objective) for point in points], dtype=pl.Boolean),
            pl.Series("n", [len(point.read) if point.state != "failed" else 0 for point in points], dtype=pl.Int64),
            *(column(name, [row.get(name) for row in swept]) for name in names),
        ]
        for place, goal in enumerate(self.objective.goals):
            intervals = [point.interval(place) for point in points]
            name = column_name(goal)
            series += [
                pl.Series(name, [i.mean if i else None for i in intervals], dtype=pl.Float64),
                pl.Series(f"{name}_low", [i.low if i else None for i in intervals], dtype=pl.Float64),
                pl.Series(f"{name}_high", [i.high if i else None for i in intervals], dtype=pl.Float64),
            ]
        for place in range(len(self.objective.constraints)):
            known = [point.state != "failed" for point in points]
            values = [
                mean_interval(p.constraint(place)).mean if k else None for p, k in zip(points, known, strict=True)
            ]
            missed = [p.shortfalls(self.objective)[place] if k else None for p, k in zip(points, known, strict=True)]
            series.append(pl.Series(f"constraint_{place}", values, dtype=pl.Float64))
            series.append(pl.Series(f"constraint_{place}_missed", missed, dtype=pl.Float64))
        series.append(pl.Series("runs", [list(point.runs.values()) for point in points], dtype=pl.List(pl.String)))
        series.append(pl.Series("error", [point.error or None for point in points], dtype=pl.String))
        return pl.DataFrame(series)

    @property
    def counts(self) -> dict[str, int]:
        """How many trials are complete, pruned and failed."""
        return {state: sum(1 for point in self.trial_points if point.state == state) for state in STATES}

    @property
    def document(self) -> dict[str, Any]:
        """Everything as plain data, in base units: what `weft search --json` prints."""
        closest = self.closest
        return {
            "name": self.experiment.name,
            "directory": str(self.directory),
            "objective": [{"name": goal.measure.name, "direction": goal.direction} for goal in self.objective.goals],
            "constraints": [constraint.text for constraint in self.objective.constraints],
            "trials": len(self.trial_points),
            "runs": self.runs,
            **self.counts,
            "feasible": sum(1 for point in self.trial_points if point.is_feasible(self.objective)),
            "best": self._point_document(self.best) if self.best and not self.front else None,
            "best_on_other_seeds": self._point_document(self.checked()),
            "written": self._point_document(self.written),
            "against_written": self._against_document(),
            "closest": (
                {**(self._point_document(closest[0]) or {}), "constraint": closest[1].text, "missed": closest[2]}
                if closest and not self.best
                else None
            ),
            "front": [self._point_document(point) for point in self.front],
            "neighbours": [
                {"key": each.key, "value": each.value, **(self._point_document(each.point) or {})}
                | (
                    {"difference": each.gain.difference, "low": each.gain.low, "high": each.gain.high}
                    if each.gain
                    else {}
                )
                for each in self.neighbours
            ],
            "importances": [{key: dict(shares) for key, shares in goal.items()} for goal in self.importances],
            "warnings": list(self.warnings),
            "report": None,
        }

    def _point_document(self, point: Point | None) -> dict[str, Any] | None:
        if point is None:
            return None
        goals: list[dict[str, Any]] = []
        for place, goal in enumerate(self.objective.goals):
            interval = point.interval(place)
            goals.append({"name": goal.measure.name} | (asdict(interval) if interval else {}))
        return {
            "trial": point.number,
            "state": point.state,
            "feasible": point.is_feasible(self.objective),
            "values": point.values,
            "goals": goals,
            "constraints": [
                {"text": constraint.text} | (asdict(interval) if interval else {})
                for place, constraint in enumerate(self.objective.constraints)
                for interval in [point.constraint_interval(place)]
            ],
            "missed": point.shortfalls(self.objective) if point.state != "failed" else [],
            "command": self.command(point),
        }

    def _against_document(self) -> dict[str, Any] | None:
        if self.against_written is None:
            return None
        found, is_fresh = self.against_written
        return {
            "difference": found.difference,
            "low": found.low,
            "high": found.high,
            "ratio": found.ratio,
            "p_value": found.p_value,
            "on_other_seeds": is_fresh,
        }

    def __str__(self) -> str:
        """As `weft search` prints it."""
        from weft.searching.shown import text

        return text(self)

    def __repr__(self) -> str:
        """What was searched and the best point: the rest is in str(), `trials` and `document`."""
        best = f"front of {len(self.front)} points" if self.front else f"best {self.best!r}"
        return f"<Found {self.experiment.name}: {len(self.trial_points)} trials, {best}; print it to see all>"

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(str(self))}</pre>"


def column_name(goal: Goal) -> str:
    """The column of a goal, with its unit.

    >>> from weft.experiment.objective import Measure
    >>> from weft.metric import METRICS
    >>> column_name(Goal(Measure(METRICS["fct"], "p99", ("victim",)), "minimize"))
    'fct_p99_of_victim_ns'
    """
    measure = goal.measure
    words = [measure.metric.name] + ([measure.summary] if measure.summary != measure.metric.summary else [])
    if measure.workloads:
        words += ["of", *measure.workloads]
    return "_".join([*words, *([measure.metric.unit] if measure.metric.unit else [])])


def ordered(points: Sequence[Point]) -> list[Point]:
    """Trials in their order, then the other points as they came, without the yardsticks."""
    trials = sorted((point for point in points if point.role == "trial"), key=lambda point: point.number or 0)
    return [*trials, *(point for point in points if point.role not in ("trial", "alone"))]
