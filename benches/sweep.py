"""Sweeps: what a run costs beyond its simulation, and how well the cores are used.

    python benches/sweep.py [RUNS]

Prints for RUNS tiny runs (default 10,000; about a millisecond of simulation each) the CPU of driver and workers per run
beyond `cpu_s` of the manifests, and for 1,000 small runs (some milliseconds) the share of the time that the workers ran
or were ready to run (schedstat: running + waiting for a core), one worker for every core: what is missing to 100 % is
waiting for work, whatever else the machine does.
"""

import json
import os
import resource
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

import weft
from weft.execute import execute
from weft.execute.local import cores
from weft.progress import Silent

BASE = {"topology": {"kind": "star", "hosts": 4}}


class Demand(threading.Thread):
    """Sums what every worker has run and waited for a core, a few times a second."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.seen: dict[str, int] = {}
        self.over = threading.Event()

    def run(self) -> None:
        """Samples until `over`."""
        own = Path(f"/proc/self/task/{os.getpid()}/children")
        while not self.over.wait(0.05):
            for child in own.read_text().split():
                if (state := _schedstat(Path(f"/proc/{child}"))) is not None:
                    self.seen[child] = state

    @property
    def seconds(self) -> float:
        """Run and waited, of all workers so far."""
        return sum(self.seen.values()) / 1e9


def _schedstat(process: Path) -> int | None:
    """Nanoseconds run and waited, of all threads."""
    try:
        return sum(
            sum(int(number) for number in (task / "schedstat").read_text().split()[:2])
            for task in (process / "task").iterdir()
        )
    except OSError:
        return None


def measure(runs: int, size: str) -> tuple[float, float, float, float]:
    """Wall seconds, CPU seconds of all processes, of the simulations alone, and the share of the cores in demand."""
    experiment = weft.load(BASE | {"workload": [{"kind": "permutation", "size": size}], "sweep": {"repeats": runs}})
    out = Path(tempfile.mkdtemp(prefix="weft-bench-"))
    try:
        demand = Demand()
        before = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        started = time.monotonic()
        demand.start()
        outcome = execute(experiment, out, Silent())
        demand.over.set()
        demand.join()
        wall = time.monotonic() - started
        assert outcome.is_whole and outcome.planned == runs
        after = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        cpu = sum(b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime for a, b in zip(before, after, strict=True))
        simulated = sum(json.loads(file.read_text())["cpu_s"] for file in out.glob("runs/*/manifest.json"))
        return wall, cpu, simulated, demand.seconds / (wall * cores())
    finally:
        shutil.rmtree(out)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    wall, cpu, simulated, _ = measure(runs, "2 kB")
    overhead_ms = 1000 * (cpu - simulated) / runs
    print(f"{runs:,} tiny runs: {wall:.1f} s, {overhead_ms:.2f} ms of CPU a run beyond its simulation")
    wall, cpu, simulated, share = measure(1_000, "8 MB")
    print(f"1,000 small runs ({simulated:.1f} ms each): {wall:.1f} s, {share:.0%} of {cores()} workers in use")


if __name__ == "__main__":
    main()
