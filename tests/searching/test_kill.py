"""A search that is killed at any moment goes on, and ends with the trials that it would have had."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import polars as pl
import pytest
from searches import noisy_link, start

import weft
from weft.experiment.readable import toml


def trials_of(out: Path) -> pl.DataFrame:
    return pl.read_parquet(out / "trials.parquet")


def stamps(out: Path) -> dict[str, int]:
    """Every finished run with what would change if it were done again."""
    return {file.parent.name: file.stat().st_mtime_ns for file in (out / "runs").glob("[!.]*/manifest.json")}


def kill_and_go_on(tmp_path: Path, kills: int, seed: int) -> None:
    draw = random.Random(seed)
    file, out = tmp_path / "search.toml", tmp_path / "o"
    file.write_text(toml(noisy_link(trials=20)))
    whole = weft.search(file, out=tmp_path / "whole", jobs=1)
    before: dict[str, int] = {}
    for _ in range(kills):
        process = start(file, out, "--jobs", draw.choice(["1", "2"]))
        # From before the first trial to the end: the journal grows meanwhile.
        lines = draw.uniform(0, 1.1 * len((tmp_path / "whole/study.journal").read_text().splitlines()))
        while process.poll() is None and _lines(out / "study.journal") < lines:
            time.sleep(0.005)
        time.sleep(draw.uniform(0, 0.1))
        _kill(process)
        now = stamps(out)
        assert before.items() <= now.items(), seed
        before = now
    process = start(file, out)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert trials_of(out).equals(whole.trials), seed
    assert {entry.name for entry in (out / "runs").iterdir()} == set(stamps(tmp_path / "whole"))


def _lines(file: Path) -> int:
    return file.read_text().count("\n") if file.is_file() else 0


def _kill(process: "subprocess.Popen[str]") -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def test_a_killed_search_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    kill_and_go_on(tmp_path, kills=3, seed=1)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
def test_many_killed_searches(tmp_path: Path, seed: int) -> None:
    kill_and_go_on(tmp_path, kills=10, seed=seed)
