"""Flows of which it is known why they are slow: the explanation says so, with the right link, peers and time."""

from pathlib import Path

import numpy as np
import pytest
from known_cases import LINE, PAYLOAD, adds_up, explained, leaf_spine, meet, seed_where

ALONE = LINE * PAYLOAD


@pytest.mark.parametrize("balance", ["ecmp", "static"])
def test_two_flows_on_one_uplink_collide(balance: str, tmp_path: Path) -> None:
    # Two leaves, two spines: both over the same spine get half, the other spine stays empty.
    pairs = ["h00>h10", "h01>h11"]
    experiment = seed_where(leaf_spine(pairs, load_balance={"kind": balance}), meet)
    found = explained(experiment, tmp_path, flows=2)
    assert adds_up(found)
    assert found.totals[0].cause == "collision" and found.totals[0].flows == 2
    for e, peer in zip(sorted(found.flows, key=lambda e: e.flow.number), (1, 0), strict=True):
        assert e.cause == "collision"
        assert e.alone_bps == pytest.approx(ALONE, rel=0.01)
        assert e.spread_bps == pytest.approx(ALONE, rel=0.01)
        span = e.spans[0]
        # Half of the line as long as both run, and all of it had they been spread.
        assert span.share_bps == pytest.approx(ALONE / 2, rel=0.05)
        assert span.link == e.path[1] and span.is_collision and span.side == ""
        assert [other.flow for other in span.others] == [peer]
        (other_way,) = span.alternatives
        # The uplink of the same leaf to the other spine.
        assert other_way.link != span.link and other_way.link.split(">")[0] == span.link.split(">")[0]
        assert other_way.flows == 0 and other_way.utilization < 0.01
        # As long as the other one is there, which may recover from losses for a while.
        assert span.end_ns - span.begin_ns > 0.7 * e.flow.life_ns
        assert e.lost_ns["collision"] > 0.8 * sum(e.lost_ns.values())
        for name in ("sender", "receiver", "fabric", "timeouts", "duplicates"):
            assert abs(e.lost_ns[name]) < 0.02 * sum(e.lost_ns.values()), name


def test_where_all_ways_are_as_full_it_is_the_fabric(tmp_path: Path) -> None:
    # Four hosts of a leaf over two uplinks, two on each: half of the line each, and spraying would give no more.
    def even(paths: list[list[str]]) -> bool:
        uplinks = [path[1] for path in paths]
        return all(uplinks.count(link) == 2 for link in uplinks)

    pairs = [f"h0{i}>h1{i}" for i in range(4)]
    found = explained(seed_where(leaf_spine(pairs), even), tmp_path, flows=4)
    assert adds_up(found)
    for e in found.flows:
        assert e.cause == "fabric", e.lost_ns
        assert e.spread_bps == pytest.approx(e.share_bps, rel=0.1)
        assert not e.spans[0].is_collision and e.spans[0].alternatives[0].flows == 2
    assert "no collision: in its place 2 flows on" in str(found)


def test_three_on_two_uplinks_lose_what_a_spread_would_give_back(tmp_path: Path) -> None:
    # 2 to 1: half each instead of two thirds. To the ideal whole, a third of what is lost is the collision's.
    def uneven(paths: list[list[str]]) -> bool:
        return paths[0][1] == paths[1][1] != paths[2][1]

    experiment = leaf_spine(["h00>h10", "h01>h11", "h02>h12"], None, backend={"until": "20 ms"})
    found = explained(seed_where(experiment, uneven), tmp_path, flow=[0, 1, 2])
    for e in found.flows[:2]:
        busy = ~np.isclose(e.view.share, LINE, rtol=0.02)
        assert busy.sum() > 10
        assert np.median(e.view.share[busy]) == pytest.approx(LINE / 2, rel=0.02)
        assert np.median(e.view.spread[busy]) == pytest.approx(LINE * 2 / 3, rel=0.02)
        # Of the half that the line lacks, a sixth of it is the collision's, a third the fabric's.
        collision, fabric = e.lost_ns["collision"], e.lost_ns["fabric"]
        assert collision / (collision + fabric) == pytest.approx(1 / 3, rel=0.1)


def test_many_to_one_is_incast_and_no_collision(tmp_path: Path) -> None:
    experiment = {
        "topology": {"kind": "star", "hosts": 5, "link": {"rate": "10 Gbps", "delay": "1 us"}},
        "queue": {"kind": "drop_tail", "capacity": "2000 packets"},
        "workload": [{"kind": "pairs", "pairs": [f"h{i}>h0" for i in range(1, 5)], "size": "2 MB"}],
    }
    found = explained(experiment, tmp_path)
    assert adds_up(found)
    for e in found.flows:
        assert e.cause == "receiver"
        assert e.spans[0].link.endswith(">h0") and e.spans[0].side == "in"
        assert len(e.spans[0].others) == 3 and not e.spans[0].alternatives
        assert e.lost_ns["collision"] == 0.0 and e.lost_ns["fabric"] == 0.0
        # A quarter as long as all four run, more when the first have ended.
        assert 0.95 * ALONE / 4 < e.spans[0].share_bps < ALONE / 2
    assert "the last link to the receiver: no other way leads there" in str(found)


def test_one_to_many_is_the_senders_own_link(tmp_path: Path) -> None:
    found = explained(leaf_spine(["h00>h01", "h00>h02"]), tmp_path, flows=2)
    assert adds_up(found)
    assert {e.cause for e in found.flows} == {"sender"}
    assert {e.spans[0].side for e in found.flows} == {"out"}


def test_a_flow_alone_has_nothing_to_explain(tmp_path: Path) -> None:
    found = explained(leaf_spine(["h00>h10"], "20 MB"), tmp_path)
    (e,) = found.flows
    assert e.cause is None and not e.spans and adds_up(found)
    assert "none took more than 1.1 times as long as alone" in str(found)
    assert "nothing to explain" in str(found)


def test_the_silence_of_a_timeout_is_named(tmp_path: Path) -> None:
    # The only cable is dead from 1 to 50 ms: all in flight is lost, and the timer goes off after 200 ms.
    experiment = {
        "topology": {"kind": "dumbbell", "left": 1, "right": 1, "link": {"rate": "10 Gbps", "delay": "1 us"}},
        "workload": [{"kind": "pairs", "pairs": ["l0>r0"], "size": "20 MB"}],
        "failure": [{"what": "sl<>sr", "when": "1 ms", "until": "50 ms", "reconvergence": "1 ms"}],
    }
    found = explained(experiment, tmp_path)
    (e,) = found.flows
    assert e.flow.timeouts >= 1
    assert 0.2e9 <= e.flow.timeout_wait_ns <= 0.25e9
    assert e.cause == "timeouts" and adds_up(found)
    # Nobody else is there: the silence costs its whole length.
    assert e.lost_ns["timeouts"] == pytest.approx(e.flow.timeout_wait_ns, rel=0.01)
    assert "timeout" in str(found) and "of silence in all" in str(found)
    assert "links failed during the run" in str(found)


def test_of_two_subflows_the_bad_one_is_named(tmp_path: Path) -> None:
    # A subflow over each spine; a plain flow shares an uplink with one of them, and the uplinks are the narrow links.
    mptcp = {"kind": "mptcp", "subflows": 2}
    experiment = leaf_spine([], None, backend={"until": "30 ms"}) | {
        "topology": {
            "kind": "leaf_spine",
            "leaves": 2,
            "spines": 2,
            "link": {"rate": "10 Gbps", "delay": "1 us"},
            "uplink": {"rate": "5 Gbps", "delay": "1 us"},
        },
        "congestion": {"kind": "reno"},
        "workload": [
            {"name": "multi", "kind": "pairs", "pairs": ["h00>h10"], "transport": mptcp},
            {"name": "plain", "kind": "pairs", "pairs": ["h01>h11"]},
        ],
    }
    found = None
    for seed in range(1, 30):
        place = tmp_path / str(seed)
        found = explained(experiment | {"seed": seed}, place, flow=0)
        if len({subflow.path[1] for subflow in found.flows[0].subflows}) == 2:
            break
    assert found is not None
    (e,) = found.flows
    good, bad = sorted(e.subflows, key=lambda subflow: -subflow.goodput_bps)
    assert [other.flow for other in bad.others] == [1] and not good.others
    # 5 Gb/s less slow start and one recovery.
    assert 0.75 * 5e9 * PAYLOAD < good.goodput_bps <= 5e9 * PAYLOAD
    assert bad.goodput_bps < 0.75 * good.goodput_bps
    assert bad.link in bad.path and bad.link.split(">")[0] == good.path[1].split(">")[0]
    assert e.flow.goodput_bps == pytest.approx(good.goodput_bps + bad.goodput_bps, rel=0.01)
    assert "subflow" in str(found) and "with flow 1 h01>h11" in str(found)


def test_spraying_has_no_collisions_but_reorders(tmp_path: Path) -> None:
    pairs = [f"h0{i}>h1{i}" for i in range(4)]
    found = explained(leaf_spine(pairs, load_balance={"kind": "spray"}), tmp_path, flows=4)
    assert adds_up(found)
    for e in found.flows:
        assert not e.path and e.lost_ns["collision"] < 0.1 * sum(e.lost_ns.values())
        # Two uplinks for four hosts: half of the line.
        assert e.spans[0].side == "" and not e.spans[0].alternatives
        assert e.flow.reordered_packets > 0
    said = str(found)
    assert "packets balanced one by one (spray)" in said and "out of order" in said
