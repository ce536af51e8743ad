"""Kills: a sweep that dies at any moment goes on with the same command, and ends with exactly the planned runs."""

import os
import random
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from sweeps import assert_whole, stamps, start, sweep

import weft
from weft.experiment.readable import toml


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    found = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in found.read_text().split()] if found.is_file() else []


def kill_at_random_moments(tmp_path: Path, kills: int, seed: int) -> None:
    """Kills the driver or a worker until `kills` kills are done, then lets the sweep end, and looks at it."""
    draw = random.Random(seed)
    file, out = tmp_path / "sweep.toml", tmp_path / "o"
    sizes = 0
    killed = 0
    while killed < kills:
        # A sweep that ends too early begins anew, in another folder, so that every kill meets a living one.
        sizes += 1
        file.write_text(toml(sweep(cells=40, repeats=3, size=f"{300 + sizes} kB")))
        out = tmp_path / f"o{sizes}"
        experiment = weft.load(file)
        before: dict[str, tuple[int, int]] = {}
        while True:
            process = start(file, out, "--jobs", "2")
            if killed == kills:
                said, _ = process.communicate(timeout=120)
            else:
                said = _wait_and_kill(process, draw)
                killed += 1
            now = stamps(out)
            # None lost, none done again.
            assert before.items() <= now.items(), seed
            before = now
            if process.returncode == 0:
                assert len(now) == 120, said
                break
            assert process.returncode in (-signal.SIGKILL,), said
        alone = weft.run(experiment, jobs=1)
        fingerprints = {name: manifest["fingerprint"] for name, manifest in alone.manifests.items()}
        assert_whole(out, experiment, fingerprints)


def _wait_and_kill(process: "subprocess.Popen[str]", draw: random.Random) -> str:
    """Kills the driver or one of its workers after a random time; the driver survives the death of a worker."""
    time.sleep(draw.uniform(0.2, 1.5))
    workers = children(process.pid)
    victim = draw.choice([process.pid, *workers])
    with suppress(ProcessLookupError):
        os.kill(victim, signal.SIGKILL)
    if victim == process.pid:
        said, _ = process.communicate(timeout=60)
        # Nobody who still writes is left behind.
        deadline = time.monotonic() + 10.0
        while any(Path(f"/proc/{worker}").exists() and _is_alive(worker) for worker in workers):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return said
    said, _ = process.communicate(timeout=120)
    return said


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc to find the workers")
def test_a_sweep_that_is_killed_ten_times_ends_with_exactly_its_runs(tmp_path: Path) -> None:
    kill_at_random_moments(tmp_path, kills=10, seed=2026)


@pytest.mark.soak
def test_a_sweep_that_is_killed_five_hundred_times_ends_with_exactly_its_runs(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    kill_at_random_moments(tmp_path, kills=500, seed=seed)
