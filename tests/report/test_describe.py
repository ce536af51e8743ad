"""What was run, in words: what a person wrote, not every default."""

from pathlib import Path

import pytest
from synthetic import write_folder

from weft.report import describe
from weft.report.folder import read_folder
from weft.report.table import collect


def test_only_keys_that_the_file_gives_are_listed(swept: Path):
    rows = dict(describe.rows(read_folder(swept)))
    assert rows["Fabric"] == "fat_tree, k 4"
    assert rows["Transport"] == "tcp"
    assert rows["Workload"] == "permutation, size 25 MiB"
    assert rows["Load balance"] == "swept: kind static, ecmp, spray"
    assert rows["Cost"] == "280 s simulated, 5.6 s wall, 4.2 s CPU, 21 M packet-hops"


def test_without_the_file_the_first_keys_are_listed(single: Path, tmp_path: Path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(single, copy)
    (copy / "experiment.toml").unlink()
    rows = dict(describe.rows(read_folder(copy)))
    assert rows["Transport"] == "tcp, profile linux"


def test_files_are_named_as_written_and_not_where_they_lie(tmp_path: Path):
    import weft

    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "sizes.csv").write_text("1000,50\n2000,100\n")
    (tmp_path / "tables" / "flows.csv").write_text("src,dst,size_bytes,start_ns\nh0,h1,20000,0\n")
    written = """
        [topology]
        kind = "star"
        hosts = 4

        [[workload]]
        kind = "flows_file"
        file = "tables/flows.csv"

        [[workload]]
        kind = "poisson"
        load = 0.1
        flows = 3
        size = { kind = "empirical", file = "tables/sizes.csv" }
        """
    (tmp_path / "files.toml").write_text(written)
    weft.run(tmp_path / "files.toml", out=tmp_path / "out")
    said = dict(describe.rows(read_folder(tmp_path / "out")))["Workload"]
    assert "flows_file, file tables/flows.csv" in said and "{empirical, file sizes.csv}" in said
    (tmp_path / "out" / "experiment.toml").unlink()
    said = dict(describe.rows(read_folder(tmp_path / "out")))["Workload"]
    assert "file flows.csv" in said and str(tmp_path) not in said


def test_one_run_is_one_sentence(single: Path):
    folder = read_folder(single)
    text = describe.paragraph(folder, collect(folder))
    assert text == "Fat tree, k = 4, with 16 hosts and 20 switches, 48 cables at 20 Mb/s. One run. Seed 7. 16 flows."


@pytest.mark.parametrize(
    ("seeds", "text"),
    [
        ((7, 8), "Seeds 7, 8, the same in every cell."),
        ((7, 4017692541475287), "Seed 7 and 1 derived from it, the same in every cell."),
    ],
)
def test_long_seeds_are_not_printed(tmp_path: Path, seeds: tuple[int, int], text: str):
    import polars as pl

    folder = write_folder(tmp_path / "x", balances=("ecmp", "spray"), repeats=2, samples=False)
    plan = pl.read_parquet(folder / "plan.parquet")
    plan.with_columns(pl.col("repeat").replace_strict({0: seeds[0], 1: seeds[1]}).alias("seed")).write_parquet(
        folder / "plan.parquet"
    )
    read = read_folder(folder)
    assert text in describe.paragraph(read, collect(read))


def test_a_sweep_without_its_plan_is_read_from_its_manifests(swept: Path, tmp_path: Path):
    import json
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(swept, copy)
    (copy / "plan.parquet").unlink()
    for place, manifest in enumerate(sorted(copy.glob("runs/*/manifest.json"))):
        found = json.loads(manifest.read_text())
        cell, repeat = divmod(place, 5)
        found |= {"cell": cell, "repeat": repeat, "swept": found["experiment"]["load_balance"]}
        manifest.write_text(json.dumps(found))
    folder = read_folder(copy)
    assert folder.axes == ("kind",)
    assert [cell.label for cell in folder.cells] == ["static", "ecmp", "spray"]
    assert [len(cell.runs) for cell in folder.cells] == [5, 5, 4]
