"""Reno: rate and window under periodic loss.

Source: Mathis, Semke, Mahdavi, Ott, CCR 1997. One loss every 1/p packets: the window climbs from W/2 to W by one
segment per round trip and sends (3/8) W^2 = 1/p in a tooth, so W = sqrt(8 / (3 p)) and its mean is 3/4 W = sqrt(3 /
(2 p)):

    p = 10^-3: 38.73 segments; over a round trip of 10 ms: 38.73 x 1448 x 8 / 0.01 = 44.86 Mb/s

Links of 10 Gb/s add 0.01 ms to the propagation of 10 ms and never queue.
"""

import math
from collections.abc import Iterator
from typing import Any

from weft.validation.oracle import Oracle, Row, near, simulate

P, ROUND_TRIP_S, SEGMENT = 1e-3, 0.01, 1448


def lossy_path(congestion: dict[str, Any], p: float, round_trip_ms: int, seconds: int, warmup: int) -> dict[str, Any]:
    """One endless flow over a path that loses every (1/p)-th data packet, with an ACK for every segment."""
    side_us = round_trip_ms * 100
    return {
        "backend": {"until": f"{seconds} s"},
        "topology": {
            "kind": "dumbbell",
            "left": 1,
            "right": 1,
            "link": {"delay": f"{side_us} us"},
            "bottleneck": {"delay": f"{3 * side_us} us"},
            "overrides": [{"links": "sl>sr", "loss": {"kind": "periodic", "p": p}}],
        },
        "queue": {"kind": "drop_tail", "capacity": "10000 packets"},
        "transport": {"kind": "tcp", "ack_every": 1, "autotune": False, "receive_window": "60 MB"},
        "congestion": congestion,
        "workload": [{"kind": "pairs", "pairs": ["l0>r0"]}],
        "measure": {"warmup": f"{warmup} s", "every": f"{round_trip_ms // 10} ms", "metrics": ["cwnd"]},
    }


def mean_window(results: Any, warmup: int) -> float:
    """Mean congestion window after the warm-up, segments."""
    samples = results.samples
    return float(samples.filter(samples["time_ns"] > warmup * 10**9)["value"].mean()) / SEGMENT


def rows(is_full: bool) -> Iterator[Row]:
    """Rate and mean window."""
    seconds, warmup = (600, 20) if is_full else (80, 20)
    results = simulate(lossy_path({"kind": "reno"}, P, 10, seconds, warmup))
    setup = f"p = 1e-3 periodic, 10 ms, ACK per segment, {seconds - warmup} s"
    window = math.sqrt(3 / (2 * P))
    rate = float(results.flows["goodput_bps"][0])
    yield near("rate", setup, rate / 1e6, window * SEGMENT * 8 / ROUND_TRIP_S / 1e6, relative=0.03, unit="Mb/s")
    yield near("mean window", setup, mean_window(results, warmup), window, relative=0.03, unit="segments")


ORACLE = Oracle(14, "Reno under loss", "Mathis et al., CCR 1997", "A", rows)
