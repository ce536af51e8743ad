"""Fat tree, MPTCP with eight subflows under LIA: what a permutation gets of the line rate.

Source: htsim, the set-up of oracle 30 (`fat_tree_reno.py`) with eight subflows: 84.9, 85.7 and 84.5 % in three seeds,
p10 about 62, p50 90 % (ACKs outside the network). A full packet carries 1420 of 1500 B here, and all of them in htsim.

Loss recovery decides within these bounds: in two seeds ours gave 89.6 % with RACK and 82.1 % with RFC 6675 alone; htsim
has the recovery of NewReno.
"""

from collections.abc import Iterator
from typing import Any

from weft.statistics import mean_interval, quantile
from weft.validation.fat_tree_reno import LINE, permutation
from weft.validation.oracle import FAIL, PASS, Oracle, Row, shown, simulate

LOW, HIGH, HTSIM = 82.0, 90.0, 85.0


def shares(seeds: int, transport: dict[str, Any], congestion: str) -> list[list[float]]:
    """By run and flow: percent of the line rate, headers of full packets included."""
    experiment = permutation(seeds)
    experiment["transport"] = experiment["transport"] | transport
    experiment["congestion"] = {"kind": congestion}
    payload = 1420 if transport.get("kind") == "mptcp" else 1448
    return [
        [100 * 1500 / payload * goodput / LINE for goodput in frame["goodput_bps"].to_list()]
        for (_,), frame in simulate(experiment).flows.group_by("run", maintain_order=True)
    ]


def rows(is_full: bool) -> Iterator[Row]:
    """Mean, tested; percentiles over flows, shown."""
    seeds = 5 if is_full else 3
    runs = shares(seeds, {"kind": "mptcp", "subflows": 8}, "lia")
    setup = f"k = 8, 8 subflows, LIA, 30 ms after 10 ms, {seeds} seeds"
    interval = mean_interval([sum(run) / len(run) for run in runs])
    verdict = PASS if LOW <= interval.mean <= HIGH else FAIL
    text = f"{LOW:g} to {HIGH:g}"
    yield Row("mean share", setup, interval.mean, HTSIM, text, verdict, interval.low, interval.high, "%")
    flows = [share for run in runs for share in run]
    for name, q, expected in (("p10", 0.1, 62.0), ("p50", 0.5, 90.0)):
        yield shown(f"{name} of flows", setup, quantile(flows, q), expected, unit="%")


ORACLE = Oracle(31, "fat tree, MPTCP", "htsim at 841d9e7", "H", rows)
