"""The tables of README.md, printed from the results of the study as Markdown rows.

    weft run experiments/studies/path_diversity
    python experiments/studies/path_diversity/tables.py out/path_diversity

The published numbers beside ours are `[[published]]` of the experiments; what is done here is to lay them out as the
document does: tables 5.1 (p-values), 5.2 (the best), 5.3 (excess traffic), and the means with 95 % intervals.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from weft.results import Results
from weft.statistics import mean_interval

CLUSTERS = {
    "silent": {"128 KiB": "query", "500 KiB": "short", "25 MiB": "long"},
    "noisy": {"10 KiB": "query", "500 KiB": "short", "25 MiB": "long"},
}
SIZE = {"silent": "workload.transfers.size", "noisy": "workload.pages.size"}
METRICS = ("goodput", "throughput", "closed", "path_share")
EFFECTS = ("load_balance.kind", "receive.kind", "load_balance.kind x receive.kind")
WORDS = {
    "load_balance.kind": "switch",
    "receive.kind": "Juggler",
    "load_balance.kind x receive.kind": "both together",
    "ecmp": "ECMP",
    "spray": "PS",
    "static": "static",
    "in_order": "vanilla",
    "juggler": "Juggler",
}
LABELS = {"ecmp-mptcp-": "ECMP ", "ps-mptcp-": "PS ", "ecmp-mptcp": "ECMP", "ps-mptcp": "PS", "juggler": "Juggler"}
ALPHA = 0.05


def p_values(network: str, published: pl.DataFrame) -> Iterator[str]:
    """Table 5.1: a row per cluster and effect, "published / ours"; bold where they lie on different sides of alpha."""
    found = published.filter(pl.col("effect").is_in(EFFECTS))
    for size, cluster in CLUSTERS[network].items():
        for effect in EFFECTS:
            cells = []
            for metric in METRICS:
                is_it = (pl.col("metric") == metric) & (pl.col("effect") == effect) & (pl.col("keys") == size)
                row = found.filter(is_it).row(0, named=True)
                if row["ours"] is None:
                    cells.append(f"{row['published']:.3f} / none")
                    continue
                differ = (row["published"] < ALPHA) != (row["ours"] < ALPHA)
                text = f"{row['published']:.3f} / {row['ours']:.3f}"
                cells.append(f"**{text}**" if differ else text)
            yield f"| {network} | {cluster} | {WORDS[effect]} | " + " | ".join(cells) + " |"


def best(network: str, results: Results, published: pl.DataFrame) -> Iterator[str]:
    """Table 5.2: a row per cluster and effect, "published / ours", a dash where not significant."""
    theirs = pl.read_csv(Path(__file__).parent / "published_best.csv").fill_null("")
    frame = results.numbers(METRICS).rename({SIZE[network]: "size"})
    for size, cluster in CLUSTERS[network].items():
        for effect, name in zip(EFFECTS, ("switch+transport", "juggler", "interaction"), strict=True):
            mine = (pl.col("network") == network) & (pl.col("flow") == cluster) & (pl.col("effect") == name)
            their = theirs.filter(mine)
            cells = []
            for metric, column in zip(METRICS, ("goodput", "throughput", "fct", "utilization"), strict=True):
                is_it = (pl.col("metric") == metric) & (pl.col("effect") == effect) & (pl.col("keys") == size)
                p_value = published.filter(is_it)["ours"][0]
                ours = "-"
                if p_value is not None and p_value < ALPHA:
                    factors = effect.split(" x ")
                    by = frame.filter(pl.col("size") == size).group_by(factors, maintain_order=True)
                    levels = by.agg(pl.col(metric).mean()).sort(metric, descending=metric != "closed")
                    ours = " ".join(WORDS[level] for level in levels.row(0)[:-1])
                published_best = their[column][0] if their.height and their[column][0] else "-"
                for label, word in LABELS.items():
                    published_best = published_best.replace(label, word)
                cells.append(f"{published_best} / {ours}")
            yield f"| {network} | {cluster} | {WORDS[effect]} | " + " | ".join(cells) + " |"


def means(network: str, results: Results) -> Iterator[str]:
    """A row per cluster and configuration: means over the repeats with half of the 95 % interval."""
    keys = [SIZE[network], "load_balance.kind", "receive.kind"]
    keys += ["transport.rack"] if "transport.rack" in results.swept else []
    names = ("goodput", "throughput", "closed", "path_share", "path_evenness", "excess")
    frame = results.numbers(names)
    for values, part in frame.group_by(keys, maintain_order=True):
        cluster = CLUSTERS[network][str(values[0])]
        transport = "TCP" if len(keys) > 3 else "MPTCP"
        host = "RACK" if len(keys) > 3 and values[3] else WORDS[str(values[2])]
        formats = ((1e-6, 2), (1e-6, 2), (1e-6, 1), (1, 3), (1, 3), (100, 2))
        cells = [_mean(part[name], *shape) for name, shape in zip(names, formats, strict=True)]
        yield f"| {network} | {cluster} | {WORDS[str(values[1])]}, {transport}, {host} | " + " | ".join(cells) + " |"


def excess(network: str, published: pl.DataFrame, transport: str) -> Iterator[str]:
    """Table 5.3: published, ours with interval."""
    for row in published.filter((pl.col("metric") == "excess") & pl.col("ours").is_not_null()).iter_rows(named=True):
        size = next(size for size in CLUSTERS[network] if size in row["keys"])
        switch = next(WORDS[key] for key in ("static", "ecmp", "spray") if key in row["keys"])
        half = 100 * (row["ours_high"] - row["ours"])
        yield (
            f"| {network} | {CLUSTERS[network][size]} | {switch}, {transport} | {100 * row['published']:.2f} | "
            f"{100 * row['ours']:.2f} ± {half:.2f} |"
        )


def hashes(network: str, results: Results) -> Iterator[str]:
    """The right hash, the published one and spraying: means with half of the 95 % interval."""
    names = ("goodput", "closed", "path_share", "path_evenness", "excess")
    words = {"crc16": "ECMP", "as_published": "ECMP as published", None: "PS"}
    frame = results.numbers(names)
    for (size, kind), part in frame.group_by([SIZE[network], "load_balance.hash"], maintain_order=True):
        formats = ((1e-6, 2), (1e-6, 1), (1, 3), (1, 3), (100, 2))
        cells = [_mean(part[name], *shape) for name, shape in zip(names, formats, strict=True)]
        yield f"| {network} | {CLUSTERS[network][size]} | {words[kind]} | " + " | ".join(cells) + " |"


def variants(network: str, results: Results) -> Iterator[str]:
    """What full.toml adds, short transfers: a row per cell; `core_balance.max` is the busiest core over the mean."""
    names = ("goodput", "closed", "path_share", "excess", "core_balance.max")
    formats = ((1e-6, 2), (1e-6, 1), (1, 3), (100, 2), (1, 2))
    said = ("load_balance.kind", "transport.path_manager", "congestion.kind", "receive.kind", "receive.inseq_timeout")
    keys = [key for key in said if key in results.swept]
    frame = results.numbers(names)
    for values, part in frame.filter(pl.col(SIZE[network]) == "500 KiB").group_by(keys, maintain_order=True):
        cells = [_mean(part[name], *shape) for name, shape in zip(names, formats, strict=True)]
        cell = ", ".join(WORDS.get(str(value), str(value)) for value in values if value is not None)
        yield f"| {network} | {cell} | " + " | ".join(cells) + " |"


def _mean(values: pl.Series, scale: float, digits: int) -> str:
    """Mean ± half of the 95 % interval."""
    found = mean_interval(values.to_list())
    half = 0.0 if found.high is None else found.high - found.mean
    return f"{scale * found.mean:.{digits}f} ± {scale * half:.{digits}f}"


def preliminary(results: Results) -> Iterator[str]:
    """The preliminary test: who, published, ours, deviation."""
    for row in results.published.iter_rows(named=True):
        scale, unit = (1e-6, "Mb/s") if row["metric"] == "goodput" else (1e-6, "ms")
        published, ours = (scale * row[name] for name in ("published", "ours"))
        yield f"| {row['cell'] or row['keys']} | {published:.2f} {unit} | {ours:.2f} {unit} | {row['deviation']:+.1%} |"


def main(folder: Path) -> None:
    """Print every table of the results in a folder of the study."""
    for network in CLUSTERS:
        results, controls = Results(folder / network), Results(folder / f"{network}_tcp")
        published = results.published
        for title, rows in (
            ("5.1", p_values(network, published)),
            ("5.2", best(network, results, published)),
            ("means", [*means(network, results), *means(network, controls)]),
            ("hashes", hashes(network, Results(folder / f"{network}_hash"))),
            ("5.3", [*excess(network, controls.published, "TCP"), *excess(network, published, "MPTCP")]),
        ):
            print(f"\n{network}: {title}", *rows, sep="\n")
        for name in ("managers", "timeouts", "k6"):
            if (folder / f"{network}_{name}").is_dir():
                print(f"\n{network}: {name}", *variants(network, Results(folder / f"{network}_{name}")), sep="\n")
    for name in ("two_paths", "two_paths_page"):
        print(f"\n{name}", *preliminary(Results(folder / name)), sep="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
