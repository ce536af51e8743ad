"""`weft check`."""

import json

from weft.cli.experiments import experiments_of
from weft.cli.options import AsJson, File, Setting
from weft.words import count


def command(file: File, set: Setting = None, as_json: AsJson = False) -> None:
    """Validate an experiment, print it with all defaults, predict its size and memory; run nothing."""
    from weft.execute.checks import refuse_what_cannot_run
    from weft.progress import quantity

    documents = []
    for _, experiment in experiments_of(file, set or []):
        predictions = [experiment.predict(cell) for cell in experiment.cells()]
        refuse_what_cannot_run(experiment)
        largest = max(predictions, key=lambda prediction: prediction.memory_bytes)
        sweep = experiment.sweep
        runs = sweep.size * sweep.fewest
        warnings = list(dict.fromkeys(text for cell in experiment.cells() for text in experiment.advice(cell)))
        warnings += experiment.search.warnings
        if not as_json:
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
            for warning in warnings:
                print(f"# warning: {warning}")
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
