"""Published numbers: the file is checked when the experiment is loaded, joined on keys and metric, and shown."""

from pathlib import Path
from typing import Any

import pytest

import weft
from weft.errors import ExperimentError
from weft.published import Unreadable, read
from weft.published.beside import beside
from weft.published.marks import marks
from weft.published.shown import markdown, tables
from weft.report import write_report
from weft.report.folder import read_folder
from weft.results import Results

# One sender over each cable of a star: every flow gets the whole link, so that goodput is known beforehand.
BASE: dict[str, Any] = {
    "topology": {"kind": "star", "hosts": 4, "link": {"rate": "1 Mbps", "delay": "10 us", "overhead": 0}},
    "transport": {"kind": "udp", "rate": "500 kbps"},
    "backend": {"until": "4 s"},
    "workload": [
        {"name": "one", "kind": "pairs", "pairs": ["h0>h1"]},
        {"name": "two", "kind": "pairs", "pairs": ["h2>h3"], "transport": {"kind": "udp", "rate": "250 kbps"}},
    ],
    "sweep": {"topology.link.rate": ["1 Mbps", "2 Mbps"], "repeats": 2},
}
FILE = """\
metric,workload,topology.link.rate,value,half_width,of,source
goodput,one,1000 kbps,400 kbps,,,table 1
goodput,two,2 Mbps,25 %,1 %,1 Mbps,table 1
goodput.sum,,1 Mbps,750 kbps,,,
loss,,,0 %,,,every cell
goodput,one,5 Mbps,1 Mbps,,,another experiment
"""


def written(tmp_path: Path, text: str) -> dict[str, Any]:
    file = tmp_path / "published.csv"
    file.write_text(text)
    return {"published": [{"file": str(file), "source": "A document, 2018"}]}


def faults(tmp_path: Path, text: str, more: dict[str, Any] | None = None) -> list[str]:
    with pytest.raises(ExperimentError) as caught:
        weft.load(BASE | (more or {}) | written(tmp_path, text))
    return [fault.message.rpartition("published.csv:")[2] for fault in caught.value.faults]


def test_published_numbers_stand_beside_those_of_their_cells(tmp_path: Path) -> None:
    results = weft.run(BASE | written(tmp_path, FILE), tmp_path / "out")
    frame = results.published
    # A datagram of 1472 bytes payload is 1500 on the wire: 500 kb/s of wire are 490.7 of payload.
    ours = dict(zip(zip(frame["line"], frame["cell"], strict=True), frame["ours"], strict=True))
    assert ours[2, "rate 1 Mbps"] == pytest.approx(500e3 * 1472 / 1500, rel=0.02)
    assert ours[3, "rate 2 Mbps"] == pytest.approx(0.25 * 1472 / 1500, rel=0.02)
    assert ours[4, "rate 1 Mbps"] == pytest.approx(750e3 * 1472 / 1500, rel=0.02)
    # A row without a key is of every cell; one whose value no cell has is told.
    assert [cell for line, cell in ours if line == 5] == ["rate 1 Mbps", "rate 2 Mbps"]
    assert ours[6, None] is None and frame["why"][-1] == "no cell of this sweep"
    deviation = dict(zip(frame["line"], frame["deviation"], strict=True))
    assert deviation[2] == pytest.approx(ours[2, "rate 1 Mbps"] / 400e3 - 1)
    assert deviation[3] == pytest.approx(ours[3, "rate 2 Mbps"] - 0.25)
    (shown,) = tables(beside(read_folder(results.directory)))
    assert shown.head == ("topology.link.rate", "", "published", "ours", "deviation", "source")
    assert shown.title == "Published numbers: A document, 2018"
    assert shown.rows[0][:3] == ("1000 kbps", "goodput of one (kb/s)", "400.0")
    assert shown.rows[1][2] == "25.00 ± 1.00" and shown.rows[1][4].endswith(" pp")
    assert shown.notes[-1] == "1 published number has no cell in this sweep (published.csv, line 6)"
    assert "| 1000 kbps | goodput of one (kb/s) | 400.0 |" in markdown(beside(read_folder(results.directory)))


def test_figures_mark_what_is_of_all_flows(tmp_path: Path) -> None:
    text = "metric,topology.link.rate,value,source\ngoodput,1 Mbps,400 kbps,table 1\nfct,1 Mbps,1 s,\n"
    results = weft.run(BASE | written(tmp_path, text), tmp_path / "out")
    folder = read_folder(results.directory)
    found = marks(folder, "goodput.mean", (None, "topology.link.rate", None), 1e-3)
    assert found.rows() == [("1 Mbps", 400.0, "table 1")]
    bar = results.figure("bar", x="topology.link.rate", y="goodput")
    line = results.figure("line", x="topology.link.rate", y="goodput")
    for figure in (bar, line):
        assert figure.tables["published"]["published"].to_list() == [400.0] and "Diamonds" in figure.caption
        assert "<svg" in figure.svg()
    drawn = results.figure("published")
    assert drawn.tables["table"]["number"].to_list() == ["rate 1 Mbps · goodput"]
    page = write_report(results.directory, figures=False)
    assert '<section id="published">' in page.read_text(encoding="utf-8")
    assert (results.directory / "tables" / "published.csv").is_file()


def test_they_change_no_run_and_are_kept_with_the_experiment(tmp_path: Path) -> None:
    asked = weft.load(BASE | written(tmp_path, FILE))
    assert [run.name for run in asked.plan()] == [run.name for run in weft.load(BASE).plan()]
    assert weft.load(asked.resolved).resolved == asked.resolved
    assert "published" not in asked.resolved_cell(next(asked.cells()))


def test_p_values_are_those_of_the_analyses(tmp_path: Path) -> None:
    asked = {"analysis": [{"kind": "anova", "metrics": ["goodput"]}]}
    text = "metric,effect,value\ngoodput,topology.link.rate,0.01\ngoodput,topology.link.rate,0.6\ngoodput,seed,0.2\n"
    transport = {"transport": {"kind": "udp", "rate": "500 kbps", "arrivals": "poisson"}}
    results = weft.run(BASE | transport | asked | written(tmp_path, text), tmp_path / "out")
    first, second, absent = beside(read_folder(results.directory))[0].pairs
    assert first.ours and second.ours and first.ours.mean == second.ours.mean
    assert {first.agrees, second.agrees} == {True, False} and first.deviation is None
    assert absent.ours is None and absent.why == "goodput has no p-value of seed"
    (shown,) = tables(beside(read_folder(results.directory)))
    assert shown.notes[0] == "1 of 2 p-values lie on the same side of 0.05"


def test_the_p_value_of_an_interaction_is_found_by_its_factors_in_any_order(tmp_path: Path) -> None:
    axes = {"sweep": {"topology.link.rate": ["1 Mbps", "2 Mbps"], "queue.kind": ["drop_tail", "red"], "repeats": 2}}
    asked = {"analysis": [{"kind": "anova", "metrics": ["goodput"]}]}
    transport = {"transport": {"kind": "udp", "rate": "900 kbps", "arrivals": "poisson"}}
    text = (
        "metric,effect,value\ngoodput,queue.kind x topology.link.rate,0.5\ngoodput,topology.link.rate × queue.kind,0.5"
    )
    results = weft.run(BASE | transport | axes | asked | written(tmp_path, text), tmp_path / "out")
    first, second = beside(read_folder(results.directory))[0].pairs
    assert first.ours and second.ours and first.ours.mean == second.ours.mean


def test_what_is_several_times_as_much_is_told_as_a_factor(tmp_path: Path) -> None:
    text = "metric,topology.link.rate,value\ngoodput.sum,1 Mbps,10 kbps\ngoodput.sum,2 Mbps,600 kbps\n"
    results = weft.run(BASE | written(tmp_path, text), tmp_path / "out")
    (shown,) = tables(beside(read_folder(results.directory)))
    # 750 kb/s of wire are 736 of payload; a datagram more or less in four seconds is 0.4 %.
    assert shown.rows[0][4].startswith("x 73")
    assert shown.rows[1][4] == f"{float(shown.rows[1][4][1:-1]):+.1f}%"
    assert float(shown.rows[1][4][:-1]) == pytest.approx(100 * (736 / 600 - 1), abs=1)
    # The larger number has four digits and the smaller one three.
    assert [row[2] for row in shown.rows] == ["10.0", "600.0"]


def test_a_published_number_reads_the_same_beside_every_cell(tmp_path: Path) -> None:
    # Ours is about 490 kb/s, and 5 once the rate is a hundredth: the smaller one needs more decimals.
    rates = {"backend": {"until": "40 s"}, "sweep": {"transport.rate": ["500 kbps", "5 kbps"]}}
    text = "metric,workload,value\ngoodput,one,212.345 kbps\n"
    results = weft.run(BASE | rates | written(tmp_path, text), tmp_path / "out")
    (shown,) = tables(beside(read_folder(results.directory)))
    column = shown.head.index("published")
    assert len(shown.rows) == 2 and len({row[column] for row in shown.rows}) == 1
    # Ours keep the digits that suit them.
    assert len({len(row[column + 1].partition(".")[2]) for row in shown.rows}) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("value\n1 Mbps", '1: has no column "metric"'),
        ("metric,value\ngooput,1 Mbps", '2: metric: unknown "gooput"; did you mean "goodput"?'),
        ("metric,value\nfct.p98,1 s", '2: metric: fct has no summary "p98"; did you mean "p99"?'),
        ("metric,value\ngoodput,1", "2: value: 1 "),
        ("metric,value\ngoodput,95 %", '2: value: "95 %" of what? give it in the column "of"'),
        ("metric,value\nloss,48.0", '2: value: "48.0" is no share, which lies between 0 and 1; write "48.0 %" or 0.48'),
        ("metric,value,of\ngoodput,48,1 Mbps", '2: value: "48" is no share'),
        ("metric,value,half_width,of\ngoodput,48 %,3,1 Mbps", '2: half_width: "3" is no share'),
        ("metric,value\ngoodput,1 Mbps,3", "2: has 3 fields; line 1 names 2 columns"),
        ("# Table 1\n\nmetric,value\n# of all\ngoodput,1 Mbps,3", "5: has 3 fields; line 3 names 2 columns"),
        (
            "# Table 1\nmetric\ngoodput",
            '2: has no column "value", which holds the number, with its unit; the first line',
        ),
        ("metric,value", "1: has no row below its columns"),
        ("metric,value,value\n", '1: names the column "value" 2 times'),
        ("metric,value,topology.knd\ngoodput,1 Mbps,star", 'no key "topology.knd"; did you mean "topology.kind"?'),
        ("metric,value,workload\ngoodput,1 Mbps,tow", '2: workload: no workload is called "tow"; did you mean "two"?'),
        ("metric,value,workload\ndrops,3,one", "2: workload: drops is of what all workloads share; leave it empty"),
        ("metric,value,effect\ngoodput,0.1,topology.link.rate", "2: effect: no [[analysis]] has the metric goodput"),
        ("metric,value,effect\ngoodput,1.5,topology.link.rate", '2: value: "1.5" is no p-value'),
    ],
)
def test_what_is_wrong_with_the_file_is_said_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    found = faults(tmp_path, text)
    assert any(said in message for message in found), found


def test_a_file_that_went_away_is_told_where_its_table_would_be(tmp_path: Path) -> None:
    results = weft.run(BASE | written(tmp_path, FILE), tmp_path / "out")
    (tmp_path / "published.csv").unlink()
    (shown,) = tables(beside(read_folder(results.directory)))
    assert not shown.rows and "cannot be read: No such file or directory" in shown.notes[0]
    assert Results(results.directory).published.is_empty()


def test_a_file_may_have_comments_and_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text(
        "\ufeff# A document, 2018\nmetric,value\n# Table 3\n\nlatency_p50_ns,150 us\nqueues.max_bytes,64 KiB\n",
        encoding="utf-8",
    )
    assert [(row.value, row.unit) for row in read(file)] == [(150_000.0, "ns"), (65536.0, "bytes")]
    file.write_text("metric,value\nloss,0.25\nloss,25 %\nloss,1\nloss,0\n", encoding="utf-8")
    assert [row.value for row in read(file)] == [0.25, 0.25, 1.0, 0.0]
    with pytest.raises(Unreadable, match="cannot be read"):
        read(tmp_path / "absent.csv")


def test_tables_are_read_once_for_all_that_shows_published_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weft.run(BASE | written(tmp_path, FILE), tmp_path / "out")
    folder = read_folder(tmp_path / "out")
    first = marks(folder, "goodput.sum", (None, "topology.link.rate", None), 1.0)
    assert first.height == 1
    results = Results(tmp_path / "out")
    results.numbers(("goodput.sum",))
    # What is known is not computed again: not for another figure, nor for the tables, nor what the terminal has shown.
    monkeypatch.setattr("weft.published.beside._of_run", lambda *_: pytest.fail("reads the tables of a run again"))
    assert marks(folder, "goodput.sum", (None, "topology.link.rate", None), 1.0).equals(first)
    assert len(beside(folder)[0].pairs) == 5
    asked: list[list[str]] = []
    monkeypatch.undo()
    monkeypatch.setattr("weft.published.beside.numbers_of", lambda _, names: asked.append(list(names)) or {})
    results.beside()
    assert asked and all("goodput.sum" not in names for names in asked)
