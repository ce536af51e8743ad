"""Little's law: what is inside = arrival rate x time inside.

Source: Little, Operations Research 1961; Brumelle 1971 for work (H = lambda G). Three views that are counted in
different places of the simulator:

1.  The queue as the probe sees it. Work in a first-in first-out queue, averaged over time, is
    H = lambda E[L W + L S / 2] = lambda L (W + S / 2) for packets of one size L that wait W and are sent in S: a packet
    is there whole while it waits and by half on average while it is sent. The probe looks every 0.25 us; the packets
    say W.
2.  Every queue of a fabric: mean bytes (transmission included) = lambda L (W + S).
3.  The whole net. Flows with a fixed window and no loss keep exactly their windows inside (packets there, ACKs back),
    so the sum of the windows = delivered segments per second x round-trip time.
"""

from collections.abc import Iterator

from weft.validation.m_d_1 import QUEUE, SERVICE_US, one_queue
from weft.validation.oracle import Oracle, Row, average, chosen, near, simulate, total

SEGMENT = 1448
FLOWS = 8
WINDOW = 60


def rows(is_full: bool) -> Iterator[Row]:
    """One queue, all queues, the whole net."""
    yield _one_queue(2 * 10**6 if is_full else 2 * 10**5)
    yield _every_queue(20 if is_full else 2)
    yield _whole_net()


def _one_queue(packets: int) -> Row:
    experiment = one_queue(0.8, packets, 1) | {"measure": {"every": "250 ns", "metrics": ["queue"]}}
    results = simulate(experiment)
    queue = chosen(results.queues, link=QUEUE).row(0, named=True)
    seconds = float(experiment["backend"]["until"].removesuffix(" us")) * 1e-6
    arrivals = queue["enqueued_packets"] / seconds
    expected = arrivals * 1500 * (queue["mean_wait_ns"] / 1e9 + SERVICE_US / 2e6)
    seen = average(chosen(results.samples, entity=QUEUE)["value"])
    return near("queued bytes", f"rho 0.8, {packets:.0e} packets", seen, expected, relative=1e-3, unit="B")


def _every_queue(milliseconds: int) -> Row:
    results = simulate(
        {
            "backend": {"until": f"{milliseconds} ms"},
            "topology": {"kind": "leaf_spine", "link": {"overhead": 0}},
            "transport": {"kind": "udp", "rate": "2 Gbps", "arrivals": "poisson"},
            "workload": [{"kind": "all_to_all"}],
        }
    )
    worst = (1.0, 1.0, 0.0)
    for queue in chosen(results.queues, dropped_packets=0).iter_rows(named=True):
        if queue["enqueued_packets"] == 0:
            continue
        # Time in the queue until the end of the run: waiting, and the transmission as far as it has come.
        busy = chosen(results.links, link=queue["link"])["busy_ns"][0]
        expected = 1500 * (queue["enqueued_packets"] * queue["mean_wait_ns"] + busy) / (milliseconds * 1e6)
        worst = max(worst, (queue["mean_bytes"], expected, abs(queue["mean_bytes"] / expected - 1)), key=lambda w: w[2])
    setup = f"leaf-spine, Poisson UDP among all pairs, {milliseconds} ms: the queue that is farthest off"
    return near("queued bytes", setup, worst[0], worst[1], relative=1e-3, unit="B")


def _whole_net() -> Row:
    results = simulate(
        {
            "backend": {"until": "60 ms"},
            "topology": {"kind": "dumbbell", "left": FLOWS, "right": FLOWS, "link": {"delay": "10 us"}},
            "queue": {"kind": "drop_tail", "capacity": f"{FLOWS * WINDOW} packets"},
            "transport": {
                "kind": "tcp",
                "receive_window": f"{WINDOW * SEGMENT} B",
                "autotune": False,
                "ack_every": 1,
            },
            "congestion": {"kind": "reno"},
            "workload": [{"kind": "pairs", "pairs": [f"l{i}>r{i}" for i in range(FLOWS)]}],
            "measure": {"warmup": "20 ms", "every": "20 us", "metrics": ["srtt"]},
        }
    )
    samples = results.samples.filter(results.samples["time_ns"] > 20_000_000)
    round_trip = average(samples["value"]) / 1e9
    segments = total(results.flows["goodput_bps"]) / 8 / SEGMENT
    setup = f"dumbbell, {FLOWS} flows with a window of {WINDOW} segments"
    return near("segments inside", setup, segments * round_trip, FLOWS * WINDOW, relative=1e-3)


ORACLE = Oracle(3, "Little's law", "Little 1961, Brumelle 1971", "A", rows)
