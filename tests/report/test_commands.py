"""The commands in a report give the same runs again: the same names and the same fingerprints."""

import json
import shlex
from pathlib import Path

import pytest

import weft
from weft.cli import status_of
from weft.report import describe
from weft.report.folder import Folder, read_folder

BASE = """\
seed = 3
[topology]
kind = "star"
hosts = 4
[[workload]]
kind = "permutation"
size = "20 kB"
[sweep]
"""

AXES = {
    "lists": '"queue.capacity" = ["20 packets", "40 packets"]\n"congestion.kind" = ["reno", "cubic"]\nrepeats = 2',
    "range": '"topology.link.rate" = { from = "100 Mbps", to = "10 Gbps", steps = 3, scale = "log" }\nrepeats = 2',
    "zip": '"topology.hosts" = [4, 6]\n"queue.capacity" = ["20 packets", "40 packets"]\n"congestion.kind" = ["reno", '
    '"cubic"]\nzip = [["topology.hosts", "queue.capacity"]]\nrepeats = 2',
    "exclude": '"topology.hosts" = [4, 6]\n"congestion.kind" = ["reno", "cubic"]\nrepeats = 2\n'
    'exclude = [{ "topology.hosts" = 4, "congestion.kind" = "cubic" }]',
    "tables": 'transport = [{ kind = "tcp" }, { kind = "udp", rate = "1 Gbps", arrivals = "poisson" }]\nrepeats = 2',
    "entries": '"workload[0].size" = ["10 kB", "20 kB"]\nrepeats = 2',
    "until": '"congestion.kind" = ["reno", "cubic"]\n'
    'repeats = { until = "ci", metric = "fct", half_width = "40 %", least = 3, most = 4 }',
    "none": "repeats = 2",
}


def run_again(command: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Runs a command of the report where it says; gives the fingerprints of its runs by their names."""
    words = shlex.split(command)
    assert words[:2] == ["weft", "run"]
    monkeypatch.chdir(directory)
    assert status_of([*words[1:], "--no-report", "--json", "--jobs", "1"]) == 0
    return fingerprints(directory / words[-1])


def fingerprints(directory: Path) -> dict[str, str]:
    """Fingerprints of the runs of a folder by their names."""
    return {
        file.parent.name: json.loads(file.read_text())["fingerprint"] for file in directory.glob("runs/*/manifest.json")
    }


@pytest.mark.parametrize("axes", AXES)
def test_a_command_gives_the_same_runs(axes: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text(BASE + AXES[axes])
    # A setting of the command line changes what runs, and is in every command.
    weft.run(file, tmp_path / "results", set=["queue.kind=drop_tail"])
    folder: Folder = read_folder(tmp_path / "results")
    whole = fingerprints(tmp_path / "results")
    assert run_again(describe.command(folder), tmp_path, monkeypatch) == whole
    for cell in folder.cells[-1:]:
        names = {run.name for run in cell.runs}
        if len(folder.cells) > 1:
            again = run_again(describe.command(folder, cell), tmp_path, monkeypatch)
            assert again == {name: whole[name] for name in names}
        last = cell.runs[-1]
        again = run_again(describe.command(folder, cell, last), tmp_path, monkeypatch)
        assert again == {last.name: whole[last.name]}
