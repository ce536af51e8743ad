"""The plan of a search: which runs are next, for the driver that also does sweeps (execute/driver.py).

First the yardsticks of the constraints and the point as written, then the trials, batch by batch, then the best point
and the written one once more with seeds that had no part in the choice, and at last the neighbours of the best point.
A run that is in the folder already, of another trial or of `weft run`, is read and not done again.
"""

from collections import deque
from collections.abc import Iterator, MutableMapping, Sequence
from itertools import zip_longest
from typing import Any

from weft import _core
from weft.errors import ResultsError, RunError
from weft.execute import machine
from weft.execute.folder import Folder
from weft.experiment import path as dotted
from weft.experiment.axes import quantity_of
from weft.experiment.experiment import Experiment
from weft.experiment.space import Choice, Dimension, Search
from weft.progress import quantity
from weft.results import RunTables
from weft.scenario import Scenario, faults_of, predict
from weft.searching import pruning
from weft.searching.measure import bottleneck, value_of
from weft.searching.point import Point, Reading, best_of
from weft.searching.study import Study
from weft.sweep import Cell, Run, seed_of

JOURNAL = "study.journal"
"""In the output folder."""

WRITTEN = -1
"""Number of the cell that is the point as written; those of the yardsticks are below."""

NEIGHBOURS = 10**6
"""Number of the first neighbour's cell: beyond those of all trials."""

MOST_FAILURES = 10
"""Trials at the start after whose failure, of all of them, a search has no sense."""


class SearchPlan:
    """The runs of a search. `points` grows; see `Plan` for what the driver asks."""

    def __init__(self, experiment: Experiment, folder: Folder, memory: MutableMapping[int, int]) -> None:
        self.warnings: list[str] = []
        self.simulated = 0
        self.points: list[Point] = []
        self.study = Study(folder.directory / JOURNAL, experiment.search, experiment.seed)
        self._experiment, self._folder, self._memory = experiment, folder, memory
        assert experiment.search.objective is not None
        self._search: Search = experiment.search
        self._objective = experiment.search.objective
        self._repeats = experiment.sweep.fewest
        self._alone: dict[tuple[int, int], float] = {}
        """By constraint and repeat."""
        self._readings: dict[str, Reading] = {}
        self._waiting: dict[str, list[tuple[Point, int]]] = {}
        self._ready: deque[Run] = deque()
        self._best: Point | None = None
        """What the trials of this batch are compared with."""
        self.points += [self._restored(trial) for trial in self.study.trials if trial.state.is_finished()]
        self._script = self._batches()
        self.planned = self._count()
        # Yardsticks, and the written and the best point, are measured twice.
        points = self._search.trials + self._search.neighbours + 2 * (len(alone_cells(experiment)) + 2)
        self.most = points * self._repeats

    def next(self) -> Run | None:
        """See Plan."""
        while not self._ready and not self._waiting:
            batch = next(self._script, None)
            if batch is None:
                return None
            for point in batch:
                self.points.append(point)
                if point.state == "under way":
                    self._begin(point)
        return self._ready.popleft() if self._ready else None

    def ended(self, run: Run, is_there: bool) -> None:
        """See Plan."""
        waiting = self._waiting[run.name]
        reading = self._read(run, waiting[0][0]) if is_there else Reading(error=self._why(run))
        if waiting[0][0].role != "alone":
            self._readings[run.name] = reading
        del self._waiting[run.name]
        for point, repeat in waiting:
            self._take(point, repeat, reading)
        self.planned = self._count()

    def rows(self) -> Iterator[Run]:
        """See Plan."""
        seen = set()
        for point in self.points:
            for repeat, name in point.runs.items():
                if name not in seen:
                    seen.add(name)
                    # What a yardstick changes is no searched key.
                    cell = Cell(point.cell.index, {}) if point.role == "alone" else point.cell
                    yield Run(name, cell, repeat, seed_of(self._experiment.seed, repeat))

    @property
    def trials(self) -> list[Point]:
        """The points that the sampler chose."""
        return [point for point in self.points if point.role == "trial"]

    def _count(self) -> int:
        """The runs so far, all repeats of the trials that are not begun, and about as many as come after the trials."""
        begun = {name for point in self.points for name in point.runs.values()}
        expected = max(0, self._search.trials - len(self.trials)) * self._repeats
        if len(self._objective.goals) == 1 and all(point.role != "neighbour" for point in self.points):
            sides = sum(
                len(d.values) - 1 if isinstance(d, Choice) and not d.is_ordered else 2 for d in self._search.space
            )
            expected += min(sides, self._search.neighbours) * self._repeats
        return len(begun) + expected

    def _batches(self) -> Iterator[list[Point]]:
        """Points that may run at once; what comes next is decided when all of them are done."""
        yield from self._yardsticks(range(self._repeats))
        first = self._place_of_written()
        if first is None or self._search.sampler == "grid":
            yield [self._point("written", Cell(WRITTEN, {}, "space"), range(self._repeats))]
        while batch := self.study.next_batch(first):
            number = batch[0].number
            earlier = [point for point in self.trials if (point.number or 0) < number - number % self._search.batch]
            self._best = best_of(earlier, self._objective) if self._may_prune else None
            points = [
                self._point("trial", self._cell(trial), range(self._repeats), trial.number, trial.params)
                for trial in batch
            ]
            yield points
            for point in points:
                self._tell(point)
            self._refuse_to_fail_on(MOST_FAILURES)
        self._refuse_to_fail_on(1)
        self._best = None
        best = best_of(self.trials, self._objective)
        if best is None or len(self._objective.goals) > 1:
            return
        if self._repeats > 1:
            again = range(self._repeats, 2 * self._repeats)
            yield from self._yardsticks(again)
            cells = {id(best): best.cell}
            written = self.written
            if written is not None and written is not best:
                cells[id(written)] = written.cell
            yield [self._point("check", cell, again) for cell in cells.values()]
        yield self._neighbours(best)

    @property
    def written(self) -> Point | None:
        """The point as the file has it: a point of its own, or the first trial."""
        own = next((point for point in self.points if point.role == "written"), None)
        return own or next((point for point in self.trials if point.number == 0), None)

    @property
    def _may_prune(self) -> bool:
        return self._search.prune and len(self._objective.goals) == 1 and self._repeats > pruning.FIRST_LOOK

    def _begin(self, point: Point) -> None:
        eager = pruning.FIRST_LOOK if self._best is not None and point.role == "trial" else len(point.repeats)
        runs = [self._experiment.run(point.cell, repeat) for repeat in point.repeats[:eager]]
        # All of them before the first reading: what comes after depends on whether all asked for are there.
        point.runs.update({run.repeat: run.name for run in runs})
        for run in runs:
            if point.state == "under way":
                self._ask(point, run)

    def _ask(self, point: Point, run: Run) -> None:
        """Has a run done, or its reading taken if there is one."""
        if run.name in self._waiting:
            self._waiting[run.name].append((point, run.repeat))
        elif run.name in self._readings:
            self._take(point, run.repeat, self._readings[run.name])
        else:
            self._waiting[run.name] = [(point, run.repeat)]
            self._ready.append(run)
            self.simulated += not self._folder.is_done(run)

    def _take(self, point: Point, repeat: int, reading: Reading) -> None:
        point.readings[repeat] = reading
        if point.state != "under way":
            return
        if reading.error:
            if point.role == "alone":
                raise RunError(f"the yardstick {point.cell}: {reading.error}")
            point.state, point.error = "failed", reading.error
            return
        done = len(point.read)
        if len(point.readings) < len(point.runs):
            return
        if done == len(point.repeats):
            point.state = "complete"
        elif self._is_hopeless(point):
            point.state = "pruned"
        else:
            run = self._experiment.run(point.cell, point.repeats[done])
            point.runs[run.repeat] = run.name
            self._ask(point, run)

    def _is_hopeless(self, point: Point) -> bool:
        if self._best is None:
            return False
        sign = self._objective.goals[0].sign
        if pruning.cannot_reach(self._best.goal(0), point.goal(0), sign, self._repeats):
            return True
        for place, constraint in enumerate(self._objective.constraints):
            misses = [constraint.misses(value) for value in point.constraint(place)]
            if any(pruning.cannot_keep(of_bound, self._repeats) for of_bound in zip(*misses, strict=True)):
                return True
        return False

    def _tell(self, point: Point) -> None:
        assert point.number is not None
        kept: dict[str, Any] = {"runs": [point.runs[repeat] for repeat in sorted(point.runs)]}
        if point.state == "failed":
            self.study.tell(point.number, None, kept | {"error": point.error}, is_pruned=False)
            return
        kept["measured"] = [[list(reading.goals), list(reading.constraints)] for reading in point.read]
        kept["shortfalls"] = point.shortfalls(self._objective)
        means = [interval.mean for place in range(len(self._objective.goals)) if (interval := point.interval(place))]
        self.study.tell(point.number, means, kept, is_pruned=point.state == "pruned")

    def _restored(self, trial: Any) -> Point:
        """The point of a trial that an earlier call did."""
        point = Point("trial", self._cell(trial), range(self._repeats), trial.number, trial.params)
        point.state = {"COMPLETE": "complete", "PRUNED": "pruned"}.get(trial.state.name, "failed")  # type: ignore[assignment]
        point.error = trial.user_attrs.get("error", "")
        point.runs = dict(enumerate(trial.user_attrs["runs"]))
        for repeat, (goals, constraints) in enumerate(trial.user_attrs.get("measured", ())):
            point.readings[repeat] = Reading(tuple(goals), tuple(constraints))
        return point

    def _refuse_to_fail_on(self, most: int) -> None:
        trials = self.trials
        if len(trials) >= most and all(point.state == "failed" for point in trials):
            raise RunError(f"all {len(trials)} trials failed, so the search stops; the first: {trials[0].error}")

    def _cell(self, trial: Any) -> Cell:
        values = {dimension.key: dimension.value(trial.params[dimension.key]) for dimension in self._search.space}
        return Cell(trial.number, values, "space")

    def _point(self, role: Any, cell: Cell, repeats: range, number: int | None = None, places: Any = None) -> Point:
        """A point that can be run, or one that failed with what is wrong with it."""
        point = Point(role, cell, repeats, number, places or {})
        faults = self._experiment.faults(cell)
        if faults:
            point.state, point.error = "failed", f"{faults[0].key}: {faults[0].message}"
            return point
        need = predict(self._experiment.spec(cell), self._experiment.document).memory_bytes
        self._memory[cell.index] = need
        free = machine.available_memory()
        if free is not None and need > free:
            point.state = "failed"
            point.error = f"needs about {quantity(need)}B of memory; {quantity(free)}B are available"
        return point

    def _yardsticks(self, repeats: range) -> Iterator[list[Point]]:
        """The experiment as written with the workloads of a constraint alone."""
        points = [self._point("alone", cell, repeats) for cell in alone_cells(self._experiment).values()]
        for point in points:
            if point.state == "failed":
                raise RunError(f"the yardstick {point.cell}: {point.error}")
        if points:
            yield points

    def _read(self, run: Run, point: Point) -> Reading:
        tables = RunTables(self._folder.runs / run.name)
        try:
            if point.role == "alone":
                self._read_alone(run, tables)
                return Reading()
            self._refuse_unfinished(run)
            goals = tuple(value_of(goal.measure, tables) for goal in self._objective.goals)
            return Reading(goals, self._read_constraints(run, tables))
        except ResultsError as error:
            return Reading(error=str(error))

    def _read_alone(self, run: Run, tables: RunTables) -> None:
        workloads = alone_cells(self._experiment)
        for place, constraint in enumerate(self._objective.constraints):
            if constraint.of == "alone" and workloads[constraint.measure.workloads].index == run.cell.index:
                self._alone[place, run.repeat] = value_of(constraint.measure, tables)

    def _read_constraints(self, run: Run, tables: RunTables) -> tuple[float, ...]:
        values = []
        for place, constraint in enumerate(self._objective.constraints):
            value, whole = value_of(constraint.measure, tables), 1.0
            if constraint.of == "alone":
                whole = self._alone[place, run.repeat]
            elif constraint.of == "bottleneck":
                whole = bottleneck(constraint.measure, Scenario(self._experiment.spec(run.cell, run.seed)))
            if whole == 0.0:
                raise ResultsError(f"{constraint.text}: {constraint.of} it is 0, of which nothing is a share")
            values.append(value / whole)
        return tuple(values)

    def _refuse_unfinished(self, run: Run) -> None:
        """Completion times are of finished flows: a point that leaves some lying must not look fast."""
        names = {goal.measure.metric.name for goal in self._objective.goals}
        names |= {constraint.measure.metric.name for constraint in self._objective.constraints}
        if not names & {"fct", "slowdown"}:
            return
        manifest = self._folder.manifest(run)
        if not manifest["finished"]:
            raise ResultsError(
                f"{manifest['unfinished']} flows did not finish, of which {min(names & {'fct', 'slowdown'})} says "
                "nothing; raise backend.limit, or search for goodput"
            )

    def _why(self, run: Run) -> str:
        """Why a run failed, as the folder has it."""
        failure = self._folder.failure(run)
        message = str(failure.get("message") or failure.get("kind") or "no reason given")
        if failure.get("kind") == "FaultError":
            found = faults_of(_core.FaultError(message), self._experiment.document)
            return f"{found[0].key}: {found[0].message}"
        return message

    def _place_of_written(self) -> dict[str, float] | None:
        """The places of the point as written, None if it is not in the space."""
        places = {}
        for dimension in self._search.space:
            place = place_of_written(self._experiment, dimension)
            if place is None:
                return None
            places[dimension.key] = place
        return places

    def _neighbours(self, best: Point) -> list[Point]:
        """Points with one key changed, the nearest of every key first, as many as are asked for."""
        of_keys = [
            [(dimension, place) for place in dimension.neighbours(best.places[dimension.key])]
            for dimension in self._search.space
        ]
        in_turn = [each for turn in zip_longest(*of_keys) for each in turn if each is not None]
        points = []
        for number, (dimension, place) in enumerate(in_turn[: self._search.neighbours]):
            cell = Cell(NEIGHBOURS + number, {**best.values, dimension.key: dimension.value(place)}, "space")
            places = {**best.places, dimension.key: place}
            points.append(self._point("neighbour", cell, range(self._repeats), None, places))
        return points


def alone_cells(experiment: Experiment) -> dict[tuple[str, ...], Cell]:
    """By workloads the experiment as written with these alone, as far as constraints ask for it."""
    assert experiment.search.objective is not None
    cells: dict[tuple[str, ...], Cell] = {}
    for constraint in experiment.search.objective.constraints:
        names = constraint.measure.workloads
        if constraint.of == "alone" and names not in cells:
            written: Sequence[Any] = experiment.document.value["workload"]
            chosen = [table for table in written if table.get("name", table.get("kind")) in names]
            cells[names] = Cell(WRITTEN - 1 - len(cells), {"workload": chosen}, "objective")
    return cells


def place_of_written(experiment: Experiment, dimension: Dimension) -> float | None:
    """The place of the point as written on a dimension, None if it has none there."""
    if isinstance(dimension, Choice):
        places = [float(place) for place in range(len(dimension.values))]
    else:
        tables = experiment.resolved_cell(Cell(WRITTEN, {}, "space"))
        try:
            value, _ = quantity_of(dotted.get(tables, dotted.named(tables, dotted.read(dimension.key) or ())))
        except ValueError:
            return None
        places = [float(value)] if dimension.low <= value <= dimension.high else []
    return next((place for place in places if _is_as_written(experiment, dimension.key, dimension.value(place))), None)


def _is_as_written(experiment: Experiment, key: str, value: Any) -> bool:
    cell = Cell(WRITTEN, {key: value}, "space")
    return not experiment.faults(cell) and experiment.spec(cell) == experiment.spec(Cell(WRITTEN, {}, "space"))
