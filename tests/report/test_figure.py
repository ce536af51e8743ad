"""Figures: what is aggregated before it is drawn, checked on numbers known beforehand."""

import json
from pathlib import Path

import polars as pl
import pytest
from synthetic import fat_tree, write_folder

import weft
from weft.errors import ExperimentError, ResultsError
from weft.report.choose import choose
from weft.report.figure import FIGURES, Ask, ask
from weft.report.figure.ecdf import staircase
from weft.report.figure.rank import by_rank
from weft.report.figure.series import binned
from weft.report.folder import read_folder


def test_ecdf_is_the_share_of_values_at_most_this():
    steps = staircase(pl.Series([1.0, 2.0, 2.0, 5.0]), 100)
    assert steps.rows() == [(1.0, 0.0), (1.0, 0.25), (2.0, 0.5), (2.0, 0.75), (5.0, 1.0)]


def test_a_thinned_ecdf_keeps_its_ends_and_its_quantiles():
    values = pl.Series([float(i) for i in range(1, 10_001)])
    steps = staircase(values, 250)
    assert steps.height <= 251
    assert steps.row(0) == (1.0, 0.0)
    assert steps.row(-1) == (10_000.0, 1.0)
    # Of the numbers 1..n, a share s is at most s n.
    assert (steps["value"][1:] / 10_000 - steps["share"][1:]).abs().max() == pytest.approx(0.0, abs=1e-12)


def test_rank_averages_over_repeats_rank_by_rank():
    table, is_thinned = by_rank([pl.Series([2.0, 18.0]), pl.Series([14.0, 6.0, 1.0])])
    assert not is_thinned
    assert table.select("rank", "mean", "runs").rows() == [(1, 16.0, 2), (2, 4.0, 2), (3, 1.0, 1)]
    # 14 and 18: mean 16, s = 2 sqrt 2, t(1) = 12.7062, so 16 -+ 12.7062 x 2.
    assert table["low"][0] == pytest.approx(16 - 12.7062 * 2, abs=1e-3)
    assert table["low"][2] is None


def test_many_ranks_are_thinned_with_both_ends_kept():
    table, is_thinned = by_rank([pl.Series([float(i) for i in range(1000)])])
    assert is_thinned
    assert table.height <= 200
    assert (table["mean"][0], table["mean"][-1]) == (999.0, 0.0)


def test_a_long_series_is_binned_in_equal_steps_of_time():
    series = pl.DataFrame({"time_ns": range(0, 10_000, 10), "value": [float(i % 10) for i in range(1000)]})
    thin, is_thinned = binned(series, pl.col("value").max())
    assert is_thinned
    assert thin.height <= 300
    whole, is_thinned = binned(series.head(300), pl.col("value").mean())
    assert (whole.height, is_thinned) == (300, False)


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (
            {"figure": "pie"},
            'report.figure: unknown "pie"; there are box, bar, line, ecdf, rank, heat, reach, fabric, series',
        ),
        ({"y": "goodput"}, 'report.figure: unknown ""'),
        ({"figure": "ecdf"}, 'report.y: the figure "ecdf" needs it'),
        ({"figure": "ecdf", "y": "fct", "x": "k"}, 'report.x: the figure "ecdf" does not have it'),
        ({"figure": "ecdf", "why": "fct"}, "report.why: no such key; there are figure, y, x, by, facet, title"),
        ({"figure": "ecdf", "y": 3}, "report.y: expected text, got 3"),
    ],
)
def test_an_entry_that_cannot_be_drawn_says_why(entry: dict[str, object], text: str):
    with pytest.raises(ResultsError) as error:
        ask(entry, FIGURES)
    assert text in str(error.value)


def test_a_metric_that_does_not_exist_is_refused_with_those_that_do(single: Path):
    folder = read_folder(single)
    with pytest.raises(ResultsError, match="flows.speed: no such column"):
        FIGURES["ecdf"].draw(folder, Ask("ecdf", y="speed"))
    with pytest.raises(ResultsError, match='unknown "goodput.p98"; metrics are goodput, goodput_share'):
        FIGURES["bar"].draw(folder, Ask("bar", y="goodput.p98"))
    with pytest.raises(ResultsError, match='no key "colour"; swept are nothing'):
        FIGURES["bar"].draw(folder, Ask("bar", y="goodput", x="colour"))


def test_every_experiment_gets_its_figures_and_its_own_come_first(swept: Path):
    figures, not_drawn = choose(read_folder(swept))
    assert [figure.name for figure in figures] == [
        "box-goodput-bps-load-balance-kind",
        "bar-fct-p99-load-balance-kind",
        "line-fairness-load-balance-kind",
        "heat-goodput-load-balance-kind-topology-k",
        "ecdf-fct-load-balance-kind",
        "ecdf-fct",
        "ecdf-slowdown",
        "rank-goodput",
        "fabric",
        "series-goodput",
        "series-queue",
        "series-cwnd",
        "series-srtt",
    ]
    assert list(not_drawn) == ["[[report]] figure pie, y goodput"]


def test_what_was_not_sampled_is_named_and_not_drawn(single: Path):
    figures, not_drawn = choose(read_folder(single))
    assert [figure.name for figure in figures] == ["ecdf-fct", "ecdf-slowdown", "rank-goodput", "fabric"]
    assert not_drawn["queue over time"] == "queue was not sampled; set `every` (and `metrics`) under [measure]"


@pytest.mark.parametrize("name", ["swept", "single"])
def test_every_figure_draws_without_a_browser(name: str, request: pytest.FixtureRequest):
    import vl_convert

    from weft.report.theme import config

    for figure in choose(read_folder(request.getfixturevalue(name)))[0]:
        for scheme in ("light", "dark"):
            svg = vl_convert.vegalite_to_svg(figure.sized(700), config=config(scheme))
            assert svg.count("<path") > 10, figure.name


def test_a_figure_is_as_wide_as_asked_and_panels_go_side_by_side(swept: Path):
    fabric = FIGURES["series"].draw(read_folder(swept), Ask("series", y="cwnd"))
    assert fabric.sized(500)["columns"] == 1
    assert fabric.sized(1000)["columns"] == 2
    assert fabric.sized(1000)["concat"][0]["width"] < 500


def test_the_table_behind_the_fabric_holds_every_link_of_every_cell(swept: Path):
    figure = FIGURES["fabric"].draw(read_folder(swept), Ask("fabric"))
    links = figure.tables["links"]
    assert links.group_by("cell").len()["len"].to_list() == [96, 96, 96]
    assert links["utilization"].is_between(0, 1).all()
    assert figure.tables["nodes"].height == 3 * len(fat_tree(4)[0])
    assert figure.csv("links").splitlines()[0] == "cell,link,utilization,x,y,x2,y2"


def test_more_cells_than_fit_are_thinned_and_the_caption_says_so(tmp_path: Path):
    many = write_folder(tmp_path, balances=tuple(f"kind{i}" for i in range(12)), repeats=1, samples=False)
    figure = FIGURES["ecdf"].draw(read_folder(many), Ask("ecdf", y="fct"))
    drawn = figure.tables["table"]["group"].unique(maintain_order=True).to_list()
    assert (len(drawn), drawn[0], drawn[-1]) == (8, "kind0", "kind11")
    assert "8 of 12 cells are drawn, evenly spaced in the order of the plan." in figure.caption


def test_specifications_hold_no_data_and_no_address(swept: Path):
    for figure in choose(read_folder(swept))[0]:
        text = json.dumps({key: value for key, value in figure.spec.items() if key != "$schema"})
        assert "http" not in text
        assert '"values": [{' not in text


def test_keys_with_dots_and_brackets_are_labels_not_paths(swept: Path):
    import vl_convert

    from weft.report.theme import config

    folder = read_folder(swept)
    for kind, y in (("ecdf", "fct"), ("rank", "goodput")):
        figure = FIGURES[kind].draw(folder, Ask(kind, y=y, by="load_balance.kind"))
        assert figure.tables["table"]["group"].unique(maintain_order=True).to_list() == ["static", "ecmp", "spray"]
        svg = vl_convert.vegalite_to_svg(figure.sized(700), config=config("light"))
        assert all(colour in svg for colour in ("#0072b2", "#d55e00", "#009e73"))
    boxes = FIGURES["bar"].draw(folder, Ask("bar", y="goodput", x="workload[0].size")).tables["table"]
    assert boxes["place"].to_list() == ["25 MiB"]


def test_a_figure_that_takes_cells_together_says_so(swept: Path):
    folder = read_folder(swept)
    told_apart = FIGURES["bar"].draw(folder, Ask("bar", y="goodput", x="load_balance.kind"))
    together = FIGURES["bar"].draw(folder, Ask("bar", y="goodput", x="topology.k"))
    assert "together" not in told_apart.caption
    assert "Takes all values of load_balance.kind together, so the spread holds their differences." in together.caption


def test_what_was_sampled_of_flows_is_summed_by_their_ends(tmp_path: Path):
    # Two senders of 400 kb/s to one receiver, the second of them from the middle on.
    results = weft.run(
        {
            "topology": {"kind": "star", "hosts": 3, "link": {"rate": "1 Mbps", "delay": "10 us", "overhead": 0}},
            "transport": {"kind": "udp", "rate": "400 kbps"},
            "backend": {"until": "4 s"},
            "workload": [
                {"kind": "pairs", "pairs": ["h0>h1"]},
                {"name": "later", "kind": "pairs", "pairs": ["h2>h1"], "start": "2 s"},
            ],
            "measure": {"every": "500 ms", "metrics": ["goodput"]},
        }
    )
    payload = 400 * 1472 / 1500
    received = results.figure("series", y="goodput", by="dst").tables["table"]
    assert received["name"].unique().to_list() == ["h1"] and received.height == 8
    values = received.sort(received.columns[-2])[received.columns[-1]].to_list()
    assert values == [pytest.approx(payload * (1 if place < 4 else 2), rel=0.05) for place in range(8)]
    sent = results.figure("series", y="goodput", by="src")
    assert sorted(sent.tables["table"]["name"].unique()) == ["h0", "h2"] and "<svg" in sent.svg()
    with pytest.raises(ExperimentError, match="samples are drawn by src, dst, workload"):
        weft.load(SERIES | {"report": [{"figure": "series", "y": "goodput", "by": "topology.kind"}]})


SERIES = {
    "topology": {"kind": "star", "hosts": 3},
    "workload": [{"kind": "pairs", "pairs": ["h0>h1"], "size": "1 MB"}],
    "measure": {"every": "1 ms"},
}
