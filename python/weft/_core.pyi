"""The compiled core of weft: documents cross as JSON, tables as Parquet files."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, final

__all__ = [
    "FaultError",
    "FlowSimulation",
    "PacketSimulation",
    "Scenario",
    "TomlError",
    "commit",
    "kinds",
    "max_min",
    "parse_toml",
    "peak_rss_bytes",
    "predict",
    "version",
]

class FaultError(ValueError):
    """Faults of an experiment: args[0] is a JSON list of {key, message}."""

class TomlError(ValueError):
    """A text that is no TOML: args[0] is JSON {line, column, message}."""

def kinds() -> str:
    """All kinds of all rooms, as a JSON list."""

def version() -> str:
    """Version of the package."""

def commit() -> str:
    """Git commit that was built, `-modified` behind it if the sources differed from it, or `unknown`."""

def peak_rss_bytes() -> int | None:
    """Largest resident memory of this process so far, bytes; None where the system does not tell."""

def parse_toml(text: str) -> str:
    """TOML as JSON {"value": ..., "lines": {"topology.k": 12, "workload[0].size": 20}}.

    Tables keep the order of the file. Raises TomlError for a syntax error, a duplicate key, a date, or a number that
    JSON cannot hold (nan, inf).
    """

def predict(spec_json: str) -> str:
    """JSON {hosts, switches, links, flows, memory_bytes} of a spec that is not built; raises FaultError."""

def max_min(
    paths: Sequence[Sequence[int]],
    capacities: Sequence[float],
    shares: Sequence[Sequence[float]] | None = None,
) -> list[float]:
    """The rate of every flow under max-min fairness, from the links of each by number and the links' capacities.

    `shares` says how much of a flow's rate crosses each of its links, above 0; all of it if left out. Raises ValueError
    for a link that is not there, a capacity or a share that is none.
    """

@final
class Scenario:
    """Network, routes and flows: the same for every backend."""

    def __new__(cls, spec_json: str) -> Scenario:
        """From a spec, JSON in base units; raises FaultError."""

    def summary(self) -> str:
        """JSON {hosts, switches, links, flows, seed}."""

    def nodes(self) -> dict[str, list[Any]]:
        """Columns name, kind, level, pod, address; hosts first."""

    def links(self) -> dict[str, list[Any]]:
        """Columns name, src, dst, rate_bps, delay_ps, is_up of all directed links."""

    def flows(self) -> dict[str, list[Any]]:
        """Columns workload, src, dst, size_bytes, start_ps, src_port, dst_port, ideal_fct_ps, path.

        `path` is a list of link numbers, or None where packets of one flow take several ways.
        """

    def forwarding(self, node: int) -> str:
        """The tables of a switch at the start, as JSON: crates/net/src/forwarding.rs.

        Raises ValueError for a node that is none.
        """

    def max_min(self, subflows: int) -> list[float]:
        """Bits per second that each flow gets under max-min fairness, split into so many subflows.

        Raises FaultError where packets are balanced one by one.
        """

    def spread(self) -> list[tuple[list[int], list[float]]]:
        """By flow: the links that routes offer it, and the share of its packets on each if all are spread equally."""

    def offered_paths(self, flow: int, most: int) -> list[list[int]]:
        """The paths that routes offer a flow, at most `most`, as link numbers. Raises ValueError for no flow."""

    def warnings(self) -> list[str]:
        """What to know of the routes before numbers are trusted."""

    def survey(self) -> str:
        """The paths between all hosts, as JSON: crates/net/src/survey.rs."""

@final
class PacketSimulation:
    """One run of the packet-level simulator: advance() until it is finished, then finish(), then write()."""

    def __new__(cls, scenario: Scenario, spec_json: str, directory: str | PathLike[str]) -> PacketSimulation:
        """The idle network; tables will be written into `directory`, which exists. Raises FaultError."""

    def warnings(self) -> list[str]:
        """What is known before the run that a reader must see."""

    def capture(self, file: str | PathLike[str], links: Sequence[int], snaplen: int, comment: str) -> None:
        """Capture what leaves the ports of `links`, by number, into a new pcapng file; comes before advance().

        `snaplen` bytes of each frame, 0 for all. Raises OSError, and ValueError for a link that is not there.
        """

    def captured_frames(self) -> list[int]:
        """Frames in the capture so far, by link as they were named."""

    def advance(self, seconds: float) -> str:
        """JSON {now_ps, end_ps, events, packet_hops, flows_done, flows_total, finished} after a slice of wall time.

        Samples are written as they come. Raises OSError if they cannot be.
        """

    def finish(self) -> str:
        """End the run: check conservation, compute the tables; the summary as JSON."""

    def write(self) -> None:
        """Write flows, links, queues, paths, nodes and what is left of the samples. Raises OSError."""

@final
class FlowSimulation:
    """One run of the flow-level simulator: advance() until it is finished, then finish(), then write()."""

    def __new__(cls, scenario: Scenario, spec_json: str, directory: str | PathLike[str]) -> FlowSimulation:
        """The idle network; tables will be written into `directory`, which exists. Raises FaultError."""

    def advance(self, seconds: float) -> str:
        """JSON {now_ps, end_ps, events, packet_hops, flows_done, flows_total, finished}; packet_hops is 0.

        Samples are written as they come. Raises OSError if they cannot be.
        """

    def finish(self) -> str:
        """End the run: compute the tables; the summary as JSON."""

    def write(self) -> None:
        """Write flows, links, queues, paths, nodes and what is left of the samples. Raises OSError."""
