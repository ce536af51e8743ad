"""DCQCN: where the queue settles.

Source: Zhu et al., "ECN or Delay", CoNEXT 2016, the fixed point of the fluid model, recalled: with N flows, capacity C,
additive increase R_AI, byte counter B (all in packets), timer T and notification interval tau,

    p = ((R_AI N^2 / (tau C^2)) (1/B + N / (T C))^2)^(1/3)        q = Kmin + (p / Pmax) (Kmax - Kmin)

The queue is compared, not tested: the model takes marks as a fluid, and the packets of two flows are few. What must
hold is that the link is hardly idle once the flows have found their rates, and that more flows need a longer queue.
"""

from collections.abc import Iterator

from weft.validation.oracle import Oracle, Row, average, between, chosen, shown, simulate

GBPS, WIRE_BYTES = 40, 1538
R_AI_MBPS, BYTE_COUNTER, TIMER_US, NOTIFICATION_US = 40, 10e6, 55, 50
K_MIN, K_MAX, P_MAX = 5e3, 200e3, 0.1
WARMUP_MS = 200


def fixed_point(flows: int) -> float:
    """Bytes of the queue."""
    capacity, increase = GBPS * 1e9 / 8 / WIRE_BYTES, R_AI_MBPS * 1e6 / 8 / WIRE_BYTES
    per_packet = WIRE_BYTES / BYTE_COUNTER + flows / (TIMER_US * 1e-6 * capacity)
    marked: float = (increase * flows**2 / (NOTIFICATION_US * 1e-6 * capacity**2) * per_packet**2) ** (1 / 3)
    return K_MIN + marked / P_MAX * (K_MAX - K_MIN)


def measured(flows: int, milliseconds: int) -> tuple[float, float]:
    """Mean queue in bytes and share of the time that the link was busy, after the warm-up."""
    results = simulate(
        {
            "backend": {"until": f"{WARMUP_MS + milliseconds} ms"},
            "topology": {"kind": "star", "hosts": flows + 1, "link": {"rate": f"{GBPS} Gbps", "delay": "1 us"}},
            "flow_control": {"kind": "pfc", "alpha": 8},
            "queue": {
                "kind": "ecn_ramp",
                "min_threshold": f"{K_MIN:.0f} B",
                "max_threshold": f"{K_MAX:.0f} B",
                "max_probability": P_MAX,
            },
            "transport": {"kind": "rocev2"},
            "congestion": {
                "kind": "dcqcn",
                "additive": f"{R_AI_MBPS} Mbps",
                "byte_counter": f"{BYTE_COUNTER:.0f} B",
                "timer": f"{TIMER_US} us",
                "cnp_interval": f"{NOTIFICATION_US} us",
            },
            "workload": [{"kind": "pairs", "pairs": [f"h{i}>h0" for i in range(1, flows + 1)]}],
            "measure": {"warmup": f"{WARMUP_MS} ms", "every": "10 us", "metrics": ["queue", "utilization"]},
        }
    )
    samples = results.samples.filter(results.samples["time_ns"] > WARMUP_MS * 1_000_000)
    queue = chosen(samples, entity="s>h0", metric="queue_bytes")["value"]
    busy = chosen(samples, entity="s>h0", metric="utilization")["value"]
    return average(queue), average(busy)


def rows(is_full: bool) -> Iterator[Row]:
    """The mean queue beside the fixed point, and the use of the link."""
    milliseconds, before = 200 if is_full else 50, 0.0
    for flows in (2, 4, 8, 10) if is_full else (2, 8):
        queue, busy = measured(flows, milliseconds)
        setup = f"{flows} flows, {GBPS} Gb/s"
        yield shown("mean queue", setup, queue / 1e3, fixed_point(flows) / 1e3, unit="kB")
        yield between("link busy", setup, busy, 0.95, 1)
        if before:
            yield between("mean queue, over that of fewer flows", setup, queue / before, 1, float("inf"))
        before = queue


ORACLE = Oracle(39, "DCQCN fixed point", "Zhu et al., CoNEXT 2016", "R", rows)
"""RoCEv2."""
