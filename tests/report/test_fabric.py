"""Layout: who stands where, and on which side traffic goes."""

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import polars as pl
import pytest
from synthetic import fat_tree, ring, write_folder

from weft.errors import ResultsError
from weft.report.fabric import cables, layer_name, layout
from weft.report.figure import FIGURES, Ask
from weft.report.figure.fabric import layer_strips
from weft.report.folder import Folder, read_folder


def tables(graph) -> tuple[pl.DataFrame, pl.DataFrame]:
    nodes, cabled = graph
    both = cabled + [(b, a) for a, b in cabled]
    return (
        pl.DataFrame(nodes, schema=["node", "kind", "level", "pod"], orient="row"),
        pl.DataFrame(both, schema=["src", "dst"], orient="row"),
    )


def places(plan) -> dict[str, tuple[float, float]]:
    return {node: (x, y) for node, x, y in plan.nodes.select("node", "x", "y").iter_rows()}


def test_a_level_of_a_fat_tree_is_a_line_in_the_topologys_order():
    plan = layout(*tables(fat_tree(4)))
    at = places(plan)
    assert plan.kind == "layered"
    assert [at[name][1] for name in ("h000", "se00", "sa00", "sc00")] == pytest.approx([0, 1 / 3, 2 / 3, 1])
    hosts = [at[f"h{p}{e}{j}"][0] for p in range(4) for e in range(2) for j in range(2)]
    assert hosts == pytest.approx([(i + 0.5) / 16 for i in range(16)])
    # An edge switch stands over the middle of its hosts.
    assert at["se00"][0] == pytest.approx((at["h000"][0] + at["h001"][0]) / 2)


def test_switches_of_one_level_stand_in_a_circle_with_their_hosts_outside():
    plan = layout(*tables(ring(8)))
    at = places(plan)

    def radius(name: str) -> float:
        return math.dist(at[name], (0.5, 0.5))

    assert plan.kind == "circular"
    assert {round(radius(f"switch{i}"), 9) for i in range(8)} == {0.3}
    assert all(radius(f"host{i}") > radius(f"switch{i}") for i in range(8))
    # Neighbours on the ring are neighbours on the circle: an eighth of a turn apart.
    side = 2 * 0.3 * math.sin(math.pi / 8)
    assert sum(math.isclose(math.dist(at[f"switch{i}"], at[f"switch{(i + 1) % 8}"]), side) for i in range(8)) >= 7


def test_two_switches_lie_side_by_side():
    hosts = [(f"h{i}", "host", 0, None) for i in range(4)]
    dumbbell = ([*hosts, ("a", "switch", 1, None), ("b", "switch", 1, None)],
                [("h0", "a"), ("h1", "a"), ("h2", "b"), ("h3", "b"), ("a", "b")])  # fmt: skip
    at = places(layout(*tables(dumbbell)))
    assert at["a"][1] == pytest.approx(0.5) and at["b"][1] == pytest.approx(0.5)
    assert at["h0"][0] < at["a"][0] < at["b"][0] < at["h2"][0]


def test_a_star_is_round():
    star = ([("hub", "switch", 1, None), *((f"h{i}", "host", 0, None) for i in range(5))],
            [(f"h{i}", "hub") for i in range(5)])  # fmt: skip
    plan = layout(*tables(star))
    at = places(plan)
    assert plan.kind == "circular"
    assert at["hub"] == (0.5, 0.5)
    assert len({at[f"h{i}"] for i in range(5)}) == 5


@pytest.mark.parametrize("graph", [fat_tree(4), fat_tree(8), ring(3), ring(12)])
def test_everybody_has_a_place_of_their_own_on_the_page(graph):
    at = places(layout(*tables(graph)))
    assert len(set(at.values())) == len(graph[0])
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in at.values())


def test_the_two_directions_of_a_cable_lie_apart_each_on_its_right():
    nodes, links = tables(([("a", "host", 0, None), ("b", "switch", 1, None), ("c", "switch", 2, None)],
                           [("a", "b"), ("b", "c")]))  # fmt: skip
    plan = layout(nodes, links)
    lines = {(a, b): (x, x2) for a, b, x, x2 in cables(plan, links, 100.0, 2.0).select("src", "dst", "x", "x2").rows()}
    # Upward traffic keeps right: 2 of 100 pixels to the right of the middle; downward to the left of it.
    assert lines["a", "b"] == pytest.approx((0.52, 0.52))
    assert lines["b", "a"] == pytest.approx((0.48, 0.48))


def test_a_link_to_nowhere_is_refused():
    nodes, links = tables(ring(3))
    with pytest.raises(ResultsError, match="the node host0, which the table `nodes` does not have"):
        layout(nodes.filter(pl.col("node") != "host0"), links)


def test_strips_hold_every_layer_and_keep_its_mean():
    nodes, links = tables(fat_tree(8))
    links = links.with_columns(utilization=pl.Series([i / links.height for i in range(links.height)]))
    strips = layer_strips(nodes, links, "fat_tree")
    assert strips["layer"].unique(maintain_order=True).to_list() == [
        "host → edge", "edge → aggregation", "aggregation → core",
        "core → aggregation", "aggregation → edge", "edge → host",
    ]  # fmt: skip
    mean = (strips["utilization"] * (strips["to"] - strips["from"]) * strips["links"]).sum() / links.height
    assert mean == pytest.approx(links["utilization"].mean())
    for _, layer in strips.group_by("layer"):
        assert layer["utilization"].is_sorted(descending=True)


def test_unknown_levels_are_numbered():
    assert [layer_name(level, 2, "jellyfish") for level in (0, 1, 2)] == ["host", "level 1", "level 2"]


def test_a_layered_and_a_round_fabric_are_drawn_below_each_other(tmp_path: Path):
    folders = [
        write_folder(tmp_path / name, balances=("ecmp",), repeats=1, samples=False, graph=graph)
        for name, graph in (("tree", fat_tree(4)), ("ring", ring(8)))
    ]
    tree, other = (read_folder(folder) for folder in folders)
    mixed = SimpleNamespace(cells=[*tree.cells, replace(other.cells[0], label="ring")], axes=(), experiment={})
    figure = FIGURES["fabric"].draw(cast(Folder, mixed), Ask("fabric"))
    # Each panel has the heights of its own fabric.
    assert [panel["layer"][0]["encoding"]["y"]["scale"]["domain"] for panel in figure.spec["concat"]] == [
        [-0.1, 1.08],
        [0.0, 1.0],
    ]
    assert figure.tables["nodes"].height == 36 + 16
