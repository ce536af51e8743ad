"""Which run is exported: of an experiment file, or of a folder that `weft run` wrote."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.errors import WeftError
from weft.experiment.experiment import Experiment, load
from weft.experiment.study import read_study
from weft.results import Results
from weft.scenario import Scenario

MOST_NAMED = 12
"""Runs of a sweep that are listed when one must be chosen."""


@dataclass(frozen=True)
class Chosen:
    """One run: its spec in base units, and the manifest that it left, if it has been done."""

    name: str
    experiment: Experiment
    spec: Mapping[str, Any]
    manifest: Mapping[str, Any] | None = None

    def scenario(self) -> Scenario:
        """Its network, routes and flows."""
        return Scenario(self.spec, self.experiment.document)


def choose(place: Path, run: str | None = None, set: Iterable[str] = ()) -> Chosen:
    """The run of that name, or of the name that begins so; where there is only one, that one.

    Raises WeftError if there are several and none is named, or none has the name.
    """
    settings = tuple(set)
    if place.is_dir() and (place / "runs").is_dir():
        if settings:
            raise WeftError(f"--set: {place} is what was run already; to change a key, export an experiment file")
        return _done(Results(place), run)
    study = read_study(place)
    if len(study.files) > 1:
        raise WeftError(f"{place}: holds several experiments; name the file of one, like {study.files[0]}")
    return _planned(load(study.files[0], [*study.settings, *settings]), run)


def _done(results: Results, run: str | None) -> Chosen:
    manifests = results.manifests
    said = {name: _said(manifest["swept"], manifest["repeat"]) for name, manifest in manifests.items()}
    name = _one(said, run, str(results.directory))
    experiment = load(manifests[name]["experiment"])
    spec = experiment.spec(next(experiment.cells()))
    return Chosen(name, experiment, spec, manifests[name])


def _planned(experiment: Experiment, run: str | None) -> Chosen:
    # Enough to choose from: a sweep may have thousands of runs, each of which costs a hash.
    runs = {each.name: each for each in (experiment.plan() if run else itertools.islice(experiment.plan(), 500))}
    if run is None and experiment.sweep.size == 1:
        first = next(iter(runs.values()))
        return Chosen(first.name, experiment, experiment.spec(first.cell, first.seed))
    said = {each.name: _said(each.cell.swept, each.repeat) for each in runs.values()}
    chosen = runs[_one(said, run, experiment.document.place)]
    return Chosen(chosen.name, experiment, experiment.spec(chosen.cell, chosen.seed))


def _one(said: Mapping[str, str], run: str | None, place: str) -> str:
    found = [name for name in said if name.startswith(run or "")]
    if len(found) == 1:
        return found[0]
    listed = found or list(said)
    lines = [f"  --run {name}  {said[name]}" for name in listed[:MOST_NAMED]]
    if len(listed) > MOST_NAMED:
        lines.append(f"  and {len(listed) - MOST_NAMED} more")
    if not run:
        message = f"{place}: has {len(said)} runs, and an export is of one"
    elif found:
        message = f"{place}: --run {run}: {len(found)} runs begin so"
    else:
        message = f"{place}: --run {run}: no run begins so"
    raise WeftError("\n".join([f"{message}; choose:", *lines]))


def _said(swept: Mapping[str, Any], repeat: int) -> str:
    from weft.experiment.values import said

    return ", ".join([*(f"{name} = {said(value)}" for name, value in swept.items()), f"repeat {repeat}"])
