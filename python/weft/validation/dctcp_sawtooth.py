"""DCTCP: the sawtooth of the queue under synchronized flows.

Source: Alizadeh et al., SIGCOMM 2010 (the steady state). N flows on a link of capacity C, marking threshold K. The
critical window is W* = (C RTT + K) / N, the marked share alpha = sqrt(2 / W*). With C = 10 Gb/s, RTT = 100 us,
packets of 1500 B (C RTT = 83.3 packets), K = 40, N = 2:

    queue maximum Q = K + N                           = 42 packets
    amplitude     A = sqrt(2 N (C RTT + K)) / 2       = sqrt(493.3) / 2 = 11.1 packets
    period        T = sqrt(2 (C RTT + K) / N) / 2     = sqrt(123.3) / 2 = 5.55 round trips

C RTT is what fits into the network beside the queue, so the 100 us count everything but the bottleneck's queue and
transmission. The period counts rounds, in each of which a window grows by one segment; a round lasts as long as a
packet and its ACK are under way, queue included: 100 us + mean queue x 1.2 us.
"""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from weft.validation.oracle import Oracle, Row, chosen, near, simulate

N, K, CAPACITY, ROUND_TRIP_US, PACKET = 2, 40, 10e9, 100.0, 1500
BOTTLENECK = "sl>sr"
WARMUP_MS = 50


def two_flows(rate: float, threshold: int, milliseconds: int, overhead: int = 0, **changes: Any) -> dict[str, Any]:
    """Two endless flows over a dumbbell of `rate`; without a queue they see a round trip of 100 us."""
    # The edges are ten times as fast: two packets of 1500 B and two ACKs of 52 B, and four links of 5 us beside.
    edges_us = 2 * (PACKET + 52 + 2 * overhead) * 8 / (10 * rate) * 1e6 + 52 * 8 / rate * 1e6
    delay_ns = round((ROUND_TRIP_US - edges_us) / 2 * 1e3) - 10_000
    return {
        "backend": {"until": f"{WARMUP_MS + milliseconds} ms"},
        "topology": {
            "kind": "dumbbell",
            "left": N,
            "right": 1,
            "link": {"rate": f"{10 * rate:.0f} bps", "delay": "5 us", "overhead": overhead},
            "bottleneck": {"rate": f"{rate:.0f} bps", "delay": f"{delay_ns} ns", "overhead": overhead},
        },
        "queue": {"kind": "ecn_step", "capacity": "1000 packets", "threshold": f"{threshold} packets"},
        "transport": {"kind": "tcp", "profile": "datacenter", "ack_every": 1, "autotune": False},
        "congestion": {"kind": "dctcp"},
        "workload": [{"kind": "pairs", "pairs": ["l0>r0", "l1>r0"]}],
        "measure": {"warmup": f"{WARMUP_MS} ms", "every": "1 us", "metrics": ["queue"]},
    } | changes


def queue_packets(results: Any) -> Any:
    """The bottleneck's queue in packets after the warm-up, one value per microsecond."""
    samples = chosen(results.samples, entity=BOTTLENECK)
    return samples.filter(samples["time_ns"] > WARMUP_MS * 1_000_000)["value"].to_numpy() / PACKET


def rows(is_full: bool) -> Iterator[Row]:
    """Maximum, amplitude and period of the queue."""
    milliseconds = 500 if is_full else 100
    queue = queue_packets(simulate(two_flows(CAPACITY, K, milliseconds)))
    inside = CAPACITY * ROUND_TRIP_US * 1e-6 / 8 / PACKET + K
    peaks, troughs, period = sawtooth(queue)
    setup = f"10 Gb/s, 100 us, K = 40, N = 2, {milliseconds} ms"
    yield near("queue maximum", setup, peaks, K + N, relative=0.15, unit="packets")
    yield near("amplitude", setup, peaks - troughs, math.sqrt(2 * N * inside) / 2, relative=0.15, unit="packets")
    expected = math.sqrt(2 * inside / N) / 2
    round_us = ROUND_TRIP_US + float(queue.mean()) * PACKET * 8 / CAPACITY * 1e6
    yield near("period", setup, period / round_us, expected, relative=0.15, unit="RTT")


def sawtooth(queue: Any) -> tuple[float, float, float]:
    """Mean peak, mean trough and mean period (samples) of a series that goes up and down around its mean."""
    import numpy as np

    smooth = np.convolve(queue, np.ones(5) / 5, mode="valid")
    middle, band = smooth.mean(), smooth.std() / 2
    # A tooth begins where the series rises above the middle after having been clearly below it.
    starts, is_low = [], False
    for at, value in enumerate(smooth):
        if value < middle - band:
            is_low = True
        elif is_low and value > middle + band:
            starts.append(at)
            is_low = False
    teeth = [smooth[a:b] for a, b in pairwise(starts)]
    peaks = float(np.mean([tooth.max() for tooth in teeth]))
    troughs = float(np.mean([tooth.min() for tooth in teeth]))
    return peaks, troughs, float(np.mean(np.diff(starts)))


ORACLE = Oracle(13, "DCTCP sawtooth", "Alizadeh et al., SIGCOMM 2010", "A", rows)
