"""The analysis of a fabric, its bisection, and `weft topology`."""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft.bisection import bisection
from weft.cli import status_of
from weft.topology import of_scenario


def scenario(topology: dict[str, Any], **sections: Any) -> Any:
    workload = [{"kind": "permutation", "size": "1 kB"}]
    return weft.load({"topology": topology, "workload": workload} | sections).scenario()


def test_a_fat_tree_costs_and_cuts_what_the_textbook_says() -> None:
    # k = 4: 16 hosts, 20 switches of 4 ports, 48 cables, 8 links of bisection; of 15 others 1, 2, 12 at 2, 4, 6 links.
    analysis = of_scenario(scenario({"kind": "fat_tree", "link": {"rate": "1 Gbps"}}))
    assert (analysis.hosts, analysis.switches, analysis.cables, analysis.host_cables) == (16, 20, 48, 16)
    assert analysis.switches_by_ports == {4: 20} and analysis.switch_ports == 80
    assert [(step.value, step.count) for step in analysis.pairs_by_hops] == [(2, 16), (4, 32), (6, 192)]
    assert [(step.value, step.count) for step in analysis.pairs_by_paths] == [(1, 16), (2, 32), (4, 192)]
    assert analysis.mean_hops == pytest.approx((16 * 2 + 32 * 4 + 192 * 6) / 240)
    assert analysis.pairs_by_hops[-1].up_to == 1.0
    assert analysis.diameter == 4
    cut = analysis.bisection
    assert cut is not None and cut.best_bps == cut.full_bps == 8e9 and cut.hosts_share == 0.5
    assert 0 < cut.lower_bps <= cut.best_bps


def test_a_star_has_nothing_between_switches() -> None:
    analysis = of_scenario(scenario({"kind": "star", "hosts": 3}))
    assert analysis.bisection is None and analysis.diameter is None and analysis.paths_on_links == {}
    assert [bound.mean_bps for bound in analysis.bounds] == [1e10, 1e10]


def test_sprayed_flows_have_no_bound() -> None:
    assert of_scenario(scenario({"kind": "fat_tree"}, load_balance={"kind": "spray"})).bounds == []


@pytest.mark.parametrize("seed", range(8))
def test_the_bounds_enclose_the_least_cut_of_all(seed: int) -> None:
    # Ten switches, two of them without hosts: every way of halving the eight others, and the best place for these two.
    random = np.random.default_rng(seed)
    weights = np.triu(random.integers(0, 4, (10, 10)) * (random.random((10, 10)) < 0.5), 1).astype(float)
    weights += weights.T
    hosts = [2] * 8 + [0, 0]
    least = min(
        float(weights[np.ix_(side, [n for n in range(10) if n not in side])].sum())
        for half in itertools.combinations(range(8), 4)
        for more in ([], [8], [9], [8, 9])
        for side in [[*half, *more]]
    )
    found = bisection(weights, hosts)
    assert found.lower <= least + 1e-9 and found.best >= least - 1e-9
    # A heuristic, but on ten switches it finds the least.
    assert found.best == least


def test_the_command_prints_one_document_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ring.toml"
    file.write_text(
        '[topology]\nkind = "ring"\nswitches = 6\n[routing]\nkind = "k_shortest"\nk = 3\n'
        '[[workload]]\nkind = "permutation"\nsize = "1 kB"\n'
    )
    picture = tmp_path / "ring.html"
    assert status_of(["topology", str(file), "--picture", str(picture), "--json"]) == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert [(step["value"], step["count"]) for step in found["pairs_by_paths"]] == [(2, 30)]
    assert found["diameter"] == 3 and found["bisection"]["best_bps"] == 2e10
    assert "30 of 30 pairs of switches have fewer loopless paths (the least 2)" in printed.err
    page = picture.read_text()
    assert "<svg" in page and "h5_0" in page
    assert status_of(["topology", str(file)]) == 0
    assert "best cut found, 50 % of the hosts" in " ".join(capsys.readouterr().out.split())


def test_a_picture_is_svg_or_html(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "star.toml"
    file.write_text('[topology]\nkind = "star"\n[[workload]]\nkind = "permutation"\nsize = "1 kB"\n')
    assert status_of(["topology", str(file), "--picture", str(tmp_path / "star.gif")]) == 2
    assert 'a picture is written as .svg or .html; ".gif" is neither' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("topology", "counts"),
    [
        ({"kind": "jellyfish"}, (16, 20, 16 + 32)),
        ({"kind": "jellyfish", "hosts": 780, "switches": 245, "ports": 14}, (780, 245, 780 + 1325)),
        ({"kind": "random_regular", "switches": 20, "degree": 4}, (20, 20, 20 + 40)),
        ({"kind": "xpander", "degree": 5, "lift": 4}, (24, 24, 24 + 60)),
        ({"kind": "mesh", "dimensions": [3, 4, 5]}, (60, 60, 60 + 2 * 20 + 3 * 15 + 4 * 12)),
        ({"kind": "torus", "dimensions": [3, 4, 5]}, (60, 60, 60 + 3 * 60)),
        ({"kind": "ring", "switches": 7}, (7, 7, 14)),
        ({"kind": "dragonfly", "a": 4, "p": 2, "h": 2}, (72, 36, 72 + 54 + 36)),
        ({"kind": "mesh5"}, (5, 4, 9)),
        ({"kind": "two_paths"}, (2, 5, 8)),
    ],
)
def test_sizes_are_those_of_the_formula(topology: dict[str, Any], counts: tuple[int, int, int]) -> None:
    summary = scenario(topology).summary()
    assert (summary["hosts"], summary["switches"], summary["links"] // 2) == counts
    assert summary["links"] == len(scenario(topology).links()["name"])


def test_max_min_shares_what_it_is_given() -> None:
    from weft import _core

    assert _core.max_min([[0, 1], [0], [1]], [1.0, 2.0]) == [0.5, 0.5, 1.5]
    with pytest.raises(ValueError, match="a path names link 2, and there are 2 capacities"):
        _core.max_min([[2]], [1.0, 1.0])
    with pytest.raises(ValueError, match="NaN is no capacity"):
        _core.max_min([[0]], [float("nan")])


def test_faults_of_failures_stand_at_their_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "failing.toml"
    text = '[topology]\nkind = "star"\n[[workload]]\nkind = "permutation"\nsize = "1 kB"\n[[failure]]\nwhat = "h9"\n'
    file.write_text(text + 'when = "1 ms"\n')
    assert status_of(["check", str(file)]) == 2
    assert 'failing.toml:7: failure[0].what: "h9" matches no link and no switch' in capsys.readouterr().err
    file.write_text(text)
    assert status_of(["check", str(file)]) == 2
    assert "failure[0].when: is required" in capsys.readouterr().err
