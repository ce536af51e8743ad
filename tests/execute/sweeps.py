"""What the tests of execution share: small sweeps, `weft` as a process, and whether a folder is whole."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl

import weft

TABLES = ("flows", "links", "queues", "nodes")


def sweep(cells: int, repeats: int = 1, size: str = "200 kB") -> dict[str, Any]:
    """Runs of a few milliseconds each."""
    return {
        "topology": {"kind": "star", "hosts": 4},
        "workload": [{"kind": "permutation", "size": size}],
        "sweep": {"topology.link.rate": [f"{100 + cell} Mbps" for cell in range(cells)], "repeats": repeats},
    }


def environment(**more: str) -> dict[str, str]:
    """So that the process finds this weft."""
    root = Path(weft.__file__).parents[1]
    return os.environ | {"PYTHONPATH": str(root), "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"} | more


def start(file: Path, out: Path, *options: str, **more: str) -> subprocess.Popen[str]:
    """`weft run` as a process of its own group."""
    command = [sys.executable, "-m", "weft.cli", "run", str(file), "--out", str(out), "--no-report", *options]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(**more),
        start_new_session=True,
    )


def stamps(out: Path) -> dict[str, tuple[int, int]]:
    """Every finished run with what would change if it were done again: the inode and time of its manifest."""
    found = {}
    for manifest in (out / "runs").glob("[!.]*/manifest.json"):
        state = manifest.stat()
        found[manifest.parent.name] = (state.st_ino, state.st_mtime_ns)
    return found


def assert_whole(out: Path, experiment: "weft.Experiment", fingerprints: dict[str, str] | None = None) -> None:
    """Exactly the planned runs are there, each whole, and nothing else."""
    planned = {run.name for run in experiment.plan()}
    assert {entry.name for entry in (out / "runs").iterdir()} == planned
    results = weft.Results(out)
    for name, manifest in results.manifests.items():
        assert manifest["run"] == name
        assert fingerprints is None or manifest["fingerprint"] == fingerprints[name]
        for table in TABLES:
            assert pl.read_parquet(out / "runs" / name / f"{table}.parquet").height > 0
    plan = pl.read_parquet(out / "plan.parquet")
    assert set(plan["run"]) == planned and plan.height == len(planned)
    assert not (out / "failures").exists()
