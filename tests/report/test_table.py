"""The results table: its numbers are those of the runs."""

from pathlib import Path

import polars as pl
import pytest

from weft.report.folder import read_folder
from weft.report.table import collect, columns_shown, heading, shown_in, tidy
from weft.statistics import mean_interval


def test_an_interval_is_over_the_runs_not_over_the_flows(swept: Path):
    numbers = collect(read_folder(swept))
    means = [
        pl.read_parquet(swept / "runs" / f"01{repeat:02x}a7f3" / "flows.parquet")["goodput_bps"].mean()
        for repeat in range(5)
    ]
    interval = numbers.interval("ecmp", "goodput.mean")
    assert interval is not None
    assert interval.n == 5
    assert interval.mean == pytest.approx(mean_interval(means).mean)
    assert interval.low == pytest.approx(mean_interval(means).low)


def test_what_is_missing_or_unfinished_is_found(swept: Path):
    folder = read_folder(swept)
    numbers = collect(folder)
    assert len(folder.runs) - len(folder.done) == 1
    [stuck] = numbers.unfinished
    assert (stuck.flows, stuck.of, stuck.reasons) == (2, 16, {"path down": ["0 h000>h211", "1 h001>h310"]})
    assert "completion.mean" in columns_shown(numbers)
    finished = numbers.interval("static", "completion.mean")
    assert finished is not None
    assert finished.mean == pytest.approx((14 / 16 + 4) / 5)


def test_one_run_has_no_interval_and_all_flows_finished_need_no_column(single: Path):
    numbers = collect(read_folder(single))
    interval = numbers.interval("all runs", "fct.p99")
    assert interval is not None
    assert (interval.n, interval.low) == (1, None)
    assert "completion.mean" not in columns_shown(numbers)


def test_a_metric_that_no_run_has_is_named_with_its_reason(single: Path, tmp_path: Path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(single, copy)
    [flows] = copy.glob("runs/*/flows.parquet")
    pl.read_parquet(flows).drop("ideal_fct_ns").write_parquet(flows)
    numbers = collect(read_folder(copy))
    assert "slowdown.mean" not in columns_shown(numbers)
    assert numbers.missing["slowdown.p99"].startswith("flows.ideal_fct_ns: no such column")


def test_summaries_of_a_metric_share_a_unit(swept: Path):
    numbers = collect(read_folder(swept))
    assert {shown_in(numbers, key).unit for key in ("fct.mean", "fct.p50", "fct.p99")} == {"s"}
    assert shown_in(numbers, "goodput.mean").unit == "Mb/s"
    assert heading("drops.sum") == ("Drops", "")


def test_the_table_as_csv_has_base_units_and_every_cell(swept: Path):
    folder = read_folder(swept)
    table = tidy(folder, collect(folder))
    assert table["load_balance.kind"].to_list() == ["static", "ecmp", "spray"]
    assert table["fct_ns_p99_n"].to_list() == [5, 5, 4]
    assert 1e10 < table["fct_ns_mean"][0] < 1e11
