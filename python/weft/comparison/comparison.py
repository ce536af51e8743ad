"""The comparison: every metric in every pair of cells, the family of all tests, and a statement over all cells."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.comparison.flows import FlowsCompared, compare_flows
from weft.comparison.margin import Margins, Measure
from weft.comparison.sides import Cell, Pairing, Repeat, Side, match, pair, said_cell
from weft.comparison.verdict import VERDICTS, Compared, compared, verdict
from weft.errors import ResultsError
from weft.execute.folder import differing_keys
from weft.experiment import path as dotted
from weft.experiment.experiment import NOT_SIMULATED
from weft.statistics.multiple_comparison import ADJUSTMENTS

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Line:
    """One metric of one pair of cells, or over all pairs. `note` says what the numbers leave out.

    Over all pairs `is_scaled` says that every cell was taken relative to the reference's mean in it, so that each
    counts the same; then the numbers have no unit.
    """

    measure: Measure
    numbers: Compared
    p_adjusted: float | None
    verdict: str
    note: str = ""
    is_scaled: bool = False


@dataclass(frozen=True, repr=False)
class CellCompared:
    """A pair of cells: their swept keys, how repeats are paired, a line per metric, and the flows side by side."""

    values: Mapping[str, Any]
    pairing: Pairing
    lines: tuple[Line, ...]
    flows: FlowsCompared | None
    no_flows: str
    """Why there is no comparison of flows; empty if there is one."""

    @property
    def label(self) -> str:
        """The cell's keys for a person."""
        return said_cell(self.values) or "all runs"

    def __repr__(self) -> str:
        verdicts = ", ".join(f"{line.measure.name} {line.verdict}" for line in self.lines)
        return f"<{self.label}: {verdicts}>"


@dataclass(frozen=True, repr=False)
class Against:
    """One side against the reference."""

    other: str
    differing: Mapping[str, tuple[Any, Any]]
    """Keys in which the resolved experiments of matched cells differ, with both values."""
    cells: tuple[CellCompared, ...]
    overall: tuple[Line, ...]
    """A line per metric over all cells; with one cell, the lines of that cell."""
    only_reference: tuple[str, ...]
    only_other: tuple[str, ...]
    skipped: Mapping[str, str]
    """Metrics that one side does not have in any cell, and why."""

    def counts(self, measure: Measure) -> "Counter[str]":
        """How many cells have which verdict."""
        found = Counter(line.verdict for cell in self.cells for line in cell.lines if line.measure == measure)
        return Counter({name: found[name] for name in VERDICTS if found[name]})

    def __repr__(self) -> str:
        cells, metrics = len(self.cells), len({line.measure for cell in self.cells for line in cell.lines})
        return f"<{self.other}, {cells} cell{'' if cells == 1 else 's'}, {metrics} metric{'' if metrics == 1 else 's'}>"


@dataclass(frozen=True, repr=False)
class Comparison:
    """What `weft.compare` gives: print it, ask `against`, or take `frame` or `document`."""

    reference: str
    against: tuple[Against, ...]
    confidence: float
    adjust: str
    family: int
    """Tests of cells that were adjusted together; those over all cells are a family of their own."""
    family_overall: int
    biases: tuple[str, ...]
    """What makes the sides unequal: runs that are missing, flows that did not finish."""
    warnings: tuple[str, ...]

    @property
    def frame(self) -> "pl.DataFrame":
        """One row per other side, cell and metric, in base units (ns, bps, shares)."""
        import polars as pl

        rows = [
            {"other": against.other, **{k: v for k, v in cell.values.items()}, **_row(line)}
            for against in self.against
            for cell in against.cells
            for line in cell.lines
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    @property
    def document(self) -> dict[str, Any]:
        """Everything as one JSON document, in base units."""
        return {
            "reference": self.reference,
            "confidence": self.confidence,
            "adjust": self.adjust,
            "family": self.family,
            "family_overall": self.family_overall,
            "biases": list(self.biases),
            "warnings": list(self.warnings),
            "against": [_against(each) for each in self.against],
        }

    def write_page(self, path: str | Path) -> None:
        """Write one HTML file that opens offline: forest plots and tables. Raises OutputError."""
        from weft.comparison.page import write_page

        write_page(self, Path(path))

    def __str__(self) -> str:
        """As `weft compare` prints it."""
        from weft.comparison.shown import text

        return text(self)

    def __repr__(self) -> str:
        """Of what and how much: the numbers are in str(), `frame` and `document`."""
        sides = ", ".join(repr(each) for each in self.against)
        return f"<Comparison with {self.reference}: {sides}; print it to see the numbers>"

    def _repr_html_(self) -> str:
        return str(self.frame._repr_html_())


class Runs:
    """The numbers of runs, each computed once however often a run is compared."""

    def __init__(self, measures: Sequence[Measure]) -> None:
        self._measures = measures
        self._values: dict[tuple[str, str], dict[Measure, float]] = {}
        self.reasons: dict[tuple[str, Measure], str] = {}
        """Why a folder's run has no value of a measure, by folder."""

    def values(self, repeat: Repeat) -> Mapping[Measure, float]:
        """The measures that a finished run has."""
        folder = str(repeat.results.directory)
        if (folder, repeat.run) not in self._values:
            tables = self.tables(repeat)
            found = {}
            for measure in self._measures:
                try:
                    found[measure] = measure.metric.value(tables, measure.summary)
                except ResultsError as error:
                    self.reasons.setdefault((folder, measure), str(error))
            self._values[folder, repeat.run] = found
        return self._values[folder, repeat.run]

    @staticmethod
    def tables(repeat: Repeat) -> "Mapping[str, pl.DataFrame]":
        """The tables of a run, each read once."""
        from weft.report.folder import RunTables

        return RunTables(repeat.results.directory / "runs" / repeat.run)


def compare_sides(
    sides: Sequence[Side],
    measures: Sequence[Measure],
    margins: Margins,
    confidence: float,
    adjust: str,
    common: bool,
) -> Comparison:
    """Compare every side with the first. Raises ResultsError if two have no cell or no metric in common."""
    reference, *others = sides
    runs = Runs(measures)
    drafts = [_draft(reference, other, runs, measures, margins, confidence, common) for other in others]
    family = _adjusted([line for draft in drafts for cell in draft.cells for line in cell.lines], adjust, confidence)
    overall = _adjusted([line for draft in drafts for line in draft.overall], adjust, confidence)
    against = tuple(_with_verdicts(draft, family, overall) for draft in drafts)
    texts: Counter[str] = Counter()
    for side in sides:
        for results in {id(repeat.results): repeat.results for repeat in side.repeats}.values():
            texts.update(f"{side.label}: {text}" if len(sides) > 1 else text for text in results.warnings)
    return Comparison(
        reference.label,
        against,
        confidence,
        adjust,
        sum(line.p_adjusted is not None for line in family.values()),
        sum(line.p_adjusted is not None for line in overall.values()),
        tuple(text for side in sides for text in _biases(side)),
        tuple(texts),
    )


def _draft(
    reference: Side,
    other: Side,
    runs: Runs,
    measures: Sequence[Measure],
    margins: Margins,
    confidence: float,
    common: bool,
) -> Against:
    """A comparison whose lines do not know their family yet."""
    matched = match(reference, other)
    cells, samples = [], []
    for ours, theirs in matched.pairs:
        pairing = pair(ours, theirs, common)
        values = {axis: ours.values.get(axis, theirs.values.get(axis)) for axis in matched.axes}
        found = {}
        for measure in measures:
            sample = _sample(ours, theirs, pairing, runs, measure)
            if sample:
                found[measure] = sample
        lines = tuple(
            _line(measure, sample, margins, confidence, pairing.is_paired) for measure, sample in found.items()
        )
        flows, no_flows = _flows(pairing, confidence)
        cells.append(CellCompared(values, pairing, lines, flows, no_flows))
        samples.append(found)
    kept = [measure for measure in measures if any(measure in found for found in samples)]
    skipped = {m.name: _reason(runs, reference, other, m) for m in measures if m not in kept}
    if not kept:
        raise ResultsError(
            f"{reference.label} and {other.label} have no metric in common: "
            + "; ".join(f"{name}: {reason}" for name, reason in skipped.items())
        )
    is_paired = all(cell.pairing.is_paired for cell in cells)
    overall: list[Line] = []
    if len(cells) == 1:
        overall += cells[0].lines
    else:
        for measure in kept:
            some = [found[measure] for found in samples if measure in found]
            line = _over_cells(measure, some, margins, confidence, is_paired)
            overall += [line] if line else []
    return Against(
        other.label,
        _differing([(ours, theirs) for ours, theirs in matched.pairs]),
        tuple(cells),
        tuple(overall),
        tuple(said_cell(cell.values) for cell in matched.only_reference),
        tuple(said_cell(cell.values) for cell in matched.only_other),
        skipped,
    )


@dataclass(frozen=True)
class _Sample:
    """The values of one measure in a pair of cells, by seed (or place, where there is no pairing)."""

    reference: Mapping[Any, float]
    other: Mapping[Any, float]
    is_identical: bool
    note: str


def _sample(ours: Cell, theirs: Cell, pairing: Pairing, runs: Runs, measure: Measure) -> _Sample | None:
    if pairing.is_paired:
        known = [
            (a.seed, runs.values(a)[measure], runs.values(b)[measure], a, b)
            for a, b in pairing.pairs
            if measure in runs.values(a) and measure in runs.values(b)
        ]
        if not known:
            return None
        lost = len(pairing.pairs) - len(known)
        note = f"{lost} of {len(pairing.pairs)} pairs have no value" if lost else ""
        prints = [(a.manifest.get("fingerprint"), b.manifest.get("fingerprint")) for *_, a, b in known]
        is_identical = all(print_a is not None and print_a == print_b for print_a, print_b in prints)
        return _Sample(
            {seed: a for seed, a, *_ in known}, {seed: b for seed, _, b, *_ in known}, is_identical and not lost, note
        )
    sides, notes = [], []
    for cell in (ours, theirs):
        found = {
            repeat.seed if repeat.seed is not None else place: runs.values(repeat)[measure]
            for place, repeat in enumerate(cell.done)
            if measure in runs.values(repeat)
        }
        if not found:
            return None
        if len(found) < len(cell.done):
            notes.append(f"{len(cell.done) - len(found)} of {len(cell.done)} runs have no value")
        sides.append(found)
    return _Sample(sides[0], sides[1], False, "; ".join(notes))


def _line(measure: Measure, sample: _Sample, margins: Margins, confidence: float, is_paired: bool) -> Line:
    numbers = compared(
        list(sample.reference.values()),
        list(sample.other.values()),
        margins.of(measure),
        confidence,
        is_paired,
        sample.is_identical,
    )
    return Line(measure, numbers, None, "", sample.note)


def _over_cells(
    measure: Measure, samples: Sequence[_Sample], margins: Margins, confidence: float, is_paired: bool
) -> Line | None:
    """One line over all cells: repeats are averaged over the cells first, so that a repeat stays one observation.

    Cells share their seeds, so their values are no independent evidence; only repeats are. A relative margin takes
    every cell relative to the reference's mean in it, so that a cell with large numbers does not outvote the others.
    """
    common = [
        [seed for seed in sides[0] if all(seed in side for side in sides)]
        for sides in ([s.reference for s in samples], [s.other for s in samples])
    ]
    if not all(common):
        return None
    means = [math.fsum(s.reference[seed] for seed in common[0]) / len(common[0]) for s in samples]
    is_scaled = margins.of(measure).is_relative and all(mean > 0.0 for mean in means)
    scales = means if is_scaled else [1.0] * len(samples)
    averaged = [
        {
            seed: math.fsum(side[seed] / scale for side, scale in zip(sides, scales, strict=True)) / len(sides)
            for seed in seeds
        }
        for seeds, sides in zip(common, ([s.reference for s in samples], [s.other for s in samples]), strict=True)
    ]
    largest = max(len(s.reference) for s in samples)
    note = f"over the {len(common[0])} repeats that all cells have" if len(common[0]) < largest else ""
    whole = _Sample(averaged[0], averaged[1], all(s.is_identical for s in samples), note)
    return replace(_line(measure, whole, margins, confidence, is_paired), is_scaled=is_scaled)


def _adjusted(lines: Sequence[Line], adjust: str, confidence: float) -> dict[int, Line]:
    """The lines with adjusted p-values and verdicts, by the identity of the given ones."""
    tested = [line for line in lines if line.numbers.found.p_value is not None]
    p_values = ADJUSTMENTS[adjust]([line.numbers.found.p_value or 0.0 for line in tested])
    adjusted = {id(line): p_value for line, p_value in zip(tested, p_values, strict=True)}
    level = 1.0 - confidence
    found = {}
    for line in lines:
        p_value = adjusted.get(id(line))
        said = verdict(line.numbers, p_value, line.measure.metric.better, level)
        found[id(line)] = replace(line, p_adjusted=p_value, verdict=said)
    return found


def _with_verdicts(draft: Against, family: Mapping[int, Line], overall: Mapping[int, Line]) -> Against:
    cells = tuple(replace(cell, lines=tuple(family[id(line)] for line in cell.lines)) for cell in draft.cells)
    return replace(draft, cells=cells, overall=tuple(overall[id(line)] for line in draft.overall))


def _flows(pairing: Pairing, confidence: float) -> tuple[FlowsCompared | None, str]:
    if not pairing.is_paired:
        return None, "only runs of the same seed have the same flows"
    if not pairing.pairs:
        return None, "no pair of finished runs"
    try:
        return compare_flows([(Runs.tables(a), Runs.tables(b)) for a, b in pairing.pairs], confidence), ""
    except ResultsError as error:
        return None, str(error)


def _reason(runs: Runs, reference: Side, other: Side, measure: Measure) -> str:
    for side in (reference, other):
        for results in {id(repeat.results): repeat.results for repeat in side.repeats}.values():
            if reason := runs.reasons.get((str(results.directory), measure)):
                return f"{side.label}: {reason}"
    return "no pair of runs has both values"


def _differing(pairs: Iterable[tuple[Cell, Cell]]) -> dict[str, tuple[Any, Any]]:
    """Keys of the resolved experiments that differ in some pair of cells, with the values in the first such pair."""
    found: dict[str, tuple[Any, Any]] = {}
    for ours, theirs in pairs:
        if not ours.experiment or not theirs.experiment:
            continue
        for key in differing_keys(dict(ours.experiment), dict(theirs.experiment)):
            # The seed is said by the pairing.
            if key.partition(".")[0].partition("[")[0] in (*NOT_SIMULATED, "seed", "sweep"):
                continue
            path = dotted.read(key)
            both = tuple(None if path is None else dotted.get(cell.experiment, path) for cell in (ours, theirs))
            found.setdefault(key, (both[0], both[1]))
        before, after = (_version(cell) for cell in (ours, theirs))
        if before != after:
            found.setdefault("weft", (before, after))
    return found


def _version(cell: Cell) -> str:
    """Which weft wrote the runs of a cell; another one may simulate something else."""
    said = dict.fromkeys(
        f"{repeat.manifest.get('version')} ({repeat.manifest.get('commit', 'unknown')})" for repeat in cell.done
    )
    return ", ".join(said)


def _biases(side: Side) -> list[str]:
    """What is missing from a side: runs, and flows that did not finish."""
    said = []
    missing = [repeat for repeat in side.repeats if not repeat.is_done]
    if missing:
        failures = [text for repeat in missing if (text := repeat.failure)]
        why = f"{len(failures)} failed, first: {failures[0]}" if failures else "failed or interrupted"
        said.append(
            f"{side.label}: {len(missing)} of {len(side.repeats)} planned runs are not there ({why}); if they failed "
            "because of what is compared, the others are a choice"
        )
    for results in {id(repeat.results): repeat.results for repeat in side.repeats}.values():
        if not (results.directory / "plan.parquet").is_file():
            said.append(f"{side.label}: has no plan.parquet, so runs may be missing; the same weft run finishes it")
    flows, runs, total = 0, 0, 0
    for repeat in side.repeats:
        if repeat.is_done:
            total += 1
            unfinished = int(repeat.manifest.get("unfinished") or 0)
            flows += unfinished
            runs += unfinished > 0
    if flows:
        said.append(
            f"{side.label}: {flows} flow{'' if flows == 1 else 's'} did not finish, in {runs} of {total} runs; fct and "
            "slowdown are of finished flows only, so a side with fewer of them may look faster than it is"
        )
    return said


def _row(line: Line) -> dict[str, Any]:
    numbers, found = line.numbers, line.numbers.found
    relative = [None if ratio is None else ratio - 1.0 for ratio in (found.ratio, found.ratio_low, found.ratio_high)]
    return {
        "metric": line.measure.name,
        "unit": line.measure.metric.unit,
        "better": line.measure.metric.better,
        "runs_reference": numbers.counts[0],
        "runs_other": numbers.counts[1],
        "paired": found.is_paired,
        "reference": found.reference,
        "mean": found.other,
        "difference": found.difference,
        "difference_low": found.low,
        "difference_high": found.high,
        "relative": relative[0],
        "relative_low": relative[1],
        "relative_high": relative[2],
        "effect": "d_z" if found.is_paired else "g",
        "effect_size": numbers.d,
        "cliffs_delta": numbers.delta,
        "t": found.t,
        "degrees": found.degrees,
        "p_value": found.p_value,
        "p_adjusted": line.p_adjusted,
        "margin": numbers.margin.text,
        "p_within_margin": numbers.sizes.p_within if numbers.sizes else None,
        "p_above_margin": numbers.sizes.p_above if numbers.sizes else None,
        "p_below_margin": numbers.sizes.p_below if numbers.sizes else None,
        "verdict": line.verdict,
        "note": line.note,
    }


def _against(each: Against) -> dict[str, Any]:
    return {
        "other": each.other,
        "differing": {key: {"reference": before, "other": after} for key, (before, after) in each.differing.items()},
        "cells": [
            {
                "cell": dict(cell.values),
                "paired": cell.pairing.is_paired,
                "pairing": cell.pairing.note,
                "metrics": [_row(line) for line in cell.lines],
                "flows": asdict(cell.flows) if cell.flows else None,
                "no_flows": cell.no_flows,
            }
            for cell in each.cells
        ],
        "overall": [
            _row(line)
            | {
                "averaged_relative_to_reference": line.is_scaled,
                "cells": {
                    name: each.counts(line.measure)[name] for name in VERDICTS if each.counts(line.measure)[name]
                },
            }
            for line in each.overall
        ],
        "only_reference": list(each.only_reference),
        "only_other": list(each.only_other),
        "skipped": dict(each.skipped),
    }
