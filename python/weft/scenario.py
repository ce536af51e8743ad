"""The scenario: network, routes and flows of one experiment, the same for every backend."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft.errors import ExperimentError, Fault
from weft.experiment import path as dotted
from weft.experiment.document import Document


@dataclass(frozen=True)
class Prediction:
    """Size of a scenario and of its run, by formula: nothing is built."""

    hosts: int
    switches: int
    links: int
    flows: int
    memory_bytes: int


class Scenario:
    """A built scenario.

    >>> scenario = weft.load("first.toml").scenario()  # doctest: +SKIP
    >>> scenario.links()["name"][0]  # doctest: +SKIP
    'h000>se00'
    """

    def __init__(self, spec: Mapping[str, Any], document: Document | None = None) -> None:
        """Build from a spec in base units. Raises ExperimentError for one that cannot be built."""
        from weft import _core

        self.document = document
        try:
            self.core = _core.Scenario(json.dumps(spec))
        except _core.FaultError as error:
            raise ExperimentError(faults_of(error, document)) from None

    def summary(self) -> dict[str, Any]:
        """Numbers of hosts, switches, links and flows."""
        summary: dict[str, Any] = json.loads(self.core.summary())
        return summary

    def nodes(self) -> dict[str, list[Any]]:
        """Columns name, kind, level, pod, address; hosts first."""
        return dict(self.core.nodes())

    def links(self) -> dict[str, list[Any]]:
        """Columns name, src, dst, rate_bps, delay_ps, is_up of all directed links."""
        return dict(self.core.links())

    def flows(self) -> dict[str, list[Any]]:
        """Columns workload, src, dst, size_bytes, start_ps, ports, ideal_fct_ps, path (numbers of links)."""
        return dict(self.core.flows())

    def forwarding(self, node: int) -> dict[str, Any]:
        """The tables of a switch, by its row among the nodes: crates/net/src/forwarding.rs says what is in them."""
        tables: dict[str, Any] = json.loads(self.core.forwarding(node))
        return tables

    def survey(self) -> dict[str, Any]:
        """Distances and paths, as lists of (value, how many): crates/net/src/survey.rs says which."""
        survey: dict[str, Any] = json.loads(self.core.survey())
        return survey

    def warnings(self) -> list[str]:
        """What to know of the routes before numbers are trusted."""
        return self.core.warnings()

    def max_min(self, subflows: int = 1) -> list[float]:
        """Bits per second on the wire that each flow gets if all send at once and share links max-min fairly.

        A flow is split into so many subflows with ports of their own. Raises ExperimentError where packets are balanced
        one by one, so that a flow has no path of its own.
        """
        from weft import _core

        try:
            return self.core.max_min(subflows)
        except _core.FaultError as error:
            raise ExperimentError(faults_of(error, self.document)) from None


def predict(spec: Mapping[str, Any], document: Document | None = None) -> Prediction:
    """Size and memory of a run before anything is built. Raises ExperimentError for a spec that cannot be built."""
    from weft import _core

    try:
        predicted = json.loads(_core.predict(json.dumps(spec)))
    except _core.FaultError as error:
        raise ExperimentError(faults_of(error, document)) from None
    return Prediction(**{name: predicted[name] for name in Prediction.__dataclass_fields__})


def faults_of(error: Exception, document: Document | None) -> list[Fault]:
    """The faults that `_core.FaultError` carries, with the lines of `document`."""
    detail = error.args[0]
    faults = []
    for found in json.loads(detail) if isinstance(detail, str) else detail:
        path = dotted.read(found["key"])
        if document is None or path is None:
            place = document.place if document else "experiment"
            faults.append(Fault(place, None, found["key"], found["message"]))
        else:
            faults.append(document.fault(path, found["message"]))
    return faults
