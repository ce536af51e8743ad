"""A point of the space and what its runs say of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from weft.experiment.objective import Objective
from weft.statistics.interval import Interval, mean_interval
from weft.sweep import Cell

Role = Literal["trial", "written", "neighbour", "check", "alone"]
"""Why a point is run: chosen by the sampler; as the file has it; beside the best one; again with other seeds; a
yardstick."""


@dataclass(frozen=True)
class Reading:
    """What one run says: a number per goal and per constraint, the latter as shares of the yardstick if there is one.

    `error` says why there are none.
    """

    goals: tuple[float, ...] = ()
    constraints: tuple[float, ...] = ()
    error: str = ""


@dataclass(repr=False)
class Point:
    """Values of the searched keys, and the readings of the repeats so far."""

    role: Role
    cell: Cell
    repeats: range
    number: int | None = None
    """Of the trial."""
    places: Mapping[str, float] = field(default_factory=dict)
    """By key the place on its dimension."""
    state: Literal["under way", "complete", "pruned", "failed"] = "under way"
    error: str = ""
    readings: dict[int, Reading] = field(default_factory=dict)
    runs: dict[int, str] = field(default_factory=dict)
    """By repeat."""

    @property
    def values(self) -> dict[str, Any]:
        """By key the value, as a file has it."""
        return dict(self.cell.chosen)

    @property
    def read(self) -> list[Reading]:
        """The readings of the repeats that are there without a gap, from the first."""
        found = []
        for repeat in self.repeats:
            if repeat not in self.readings:
                break
            found.append(self.readings[repeat])
        return found

    def goal(self, place: int) -> list[float]:
        """The numbers of a goal, one for each repeat."""
        return [reading.goals[place] for reading in self.read]

    def constraint(self, place: int) -> list[float]:
        """The numbers of a constraint, one for each repeat."""
        return [reading.constraints[place] for reading in self.read]

    def interval(self, place: int, confidence: float = 0.95) -> Interval | None:
        """Mean and t interval of a goal, None without a reading."""
        values = self.goal(place) if self.state != "failed" else []
        return mean_interval(values, confidence) if values else None

    def constraint_interval(self, place: int, confidence: float = 0.95) -> Interval | None:
        """Mean and t interval of a constraint's number, None without a reading."""
        values = self.constraint(place) if self.state != "failed" else []
        return mean_interval(values, confidence) if values else None

    def shortfalls(self, objective: Objective) -> list[float]:
        """By how much the mean over the repeats misses each constraint; at most 0 where it is kept."""
        return [
            constraint.shortfall(mean_interval(self.constraint(place)).mean)
            for place, constraint in enumerate(objective.constraints)
        ]

    def missed(self, objective: Objective) -> list[int]:
        """The places of the constraints that a complete point misses."""
        if self.state != "complete":
            return []
        return [place for place, shortfall in enumerate(self.shortfalls(objective)) if shortfall > 0.0]

    def is_feasible(self, objective: Objective) -> bool:
        """Whether a complete point keeps all constraints."""
        return self.state == "complete" and not self.missed(objective)

    def __repr__(self) -> str:
        name = f"trial {self.number}" if self.role == "trial" else self.role
        values = ", ".join(f"{key} = {value}" for key, value in self.values.items())
        return f"<Point {name}, {self.state}: {values}>"


def best_of(points: Sequence[Point], objective: Objective) -> Point | None:
    """The feasible point with the best mean of the first goal; of equal ones the first. None if none is feasible."""
    sign = objective.goals[0].sign
    feasible = [point for point in points if point.is_feasible(objective)]
    return max(feasible, key=lambda point: sign * mean_interval(point.goal(0)).mean, default=None)


def front_of(points: Sequence[Point], objective: Objective) -> list[Point]:
    """The feasible points that no other one beats in one goal without losing in another.

    Points with the same numbers are there once; the best in the first goal comes first.
    """
    feasible: dict[tuple[float, ...], Point] = {}
    for point in points:
        if point.is_feasible(objective):
            gains = tuple(
                goal.sign * mean_interval(point.goal(place)).mean for place, goal in enumerate(objective.goals)
            )
            feasible.setdefault(gains, point)
    front = [
        gains
        for gains in feasible
        if not any(
            other != gains and all(one >= mine for one, mine in zip(other, gains, strict=True)) for other in feasible
        )
    ]
    return [feasible[gains] for gains in sorted(front, reverse=True)]


def closest_of(points: Sequence[Point], objective: Objective) -> Point | None:
    """The complete point that misses its worst constraint by least."""
    complete = [point for point in points if point.state == "complete"]
    return min(complete, key=lambda point: max(point.shortfalls(objective), default=0.0), default=None)
