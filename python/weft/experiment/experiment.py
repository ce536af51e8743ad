"""The experiment: what was asked, validated, with all defaults written out, immutable."""

import functools
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from weft.errors import ExperimentError, Fault
from weft.experiment import analyses, figures, published
from weft.experiment import path as dotted
from weft.experiment.advice import Asked, advice
from weft.experiment.axes import read_sweep
from weft.experiment.check import Spec, check
from weft.experiment.document import Document, read_file, read_mapping, read_text
from weft.experiment.objective import read_objective
from weft.experiment.path import Path
from weft.experiment.readable import inline, readable, toml
from weft.experiment.repeats import read_repeats
from weft.experiment.sections import OF_BACKEND
from weft.experiment.semantics import RULES
from weft.experiment.space import Search, read_search
from weft.sweep import Cell, Run, Sweep, Until, run_name, seed_of, tables_of

if TYPE_CHECKING:
    from weft.scenario import Prediction, Scenario

MOST_KEPT = 256
"""Resolved cells that an experiment keeps."""

SHOWN = ("report", "analysis", "published")
"""Sections that no backend gets."""

OF_SWEEP = ("analysis", "published")
"""Those of them that are of all cells together."""

NOT_SIMULATED = ("name", *SHOWN, "objective", "space", "search")
"""Keys that change what is shown, not what is simulated."""


@dataclass(frozen=True)
class Experiment:
    """One experiment or a sweep of them. Made by `weft.load`; every cell is valid."""

    document: Document = field(repr=False)
    name: str
    seed: int
    sweep: Sweep
    search: Search = field(default_factory=Search, repr=False)
    _kept: dict[int | str, Spec] = field(default_factory=dict, repr=False, compare=False)

    def cells(self) -> Iterator[Cell]:
        """All cells, one at a time."""
        return self.sweep.cells()

    def _resolved(self, cell: Cell) -> Spec:
        """The spec with its figures; the cells asked for last are kept, because a run asks several times."""
        # The cells of a sweep have a place of their own; what a search asks for is known by its values alone.
        key = cell.index if cell.section == "sweep" else repr(cell.chosen)
        if key not in self._kept:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[key] = _resolve(self.document, cell)[0]
        return self._kept[key]

    def spec(self, cell: Cell, seed: int | None = None) -> Spec:
        """A cell in base units (ps, bit/s, bytes), all defaults written out: what a backend gets."""
        return {key: value for key, value in self._resolved(cell).items() if key not in SHOWN} | {
            "seed": self.seed if seed is None else seed
        }

    def run(self, cell: Cell, repeat: int) -> Run:
        """One run of the plan."""
        seed = seed_of(self.seed, repeat)
        return Run(run_name(identity(self.spec(cell, seed))), cell, repeat, seed)

    def plan(self) -> Iterator[Run]:
        """All runs, one at a time: every cell of repeat 0, then every cell of repeat 1, and so on.

        Whole repeats come first so that an interrupted sweep has whole comparisons. Where the number of repeats
        depends on an interval, these are the runs that are done in any case.
        """
        for repeat in range(self.sweep.fewest):
            for cell in self.cells():
                yield self.run(cell, repeat)

    def resolved_cell(self, cell: Cell, seed: int | None = None) -> dict[str, Any]:
        """A cell in readable units; what `manifest.json` keeps and `weft.load` takes. One cell has no analysis."""
        alone = {key: value for key, value in self._resolved(cell).items() if key not in OF_SWEEP}
        return readable(alone | {"seed": self.seed if seed is None else seed})

    def faults(self, cell: Cell) -> list[Fault]:
        """What is wrong with a cell that is none of the sweep, like a trial of a search."""
        return list(_faults_of_cell(self.document, cell))

    def advice(self, cell: Cell) -> list[str]:
        """What a cell asks for without effect: warnings of its runs."""
        written = tables_of(self.document, cell)[0]
        return advice(Asked(self.spec(cell), written, [axis.key for axis in self.sweep.axes]))

    @cached_property
    def resolved(self) -> dict[str, Any]:
        """The whole experiment in readable units, all defaults written out; `weft.load` takes it again.

        Sections that an axis changes stay as written: their defaults depend on the cell.
        """
        return {**self._resolved_runs, **self.search.written}

    @property
    def _resolved_runs(self) -> dict[str, Any]:
        first = next(iter(self.cells()))
        whole = self.resolved_cell(first)
        asked = readable(self._resolved(first))
        whole |= {name: asked[name] for name in OF_SWEEP if name in asked}
        if not self.sweep.axes and self.sweep.repeats == 1:
            return whole
        for axis in self.sweep.axes:
            section = str((dotted.read(axis.key) or (axis.key,))[0])
            if section in self.document.value:
                whole[section] = self.document.value[section]
            elif section != "seed":
                whole.pop(section, None)
        repeats = self.sweep.repeats
        whole["sweep"] = {"repeats": repeats.written if isinstance(repeats, Until) else repeats}
        if self.sweep.zipped:
            whole["sweep"]["zip"] = [list(group) for group in self.sweep.zipped]
        if self.sweep.excluded:
            whole["sweep"]["exclude"] = [
                {key: list(values) for key, values in rule.items()} for rule in self.sweep.excluded
            ]
        whole["sweep"] |= {axis.key: list(axis.values) for axis in self.sweep.axes}
        return whole

    @property
    def toml(self) -> str:
        """`resolved` as the text of an experiment file."""
        return toml(self.resolved)

    def scenario(self, cell: Cell | None = None, seed: int | None = None) -> "Scenario":
        """Network, routes and flows of a cell (the first, if none is given). Raises ExperimentError."""
        from weft.scenario import Scenario

        return Scenario(self.spec(cell or next(iter(self.cells())), seed), self.document)

    def predict(self, cell: Cell | None = None) -> "Prediction":
        """Size and memory of a run of a cell, before anything is built."""
        from weft.scenario import predict

        return predict(self.spec(cell or next(iter(self.cells()))), self.document)

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(self.toml)}</pre>"


Told = Callable[[int, int], None]
"""Hears how many cells are checked, and how many there are."""


def load(
    source: str | FilePath | Mapping[str, Any],
    set: Iterable[str] | Mapping[str, Any] = (),
    told: Told = lambda checked, cells: None,
) -> Experiment:
    """An experiment from a file, from TOML text with a line break, or from nested dicts.

    `set` has settings as on the command line ("topology.k=8"), or a dict of dotted keys; `told` hears how many cells
    of a sweep are checked. Raises ExperimentError with every fault that there is.
    """
    settings = settings_of(set) if isinstance(set, Mapping) else list(set)
    if isinstance(source, Mapping):
        document = read_mapping(source, "experiment", FilePath.cwd(), settings)
    elif isinstance(source, str) and "\n" in source:
        document = read_text(source, "experiment", FilePath.cwd(), settings)
    else:
        document = read_file(FilePath(source), settings)
    return from_document(document, told)


def settings_of(values: Mapping[str, Any]) -> list[str]:
    """Settings as the command line has them, from dotted keys with their values.

    >>> settings_of({"topology.k": 8, "backend.until": "60 s", "transport": {"kind": "tcp"}})
    ['topology.k=8', 'backend.until="60 s"', 'transport={ kind = "tcp" }']
    """
    return [f"{key}={inline(value)}" for key, value in values.items()]


def from_document(document: Document, told: Told = lambda checked, cells: None) -> Experiment:
    """The experiment that a document describes. Raises ExperimentError with every fault that there is."""
    faults = list(document.faults)
    sweep = replace(read_sweep(document, faults), repeats=read_repeats(document, faults))
    faults += [*_faults_of_cells(document, sweep, told), *_faults_of_report(document, sweep)]
    faults += analyses.faults(document, sweep.columns, sweep.most)
    resolved, _, _ = _resolve(document, next(iter(sweep.cells())))
    search = _read_search(document, sweep, [workload.get("name", "") for workload in resolved["workload"]], faults)
    if faults:
        raise ExperimentError(sorted(faults, key=lambda fault: (fault.place == "--set", fault.line or 0)))
    return Experiment(document, resolved["name"], resolved["seed"], sweep, search)


def _read_search(document: Document, sweep: Sweep, workloads: Iterable[str], faults: list[Fault]) -> Search:
    objective = read_objective(document, list(workloads), faults)
    if "space" in document.value and sweep.axes:
        message = (
            f"stands beside axes in [sweep] ({sweep.axes[0].key}); a file is swept or searched: move them into [space]"
        )
        faults.append(document.fault(("space",), message))
        return Search()
    return read_search(
        document,
        objective,
        lambda cell: list(_faults_of_cell(document, cell)),
        lambda cell: _resolve(document, cell)[0],
        faults,
    )


def identity(spec: Mapping[str, Any]) -> dict[str, Any]:
    """What makes two runs the same run: the spec without its names, and the content of files in place of their path."""
    return {key: _content(value) for key, value in spec.items() if key not in NOT_SIMULATED}


def _faults_of_report(document: Document, sweep: Sweep) -> Iterator[Fault]:
    if not document.value.get("report") and not document.value.get("published"):
        return
    swept = dict.fromkeys(name for cell in sweep.cells() for name in cell.swept)
    for asked in (figures, published):
        yield from asked.faults(document, swept, lambda: (_resolve(document, cell)[0] for cell in sweep.cells()))


def _faults_of_cells(document: Document, sweep: Sweep, told: Told) -> list[Fault]:
    """Faults of all cells, each once; those that only some cells have name the first of these."""
    seen: dict[tuple[str, str], tuple[Fault, Cell, int]] = {}
    size = sweep.size
    for checked, cell in enumerate(sweep.cells()):
        told(checked, size)
        for fault in _faults_of_cell(document, cell):
            key = (fault.key, fault.message)
            first, where, count = seen.get(key, (fault, cell, 0))
            seen[key] = (first, where, count + 1)
    # A cell without faults, or several cells: say which one it is, unless the value itself is the axis's.
    axes = {dotted.read(axis.key) for axis in sweep.axes}
    return [
        fault
        if count == size or dotted.read(fault.key) in axes
        else Fault(
            fault.place,
            fault.line,
            fault.key,
            f"{fault.message} (in the cell {cell})",
            fault.value,
            fault.expected,
            fault.nearest,
        )
        for fault, cell, count in seen.values()
    ]


def _faults_of_cell(document: Document, cell: Cell) -> Iterator[Fault]:
    spec, is_complete, faults = _resolve(document, cell)
    known = list(faults)
    yield from known
    at_fault = {fault.key for fault in known}
    _, put, failed = tables_of(document, cell)
    for key, message in failed:
        yield document.fault((cell.section, key), message)
    for rule in RULES:
        for path, message in rule(spec):
            if dotted.write(path) not in at_fault:
                at_fault.add(dotted.write(path))
                yield _moved(document, put, document.fault(path, message), path)
    if is_complete:
        from weft.scenario import predict

        try:
            predict({key: value for key, value in spec.items() if key not in SHOWN}, document)
        except ExperimentError as error:
            for fault in error.faults:
                if fault.key not in at_fault:
                    yield _moved(document, put, fault, dotted.read(fault.key) or ())


def _resolve(document: Document, cell: Cell) -> tuple[Spec, bool, list[Fault]]:
    tables, put, _ = tables_of(document, cell)
    spec, is_complete, found = check(document, tables)
    if "name" not in spec:
        spec["name"] = FilePath(document.place).stem
    spec["workload"] = [
        {"kind": workload["kind"], "name": workload["kind"], **workload} if "kind" in workload else workload
        for workload in spec["workload"]
    ]
    backend = tables.get("backend")
    if isinstance(spec["backend"].get("until"), int) and "limit" not in (backend if isinstance(backend, dict) else {}):
        # A run that ends by the clock needs no limit.
        spec["backend"].pop("limit", None)
    for section in ("failure", *SHOWN):
        if not spec[section]:
            del spec[section]
    for section, backends in OF_BACKEND.items():
        if spec["backend"].get("kind") not in backends:
            spec.pop(section, None)
    return spec, is_complete, [_moved(document, put, fault, dotted.read(fault.key) or ()) for fault in found]


def _moved(document: Document, put: Mapping[Path, Path], fault: Fault, path: Path) -> Fault:
    """A fault in what an axis put stands at the line of the axis."""
    for target, source in put.items():
        if path[: len(target)] == target:
            place, line = document.locate(source)
            return Fault(place, line, fault.key, fault.message, fault.value, fault.expected, fault.nearest)
    return fault


def _content(value: Any) -> Any:
    match value:
        case dict():
            return {
                key: _digest(part) if key == "file" and isinstance(part, str) else _content(part)
                for key, part in value.items()
            }
        case list():
            return [_content(part) for part in value]
        case _:
            return value


def _digest(file: str) -> str:
    state = FilePath(file).stat()
    return _digest_of(file, state.st_mtime_ns, state.st_size)


@functools.lru_cache(maxsize=256)
def _digest_of(file: str, changed: int, size: int) -> str:
    return hashlib.blake2b(FilePath(file).read_bytes(), digest_size=16).hexdigest()
