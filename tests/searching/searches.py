"""What the tests of a search share: an experiment of a few milliseconds whose best point can be derived.

Two UDP flows share a link of 1 Gb/s: a victim that sends 400 Mb/s, and bulk, whose rate is searched. Up to 600 Mb/s
nothing is lost, and bulk receives 1472 of the 1538 bytes that each of its packets takes on the wire.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import weft

ROOM = 600e6
PAYLOAD = 1472 / 1538


def shared_link(**sections: Any) -> dict[str, Any]:
    """The experiment: what is not given maximizes the goodput of bulk while the victim loses nothing."""
    return {
        "name": "shared link",
        "backend": {"until": "11 ms"},
        "topology": {
            "kind": "dumbbell",
            "link": {"rate": "10 Gbps", "delay": "5 us"},
            "bottleneck": {"rate": "1 Gbps", "delay": "5 us"},
        },
        "queue": {"capacity": "20 packets"},
        "workload": [flow("victim", 0, "400 Mbps"), flow("bulk", 1, "900 Mbps")],
        "measure": {"warmup": "1 ms"},
        "objective": {
            "metric": "goodput",
            "workload": "bulk",
            "constraints": [{"metric": "goodput", "workload": "victim", "at_least": "99 %", "of": "alone"}],
        },
        "space": {"workload.bulk.transport.rate": {"from": "100 Mbps", "to": "1 Gbps"}},
        "search": {"trials": 24},
    } | sections


def flow(name: str, side: int, rate: str, **more: Any) -> dict[str, Any]:
    """A UDP flow from left to right."""
    transport = {"kind": "udp", "rate": rate} | more
    return {"name": name, "kind": "pairs", "pairs": [f"l{side}>r{side}"], "transport": transport}


def noisy_link(trials: int = 16, **sections: Any) -> dict[str, Any]:
    """Packets of bulk arrive at random, so that seeds differ."""
    bulk = flow("bulk", 1, "300 Mbps", arrivals="poisson")
    return shared_link(
        workload=[flow("victim", 0, "400 Mbps"), bulk],
        objective={"metric": "goodput", "workload": "bulk"},
        sweep={"repeats": 6},
        search={"trials": trials, "neighbours": 2},
        **sections,
    )


def start(file: Path, out: Path, *options: str) -> "subprocess.Popen[str]":
    """`weft search` as a process of its own group."""
    command = [sys.executable, "-m", "weft.cli", "search", str(file), "--out", str(out), "--no-report", *options]
    root = Path(weft.__file__).parents[1]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PYTHONPATH": str(root)},
        start_new_session=True,
    )
