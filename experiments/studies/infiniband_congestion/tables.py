"""The tables of README.md, printed from the results of the study as Markdown.

    weft run experiments/studies/infiniband_congestion
    python experiments/studies/infiniband_congestion/tables.py out/infiniband_congestion

The published numbers beside ours are `[[published]]` of the experiments; what is done here is to lay them out as the
thesis does: tables 5.1 to 5.6, with what it expected before its runs. Rates are in MB/s, 1 MB = 10^6 bytes.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from weft.metric.spans import of_span
from weft.results import Results, RunTables

SENDERS = ("H1", "H2", "H3", "H5")
WHOLE = 2500.0
"""MB/s into H4 and H3 without control, in the thesis as here: what its "total improvement" is a share of."""

EXPECTED_OFF = {"H1": 500, "H2": 1000, "H3": 500, "H5": 500, "H4": 2000}
EXPECTED_ON = {"H1": 667, "H2": 667, "H3": 667, "H5": 2000, "H4": 2000}
"""What the thesis expected before its runs: halves and quarters of 2000 MB/s, then thirds, and H5 its full rate."""

THESIS_OFF = {"H1": 500, "H2": 1000, "H3": 500, "H5": 500, "H4": 2000}
THESIS_ON = {"H1": 667, "H2": 667, "H3": 667, "H5": 1650, "H4": 2000}
DOUBLED = {
    "H1 alone": (1620, 2670),
    "H1, two senders": (1000, 1700),
    "H1, three senders": (500, 850),
    "H2": (1000, 1700),
    "H3": (500, 850),
    "H5": (500, 850),
    "H4": (2000, 3400),
    "H5, with control": (1650, 2600),
}
"""Table 5.2 as the text has its numbers: without control at 20 and at 40 Gb/s, and the victim with control."""

GRID = {(2, 20): 2000, (2, 80): 1475, (2, 120): 1100, (4, 20): 2000, (8, 20): 1925, (8, 40): 1600, (8, 80): 1100}
GRID |= {(10, 20): 1900}
"""MB/s into H4 with three senders, by threshold and timer in us."""

VICTIM = 1650


def rates(tables: RunTables, begin: str, end: str = "") -> dict[str, float]:
    """MB/s of each sender between two times, or starts of flows, and of H4, which H1, H2 and H3 send to."""
    flows = of_span(tables, begin, end, "goodput")["flows"]
    found = {src: value / 8e6 for src, value in flows.select("src", "goodput_bps").rows()}
    return found | {"H4": sum(found[src] for src in SENDERS[:3])}


def runs(folder: Path, file: str, *keys: str) -> dict[tuple[str, ...], RunTables]:
    """The runs of one file by the values of some swept keys."""
    results = Results(folder / file)
    found = {}
    for name, manifest in results.manifests.items():
        swept: Mapping[str, object] = manifest["swept"]
        values = (swept[key] if key in swept else manifest["experiment"][key]["kind"] for key in keys)
        found[tuple(str(value) for value in values)] = results.tables(name)
    return found


def table_5_1(folder: Path) -> Iterator[str]:
    """Throughput by node, all four sending, without and with control."""
    cells = runs(folder, "speeds", "topology.link.rate", "congestion.kind")
    sides = (
        (rates(cells["16 Gbps", "none"], "H5"), EXPECTED_OFF, THESIS_OFF),
        (rates(cells["16 Gbps", "infiniband"], "H5"), EXPECTED_ON, THESIS_ON),
    )
    yield "| | off: expected | thesis | ours | on: expected | thesis | ours |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for node in (*SENDERS, "H4"):
        cells_of = [f"{expected[node]} | {thesis[node]} | {ours[node]:.0f}" for ours, expected, thesis in sides]
        yield f"| {node} | {' | '.join(cells_of)} |"


def table_5_2(folder: Path) -> Iterator[str]:
    """What doubled host links bring."""
    cells = runs(folder, "speeds", "topology.link.rate", "congestion.kind")
    yield "| | thesis: 20 Gb/s | 40 Gb/s | ratio | ours: 20 Gb/s | 40 Gb/s | ratio |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    spans = {"H1 alone": ("", "H2"), "H1, two senders": ("H2", "H3")}
    for name, (slow, fast) in DOUBLED.items():
        kind = "infiniband" if "control" in name else "none"
        begin, end = spans.get(name, ("H5", ""))
        node = name[:2]
        ours = [rates(cells[rate, kind], begin, end)[node] for rate in ("16 Gbps", "32 Gbps")]
        theirs = f"{slow} | {fast} | {100 * fast / slow:.0f} %"
        yield f"| {name} | {theirs} | {ours[0]:.0f} | {ours[1]:.0f} | {100 * ours[1] / ours[0]:.0f} % |"


def grid(folder: Path, wanted: list[tuple[int, int]]) -> Iterator[str]:
    """Tables 5.3 to 5.6: H4 with three senders, H3, which H5 sends to, and the total improvement."""
    cells = runs(folder, "grid", "congestion.threshold", "congestion.ccti_timer")
    yield "| Threshold | CCTI_Timer | H4: thesis | ours | deviation | H3: thesis | ours | total: thesis | ours |"
    yield "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for weight, timer in wanted:
        tables = cells[str(weight), f"{timer} us"]
        h4, h3 = rates(tables, "H3")["H4"], rates(tables, "H5")["H5"]
        total = f"{100 * (h4 + h3) / WHOLE:.0f} %"
        theirs = GRID.get((weight, timer))
        head = f"| {weight} | {timer} us |"
        if theirs is None:
            yield f"{head} | {h4:.0f} | | | {h3:.0f} | | {total} |"
        else:
            whole = f"{100 * (theirs + VICTIM) / WHOLE:.0f} %"
            yield f"{head} {theirs} | {h4:.0f} | {h4 / theirs - 1:+.1%} | {VICTIM} | {h3:.0f} | {whole} | {total} |"


def shares(folder: Path) -> Iterator[str]:
    """What each of the three got while all four sent, the two before, and the deviation over all cells."""
    cells = runs(folder, "grid", "congestion.threshold", "congestion.ccti_timer")
    yield "| Threshold | CCTI_Timer | two senders: H1 | H2 | H4 | all: H1 | H2 | H3 | H5 |"
    yield "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for (weight, timer), tables in cells.items():
        two, all_ = rates(tables, "H2", "H3"), rates(tables, "H5")
        values = (two["H1"], two["H2"], two["H1"] + two["H2"], *(all_[src] for src in SENDERS))
        yield f"| {weight} | {timer} | " + " | ".join(f"{value:.0f}" for value in values) + " |"


def all_tables(folder: Path) -> dict[str, list[str]]:
    """Every table of the page, by its heading."""
    whole = [(weight, timer) for weight in (2, 4, 8, 10) for timer in (20, 40, 80, 120)]
    return {
        "Table 5.1": list(table_5_1(folder)),
        "Table 5.2": list(table_5_2(folder)),
        "Tables 5.3 to 5.6": list(grid(folder, whole)),
        "Shares": list(shares(folder)),
    }


if __name__ == "__main__":
    for title, lines in all_tables(Path(sys.argv[1])).items():
        print(f"\n{title}\n", *lines, sep="\n")
