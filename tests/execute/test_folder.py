"""The output folder runs again from what it holds."""

from pathlib import Path

import weft

EXPERIMENT = """
[topology]
kind = "star"
hosts = 3

[[workload]]
kind = "flows_file"
file = "traffic/few.csv"

[sweep]
"workload[0].file" = ["traffic/few.csv", "more.csv"]
"""


def test_files_that_an_experiment_names_are_beside_it_in_the_folder(tmp_path: Path) -> None:
    there = tmp_path / "there"
    (there / "traffic").mkdir(parents=True)
    (there / "traffic/few.csv").write_text("src,dst,size_bytes,start\nh0,h1,1000,1 us\n")
    (there / "more.csv").write_text("src,dst,size_bytes,start\nh0,h1,1000,1 us\nh1,h2,1000,1 us\n")
    (there / "experiment.toml").write_text(EXPERIMENT)
    first = weft.run(there / "experiment.toml", out=tmp_path / "out")
    for file in there.rglob("*"):
        file.unlink() if file.is_file() else None
    again = weft.run(tmp_path / "out/experiment.toml", out=tmp_path / "again")
    assert sorted(again.manifests) == sorted(first.manifests)
    assert again.flows.height == first.flows.height == 3


def test_a_file_does_not_take_the_place_of_what_weft_writes(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/few.csv").write_text("src,dst,size_bytes,start\nh0,h1,1000,1 us\n")
    text = EXPERIMENT.replace("traffic/few.csv", "runs/few.csv").partition("[sweep]")[0]
    (tmp_path / "experiment.toml").write_text(text)
    weft.run(tmp_path / "experiment.toml", out=tmp_path / "out")
    assert not (tmp_path / "out/runs/few.csv").exists()
