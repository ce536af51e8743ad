"""weft: a laboratory for data-center networks.

    experiment = weft.load("experiments/examples/first.toml")
    results = weft.run(experiment)
    results.flows

The line: experiment file -> Experiment -> Scenario -> backend -> Results -> metrics -> statistics -> report.
"""

from typing import TYPE_CHECKING, Any

from weft.errors import ExperimentError, Fault, Interrupted, OutputError, ResultsError, RunError, WeftError

if TYPE_CHECKING:
    from weft.comparison import Comparison, compare
    from weft.execute import run
    from weft.experiment.experiment import Experiment, load
    from weft.explaining import Explanation, explain
    from weft.export.p4 import export_p4
    from weft.export.pcap import export_pcap
    from weft.interop import from_networkx
    from weft.results import Results
    from weft.scenario import Scenario
    from weft.searching import search

    __version__: str

_PLACES = {
    "Comparison": "weft.comparison",
    "Experiment": "weft.experiment.experiment",
    "Explanation": "weft.explaining",
    "Results": "weft.results",
    "Scenario": "weft.scenario",
    "compare": "weft.comparison",
    "explain": "weft.explaining",
    "export_p4": "weft.export.p4",
    "export_pcap": "weft.export.pcap",
    "from_networkx": "weft.interop",
    "load": "weft.experiment.experiment",
    "run": "weft.execute",
    "search": "weft.searching",
}

__all__ = [
    "Comparison",
    "Experiment",
    "ExperimentError",
    "Explanation",
    "Fault",
    "Interrupted",
    "OutputError",
    "Results",
    "ResultsError",
    "RunError",
    "Scenario",
    "WeftError",
    "__version__",
    "compare",
    "explain",
    "export_p4",
    "export_pcap",
    "from_networkx",
    "load",
    "run",
    "search",
]


def __getattr__(name: str) -> Any:
    # Late: a part of weft (units, errors) loads without the rest.
    import importlib

    if name == "__version__":
        from weft import _core

        return _core.version()
    if name in _PLACES:
        return getattr(importlib.import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'weft' has no attribute {name!r}")
