"""The figure `applications`: links by workload, side by side where they overlap."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import weft
from weft.errors import ResultsError

BASE: dict[str, Any] = {
    "topology": {"kind": "fat_tree"},
    "backend": {"until": "2 ms"},
    "workload": [
        {"name": "one", "kind": "pairs", "pairs": ["h000>h001", "h000>h010"]},
        {"name": "two", "kind": "pairs", "pairs": ["h000>h001"]},
    ],
}


def test_each_workload_has_its_links_and_overlaps_are_counted(tmp_path: Path) -> None:
    results = weft.run(BASE, tmp_path)
    figure = results.figure("applications")
    table = figure.tables["applications"]
    links = {(row["workload"], row["link"]): row["flows"] for row in table.iter_rows(named=True)}
    # Both use the host's link and the one to its neighbour; one goes on to another edge switch of the pod.
    assert links["one", "h000>se00"] == 2 and links["two", "h000>se00"] == 1
    assert {link for workload, link in links if workload == "two"} == {"h000>se00", "se00>h001"}
    assert len([link for workload, link in links if workload == "one"]) == 5
    assert "Used by more than one: 2 of 5 used links." in figure.caption
    # Lanes: the same link is drawn twice, not over itself.
    same = table.filter(table["link"] == "h000>se00")
    assert same["x"].n_unique() == 2
    assert "<svg" in figure.svg()


def test_each_fabric_of_a_sweep_is_drawn_in_its_own_layout(tmp_path: Path) -> None:
    two = {"workload": [{"name": "one", "kind": "permutation"}, {"name": "two", "kind": "permutation"}]}
    fabrics = {"sweep": {"topology.kind": ["binary_tree", "fat_tree"]}}
    figure = weft.run(BASE | two | fabrics, tmp_path).figure("applications")
    cells = figure.tables["nodes"]["cell"].unique(maintain_order=True).to_list()
    assert len(cells) == 2
    for cell in cells:
        coloured, idle, nodes = (
            figure.tables[name].filter(pl.col("cell") == cell) for name in ("applications", "links", "nodes")
        )
        assert set(coloured["workload"]) == {"one", "two"}
        # Every host sends to another: each workload colours the first link of each.
        hosts = nodes.filter(pl.col("kind") == "host")["node"]
        assert coloured.filter(pl.col("link").str.split(">").list.first().is_in(hosts.to_list())).height == 2 * len(
            hosts
        )
        # A coloured line lies beside the grey one of its link, in lanes of a few of 900 pixels.
        apart = coloured.join(idle, on="link", suffix="_idle")
        assert apart.height == coloured.height
        assert apart.select(((pl.col("x") - pl.col("x_idle")).abs() < 0.01).all()).item()
        assert not coloured.select(pl.col("x", "y", "x2", "y2").is_null().any()).row(0).count(True)
    assert "<svg" in figure.svg()


def test_sprayed_packets_need_paths_to_be_recorded(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"set `paths = true` under \[measure\]"):
        weft.run(BASE | {"load_balance": {"kind": "spray"}}, tmp_path / "a").figure("applications")
    recorded = weft.run(BASE | {"load_balance": {"kind": "spray"}, "measure": {"paths": True}}, tmp_path / "b")
    assert "h000>se00" in recorded.figure("applications").tables["applications"]["link"].to_list()


def test_too_many_workloads_are_refused(tmp_path: Path) -> None:
    many = [{"name": f"w{i}", "kind": "pairs", "pairs": ["h000>h001"]} for i in range(9)]
    with pytest.raises(ResultsError, match="9 workloads are too many colours"):
        weft.run(BASE | {"workload": many}, tmp_path).figure("applications")
