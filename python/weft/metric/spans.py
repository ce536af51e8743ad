"""The flows of a run during a span of time alone, from samples of their goodput."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from weft import units
from weft.errors import ResultsError
from weft.metric.definition import Tables

if TYPE_CHECKING:
    import polars as pl


def of_span(tables: Tables, begin: str, end: str, what: str) -> "Mapping[str, pl.DataFrame]":
    """The table of flows, `goodput_bps` being that between `begin` and `end`; what is of the whole run is left out.

    Either is a time ("2 s") or the name of a workload, which means the start of its first flow; empty: the run's own.
    Samples that lie whole in the span count; a flow without any there had nothing. Raises ResultsError, which begins
    with `what`.
    """
    import polars as pl

    if "samples" not in tables:
        raise ResultsError(f"{what}: goodput was not sampled; set `every` (and `metrics`) under [measure]")
    samples = tables["samples"].filter(pl.col("metric").cast(pl.String) == "goodput_bps")
    if samples.is_empty():
        raise ResultsError(f"{what}: goodput was not sampled; set `every` (and `metrics`) under [measure]")
    every = int(samples["time_ns"].min())  # type: ignore[arg-type]
    last = int(samples["time_ns"].max())  # type: ignore[arg-type]
    since = moment(tables, begin, what) if begin else 0
    until = moment(tables, end, what) if end else last
    # The sample at t is of the time since the one before.
    inside = samples.filter((pl.col("time_ns") - every >= since) & (pl.col("time_ns") <= until))
    count = inside["time_ns"].n_unique()
    if not count:
        raise ResultsError(f"{what}: no sample lies whole between {since / 1e6:g} and {until / 1e6:g} ms")
    means = inside.group_by(pl.col("entity").cast(pl.String).cast(pl.Int64).alias("flow")).agg(
        (pl.col("value").sum() / count).alias("goodput_bps")
    )
    flows = tables["flows"].select("flow", "workload", "src", "dst", "start_ns")
    return {"flows": flows.join(means, on="flow", how="left").with_columns(pl.col("goodput_bps").fill_null(0.0))}


def moment(tables: Tables, text: str, what: str) -> int:
    """Nanoseconds of a time, or of the start of a workload."""
    import polars as pl

    starts = tables["flows"].filter(pl.col("workload").cast(pl.String) == text)["start_ns"].drop_nulls()
    if not starts.is_empty():
        return int(starts.min())  # type: ignore[arg-type]
    try:
        return units.parse_time(text) // 1000
    except units.UnitError:
        raise ResultsError(f"{what}: {text} is neither a time nor a workload that began") from None
