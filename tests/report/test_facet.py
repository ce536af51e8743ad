"""Small multiples and axes of swept values, on numbers known beforehand."""

import json
from pathlib import Path

import pytest
from synthetic import write_large

from weft.errors import ResultsError
from weft.report.choose import over_axes
from weft.report.figure import FIGURES, Ask
from weft.report.figure.drawing import Figures
from weft.report.figure.facet import MOST_FACETS
from weft.report.folder import Folder, read_folder

THREE = {
    "queue.capacity": ["10 packets", "20 packets", "40 packets"],
    "load_balance.kind": ["ecmp", "spray"],
    "congestion.kind": ["reno", "cubic", "dctcp"],
}


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """Three axes, two repeats."""
    return read_folder(write_large(tmp_path_factory.mktemp("three") / "results", THREE, 2))


@pytest.mark.parametrize(
    "asked",
    [
        Ask("box", y="fct", x="queue.capacity", by="load_balance.kind", facet="congestion.kind"),
        Ask("bar", y="goodput", x="queue.capacity", by="load_balance.kind", facet="congestion.kind"),
        Ask("line", y="goodput", x="queue.capacity", by="load_balance.kind", facet="congestion.kind"),
        Ask("ecdf", y="fct", by="load_balance.kind", facet="congestion.kind"),
        Ask("rank", y="goodput", by="load_balance.kind", facet="congestion.kind"),
        Ask("heat", y="goodput", x="queue.capacity", by="load_balance.kind", facet="congestion.kind"),
        Ask("ecdf", y="fct", facet="congestion.kind"),
        Ask("bar", y="fct.p99", facet="congestion.kind"),
    ],
    ids=lambda asked: f"{asked.figure}-{asked.x}-{asked.by}",
)
def test_each_value_has_a_chart_with_the_same_axes(three: Folder, asked: Ask) -> None:
    figure = FIGURES[asked.figure].draw(three, asked)
    spec = figure.sized(976)
    assert [panel["title"] for panel in spec["concat"]] == ["reno", "cubic", "dctcp"]
    assert spec["columns"] == 3
    assert spec["resolve"]["scale"]["y"] == "shared"
    table = next(iter(figure.tables.values()))
    assert table["facet"].unique(maintain_order=True).to_list() == ["reno", "cubic", "dctcp"]
    # Titles of axes stand at the left and below, not in every chart.
    last = spec["concat"][-1]
    layer = last.get("layer", [last])[0]
    assert layer["encoding"]["y"]["title"] is None
    assert figure.svg().count("<path") > 20


def test_a_point_is_the_mean_of_its_cell_alone_and_names_it(three: Folder) -> None:
    asked = Ask("line", y="goodput", x="queue.capacity", by="load_balance.kind", facet="congestion.kind")
    table = FIGURES["line"].draw(three, asked).tables["table"]
    row = table.filter(
        (table["word"] == "20 packets") & (table["group"] == "spray") & (table["facet"] == "cubic")
    ).to_dicts()[0]
    [cell] = [cell for cell in three.cells if list(cell.keys.values()) == ["20 packets", "spray", "cubic"]]
    means = [run.tables["flows"]["goodput_bps"].mean() for run in cell.runs]
    assert row["goodput_Mbps"] == pytest.approx(sum(means) / 2 / 1e6)
    assert (row["cells"], row["runs"]) == (cell.number, 2)


def test_rows_of_small_charts_are_even(three: Folder) -> None:
    figure = FIGURES["ecdf"].draw(three, Ask("ecdf", y="fct", by="load_balance.kind", facet="cell"))
    # 18 cells are thinned to 12 charts: four in a row on a wide page, one on a telephone.
    assert len(figure.sized(976)["concat"]) == MOST_FACETS
    assert (figure.sized(976)["columns"], figure.sized(390)["columns"]) == (4, 1)
    assert "12 of 18 values of cell are drawn" in figure.caption
    assert figure.sized(1160)["columns"] == 4  # five would fit, and leave two in the last row


@pytest.mark.parametrize(
    ("values", "scale", "labels"),
    [
        (["10 packets", "20 packets", "40 packets"], "log", '["10", "20", "40"]'),
        (["500 Mbps", "1 Gbps", "2 Gbps"], "log", '["500 Mbps", "1 Gbps", "2 Gbps"]'),
        ([10, 20, 30], None, '["10", "20", "30"]'),
        (["64 KiB", "1 MiB", "512 KiB"], None, '["64 KiB", "512 KiB", "1 MiB"]'),
    ],
)
def test_swept_numbers_are_an_axis_in_one_unit(
    tmp_path: Path, values: list[object], scale: str | None, labels: str
) -> None:
    folder = read_folder(write_large(tmp_path / "x", {"topology.link.x": values}, 2))
    figure = FIGURES["line"].draw(folder, Ask("line", y="goodput", x="topology.link.x"))
    [layer, *_] = figure.spec["layer"]
    x = layer["encoding"]["x"]
    assert x["scale"].get("type") == scale
    assert x["axis"]["labelExpr"].startswith(labels)
    assert x["axis"]["values"] == sorted(x["axis"]["values"])


def test_words_on_a_line_stay_words(tmp_path: Path) -> None:
    folder = read_folder(write_large(tmp_path / "x", {"queue.kind": ["red", "drop_tail"]}, 1))
    figure = FIGURES["line"].draw(folder, Ask("line", y="goodput", x="queue.kind"))
    assert figure.spec["encoding"]["x"]["sort"] == ["red", "drop_tail"]


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        ({}, []),
        ({"queue.kind": ["red", "drop_tail"]}, [("bar", "queue.kind", None, None)]),
        ({"topology.k": [4, 8, 16]}, [("line", "topology.k", None, None)]),
        ({"topology.k": [4, 8, 16], "queue.kind": ["red", "drop_tail"]}, [("line", "topology.k", "queue.kind", None)]),
        (
            {"topology.k": list(range(2, 12)), "workload[0].degree": list(range(1, 10))},
            [("heat", "topology.k", "workload[0].degree", None)],
        ),
        (THREE, [("line", "queue.capacity", "congestion.kind", "load_balance.kind")]),
        (
            {"a.x": [1, 2, 3], "b.kind": ["p", "q"], "c.kind": ["r", "s"], "d.kind": ["t", "u"]},
            [("line", "a.x", "c.kind", "b.kind")],
        ),
    ],
)
def test_a_sweep_that_asks_for_nothing_is_shown_over_its_axes(
    tmp_path: Path, axes: dict[str, list[object]], expected: list[tuple[str, str, str | None, str | None]]
) -> None:
    asks = over_axes(read_folder(write_large(tmp_path / "x", axes, 1)))
    assert [asked.y for asked in asks] == ["goodput", "fct.p99"] * bool(expected)
    assert [(asked.figure, asked.x, asked.by, asked.facet) for asked in asks[:1]] == expected


def test_axes_that_go_together_are_one_and_a_section_of_tables_is_a_key(tmp_path: Path) -> None:
    directory = write_large(tmp_path / "x", {"transport.kind": ["tcp", "udp"], "transport.rate": ["1 Gbps"]}, 1)
    manifest = json.loads((directory / "manifest.json").read_text())
    manifest["experiment"]["sweep"] = {
        "repeats": 1,
        "transport": [{"kind": "tcp", "rate": "1 Gbps"}, {"kind": "udp", "rate": "1 Gbps"}],
    }
    (directory / "manifest.json").write_text(json.dumps(manifest))
    folder = read_folder(directory)
    [asked, _] = over_axes(folder)
    assert (asked.figure, asked.x) == ("bar", "transport")
    places = FIGURES["bar"].draw(folder, asked).tables["table"]["place"].to_list()
    # What all tables have alike is not said.
    assert places == ["tcp", "udp"]


def test_a_figure_shows_itself_in_a_notebook_and_is_saved_by_its_ending(three: Folder, tmp_path: Path) -> None:
    figure = FIGURES["ecdf"].draw(three, Ask("ecdf", y="fct", by="load_balance.kind"))
    bundle = figure._repr_mimebundle_()
    assert set(bundle) == {"text/html", "image/svg+xml", "text/plain"}
    assert bundle["image/svg+xml"].startswith("<svg")
    assert "<script" not in bundle["text/html"]
    assert figure.save(tmp_path / "x.svg").read_text().startswith("<svg")
    assert figure.save(tmp_path / "x.png", scheme="dark").read_bytes().startswith(b"\x89PNG")
    assert figure.save(tmp_path / "x.csv").read_text() == figure.csv()
    with pytest.raises(ResultsError, match=r"a figure is not saved as \.pdf; name it \.svg, \.png or \.csv"):
        figure.save(tmp_path / "x.pdf")
    assert Figures([figure])["ecdf-fct-load-balance-kind"] is figure
    with pytest.raises(ResultsError, match="no figure x; there are ecdf-fct-load-balance-kind"):
        Figures([figure])["x"]
