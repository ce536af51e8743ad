"""Time and memory of k shortest paths, at the size of the Jellyfish table of the Jellyfish paper.

Eight loopless shortest paths for every pair of the 245 switches of 14 ports that hold 686 hosts: 686 x 685 pairs of
hosts, which share the paths of their switches. Each round is a fresh process; the median counts.

    python benches/routes.py [--rounds N]
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys

SPEC = {
    "seed": 1,
    "topology": {"kind": "jellyfish", "hosts": 686, "switches": 245, "ports": 14},
    "routing": {"kind": "k_shortest", "k": 8},
    "load_balance": {"kind": "ecmp"},
    "workload": [],
}


def once() -> None:
    """Builds the routes and prints user CPU in seconds and what the memory grew by in MB."""
    from weft import _core

    without = json.dumps(SPEC | {"routing": {"kind": "shortest"}})
    _core.Scenario(without)
    before = resource.getrusage(resource.RUSAGE_SELF)
    _core.Scenario(json.dumps(SPEC))
    after = resource.getrusage(resource.RUSAGE_SELF)
    grown = (after.ru_maxrss - before.ru_maxrss) / 1024
    print(json.dumps([after.ru_utime - before.ru_utime, after.ru_maxrss / 1024, grown]))


def main() -> None:
    """Runs the rounds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.once:
        once()
        return
    found = [
        json.loads(subprocess.run([sys.executable, __file__, "--once"], check=True, capture_output=True).stdout)
        for _ in range(arguments.rounds)
    ]
    cpu, peak, more = (statistics.median(column) for column in zip(*found, strict=True))
    print(f"{cpu:.2f} s of user CPU (goal: below 10)")
    print(f"{peak:.0f} MB at the peak (goal: below 200), {more:.0f} MB of them for the paths")


if __name__ == "__main__":
    main()
