"""Experiments: from a file that a person wrote to one that cannot be wrong.

In the order of use: `document` (tables and their lines, `--set`), `sections` (what there is to write), `values` and
`check` (base units, defaults and faults), `semantics` (rules across keys), `readable` (the way back), `experiment`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.experiment.experiment import Experiment, load

__all__ = ["Experiment", "load"]


def __getattr__(name: str) -> Any:
    # Late, since the catalogue of kinds needs `sections` of this package while it is being built.
    if name in __all__:
        from weft.experiment import experiment

        return getattr(experiment, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
