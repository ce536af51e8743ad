"""Large sweeps: the page stays small because what is drawn is aggregated first."""

import re
from pathlib import Path

from synthetic import write_large

from weft.report import write_report
from weft.report.figure import FIGURES, Ask
from weft.report.folder import read_folder
from weft.results import Results

MB = 1_000_000


def test_a_page_of_two_thousand_cells_is_small(tmp_path: Path) -> None:
    axes = {
        "topology.k": list(range(4, 24)),
        "queue.capacity": [f"{2**power} packets" for power in range(10)],
        "load_balance.kind": ["ecmp", "spray", "static", "flowlet", "pinned"],
        "congestion.kind": ["reno", "cubic"],
    }
    told: list[tuple[str, int, int]] = []
    directory = write_large(tmp_path / "x", axes, 1)
    page = write_report(directory, figures=False, tell=lambda *done: told.append(done))
    # The cells of the plan times what a row of a table takes: a few megabytes, far below 20.
    assert page.stat().st_size < 6 * MB
    html = page.read_text()
    assert html.count("<tr>") < 2000
    assert "The first 200 of 2,000 cells" in html
    assert (directory / "tables" / "results.csv").read_text().count("\n") == 1 + 2000
    assert (directory / "tables" / "runs.csv").read_text().count("\n") == 1 + 2000
    # The person sees how far it is, and the tables of every run are read in one pass.
    assert [what for what, done, of in told if (done, of) == (1999, 2000)][:2] == ["manifests", "runs"]


def test_two_million_flows_are_drawn_as_a_few_thousand_points(tmp_path: Path) -> None:
    axes = {"queue.capacity": [f"{size} packets" for size in range(1, 11)], "load_balance.kind": ["ecmp", "spray"]}
    directory = write_large(tmp_path / "x", axes, 10, flows=10_000)
    folder = read_folder(directory)
    for asked in (
        Ask("box", y="fct", x="queue.capacity", by="load_balance.kind"),
        Ask("ecdf", y="fct", by="load_balance.kind", facet="queue.capacity"),
        Ask("rank", y="goodput", by="load_balance.kind"),
    ):
        figure = FIGURES[asked.figure].draw(folder, asked)
        assert sum(len(figure.csv(table)) for table in figure.tables) < MB / 2
    assert re.search(r"2,000,000 flows in 200 runs", FIGURES["box"].draw(folder, Ask("box", y="fct")).caption)


def test_results_of_many_runs_are_read_once_and_joined_once(tmp_path: Path, monkeypatch) -> None:
    import polars as pl

    directory = write_large(tmp_path / "x", {"topology.k": list(range(4, 104))}, 2)
    read: list[str] = []
    plain = pl.read_parquet
    monkeypatch.setattr(pl, "read_parquet", lambda path: (read.append(str(path)), plain(path))[1])
    results = Results(directory)
    table = results.table(("goodput", "fct", "fct.p99", "slowdown"))
    assert table.height == 100
    assert sum(name.endswith("flows.parquet") for name in read) == 200
    results.values("fct.p99")
    assert sum(name.endswith("flows.parquet") for name in read) == 200
    assert results.flows["run"].n_unique() == 200
