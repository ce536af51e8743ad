"""Congestion trees of lossless fabrics, against trees that were derived by hand."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import weft
from weft.explaining.explanation import Explanation

EXAMPLE = Path(__file__).parent.parent.parent / "experiments" / "examples" / "infiniband.toml"


def names(explanation: Explanation) -> dict[str, str]:
    """The largest tree: by link what it waits for."""
    blocking = explanation.evidence.blocking
    assert blocking is not None and blocking.worst is not None
    (tree,) = blocking.worst.trees
    return {blocking.name(lane): blocking.name(parent) for lane, parent in tree.waits_for.items()}


@pytest.fixture(scope="module")
def credits(tmp_path_factory: pytest.TempPathFactory) -> Explanation:
    """The thesis' fabric without congestion control: stages of 20 ms, H1, H2, H3 to H4, then H5 to H3."""
    out = tmp_path_factory.mktemp("tree") / "out"
    weft.run(weft.load(EXAMPLE, ["sweep={}"]), out)
    return weft.explain(out, flow=[0, 1, 2, 3])


def test_the_tree_grows_from_the_full_port_back_to_every_sender(credits: Explanation) -> None:
    # SW4 takes turns between its inputs, so that both links into it wait; SW3's buffer of SW1 fills with packets for
    # H4, and so do those of the hosts. H5's go to H3, whose link has room, but they wait for the same buffer as H1's.
    assert names(credits) == {
        "SW2>SW4": "SW4>H4",
        "SW3>SW4": "SW4>H4",
        "H2>SW2": "SW2>SW4",
        "SW1>SW3": "SW3>SW4",
        "H3>SW3": "SW3>SW4",
        "H1>SW1": "SW1>SW3",
        "H5>SW1": "SW1>SW3",
    }


def test_the_tree_is_known_stage_by_stage(credits: Explanation) -> None:
    blocking = credits.evidence.blocking
    assert blocking is not None
    found = []
    for period in blocking.periods:
        (tree,) = period.trees
        ends = (round(period.begin_ns / 1e6), round(period.end_ns / 1e6))
        found.append((*ends, len(tree.waits_for), sorted(tree.contributors), sorted(tree.victims)))
    # Alone H1 blocks nothing: H4's link carries more than its adapter sends.
    assert found == [(20, 40, 5, [0, 1], []), (40, 60, 6, [0, 1, 2], []), (60, 80, 7, [0, 1, 2], [3])]


def test_the_victim_waited_head_of_line_all_its_life_and_no_contributor_did(credits: Explanation) -> None:
    blocking = credits.evidence.blocking
    assert blocking is not None
    held = {flow: (blocking.held_ns(flow, True) / 1e6, blocking.held_ns(flow, False) / 1e6) for flow in range(4)}
    assert held[3] == (pytest.approx(20, rel=0.02), 0)
    for flow, life in ((0, 60), (1, 60), (2, 40)):
        assert held[flow] == (0, pytest.approx(life, rel=0.02))


def test_the_time_of_the_victim_is_divided_between_blocking_and_its_own_pace(credits: Explanation) -> None:
    # Its wire carries 2000 MB/s, its adapter sends 1635, it got 500 for 20 ms: of these 365/2000 are the adapter's, and
    # 1135/2000 the tree's.
    (victim,) = (each for each in credits.flows if each.flow.number == 3)
    assert victim.cause == "head_of_line"
    assert victim.lost_ns["head_of_line"] / 1e6 == pytest.approx(20 * 1135 / 2000, rel=0.02)
    assert victim.lost_ns["pace"] / 1e6 == pytest.approx(20 * 365 / 2000, rel=0.02)
    assert sum(victim.lost_ns.values()) / 1e6 == pytest.approx(15, rel=0.02)
    others = [each for each in credits.flows if each.flow.number != 3]
    assert all(abs(each.lost_ns["head_of_line"]) < 1e3 and each.cause == "receiver" for each in others)


def test_it_is_said_drawn_and_given_as_data(credits: Explanation, tmp_path: Path) -> None:
    text = " ".join(str(credits).split())
    assert "60-80 ms: root SW4>H4, 7 links blocked behind it, up to 3 back; contributors flow 0 H1>H4" in text
    assert "victims flow 3 H5>H3" in text
    assert "held back 20 ms behind packets for SW4>H4, where it does not go (head-of-line blocking)" in text
    tree = credits.document["congestion"]["periods"][-1]["trees"][0]
    assert tree["root"] == "SW4>H4" and tree["victims"] == [3] and tree["waits_for"]["H5>SW1"] == "SW1>SW3"
    credits.write_picture(tmp_path / "tree.svg")
    drawn = (tmp_path / "tree.svg").read_text()
    for words in ("Congestion tree of SW4", "flow 3 H5", "victim", "contributor", "In the buffer behind it"):
        assert words in drawn


def test_control_takes_the_victim_out_of_the_tree(tmp_path: Path) -> None:
    weft.run(weft.load(EXAMPLE, ["sweep={}", "congestion.kind=infiniband", "congestion.threshold=8"]), tmp_path)
    found = weft.explain(tmp_path, flow=3)
    blocking = found.evidence.blocking
    assert blocking is not None
    # The buffer of SW3 still fills now and then, a tenth of the time without control.
    assert blocking.held_ns(3, True) < 0.1 * 20e6
    assert max(found.flows[0].lost_ns, key=found.flows[0].lost_ns.__getitem__) == "pace"


def test_a_receiver_that_takes_no_more_is_a_root(tmp_path: Path) -> None:
    # At 40 Gb/s the bus behind H4 drains 3386 of 4000 MB/s, so that SW4's last port waits for it.
    weft.run(weft.load(EXAMPLE, ["sweep={}", "topology.link.rate=32 Gbps"]), tmp_path)
    found = weft.explain(tmp_path, flow=3)
    assert names(found)["SW2>SW4"] == "SW4>H4"
    assert "SW4>H4 sends 85 % of the time: its receiver takes no more" in " ".join(str(found).split())
    # H4's contributors lack 614 MB/s between them.
    lost = weft.explain(tmp_path, flow=1).flows[0].lost_ns
    assert lost["slow_receiver"] > 0 and lost["window"] < 0.1 * lost["slow_receiver"]


def test_a_card_that_pauses_without_reason_stops_who_does_not_send_to_it(tmp_path: Path) -> None:
    storm = EXAMPLE.parent / "pause_storm.toml"
    results = weft.run(storm, tmp_path)
    storms, watched = results.manifests
    found = weft.explain(results, run=storms, flow=[0, 1])
    assert names(found) == {"s0>l1": "l1>h10", "l0>s0": "s0>l1", "h00>l0": "l0>s0", "h01>l0": "l0>s0"}
    assert {each.flow.number: each.cause for each in found.flows} == {0: "slow_receiver", 1: "head_of_line"}
    # From the storm on h01 sends until the buffers are full, and never again: 5 ms, of which 3.5 and more are lost.
    beside = results.flows.filter(results.flows["workload"] == "beside it")
    goodput = dict(zip(beside["run"], beside["goodput_bps"] / 1e9, strict=True))
    assert goodput[storms] < 94.7 * 0.4 and goodput[watched] > 94.7 * 0.8


def pauses(classes: int, **victim: Any) -> dict[str, Any]:
    """h0 and h2 send to h3; h1 shares the link between the switches with h0 and sends to h4."""
    workload = [{"name": src, "kind": "pairs", "pairs": [pair]} for src, pair in (("a", "h0>h3"), ("b", "h2>h3"))]
    return {
        "backend": {"until": "2 ms"},
        "topology": {
            "kind": "custom",
            "hosts": ["h0", "h1", "h2", "h3", "h4"],
            "link": {"rate": "100 Gbps", "delay": "1 us"},
            "links": [
                *({"a": host, "b": "s0"} for host in ("h0", "h1")),
                *({"a": host, "b": "s1"} for host in ("h2", "h3", "h4")),
                {"a": "s0", "b": "s1", "rate": "200 Gbps"},
            ],
        },
        "flow_control": {"kind": "pfc", "classes": classes, "xoff": "100 kB"},
        "transport": {"kind": "rocev2"},
        "workload": [*workload, {"name": "c", "kind": "pairs", "pairs": ["h1>h4"]} | victim],
    }


def test_pauses_make_the_same_tree(tmp_path: Path) -> None:
    weft.run(pauses(1), tmp_path)
    found = weft.explain(tmp_path, flow=2)
    assert names(found) == {"h2>s1": "s1>h3", "s0>s1": "s1>h3", "h0>s0": "s0>s1", "h1>s0": "s0>s1"}
    blocking = found.evidence.blocking
    assert blocking is not None and blocking.worst is not None
    (tree,) = blocking.worst.trees
    assert (sorted(tree.contributors), sorted(tree.victims)) == ([0, 1], [2])
    assert found.flows[0].cause == "head_of_line" and "the end of a pause" in str(found)


def test_a_class_of_its_own_keeps_a_flow_out_of_the_tree(tmp_path: Path) -> None:
    weft.run(pauses(2, transport={"kind": "rocev2", "priority": 1}), tmp_path)
    found = weft.explain(tmp_path, flow=2)
    blocking = found.evidence.blocking
    assert blocking is not None and blocking.held_ns(2, True) == 0
    assert "s0>s1 (lane 0)" in names(found)


def test_a_buffer_never_holds_more_than_its_credits() -> None:
    asked = ["sweep={}", 'measure.metrics=["sent", "paused", "buffer"]', "measure.every=100 us", "measure.warmup=0 s"]
    samples = weft.run(weft.load(EXAMPLE, asked)).samples
    buffer = samples.filter(pl.col("metric").cast(pl.String) == "buffer_bytes")
    of_host = pl.col("entity").cast(pl.String).str.contains(r">H\d$")
    assert buffer.filter(~of_host)["value"].max() <= 96 * 64
    paused = samples.filter(pl.col("metric").cast(pl.String) == "paused")["value"]
    assert paused.min() >= 0 and paused.max() == pytest.approx(1, abs=0.01)


def test_links_that_drop_never_wait(tmp_path: Path) -> None:
    asked = {
        "topology": {"kind": "star", "hosts": 3},
        "workload": [{"kind": "pairs", "pairs": ["h0>h2", "h1>h2"], "size": "1 MB"}],
        "measure": {"every": "100 us", "metrics": ["paused"]},
    }
    results = weft.run(asked, tmp_path)
    assert any("without [flow_control] links never wait" in said for said in results.warnings)
    found = weft.explain(tmp_path)
    assert found.evidence.blocking is None and "congestion tree" not in str(found)
