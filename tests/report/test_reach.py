"""Hosts within so many hops: shares counted by hand, and how fabrics are averaged."""

from pathlib import Path

import pytest
from synthetic import fat_tree, write_folder

from weft.report.figure import FIGURES, Ask
from weft.report.figure.reach import averaged, within
from weft.report.folder import read_folder


def test_a_fat_tree_has_its_pairs_at_two_four_and_six_links():
    nodes, cables = fat_tree(4)
    hosts = [name for name, kind, *_ in nodes if kind == "host"]
    # Of 15 others 1 is under the same switch, 2 more in the pod.
    shares = within(hosts, cables + [(b, a) for a, b in cables])
    assert shares == {0: 0, 1: 0, 2: 1 / 15, 3: 1 / 15, 4: 3 / 15, 5: 3 / 15, 6: 1}


def test_hosts_that_nobody_reaches_stay_out_of_reach():
    links = [("a", "s"), ("s", "a"), ("b", "s"), ("s", "b"), ("c", "t"), ("t", "c")]
    # Of six ordered pairs two are joined.
    assert within(["a", "b", "c"], links) == {0: 0, 1: 0, 2: pytest.approx(1 / 3)}


def test_a_fabric_keeps_its_last_share_beyond_its_longest_distance():
    table = averaged([{0: 0.0, 1: 0.0, 2: 1.0}, {0: 0.0, 1: 0.0, 2: 0.5, 3: 1.0}], 4)
    assert table["share"].to_list() == [0, 0, 0.75, 1, 1]
    # Two values 0.5 apart have an interval far wider than a share can be.
    assert (table["low"][2], table["high"][2]) == (0.0, 1.0)


def test_runs_on_one_fabric_are_one_fabric(tmp_path: Path):
    folder = read_folder(write_folder(tmp_path / "out", repeats=3, samples=False))
    figure = FIGURES["reach"].draw(folder, Ask("reach"))
    table = figure.tables["table"]
    assert table["group"].unique(maintain_order=True).to_list() == ["static", "ecmp", "spray"]
    assert table["fabrics"].unique().to_list() == [1]
    assert table["low"].null_count() == table.height
    assert table.filter(group="ecmp")["share"].to_list() == pytest.approx([0, 0, 1 / 15, 1 / 15, 0.2, 0.2, 1])
    assert "distinct fabrics (static 1, ecmp 1, spray 1)." in figure.caption
