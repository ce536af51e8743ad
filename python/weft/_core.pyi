"""The compiled core of weft: documents cross as JSON, tables as Parquet files."""

from os import PathLike

class FaultError(ValueError):
    """Faults of an experiment: args[0] is a JSON list of {key, message}."""

class TomlError(ValueError):
    """A text that is no TOML: args[0] is JSON {line, column, message}."""

def kinds() -> str:
    """All kinds of all rooms, as a JSON list."""

def version() -> str:
    """Version of the package."""

def commit() -> str:
    """Git commit that was built, or `unknown`."""

def peak_rss_bytes() -> int | None:
    """Largest resident memory of this process so far, bytes; None where the system does not tell."""

def parse_toml(text: str) -> str:
    """TOML as JSON {"value": ..., "lines": {"topology.k": 12, ...}}; raises TomlError."""

def predict(spec_json: str) -> str:
    """JSON {hosts, switches, links, flows, memory_bytes} of a spec that is not built; raises FaultError."""

class Scenario:
    """Network, routes and flows: the same for every backend."""

    def __new__(cls, spec_json: str) -> Scenario: ...
    def summary(self) -> str:
        """JSON {hosts, switches, links, flows, seed}."""
    def nodes(self) -> dict[str, list[object]]:
        """Columns name, kind, level, pod, address."""
    def links(self) -> dict[str, list[object]]:
        """Columns name, src, dst, rate_bps, delay_ps, is_up."""
    def flows(self) -> dict[str, list[object]]:
        """Columns workload, src, dst, size_bytes, start_ps, src_port, dst_port, ideal_fct_ps, path."""

class PacketSimulation:
    """One run of the packet-level simulator."""

    def __new__(cls, scenario: Scenario, spec_json: str, directory: str | PathLike[str]) -> PacketSimulation: ...
    def advance(self, seconds: float) -> str:
        """JSON {now_ps, end_ps, events, packet_hops, flows_done, flows_total, finished} after a slice of wall time."""
    def finish(self) -> str:
        """End the run and return its summary as JSON."""
    def write(self) -> None:
        """Write all tables into the directory; raises OSError."""
