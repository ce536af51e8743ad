"""`weft check`."""

import json
from typing import TYPE_CHECKING

from weft.cli.experiments import experiments_of
from weft.cli.options import AsJson, File, Setting
from weft.words import count

if TYPE_CHECKING:
    from weft.experiment.experiment import Experiment
    from weft.scenario import Prediction
    from weft.sweep import Cell


def command(file: File, set: Setting = None, as_json: AsJson = False) -> None:
    """Validate an experiment, print it with all defaults, predict its size and memory; run nothing."""
    from weft.progress import quantity

    documents = []
    for _, experiment in experiments_of(file, set or []):
        sweep = experiment.sweep
        runs = sweep.size * sweep.fewest
        largest, advice = _looked_through(experiment)
        warnings = [*advice, *experiment.search.warnings]
        if not as_json:
            for warning in warnings:
                print(f"# warning: {warning}")
            print(experiment.toml)
            repeats = count(sweep.fewest, "repeat")
            if sweep.most > sweep.fewest:
                repeats = f"{sweep.fewest} to {count(sweep.most, 'repeat')}"
                print(f"# {count(sweep.size, 'cell')} x {repeats}: {runs} to {count(sweep.size * sweep.most, 'run')}")
            else:
                print(f"# {count(sweep.size, 'cell')} x {repeats} = {count(runs, 'run')}")
            print(
                f"# {'the run' if runs == 1 else 'largest cell'}: {count(largest.hosts, 'host')}, "
                f"{count(largest.switches, 'switch')}, {count(largest.links, 'directed link')}, "
                f"{count(largest.flows, 'flow')}, about {quantity(largest.memory_bytes)}B of memory"
            )
        prediction = {name: getattr(largest, name) for name in type(largest).__dataclass_fields__}
        documents.append(
            {
                "experiment": experiment.resolved,
                "cells": sweep.size,
                "repeats": sweep.fewest,
                "most_repeats": sweep.most,
                "runs": runs,
                "prediction": prediction,
                "warnings": warnings,
            }
        )
    if as_json:
        print(json.dumps(documents[0] if len(documents) == 1 else {"experiments": documents}, indent=1))


def _looked_through(experiment: "Experiment") -> "tuple[Prediction, list[str]]":
    """The largest cell, and what cells ask for without effect. Raises ExperimentError for cells that cannot be run."""
    from weft.execute.checks import refuse_what_cannot_run
    from weft.progress import telling

    largest: list[Prediction] = []
    advice: dict[str, None] = {}
    cells = experiment.sweep.size

    def seen(cell: "Cell", prediction: "Prediction", warnings: list[str]) -> None:
        if not largest or prediction.memory_bytes > largest[0].memory_bytes:
            largest[:] = [prediction]
        advice.update(dict.fromkeys([*experiment.advice(cell), *warnings]))

    with telling("building") as tell:
        refuse_what_cannot_run(experiment, lambda checked: tell("cells", checked, cells), seen=seen)
    return largest[0], list(advice)
