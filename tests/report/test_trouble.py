"""Failed and unfinished runs stand on top, however many they are; a sweep without results still has a page."""

import json
from pathlib import Path

import pytest
from synthetic import write_large

from weft.errors import ResultsError
from weft.report import write_report
from weft.report.folder import read_folder
from weft.report.trouble import failures_table
from weft.results import Results

AXES = {"topology.k": list(range(4, 54)), "queue.kind": ["red", "drop_tail"]}


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """100 cells of 5 repeats: every run over red failed (250), the last two cells were never begun."""
    return write_large(
        tmp_path_factory.mktemp("failed") / "results",
        AXES,
        5,
        failed=lambda cell, repeat: f"link {cell}>s lost packet {repeat}" if cell % 2 == 0 else "",
        lacking=lambda cell, repeat: cell >= 97,
    )


@pytest.fixture(scope="module")
def html(failed: Path) -> str:
    """Its page."""
    return write_report(failed, figures=False).read_text()


def aside(html: str) -> str:
    """The red box."""
    return html.partition('<aside class="failed"')[2].partition("</aside>")[0]


def test_hundreds_of_failures_are_one_line(failed: Path, html: str) -> None:
    box = aside(html)
    assert "250 of 500 runs failed" in box
    shown = box.partition("<details")[0]
    assert "250 runs (RuntimeError, after 3 attempts), for example: <b>link 0&gt;s lost packet 0</b>" in shown
    assert "k 4 · red (5 of 5)" in shown
    assert "and 45 more cells" in shown
    assert "10 of 500 planned runs are not here" in shown
    assert len(shown) < 2500
    # One by one below, the first hundred; all of them in the CSV.
    assert box.count("<tr>") == 1 + 100
    assert (failed / "tables" / "failures.csv").read_text().count("\n") == 1 + 250
    assert html.index("runs failed") < html.index('class="lede"')


def test_a_failed_run_has_its_reason_and_its_command(failed: Path) -> None:
    row = failures_table(read_folder(failed)).to_dicts()[7]
    assert (row["cell"], row["repeat"], row["attempts"]) == ("k 5 · red", 2, 3)
    assert row["message"] == "link 2>s lost packet 2"
    assert '--set \'sweep."topology.k"=[5]\' --set \'sweep."queue.kind"=["red"]\'' in row["command"]
    assert f"--set sweep.repeats=1 --set seed={row['seed']}" in row["command"]


def test_what_was_planned_is_known_before_the_plan_is_written(tmp_path: Path) -> None:
    """A sweep that was killed has no plan.parquet; its manifest says what was planned."""
    directory = write_large(
        tmp_path / "x", AXES, 2, failed=lambda cell, repeat: "no" * (cell == 3), lacking=lambda cell, repeat: cell > 90
    )
    whole = read_folder(directory)
    (directory / "plan.parquet").unlink()
    derived = read_folder(directory)
    assert len(derived.runs) == len(whole.runs) == 200
    assert [run.name for run in derived.done] == [run.name for run in whole.done]
    assert [(run.name, str(run.failure)) for run in derived.failed] == [
        (run.name, str(run.failure)) for run in whole.failed
    ]
    assert [run.seed for run in derived.lacking] == [run.seed for run in whole.lacking]
    assert [run.name for run in derived.lacking] == [""] * 18


def test_a_plan_of_before_the_sweep_grew_is_not_the_plan(tmp_path: Path) -> None:
    directory = write_large(tmp_path / "x", {"queue.kind": ["red", "drop_tail"]}, 2)
    manifest = json.loads((directory / "manifest.json").read_text())
    manifest["experiment"]["sweep"]["repeats"] = 3
    (directory / "manifest.json").write_text(json.dumps(manifest))
    folder = read_folder(directory)
    assert [(run.repeat, run.is_done) for run in folder.cells[0].runs] == [(0, True), (1, True), (2, False)]


def test_a_sweep_of_which_nothing_finished_says_so(tmp_path: Path) -> None:
    directory = write_large(
        tmp_path / "x", {"queue.kind": ["red", "drop_tail"]}, 2, failed=lambda *_: "out of <memory>"
    )
    html = write_report(directory).read_text()
    assert "All 4 runs failed" in aside(html)
    assert "There is nothing to draw." in aside(html)
    assert "out of &lt;memory&gt;" in html
    assert 'id="results"' not in html
    with pytest.raises(ResultsError, match=r"all 4 runs failed: out of <memory>; weft report .* lists them"):
        Results(directory)


def test_a_cell_of_which_nothing_finished_is_red_among_the_others(html: str) -> None:
    results = html.partition('id="results"')[2].partition("</section>")[0]
    assert results.count('<span class="red">0 of 5</span>') == 50 + 2


def test_many_unfinished_flows_are_grouped_by_their_reason(tmp_path: Path) -> None:
    import polars as pl

    directory = write_large(tmp_path / "x", {"topology.k": list(range(4, 12))}, 1)
    for run in sorted((directory / "runs").iterdir()):
        flows = pl.read_parquet(run / "flows.parquet")
        (run / "flows.parquet").unlink()
        stuck = pl.col("flow") < 3
        flows.with_columns(
            pl.when(stuck).then(None).otherwise("fct_ns").alias("fct_ns"),
            pl.when(stuck).then(pl.lit("time limit")).alias("reason"),
        ).write_parquet(run / "flows.parquet")
    box = aside(write_report(directory, figures=False).read_text())
    assert "24 of 128 flows did not finish</strong> in 8 runs" in box
    assert "24 flows in 8 runs: <b>time limit</b>" in box


def test_a_notebook_shows_failures_before_numbers(failed: Path) -> None:
    results = Results(failed)
    html = results._repr_html_()
    assert html.index("250 runs failed:") < html.index("10 planned runs are not here") < html.index("<table>")
    assert results.failures.height == 250
    assert results.lacking[0] == "k 52 · drop_tail, repeat 0"


def test_cells_with_other_numbers_of_repeats_say_how_many(tmp_path: Path) -> None:
    directory = write_large(tmp_path / "x", {"topology.k": [4, 8, 16]}, 3, until=True)
    html = write_report(directory, figures=False).read_text()
    assert "× 3 to 5 repeats = 12 runs" in html
    assert '<td class="number">3</td>' in html
    assert '<td class="number">5</td>' in html
    assert "3 to 5 runs each." in html
    assert Results(directory).table()["runs"].to_list() == [3, 4, 5]
