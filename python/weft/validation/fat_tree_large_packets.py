"""Fat tree with packets of 4 kB, one path and eight subflows, over a longer time: shown beside htsim.

Source: htsim at commit 841d9e7, set-up of oracle 30 (`fat_tree_reno.py`): 46 to 47 % of the line rate with one path,
89.9 % with eight subflows (one seed). How long that run was is not recorded; here it is 100 ms.
"""

from collections.abc import Iterator
from typing import Any

from weft.statistics import mean_interval
from weft.validation.fat_tree_reno import LINE, permutation
from weft.validation.jellyfish_published import HEADERS
from weft.validation.oracle import FAIL, PASS, SHOWN, Oracle, Row, simulate

MTU = 4096
HTSIM = {1: 46.5, 8: 89.9}


def rows(is_full: bool) -> Iterator[Row]:
    """Means over seeds for 1 and for 8 subflows, shown; that 8 carry more, tested."""
    found = {}
    seeds, length = (3, 100) if is_full else (1, 20)
    for subflows, expected in HTSIM.items():
        experiment: dict[str, Any] = permutation(seeds)
        experiment["topology"]["link"]["mtu"] = MTU
        experiment["backend"]["until"] = f"{10 + length} ms"
        payload = MTU - HEADERS["tcp"]
        if subflows > 1:
            experiment["transport"] |= {"kind": "mptcp", "subflows": subflows}
            experiment["congestion"] = {"kind": "lia"}
            payload = MTU - HEADERS["mptcp"]
        flows = simulate(experiment).flows
        means = [
            100 * MTU / payload * sum(run["goodput_bps"].to_list()) / run.height / LINE
            for _, run in flows.group_by("run", maintain_order=True)
        ]
        interval = mean_interval(means)
        found[subflows] = interval.mean
        what = "Reno, one path each" if subflows == 1 else f"{subflows} subflows, LIA"
        setup = f"k = 8, 4 kB packets, {what}, {length} ms after 10 ms, {seeds} seed{'s' if seeds > 1 else ''}"
        yield Row("mean share", setup, interval.mean, expected, "", SHOWN, interval.low, interval.high, "%")
    gain = found[8] - found[1]
    yield Row("gain of 8 subflows", "", gain, HTSIM[8] - HTSIM[1], "above 0", PASS if gain > 0 else FAIL, unit="pp")


ORACLE = Oracle(32, "fat tree, large packets", "htsim at 841d9e7", "H", rows)
