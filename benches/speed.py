"""Speed and memory of the packet-level simulator, beside the peers' figures: `make bench`.

Measured are packet-hops (packets that left a port over a link) per second of user CPU on one core, from
the built scenario to the returned tables, and the peak memory of a fresh process that also wrote all tables. The case:
a permutation of endless TCP CUBIC flows on a fat tree, per-flow ECMP, 1 us links, 100-packet drop-tail queues, ACKs
through the network, samples of every metric four times a run. Rounds are interleaved and the median counts, for other
work on the machine to disturb all cases alike.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True)
class Case:
    """One fabric; `peer` is the speed of htsim (commit 841d9e7, -O3) on it, `least` what weft promises."""

    k: int
    gbps: int
    simulated_us: int
    least: float
    peer: str

    @property
    def name(self) -> str:
        """As it is written on the command line."""
        return f"k={self.k},{self.gbps}G"


CASES = (
    Case(8, 10, 30_000, 9, "2.9"),
    Case(8, 100, 3_000, 9, "3.1"),
    Case(16, 10, 4_000, 8, "0.8-1.7"),
    Case(16, 100, 400, 8, "1.2"),
    Case(32, 10, 500, 5, "0.15"),
    Case(32, 100, 100, 5, ""),
)


def spec(case: Case) -> dict[str, Any]:
    until_ps = case.simulated_us * 10**6
    return {
        "seed": 1,
        "topology": {"kind": "fat_tree", "k": case.k, "link": {"rate": case.gbps * 10**9, "delay": 10**6}},
        "load_balance": {"kind": "ecmp"},
        "queue": {"kind": "drop_tail", "capacity": {"packets": 100}},
        "transport": {"kind": "tcp"},
        "congestion": {"kind": "cubic"},
        "workload": [{"name": "bulk", "kind": "permutation"}],
        "backend": {"kind": "packet", "until": until_ps, "limit": until_ps},
        "measure": {"every": until_ps // 4},
    }


def measure(case: Case) -> dict[str, Any]:
    """Run one case in this process."""
    from weft import _core

    text = json.dumps(spec(case))
    scenario = _core.Scenario(text)
    with tempfile.TemporaryDirectory() as directory:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        simulation = _core.PacketSimulation(scenario, text, directory)
        while not json.loads(simulation.advance(1.0))["finished"]:
            pass
        summary = json.loads(simulation.finish())
        cpu_s = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
        simulation.write()
    return {
        "packet_hops": summary["packet_hops"],
        "fingerprint": summary["fingerprint"],
        "cpu_s": cpu_s,
        "peak_rss_bytes": _core.peak_rss_bytes(),
    }


def in_fresh_process(case: Case) -> dict[str, Any]:
    command = [sys.executable, __file__, "--only", case.name]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed and memory of the packet-level simulator.")
    parser.add_argument("--rounds", type=int, default=3, help="measurements per case")
    parser.add_argument("--only", choices=[case.name for case in CASES], help="one measurement of one case, as JSON")
    options = parser.parse_args()
    if options.only:
        print(json.dumps(measure(next(case for case in CASES if case.name == options.only))))
        return

    measured: dict[Case, list[dict[str, Any]]] = defaultdict(list)
    for _ in range(options.rounds):
        for case in CASES:
            measured[case].append(in_fresh_process(case))
    print_table(measured)


def print_table(measured: dict[Case, list[dict[str, Any]]]) -> None:
    from weft import _core
    from weft.execute.machine import describe

    machine = describe()
    print(f"weft {_core.version()} ({_core.commit()}), {datetime.now(UTC):%Y-%m-%d}, {machine['cpu']}, ", end="")
    print(f"{machine['cores']} cores, {machine['system']}")
    print()
    print("| fat tree, TCP | M packet-hops/s | of rounds | promised | htsim | packet-hops | peak RSS |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for case, rounds in measured.items():
        speeds = [each["packet_hops"] / each["cpu_s"] / 1e6 for each in rounds]
        if len({each["fingerprint"] for each in rounds}) > 1:
            sys.exit(f"{case.name}: the rounds have different fingerprints")
        memory = statistics.median(each["peak_rss_bytes"] for each in rounds) / 1e6
        print(
            f"| k={case.k}, {case.gbps} Gbps | {statistics.median(speeds):.1f} | {min(speeds):.1f}-{max(speeds):.1f} "
            f"| {case.least:g} | {case.peer} | {rounds[0]['packet_hops']:,} | {memory:.0f} MB |"
        )


if __name__ == "__main__":
    main()
