"""The pool of processes: the same results as alone, failures that do not end a sweep, and limits."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sweeps import assert_whole, environment, start, sweep

import weft
from weft.backend.simulation import Progress
from weft.execute import execute, local
from weft.execute.folder import Folder
from weft.execute.job import Ended, Failure, Job, failure_of, job_of
from weft.execute.local import Pool
from weft.experiment.readable import toml
from weft.progress import Silent
from weft.sweep import Run


def test_any_number_of_processes_gives_the_same_results(tmp_path: Path) -> None:
    experiment = weft.load(sweep(cells=6, repeats=2))
    fingerprints = {}
    for jobs in (1, 2, 3):
        outcome = execute(experiment, tmp_path / str(jobs), Silent(), jobs=jobs)
        assert (outcome.planned, outcome.is_whole) == (12, True)
        manifests = weft.Results(tmp_path / str(jobs)).manifests
        fingerprints[jobs] = {name: manifest["fingerprint"] for name, manifest in manifests.items()}
        assert_whole(tmp_path / str(jobs), experiment, fingerprints[1])
    assert fingerprints[1] == fingerprints[2] == fingerprints[3]


def test_a_script_without_a_guard_may_use_the_pool(tmp_path: Path) -> None:
    # With `multiprocessing`, every worker would run this script again.
    script = tmp_path / "script.py"
    script.write_text(f"import weft\nprint(len(weft.run({sweep(cells=4)!r}, jobs=2).manifests))\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environment())
    assert (done.returncode, done.stdout) == (0, "4\n"), done.stderr


class Killer(Silent):
    """Kills the worker of the first run that has begun, as often as asked."""

    def __init__(self, times: int, of: int) -> None:
        self.left = times
        self.of = of
        self.retries: list[str] = []
        self.ends: list[str] = []

    def advance(self, run: Run, progress: Progress) -> None:
        if self.left and run.cell.index == self.of:
            self.left -= 1
            for child in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
                os.kill(int(child), signal.SIGKILL)

    def retry(self, run: Run, reason: str) -> None:
        self.retries.append(reason)

    def end(self, run: Run, outcome: str) -> None:
        self.ends.append(outcome)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc to find the workers")
def test_a_killed_worker_is_replaced_and_its_run_done_again(tmp_path: Path) -> None:
    # Long enough for a progress before the end.
    experiment = weft.load(sweep(cells=3, size="60 MB"))
    killer = Killer(times=1, of=1)
    outcome = execute(experiment, tmp_path, killer, jobs=2)
    assert outcome.is_whole and killer.left == 0
    assert killer.retries and all("was killed by SIGKILL" in reason for reason in killer.retries)
    assert_whole(tmp_path, experiment)


def test_what_fails_three_times_is_recorded_and_told_and_done_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from weft.backend import packet

    simulate, calls = packet.run, []

    def run(spec: dict[str, Any], directory: Path, watch: Any) -> Any:
        if spec["topology"]["link"]["rate"] == 101_000_000:
            calls.append(spec)
            raise MemoryError("cannot allocate")
        return simulate(spec, directory, watch)

    monkeypatch.setattr(packet, "run", run)
    experiment = weft.load(sweep(cells=3))
    outcome = execute(experiment, tmp_path, Silent(), jobs=1)
    ((failed, said),) = outcome.failed
    assert len(calls) == 3 and said == "failed: cannot allocate (3 attempts)"
    recorded = json.loads((tmp_path / f"failures/{failed.name}.json").read_text())
    assert recorded["swept"] == {"topology.link.rate": "101 Mbps"}
    assert (recorded["kind"], recorded["message"], recorded["attempts"]) == ("MemoryError", "cannot allocate", 3)
    monkeypatch.undo()
    assert execute(experiment, tmp_path, Silent(), jobs=1).is_whole
    assert_whole(tmp_path, experiment)


def test_the_predicted_memory_of_what_is_under_way_stays_below_what_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local.machine, "available_memory", lambda: 1_000_000_000)
    experiment = weft.load(sweep(cells=4))
    folder = Folder(tmp_path)
    folder.runs.mkdir()
    small, large = (
        [job_of(experiment, run, memory) for run in experiment.plan()] for memory in (100_000_000, 700_000_000)
    )
    pool = Pool(folder, 4, lambda name, progress: None)
    try:
        assert pool.has_room(large[0])
        pool.submit(large[0])
        # 700 + 700 MB and two workers do not fit, 700 + 100 MB do, a third does not.
        assert not pool.has_room(large[1])
        assert pool.has_room(small[1])
        pool.submit(small[1])
        assert not pool.has_room(small[2])
        ended: list[Ended] = []
        while len(ended) < 2:
            ended += pool.wait(1.0)
        assert {end.name for end in ended} == {large[0].name, small[1].name}
        assert pool.has_room(large[2])
    finally:
        pool.close()


def test_jobs_and_what_became_of_them_travel_as_text() -> None:
    experiment = weft.load(sweep(cells=1))
    job = job_of(experiment, next(experiment.plan()), 12)
    assert Job.read(job.text()) == job
    for ended in (
        Ended("a", 2, False, ("look",), None, 1.5),
        Ended("b", failure=Failure("OSError", "no", may_pass=True)),
    ):
        assert Ended.read(ended.text()) == ended


def test_what_may_pass_is_tried_again_and_a_full_disk_ends_all() -> None:
    assert failure_of(MemoryError("m")).may_pass
    assert failure_of(OSError(5, "Input/output error")).may_pass
    assert not failure_of(ValueError("v")).may_pass
    full = failure_of(OSError(28, "No space left on device"))
    assert full.is_disk_full and not full.may_pass


def test_fewer_than_one_process_is_refused(tmp_path: Path) -> None:
    with pytest.raises(weft.WeftError, match="--jobs 0: expected a number of runs at once, at least 1"):
        weft.run(sweep(cells=1), tmp_path / "o", jobs=0)


@pytest.fixture
def small_disk(tmp_path: Path) -> Path:
    """A file system of one megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    if mount is None or subprocess.run([mount, "-t", "tmpfs", "-o", "size=1m", "tmpfs", place]).returncode:
        pytest.skip("cannot mount a small file system: needs root")
    return place


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_full_disk_stops_the_sweep_keeps_what_is_whole_and_says_what_is_needed(
    small_disk: Path, tmp_path: Path, jobs: str
) -> None:
    try:
        file = tmp_path / "sweep.toml"
        file.write_text(toml(sweep(cells=200)))
        process = start(file, small_disk / "o", "--jobs", jobs)
        said, _ = process.communicate(timeout=120)
        assert process.returncode == 2, said
        last = said.splitlines()[-1]
        assert "the disk is full" in last and "finished runs are kept" in last and " need about " in last, said
        whole = list((small_disk / "o/runs").iterdir())
        assert 3 < len(whole) < 200
        for run in whole:
            assert json.loads((run / "manifest.json").read_text())["run"] == run.name
        # With room, the same command goes on.
        subprocess.run(["mount", "-o", "remount,size=100m", small_disk], check=True)
        process = start(file, small_disk / "o", "--jobs", jobs)
        said, _ = process.communicate(timeout=120)
        assert process.returncode == 0, said
        assert f"200 runs, {len(whole)} of them already there" in said
        assert_whole(small_disk / "o", weft.load(file))
    finally:
        subprocess.run(["umount", small_disk], check=True)


def test_what_did_not_fail_comes_with_the_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from weft.backend import packet

    simulate = packet.run

    def run(spec: dict[str, Any], directory: Path, watch: Any) -> Any:
        if spec["topology"]["link"]["rate"] == 101_000_000:
            raise ValueError("no")
        return simulate(spec, directory, watch)

    monkeypatch.setattr(packet, "run", run)
    with pytest.raises(weft.RunError, match="1 of 3 runs failed") as caught:
        weft.run(sweep(cells=3), jobs=1)
    assert caught.value.results is not None
    assert len(caught.value.results.manifests) == 2 and caught.value.results.flows.height > 0

    def stop(spec: dict[str, Any], directory: Path, watch: Any) -> Any:
        if spec["topology"]["link"]["rate"] == 101_000_000:
            raise KeyboardInterrupt
        return simulate(spec, directory, watch)

    monkeypatch.setattr(packet, "run", stop)
    with pytest.raises(KeyboardInterrupt) as interrupted:
        weft.run(sweep(cells=3), jobs=1)
    (note,) = interrupted.value.__notes__
    kept = Path(note.removeprefix("finished runs are kept in "))
    assert len(weft.Results(kept).manifests) == 1
    shutil.rmtree(kept)


def test_runs_by_several_builds_in_one_folder_are_told(tmp_path: Path) -> None:
    experiment = weft.load(sweep(cells=3))
    execute(experiment, tmp_path, Silent(), jobs=1)
    first, second, _ = sorted((tmp_path / "runs").iterdir())
    manifest = json.loads((first / "manifest.json").read_text())
    (first / "manifest.json").write_text(json.dumps(manifest | {"commit": "another"}))
    shutil.rmtree(second)
    outcome = execute(experiment, tmp_path, Silent(), jobs=1)
    assert any("several builds of weft (commits" in warning for warning in outcome.warnings)


def test_a_full_disk_of_a_node_is_not_that_of_the_results() -> None:
    from weft.execute.ray import _of_the_node

    full = Failure("OSError", "No space left on device", is_disk_full=True)
    assert _of_the_node(full, "n1") == Failure("OSError", "the disk of n1 is full: No space left on device", True)
    other = Failure("ValueError", "no")
    assert _of_the_node(other, "n1") is other
