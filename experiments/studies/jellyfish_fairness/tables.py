"""The tables of README.md, printed from the results of the study as Markdown rows.

    weft run experiments/studies/jellyfish_fairness
    weft run experiments/studies/jellyfish_fairness/full.toml
    weft run experiments/studies/jellyfish_fairness/table_1.toml
    python experiments/studies/jellyfish_fairness/tables.py out/jellyfish_fairness/quick out/full out/table_1

The published numbers beside ours are `[[published]]` of the experiments; `weft show` prints them too.
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

import weft
from weft.results import Results
from weft.scenario import Scenario
from weft.statistics import mean_interval

HOPS = (2, 3, 4, 5, 6)
WORDS = {"fat_tree": "fat tree", "jellyfish": "Jellyfish"}


def shares(results: Results) -> Iterator[str]:
    """Hosts, fabric and traffic; goodput share and Jain index with 95 % intervals, and the mean of the bounds."""
    runs = results.numbers(("goodput_share", "fairness"))
    for cell in runs.partition_by("cell", maintain_order=True):
        experiments = [results.manifests[run]["experiment"] for run in cell["run"]]
        bounds = [bound(experiment, seed) for experiment, seed in zip(experiments, cell["seed"], strict=True)]
        yield row(
            hosts(experiments[0]),
            fabric(experiments[0]),
            traffic(experiments[0]),
            f"{interval(100 * cell['goodput_share'], 1)} %",
            interval(cell["fairness"], 3),
            f"{100 * sum(bounds) / len(bounds):.1f} %",
        )


def published(results: Results) -> Iterator[str]:
    """Fabric and traffic; the published number, and ours with its 95 % interval."""
    for entry in results.published.iter_rows(named=True):
        run = results.numbers(("goodput_share",)).filter(pl.col("cell") == entry["cell_number"])["run"][0]
        experiment = results.manifests[run]["experiment"]
        half = (entry["ours_high"] - entry["ours_low"]) / 2
        if entry["metric"] == "goodput_share":
            told = f"{100 * entry['published']:.1f} %", f"{100 * entry['ours']:.1f} ± {100 * half:.1f} %"
        else:
            told = f"Jain index {entry['published']:.2f}", f"{entry['ours']:.3f} ± {half:.3f}"
        yield row(fabric(experiment), traffic(experiment), *told)


def reach(results: Results) -> Iterator[str]:
    """Hosts and fabric; share of the other hosts within so many links."""
    table = results.figure("reach", by="topology.kind").tables["table"]
    sizes = {one["experiment"]["topology"]["kind"]: hosts(one["experiment"]) for one in results.manifests.values()}
    for (kind,), part in table.group_by("group", maintain_order=True):
        steps = dict(part.select("hops", "share").iter_rows())
        last = max(steps)
        yield row(sizes[str(kind)], WORDS[str(kind)], *(f"{100 * steps.get(hop, steps[last]):.1f} %" for hop in HOPS))


def fabric(experiment: dict[str, Any]) -> str:
    """The fabric, and on a Jellyfish its paths."""
    kind, routing = experiment["topology"]["kind"], experiment["routing"]
    if kind == "fat_tree":
        return WORDS[kind]
    paths = f"{routing['k']} shortest paths" if routing["kind"] == "k_shortest" else "shortest paths"
    return f"{WORDS[kind]}, {paths}"


def traffic(experiment: dict[str, Any]) -> str:
    """One flow, several that know nothing of each other, or MPTCP."""
    subflows = experiment["transport"].get("subflows", 1)
    if subflows == 1:
        return "TCP"
    return "MPTCP" if experiment["congestion"]["kind"] == "lia" else f"{subflows} flows of TCP"


def hosts(experiment: dict[str, Any]) -> int:
    """How many hosts the fabric has."""
    topology = experiment["topology"]
    return int(topology["k"] ** 3 / 4 if topology["kind"] == "fat_tree" else topology["hosts"])


def bound(experiment: dict[str, Any], seed: int) -> float:
    """Mean rate over the card's under max-min fairness over a run's own paths, headers included."""
    loaded = weft.load({key: value for key, value in experiment.items() if key not in ("report", "published", "sweep")})
    spec = loaded.spec(next(loaded.cells())) | {"seed": seed}
    rates = Scenario(spec).max_min(spec["transport"].get("subflows", 1))
    return sum(rates) / len(rates) / spec["topology"]["link"]["rate"]


def interval(values: Iterable[float], digits: int) -> str:
    """Mean and half of the 95 % interval."""
    found = mean_interval(list(values))
    return f"{found.mean:.{digits}f} ± {found.mean - found.low:.{digits}f}"


def row(*cells: object) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def main(directories: list[str]) -> None:
    """Print every table of the folders."""
    for directory in directories:
        results = Results(Path(directory))
        for table in (shares, published, reach):
            print(f"\n{directory}: {table.__name__}\n")
            print("\n".join(table(results)))


if __name__ == "__main__":
    main(sys.argv[1:])
