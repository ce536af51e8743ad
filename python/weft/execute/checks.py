"""What is refused before anything runs: cells that cannot be built, and runs that do not fit into memory."""

import json
from collections.abc import Callable

from weft.backend import BACKENDS
from weft.errors import ExperimentError
from weft.execute import machine
from weft.experiment.experiment import Experiment
from weft.progress import quantity
from weft.scenario import Prediction, Scenario, faults_of, predict
from weft.sweep import Cell


def refuse_what_cannot_run(
    experiment: Experiment,
    told: Callable[[int], None] = lambda cells: None,
    is_here: bool = True,
    seen: Callable[[Cell, Prediction, list[str]], None] = lambda cell, prediction, warnings: None,
) -> dict[int, int]:
    """Builds every cell once and compares memory, so that every fault shows before anything runs.

    Returns the predicted bytes of the cells by their index. `told` hears how many cells are checked, `seen` gets every
    cell that can be built, with what its backend warns of; `is_here`: the runs share the memory of this machine. Raises
    ExperimentError with the faults of all cells.
    """
    from weft import _core

    available = machine.available_memory() if is_here else None
    faults = {}
    built: dict[int, Prediction | None] = {}
    memory: dict[int, int] = {}
    for checked, cell in enumerate(experiment.cells()):
        told(checked)
        spec = experiment.spec(cell)
        key = hash(json.dumps({key: value for key, value in spec.items() if key not in ("name", "measure")}))
        if key in built:
            if (alike := built[key]) is not None:
                memory[cell.index] = alike.memory_bytes
                seen(cell, alike, [])
            continue
        built[key] = None
        try:
            predicted = predict(spec, experiment.document)
            memory[cell.index] = predicted.memory_bytes
            if available is not None and predicted.memory_bytes > available:
                message = (
                    f"{predicted.hosts:,} hosts and {predicted.flows:,} flows need about "
                    f"{quantity(predicted.memory_bytes)}B of memory; {quantity(available)}B are available; "
                    "make the topology or the workload smaller, or use a larger machine"
                )
                faults[message] = experiment.document.fault(("topology",), message, value=predicted.memory_bytes)
                continue
            scenario = Scenario(spec, experiment.document)
            warnings = BACKENDS[spec["backend"]["kind"]].check(spec, scenario)
            built[key] = predicted
            seen(cell, predicted, warnings)
        except ExperimentError as error:
            faults |= {str(fault): fault for fault in error.faults}
        except _core.FaultError as error:
            faults |= {str(fault): fault for fault in faults_of(error, experiment.document)}
    if faults:
        raise ExperimentError(faults.values())
    return memory
