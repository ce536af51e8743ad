"""Laws that hold in every scenario, however it is put together."""

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import weft

sys.path.insert(0, str(Path(__file__).parent))

from scenarios import RATES, links, scenarios, topologies

SAMPLED = settings(max_examples=60, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
SOAKED = settings(max_examples=20_000, suppress_health_check=[HealthCheck.too_slow])


def bits_ps(wire_bytes: int, rate: int) -> int:
    """Time of `wire_bytes` at `rate`, rounded up to the picosecond."""
    return -(-wire_bytes * 8 * 10**12 // rate)


def as_ns(picoseconds: int) -> int:
    return (picoseconds + 500) // 1000


def run_and_check(experiment: dict[str, Any]) -> None:
    """A run ends (the engine panics unless sent = delivered + dropped + in flight) and its tables make sense."""
    results = weft.run(experiment)
    flows = results.flows
    for flow in flows.iter_rows(named=True):
        assert 0 <= flow["delivered_bytes"] <= flow["size_bytes"]
        assert (flow["fct_ns"] is None) == (flow["reason"] is not None)
        if flow["fct_ns"] is not None:
            assert flow["delivered_bytes"] == flow["size_bytes"]
            for earlier, later in (("fct_ns", "acked_ns"), ("acked_ns", "closed_ns")):
                assert flow[later] is None or flow[earlier] <= flow[later]
    dropped = int(results.queues["dropped_packets"].sum()) + int(results.links["lost_packets"].sum())
    assert int(flows["lost_packets"].sum()) == dropped
    assert results.links["utilization"].max() <= 1.0
    (manifest,) = results.manifests.values()
    assert manifest["packet_hops"] == int(results.queues["enqueued_packets"].sum())


@SAMPLED
@given(scenarios())
def test_every_scenario_runs_and_loses_nothing_uncounted(experiment: dict[str, Any]) -> None:
    run_and_check(experiment)


@pytest.mark.soak
@SOAKED
@given(scenarios())
def test_very_many_scenarios_run_and_lose_nothing_uncounted(experiment: dict[str, Any]) -> None:
    run_and_check(experiment)


@settings(SAMPLED, max_examples=30)
@given(scenarios())
def test_no_flow_is_faster_than_alone(experiment: dict[str, Any]) -> None:
    # Packets on several slow paths at once may beat the formula, which has one: equal links only, by path of the flow.
    if experiment["load_balance"]["kind"] == "spray":
        experiment = experiment | {"load_balance": {"kind": "ecmp"}}
    flows = weft.run(experiment).flows.drop_nulls(["fct_ns", "ideal_fct_ns"])
    assert (flows["fct_ns"] >= flows["ideal_fct_ns"]).all()


@settings(SAMPLED, max_examples=20)
@given(scenarios())
def test_the_same_seed_gives_the_same_run(experiment: dict[str, Any]) -> None:
    first, second = weft.run(experiment), weft.run(experiment)
    prints = [next(iter(results.manifests.values()))["fingerprint"] for results in (first, second)]
    assert prints[0] == prints[1]
    assert first.flows.equals(second.flows)


def test_another_seed_gives_another_run() -> None:
    experiment = {
        "topology": {"kind": "fat_tree", "k": 4},
        "workload": [{"kind": "permutation", "size": "50 kB"}],
        "sweep": {"repeats": 5},
    }
    manifests = weft.run(experiment).manifests.values()
    assert len({manifest["fingerprint"] for manifest in manifests}) == 5


LOSSLESS = links().map(lambda link: {key: value for key, value in link.items() if key != "loss"})


@settings(SAMPLED, max_examples=40)
@given(topologies(LOSSLESS), st.integers(1, 10), st.integers(1, 204), st.data())
def test_a_tcp_flow_in_its_first_window_takes_the_ideal_time(
    topology: dict[str, Any], segments: int, last: int, data: st.DataObject
) -> None:
    """The initial window of ten segments covers the flow, so no segment waits for an ACK; nothing else is on the way.

    Then only the handshake and serialization are left, which the formula has: equal to the nanosecond.
    """
    pair = data.draw(st.sampled_from(pairs_of(topology)))
    mss = min(topology[key]["mtu"] for key in ("link", "bottleneck") if key in topology) - 52
    experiment = {
        "topology": topology,
        "queue": {"kind": "drop_tail", "capacity": "100 packets"},
        "transport": {"kind": "tcp", "autotune": False},
        "workload": [{"kind": "pairs", "pairs": [pair], "size": f"{(segments - 1) * mss + last} B"}],
    }
    flow = weft.run(experiment).flows.row(0, named=True)
    assert flow["fct_ns"] == flow["ideal_fct_ns"]


@settings(SAMPLED, max_examples=40)
@given(st.lists(st.sampled_from(RATES), min_size=3, max_size=3), st.integers(1, 1472), st.sampled_from([0, 14, 38]))
def test_a_datagram_is_stored_and_forwarded(rates: list[str], payload: int, overhead: int) -> None:
    # Over h links: the sum of (payload + 28 + overhead) x 8 / rate, each rounded up to the ps, and 3 x 10 us.
    experiment = {
        "topology": {
            "kind": "dumbbell",
            "left": 1,
            "right": 1,
            "link": {"delay": "10 us", "overhead": overhead},
            "overrides": [
                {"links": link, "rate": rate} for link, rate in zip(["l0>sl", "sl>sr", "sr>r0"], rates, strict=True)
            ],
        },
        "transport": {"kind": "udp", "rate": "1 Gbps"},
        "workload": [{"kind": "pairs", "pairs": ["l0>r0"], "size": f"{payload} B"}],
    }
    scenario = weft.load(experiment).scenario()
    links = scenario.links()
    rate = dict(zip(links["name"], links["rate_bps"], strict=True))
    times = [bits_ps(payload + 28 + overhead, rate[link]) for link in ("l0>sl", "sl>sr", "sr>r0")]
    assert weft.run(experiment).flows["fct_ns"][0] == as_ns(sum(times) + 30_000_000)


@settings(SAMPLED, max_examples=25)
@given(
    st.integers(1, 60),
    st.integers(1, 60),
    st.integers(2, 6),
    st.sampled_from(["constant", "poisson"]),
    st.sampled_from(["2 Gbps", "6 Gbps"]),
    st.integers(0, 1000),
)
def test_a_larger_buffer_never_drops_more(
    capacity: int, more: int, senders: int, arrivals: str, rate: str, seed: int
) -> None:
    # One queue, packets of one size, arrivals that do not react: by induction the larger queue holds every packet that
    # the smaller one holds.
    def dropped(packets: int) -> int:
        results = weft.run(
            {
                "seed": seed,
                "topology": {"kind": "star", "hosts": senders + 1},
                "queue": {"kind": "drop_tail", "capacity": f"{packets} packets"},
                "transport": {"kind": "udp", "rate": rate, "arrivals": arrivals},
                "workload": [{"kind": "incast", "degree": senders, "receiver": "h0", "size": "294400 B"}],
            }
        )
        return int(results.queues["dropped_packets"].sum())

    assert dropped(capacity + more) <= dropped(capacity)


@settings(SAMPLED, max_examples=30)
@given(topologies(links()), st.sampled_from(["static", "ecmp"]), st.integers(0, 100))
def test_routes_reach_and_never_loop(topology: dict[str, Any], balance: str, seed: int) -> None:
    scenario = weft.load(
        {
            "seed": seed,
            "topology": topology,
            "load_balance": {"kind": balance},
            "workload": [{"kind": "all_to_all", "size": "1 kB"}],
        }
    ).scenario()
    links, flows = scenario.links(), scenario.flows()
    hops = distances(links)
    for src, dst, path in zip(flows["src"], flows["dst"], flows["path"], strict=True):
        visited = [links["src"][path[0]], *(links["dst"][link] for link in path)]
        assert (visited[0], visited[-1]) == (src, dst)
        assert len(set(visited)) == len(visited)
        assert [links["src"][link] for link in path[1:]] == visited[1:-1]
        assert len(path) == hops[src][dst]


def test_relabelling_hosts_changes_no_distribution() -> None:
    """The mean FCT of a permutation on a fat tree, and of the same with pods, edges and places renamed.

    A renaming that the tree cannot tell apart: pod p becomes p + 1, edge e becomes 1 - e, host j becomes 1 - j. Hashes
    see other addresses, so single runs differ; over seeds both give samples of one distribution (Kolmogorov-Smirnov,
    60 runs each: a right simulator fails at p < 10^-3 once in a thousand choices of seeds).
    """
    from scipy.stats import ks_2samp

    hosts = [(pod, edge, j) for pod in range(4) for edge in range(2) for j in range(2)]
    # A shift by 7 mixes near and far destinations.
    pairs = [(hosts[i], hosts[(i + 7) % 16]) for i in range(16)]

    def plain(pod: int, edge: int, j: int) -> str:
        return f"h{pod}{edge}{j}"

    def renamed(pod: int, edge: int, j: int) -> str:
        return f"h{(pod + 1) % 4}{1 - edge}{1 - j}"

    samples = []
    for name, seed in ((plain, 1), (renamed, 1001)):
        results = weft.run(
            {
                "seed": seed,
                "topology": {"kind": "fat_tree", "k": 4},
                "transport": {"kind": "tcp", "profile": "datacenter"},
                "workload": [
                    {"kind": "pairs", "pairs": [f"{name(*a)}>{name(*b)}" for a, b in pairs], "size": "500 kB"}
                ],
                "sweep": {"repeats": 60},
            }
        )
        samples.append([run["fct_ns"].mean() for _, run in results.flows.group_by("run", maintain_order=True)])
    assert len(set(samples[0])) > 10, "the runs differ among themselves"
    assert samples[0] != samples[1]
    assert ks_2samp(*samples).pvalue > 1e-3


def pairs_of(topology: dict[str, Any]) -> list[str]:
    """The first host with every other one."""
    hosts = [
        name
        for name, kind in zip(*(nodes_of(topology)[column] for column in ("name", "kind")), strict=True)
        if kind == "host"
    ]
    return [f"{hosts[0]}>{other}" for other in hosts[1:]]


def nodes_of(topology: dict[str, Any]) -> dict[str, list[Any]]:
    return weft.load({"topology": topology, "workload": [{"kind": "stride", "size": "1 kB"}]}).scenario().nodes()


def distances(links: dict[str, list[Any]]) -> dict[str, dict[str, int]]:
    """Hops between all nodes, by breadth-first search."""
    neighbours: dict[str, list[str]] = {}
    for src, dst in zip(links["src"], links["dst"], strict=True):
        neighbours.setdefault(src, []).append(dst)
    found = {}
    for start in neighbours:
        hops, layer = {start: 0}, [start]
        while layer:
            layer = list(dict.fromkeys(o for node in layer for o in neighbours[node] if o not in hops))
            hops |= dict.fromkeys(layer, hops[start] + max(hops.values()) + 1)
        found[start] = hops
    return found
