"""Bisection of two trees of 16 hosts: a fat tree with links of 1 Mb/s against a binary tree with 2 Mb/s at its top.

Source: the course report of `experiments/studies/ecmp_fat_tree`. By construction: eight hosts send to the eight of the
other half. The fat tree carries each at 1 Mb/s, 8 Mb/s, if every flow is spread evenly over its four paths; all of them
share the 2 Mb/s of the binary tree's top. So the ratio is 4 exactly under max-min fairness, whatever the pairing.

Hashed flows collide. The report measured 606.39 and 663.82 kb/s for each pair against 242.41 and 242.39, ratios of 2.50
and 2.74; 8 x 242.4 kb/s are 2 Mb/s x 1470 / 1512, the payload of iperf's datagrams, and the rest of the gap to 4 is
collisions. What max-min fairness gives hashed flows, a fresh map of buckets in each draw, is shown beside that.
"""

from collections.abc import Iterator
from typing import Any

from weft.validation.fabrics import scenarios
from weft.validation.oracle import Oracle, Row, near, shown

LINK = {"rate": "1 Mbps"}
BINARY: dict[str, Any] = {"kind": "binary_tree", "hosts": 16, "link": LINK, "trunk": {"rate": "2 Mbps"}}
FAT: dict[str, Any] = {"kind": "fat_tree", "k": 4, "link": LINK}
MEASURED = {"straight": 606.39 / 242.41, "reversed": 663.82 / 242.39}


def rows(is_full: bool) -> Iterator[Row]:
    """Both pairings: ideal, and hashed."""
    for pairing, measured in MEASURED.items():
        (binary,) = _sums(BINARY, pairing, 1, 1)
        (ideal,) = _sums(FAT, pairing, 4, 1)
        yield near("bisection", f"binary tree, {pairing}", binary / 1e6, 2.0, unit="Mb/s")
        yield near("bisection", f"fat tree, evenly spread, {pairing}", ideal / 1e6, 8.0, unit="Mb/s")
        yield near("ratio", f"evenly spread, {pairing}", ideal / binary, 4.0)
        draws = 500 if is_full else 50
        hashed = _sums(FAT, pairing, 1, draws)
        yield shown("ratio", f"hashed, max-min, {pairing}, {draws} draws", sum(hashed) / draws / binary, measured)


def _sums(topology: dict[str, Any], pairing: str, subflows: int, draws: int) -> list[float]:
    """Sum of the rates of all flows, bit/s; subflows take the shortest paths in turn, single flows are hashed."""
    spread = {"routing": {"kind": "all_shortest", "share": "round_robin"}} if subflows > 1 else {}
    experiment = {
        "backend": {"until": "1 ms"},
        "topology": topology,
        "load_balance": {"kind": "ecmp", "buckets": 8, "bucket_map": "random"},
        "workload": [{"kind": "bisection", "pairing": pairing}],
    }
    return [sum(scenario.max_min(subflows)) for scenario in scenarios(experiment | spread, draws)]


ORACLE = Oracle(42, "bisection of two trees", "a course report on ECMP", "V", rows)
