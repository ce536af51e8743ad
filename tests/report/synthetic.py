"""A result folder as a run writes it, from a fluid model of a few lines: flows share links, nothing queues.

It knows nothing of the engine, so a report can be tested where no engine is built.
"""

import json
import math
import os
import random
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import polars as pl

from weft.sweep import seed_of

RATE_BPS = 20_000_000
SIZE_BYTES = 25 * 1024 * 1024
EFFICIENCY = 1448 / 1538

Node = tuple[str, str, int, int | None]


def fat_tree(k: int) -> tuple[list[Node], list[tuple[str, str]]]:
    """Nodes (name, kind, level, pod) and cables of a k-ary fat tree."""
    half = range(k // 2)

    def name(prefix: str, *indices: int) -> str:
        return prefix + ("_" if k > 10 else "").join(map(str, indices))

    nodes: list[Node] = [(name("h", p, e, j), "host", 0, p) for p in range(k) for e in half for j in half]
    nodes += [(name("se", p, e), "switch", 1, p) for p in range(k) for e in half]
    nodes += [(name("sa", p, a), "switch", 2, p) for p in range(k) for a in half]
    nodes += [(name("sc", i, j), "switch", 3, None) for i in half for j in half]
    cables = [(name("h", p, e, j), name("se", p, e)) for p in range(k) for e in half for j in half]
    cables += [(name("se", p, e), name("sa", p, a)) for p in range(k) for e in half for a in half]
    cables += [(name("sa", p, i), name("sc", i, j)) for p in range(k) for i in half for j in half]
    return nodes, cables


def ring(switches: int) -> tuple[list[Node], list[tuple[str, str]]]:
    """A custom graph: a ring of switches with a chord and one host each, all switches on one level."""
    nodes: list[Node] = [(f"host{i}", "host", 0, None) for i in range(switches)]
    nodes += [(f"switch{i}", "switch", 1, None) for i in range(switches)]
    cables = [(f"host{i}", f"switch{i}") for i in range(switches)]
    cables += [(f"switch{i}", f"switch{(i + 1) % switches}") for i in range(switches)]
    cables.append(("switch0", f"switch{switches // 2}"))
    return nodes, cables


def write_folder(
    directory: Path,
    *,
    balances: tuple[str, ...] = ("static", "ecmp", "spray"),
    repeats: int = 5,
    k: int = 4,
    graph: tuple[list[Node], list[tuple[str, str]]] | None = None,
    samples: bool = True,
    plan: bool = True,
    warnings: tuple[str, ...] = (),
    unfinished: int = 0,
    missing_runs: int = 0,
    report: tuple[dict[str, str], ...] = (),
    name: str = "spray against ecmp",
) -> Path:
    """Write DIR with its runs: `unfinished` flows of the first do not end, the last `missing_runs` have no folder."""
    nodes, cables = graph or fat_tree(k)
    directory.mkdir(parents=True, exist_ok=True)
    experiment: dict[str, object] = {
        "name": name,
        "seed": 7,
        "backend": {"kind": "packet", "until": "flows done", "limit": "60 s"},
        "topology": {"kind": "custom" if graph else "fat_tree", **({} if graph else {"k": k})},
        "queue": {"kind": "drop_tail", "capacity": "100 packets"},
        "transport": {"kind": "tcp", "profile": "linux"},
        "congestion": {"kind": "cubic"},
        "workload": [{"name": "bulk", "kind": "permutation", "size": "25 MiB"}],
        "report": list(report),
    }
    directory.joinpath("experiment.toml").write_text(
        f'name = "{name}"\nseed = 7\n\n[topology]\nkind = "fat_tree"\nk = {k}\n\n[[workload]]\nkind = "permutation"\n'
        f'size = "25 MiB"\n\n[sweep]\n"load_balance.kind" = {json.dumps(list(balances))}\nrepeats = {repeats}\n'
    )
    rows = []
    for cell, balance in enumerate(balances):
        for repeat in range(repeats):
            rows.append((f"{cell:02x}{repeat:02x}a7f3", cell, repeat, 7 + repeat, balance))
    for place, (run, _, repeat, seed, balance) in enumerate(rows[: len(rows) - missing_runs]):
        tables = _simulate(
            nodes,
            cables,
            balance,
            random.Random(f"{seed}/{'' if balance == 'spray' else balance}"),
            samples and repeat == 0,
        )
        if place == 0 and unfinished:
            stuck = pl.col("flow") < unfinished
            none = pl.lit(None, pl.Int64)
            tables["flows"] = tables["flows"].with_columns(
                pl.when(stuck).then(none).otherwise("fct_ns").alias("fct_ns"),
                pl.when(stuck).then(pl.lit("path down")).alias("reason"),
            )
        folder = directory / "runs" / run
        folder.mkdir(parents=True, exist_ok=True)
        for table, frame in tables.items():
            frame.write_parquet(folder / f"{table}.parquet")
        manifest = {
            "experiment": {**experiment, "load_balance": {"kind": balance}, "seed": seed},
            "seed": seed,
            "version": "0.1.0",
            "commit": "0000000",
            "backend": "packet",
            "machine": {"cpu": "synthetic", "cores": 2},
            "wall_s": 0.4,
            "cpu_s": 0.3,
            "simulated_ns": 20_000_000_000,
            "events": 2_000_000,
            "packet_hops": 1_500_000,
            "warnings": list(warnings) if place == 0 else [],
            "fingerprint": f"{seed:016x}",
            "format": 1,
        }
        folder.joinpath("manifest.json").write_text(json.dumps(manifest))
    if plan:
        schema = ["run", "cell", "repeat", "seed", "load_balance.kind"]
        pl.DataFrame(rows, schema=schema, orient="row").write_parquet(directory / "plan.parquet")
    return directory


def write_large(
    directory: Path,
    axes: Mapping[str, Sequence[Any]],
    repeats: int,
    *,
    flows: int = 16,
    failed: Callable[[int, int], str] = lambda cell, repeat: "",
    lacking: Callable[[int, int], bool] = lambda cell, repeat: False,
    until: bool = False,
) -> Path:
    """Write DIR with a sweep of many runs, of which a few dozen different ones share their tables (hard links).

    The goodput of run r of cell c depends on both. `failed` gives the message with which a run failed, `lacking` says
    which run was never done; `until` makes the number of repeats depend on the cell, from `repeats` upwards.
    """
    templates = [_template(directory / "templates" / str(number), flows, number) for number in range(24)]
    keys = list(axes)
    cells = list(product(*axes.values()))
    described = {
        "name": "many runs",
        "seed": 7,
        "topology": {"kind": "leaf_spine"},
        "workload": [{"kind": "permutation", "name": "bulk"}],
        "sweep": {"repeats": {"until": "ci", "least": repeats} if until else repeats}
        | {key: list(values) for key, values in axes.items()},
    }
    document = {"format": 1, "version": "0.1.0", "set": [], "experiment": described}
    (directory / "manifest.json").write_text(json.dumps(document))
    rows = []
    for cell, values in enumerate(cells):
        for repeat in range(repeats + (cell % 3 if until else 0)):
            run, swept = f"{cell:08x}{repeat:08x}", dict(zip(keys, values, strict=True))
            seed = seed_of(7, repeat)
            rows.append((run, cell, repeat, seed, *values))
            noted = {"run": run, "cell": cell, "repeat": repeat, "seed": seed, "swept": swept}
            if message := failed(cell, repeat):
                (directory / "failures").mkdir(exist_ok=True)
                failure = noted | {"kind": "RuntimeError", "message": message, "attempts": 3}
                (directory / "failures" / f"{run}.json").write_text(json.dumps(failure))
            if message or lacking(cell, repeat):
                continue
            folder = directory / "runs" / run
            folder.mkdir(parents=True)
            for table in templates[(7 * cell + 5 * repeat) % len(templates)]:
                os.link(table, folder / table.name)
            manifest = noted | {
                "experiment": {key: value for key, value in described.items() if key != "sweep"},
                "version": "0.1.0",
                "backend": "packet",
                "wall_s": 0.4,
                "packet_hops": 1_500_000,
                "simulated_ns": 20_000_000,
                "warnings": [],
                "fingerprint": f"{cell:08x}",
                "finished": True,
                "unfinished": 0,
            }
            (folder / "manifest.json").write_text(json.dumps(manifest))
    schema = ["run", "cell", "repeat", "seed", *keys]
    pl.DataFrame(rows, schema=schema, orient="row").write_parquet(directory / "plan.parquet")
    return directory


def _template(directory: Path, flows: int, number: int) -> list[Path]:
    """The tables of a run on a star of 16 hosts, drawn from distributions."""
    directory.mkdir(parents=True)
    generator = random.Random(number)
    nodes = [(f"h{i}", "host", 0, None, "") for i in range(16)] + [("s", "switch", 1, None, "")]
    links = [(f"h{i}>s", f"h{i}", "s") for i in range(16)] + [(f"s>h{i}", "s", f"h{i}") for i in range(16)]
    fct = [round(1e6 * generator.paretovariate(1.5)) for _ in range(flows)]
    tables = {
        "flows": pl.DataFrame(
            {
                "flow": range(flows),
                "workload": ["bulk"] * flows,
                "src": [f"h{flow % 16}" for flow in range(flows)],
                "dst": [f"h{(flow + 1) % 16}" for flow in range(flows)],
                "size_bytes": [100_000] * flows,
                "start_ns": [0] * flows,
                "fct_ns": fct,
                "ideal_fct_ns": [900_000] * flows,
                "delivered_bytes": [100_000] * flows,
                "goodput_bps": [8e14 / each for each in fct],
                "wire_bytes": [106_000] * flows,
                "retransmitted_bytes": [generator.randrange(4) * 1448 for _ in range(flows)],
                "lost_packets": [0] * flows,
            },
        ).with_columns(reason=pl.lit(None, pl.String)),
        "links": pl.DataFrame(links, schema=["link", "src", "dst"], orient="row").with_columns(
            rate_bps=pl.lit(10**9), utilization=pl.Series([generator.random() for _ in links])
        ),
        "queues": pl.DataFrame({"link": [name for name, *_ in links], "dropped_packets": [number % 5] * len(links)}),
        "nodes": pl.DataFrame(nodes, schema=["node", "kind", "level", "pod", "address"], orient="row"),
    }
    for name, frame in tables.items():
        frame.write_parquet(directory / f"{name}.parquet")
    return sorted(directory.iterdir())


def _simulate(
    nodes: list[Node], cables: list[tuple[str, str]], balance: str, generator: random.Random, sampled: bool
) -> dict[str, pl.DataFrame]:
    neighbours: dict[str, list[str]] = {name: [] for name, *_ in nodes}
    for a, b in cables:
        neighbours[a].append(b)
        neighbours[b].append(a)
    hosts = [name for name, kind, *_ in nodes if kind == "host"]
    shift = generator.randrange(1, len(hosts))
    order = list(hosts)
    generator.shuffle(order)
    pairs = [(host, order[(order.index(host) + shift) % len(hosts)]) for host in hosts]
    load: dict[str, float] = {}
    chosen: list[list[tuple[list[str], float]]] = []
    for src, dst in pairs:
        paths = _shortest_paths(neighbours, src, dst)
        if balance != "spray":
            paths = [generator.choice(paths)]
        shares = [(path, 1 / len(paths)) for path in paths]
        chosen.append(shares)
        for path, share in shares:
            for link in path:
                load[link] = load.get(link, 0.0) + share
    # The shuffle decides how unlucky a flow is; ECMP is a little better than static by being per flow.
    flows, path_rows = [], []
    for flow, ((src, dst), shares) in enumerate(zip(pairs, chosen, strict=True)):
        worst = max(max(load[link] for link in path) for path, _ in shares)
        goodput = RATE_BPS * EFFICIENCY / max(1.0, worst) * generator.uniform(0.93, 1.0)
        fct = round(SIZE_BYTES * 8e9 / goodput)
        ideal = round(SIZE_BYTES * 8e9 / (RATE_BPS * EFFICIENCY))
        again = generator.randrange(40) * 1448 if worst > 1 else 0
        wire = round(SIZE_BYTES / EFFICIENCY) + again
        flows.append(
            (
                flow,
                "bulk",
                src,
                dst,
                SIZE_BYTES,
                0,
                fct,
                fct,
                fct,
                ideal,
                SIZE_BYTES,
                goodput,
                wire,
                again,
                again // 1448,
            )
        )
        for place, (path, share) in enumerate(shares):
            path_rows.append((flow, 0, 40000 + place, 5001, path, round(SIZE_BYTES * share)))
    end = max(row[6] for row in flows)
    link_rows, queue_rows = [], []
    for a, b in cables + [(b, a) for a, b in cables]:
        link = f"{a}>{b}"
        share = min(1.0, load.get(link, 0.0)) * generator.uniform(0.85, 1.0)
        tx = round(share * RATE_BPS * end / 8e9)
        link_rows.append((link, a, b, RATE_BPS, tx, tx // 1538, round(share * end), share, round(load.get(link, 0))))
        drops = generator.randrange(60) if load.get(link, 0) > 1 else 0
        queue_rows.append((link, 0, tx // 1538, drops, 0, 150_000 if drops else 9_000, 3_000.0, 0))
    tables = {
        "flows": pl.DataFrame(flows, schema=FLOW_COLUMNS, orient="row").with_columns(
            marked_packets=pl.lit(0),
            reordered_packets=pl.lit(0),
            subflows=pl.lit(1),
            reason=pl.lit(None, pl.String),
            latency_mean_ns=pl.lit(None, pl.Int64),
            latency_p50_ns=pl.lit(None, pl.Int64),
            latency_p99_ns=pl.lit(None, pl.Int64),
        ),
        "links": pl.DataFrame(link_rows, schema=LINK_COLUMNS, orient="row"),
        "queues": pl.DataFrame(queue_rows, schema=QUEUE_COLUMNS, orient="row"),
        "paths": pl.DataFrame(
            path_rows, schema=["flow", "subflow", "src_port", "dst_port", "path", "tx_bytes"], orient="row"
        ),
        "nodes": pl.DataFrame(
            [(*node, "10.0.0.1") for node in nodes], schema=["node", "kind", "level", "pod", "address"], orient="row"
        ),
        "samples": pl.DataFrame(schema=SAMPLE_COLUMNS),
    }
    if sampled:
        tables["samples"] = _samples(tables["flows"], tables["queues"], generator)
    return tables


def _shortest_paths(neighbours: dict[str, list[str]], src: str, dst: str) -> list[list[str]]:
    """Every shortest path as its list of links, breadth first."""
    front = [[src]]
    while front:
        arrived = [path for path in front if path[-1] == dst]
        if arrived:
            return [[f"{a}>{b}" for a, b in pairwise(path)] for path in arrived]
        front = [[*path, node] for path in front for node in neighbours[path[-1]] if node not in path]
    raise ValueError(f"{src} does not reach {dst}")


def _samples(flows: pl.DataFrame, queues: pl.DataFrame, generator: random.Random) -> pl.DataFrame:
    end = int(flows["fct_ns"].max())  # type: ignore[arg-type]
    rows = []
    for step in range(300):
        time = round(end * step / 300)
        for flow, goodput, fct in flows.select("flow", "goodput_bps", "fct_ns").iter_rows():
            if time <= fct:
                phase = (step + flow * 7) % 60
                rows.append((time, "goodput", str(flow), goodput * generator.uniform(0.85, 1.15)))
                rows.append((time, "cwnd", str(flow), 1448.0 * (20 + 60 * (phase / 60) ** 3)))
                rows.append((time, "srtt", str(flow), 4e6 + 3e5 * phase))
        for link, drops in queues.select("link", "dropped_packets").iter_rows():
            if drops:
                rows.append((time, "queue", link, max(0.0, 75_000 * (1 + math.sin(step / 9 + drops)))))
    return pl.DataFrame([(*row, None) for row in rows], schema=SAMPLE_COLUMNS, orient="row")


FLOW_COLUMNS = [
    "flow", "workload", "src", "dst", "size_bytes", "start_ns", "fct_ns", "acked_ns", "closed_ns", "ideal_fct_ns",
    "delivered_bytes", "goodput_bps", "wire_bytes", "retransmitted_bytes", "lost_packets",
]  # fmt: skip
LINK_COLUMNS = ["link", "src", "dst", "rate_bps", "tx_bytes", "tx_packets", "busy_ns", "utilization", "flows"]
QUEUE_COLUMNS = [
    "link", "priority", "enqueued_packets", "dropped_packets", "marked_packets", "max_bytes", "mean_bytes", "paused_ns",
]  # fmt: skip
SAMPLE_COLUMNS = {
    "time_ns": pl.Int64, "metric": pl.String, "entity": pl.String, "value": pl.Float64, "error": pl.Float64,
}  # fmt: skip
