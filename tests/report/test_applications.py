"""The figure `applications`: links by workload, side by side where they overlap."""

from pathlib import Path
from typing import Any

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


def test_sprayed_packets_need_paths_to_be_recorded(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"set `paths = true` under \[measure\]"):
        weft.run(BASE | {"load_balance": {"kind": "spray"}}, tmp_path / "a").figure("applications")
    recorded = weft.run(BASE | {"load_balance": {"kind": "spray"}, "measure": {"paths": True}}, tmp_path / "b")
    assert "h000>se00" in recorded.figure("applications").tables["applications"]["link"].to_list()


def test_too_many_workloads_are_refused(tmp_path: Path) -> None:
    many = [{"name": f"w{i}", "kind": "pairs", "pairs": ["h000>h001"]} for i in range(9)]
    with pytest.raises(ResultsError, match="9 workloads are too many colours"):
        weft.run(BASE | {"workload": many}, tmp_path).figure("applications")
