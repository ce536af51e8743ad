"""Speed and memory of the packet-level simulator, beside the peers' figures: `make bench`.

Measured are packet-hops (packets that left a port over a link) per second of user CPU on one core, from
the built scenario to the returned tables, and the peak memory of a fresh process that also wrote all tables. The main
case: a permutation of endless TCP CUBIC flows on a fat tree, per-flow ECMP, 1 us links, 100-packet drop-tail queues,
ACKs through the network, samples of every metric four times a run. The second question: what do short links cost, over
which a window of lookahead holds few events? Rounds are interleaved and the median counts, for other work on the
machine to disturb all cases alike.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

US = 10**6
"""Picoseconds."""


@dataclass(frozen=True)
class Case:
    """One fabric: a fat tree of `k`, or without `k` two flows over a dumbbell.

    `least` is the speed that weft promises; `htsim` (commit 841d9e7, -O3) and `ns3` (3.37) are the peers' on it.
    `lossless` names flow control and congestion control where nothing is dropped.
    """

    gbps: int
    delay_ps: int
    simulated_us: int
    k: int | None = None
    least: float | None = None
    htsim: str = ""
    ns3: str = ""
    lossless: str = ""

    @property
    def name(self) -> str:
        """As it is written on the command line."""
        if not self.k:
            return f"dumbbell,{self.delay_ps / 1000:g}ns"
        return ",".join([f"k={self.k}", f"{self.gbps}G", *self.lossless.split(", ")]).strip(",")


FAT_TREES = (
    Case(10, US, 30_000, 8, 9, "2.9", "0.091"),
    Case(100, US, 3_000, 8, 9, "3.1"),
    Case(10, US, 4_000, 16, 8, "0.8-1.7"),
    Case(100, US, 400, 16, 8, "1.2"),
    Case(10, US, 500, 32, 5, "0.15"),
    Case(100, US, 100, 32, 5),
)

DUMBBELLS = tuple(Case(10, delay_ps, 1_000_000) for delay_ps in (0, 5_000, US))

LOSSLESS = (
    Case(100, US, 1_000, 8, 4, "1.2-1.5", lossless="pfc, dcqcn"),
    Case(100, US, 1_000, 8, 4, "1.2-1.5", lossless="pfc, none"),
    Case(100, US, 300, 16, 3, "0.58", lossless="pfc, dcqcn"),
    Case(100, US, 300, 16, 3, "0.58", lossless="pfc, none"),
    Case(100, US, 10_000, 8, lossless="credit, none"),
    Case(100, US, 1_000, 16, lossless="credit, none"),
)

CASES = FAT_TREES + DUMBBELLS + LOSSLESS


def spec(case: Case) -> dict[str, Any]:
    until_ps = case.simulated_us * US
    link = {"rate": case.gbps * 10**9, "delay": case.delay_ps}
    dumbbell: dict[str, Any] = {"kind": "dumbbell", "left": 2, "right": 2, "link": link}
    flow_control, _, congestion = (case.lossless or "none, cubic").partition(", ")
    transport = {"none": "tcp", "pfc": "rocev2", "credit": "infiniband"}[flow_control]
    drop_tail = {"kind": "drop_tail", "capacity": {"packets": 100}}
    return {
        "seed": 1,
        "topology": {"kind": "fat_tree", "k": case.k, "link": link} if case.k else dumbbell,
        "load_balance": {"kind": "ecmp"},
        "queue": {"kind": "ecn_ramp"} if flow_control == "pfc" else drop_tail,
        "flow_control": {"kind": flow_control},
        "transport": {"kind": transport},
        "congestion": {"kind": congestion},
        "workload": [
            {"name": "bulk", "kind": "permutation"}
            if case.k
            else {"name": "bulk", "kind": "pairs", "pairs": ["l0>r0", "l1>r1"]}
        ],
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

    load = os.getloadavg()[0]
    measured: dict[Case, list[dict[str, Any]]] = defaultdict(list)
    for _ in range(options.rounds):
        for case in CASES:
            measured[case].append(in_fresh_process(case))
    for case, rounds in measured.items():
        if len({each["fingerprint"] for each in rounds}) > 1:
            sys.exit(f"{case.name}: the rounds have different fingerprints")
    print_machine(load)
    print_fat_trees(measured)
    print_dumbbells(measured)
    print_lossless(measured)


def print_machine(load: float) -> None:
    from weft import _core
    from weft.execute.machine import describe

    machine = describe()
    print(f"weft {_core.version()} ({_core.commit()}), {datetime.now(UTC):%Y-%m-%d}, {machine['cpu']}, ", end="")
    print(f"{machine['cores']} cores, {machine['system']}, load before {load:.1f}")
    print()


def print_fat_trees(measured: dict[Case, list[dict[str, Any]]]) -> None:
    print("| fat tree, TCP | M packet-hops/s | of rounds | goal | htsim | ns-3 | packet-hops | CPU | peak RSS |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for case in FAT_TREES:
        rounds = measured[case]
        speeds = [each["packet_hops"] / each["cpu_s"] / 1e6 for each in rounds]
        cpu_s = statistics.median(each["cpu_s"] for each in rounds)
        memory = statistics.median(each["peak_rss_bytes"] for each in rounds) / 1e6
        print(
            f"| k={case.k}, {case.gbps} Gbps | {statistics.median(speeds):.1f} | {min(speeds):.1f}-{max(speeds):.1f} "
            f"| {case.least:g} | {case.htsim} | {case.ns3} | {rounds[0]['packet_hops']:,} | {cpu_s:.2f} s "
            f"| {memory:.0f} MB |"
        )
    print()


def print_dumbbells(measured: dict[Case, list[dict[str, Any]]]) -> None:
    print("| dumbbell, 10 Gbps, 1 s, link delay | packet-hops | CPU | ns per packet-hop | M packet-hops/s |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for case in DUMBBELLS:
        rounds = measured[case]
        hops = rounds[0]["packet_hops"]
        cpu_s = statistics.median(each["cpu_s"] for each in rounds)
        print(
            f"| {case.delay_ps / 1000:g} ns | {hops:,} | {cpu_s:.2f} s | {cpu_s / hops * 1e9:.0f} "
            f"| {hops / cpu_s / 1e6:.1f} |"
        )


def print_lossless(measured: dict[Case, list[dict[str, Any]]]) -> None:
    print()
    print("| fat tree, lossless | M packet-hops/s | of rounds | goal | htsim, RoCE | packet-hops | CPU | peak RSS |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for case in LOSSLESS:
        rounds = measured[case]
        speeds = [each["packet_hops"] / each["cpu_s"] / 1e6 for each in rounds]
        cpu_s = statistics.median(each["cpu_s"] for each in rounds)
        memory = statistics.median(each["peak_rss_bytes"] for each in rounds) / 1e6
        goal = f"{case.least:g}" if case.least else ""
        print(
            f"| k={case.k}, {case.lossless} | {statistics.median(speeds):.1f} | {min(speeds):.1f}-{max(speeds):.1f} "
            f"| {goal} | {case.htsim} | {rounds[0]['packet_hops']:,} | {cpu_s:.2f} s | {memory:.0f} MB |"
        )


if __name__ == "__main__":
    main()
