"""The flow level against the packet level: slowdown of flows that arrive at random, by their size.

Source: weft's own packet level, the same arrivals with the same seeds: WebSearch sizes, DCTCP with marks from 65
packets on, links of 10 Gb/s. Flows above 1 MB are tested at loads up to 0.6, where their mean slowdown has to be
within 15 %. Shorter ones and 99th percentiles are shown as they are: a short flow waits in queues, which a fluid does
not have. The last rows say up to which load, and from which size on, means agree to 15 %: where the flow level may be
trusted with such traffic. In full size that is load 0.8 and 1 MB on both fabrics; experiment/advice.py warns beyond.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from weft.statistics.quantile import quantile
from weft.validation.oracle import Oracle, Row, near, shown, simulate

if TYPE_CHECKING:
    import polars as pl

LINK = {"rate": "10 Gbps", "delay": "1 us"}
FABRICS: dict[str, dict[str, Any]] = {
    "fat tree k = 4": {"kind": "fat_tree", "k": 4, "link": LINK},
    "leaf-spine": {
        "kind": "leaf_spine",
        "leaves": 4,
        "spines": 2,
        "hosts_per_leaf": 4,
        "link": LINK,
        "uplink": {"rate": "20 Gbps", "delay": "1 us"},
    },
}
BINS: dict[str, tuple[int, float]] = {
    "below 10 kB": (0, 1e4),
    "10 to 100 kB": (10_000, 1e5),
    "100 kB to 1 MB": (100_000, 1e6),
    "above 1 MB": (1_000_000, float("inf")),
}
LONG = "above 1 MB"
CLOSE = 0.15
TRUSTED_LOAD = 0.6


def rows(is_full: bool) -> Iterator[Row]:
    """Bin by bin, load by load; then the trusted range of each fabric."""
    loads = (0.2, 0.4, 0.6, 0.8) if is_full else (0.3, 0.6)
    flows, repeats = (3000, 5) if is_full else (600, 1)
    for fabric, topology in list(FABRICS.items())[: None if is_full else 1]:
        deviations: dict[tuple[float, str], float] = {}
        for load in loads:
            fluid, packets = (slowdowns(topology, backend, load, flows, repeats) for backend in ("flow", "packet"))
            for name, (low, high) in BINS.items():
                mine, theirs = (of.filter((of["size"] > low) & (of["size"] <= high)) for of in (fluid, packets))
                if not mine.height:
                    continue
                setup = f"{fabric}, load {load}, {name}, {mine.height} flows"
                found, expected = mean(mine), mean(theirs)
                deviations[load, name] = found / expected - 1
                if name == LONG and load <= TRUSTED_LOAD:
                    yield near("mean slowdown", setup, found, expected, relative=CLOSE)
                else:
                    yield shown("mean slowdown", setup, found, expected)
                found, expected = (quantile(of["slowdown"].to_list(), 0.99) for of in (mine, theirs))
                yield shown("p99 of slowdown", setup, found, expected)
        yield from trusted(fabric, loads, deviations)


def trusted(fabric: str, loads: tuple[float, ...], deviations: dict[tuple[float, str], float]) -> Iterator[Row]:
    """Up to which load long flows agree, and from which size on all loads up to the trusted one do."""
    agreeing = 0.0
    for load in loads:
        if abs(deviations.get((load, LONG), 1.0)) > CLOSE:
            break
        agreeing = load
    yield shown("load up to which means above 1 MB agree to 15 %", fabric, agreeing)
    least = float("inf")
    for name, (low, _) in reversed(BINS.items()):
        if any(abs(deviations.get((load, name), 0.0)) > CLOSE for load in loads if load <= TRUSTED_LOAD):
            break
        least = low
    yield shown("size from which means agree to 15 % at loads up to 0.6", fabric, least, unit="B")


def slowdowns(topology: dict[str, Any], backend: str, load: float, flows: int, repeats: int) -> "pl.DataFrame":
    """Size and slowdown of every finished flow."""
    import polars as pl

    table = simulate(
        {
            "backend": {"kind": backend},
            "topology": topology,
            "transport": {"kind": "tcp", "profile": "datacenter", "ecn": True},
            "congestion": {"kind": "dctcp"},
            "queue": {"kind": "ecn_step", "capacity": "250 packets", "threshold": "65 packets"},
            "workload": [{"kind": "poisson", "load": load, "size": {"kind": "websearch"}, "flows": flows}],
            "sweep": {"repeats": repeats},
        }
    ).flows.filter(pl.col("fct_ns").is_not_null())
    return table.select(
        pl.col("size_bytes").alias("size"), (pl.col("fct_ns") / pl.col("ideal_fct_ns")).alias("slowdown")
    )


def mean(of: "pl.DataFrame") -> float:
    """Mean slowdown."""
    return float(of["slowdown"].mean())  # type: ignore[arg-type]


ORACLE = Oracle(45, "flow level, arrivals at random", "weft's packet level", "P", rows)
