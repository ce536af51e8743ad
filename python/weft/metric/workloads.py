"""The tables of a run for some of its workloads alone."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from weft.errors import ResultsError
from weft.metric.definition import Tables

if TYPE_CHECKING:
    import polars as pl


def of_workloads(tables: Tables, workloads: Sequence[str], what: str) -> "Mapping[str, pl.DataFrame]":
    """The tables with the flows of some workloads alone, and without what belongs to all of them (queues).

    Raises ResultsError, which begins with `what`, if they have no flow.
    """
    import polars as pl

    flows = tables["flows"].filter(pl.col("workload").cast(pl.String).is_in(list(workloads)))
    if flows.is_empty():
        raise ResultsError(f"{what}: there is no flow of {', '.join(workloads)}")
    found = {"flows": flows} | ({"links": tables["links"]} if "links" in tables else {})
    if "paths" in tables:
        found["paths"] = tables["paths"].filter(pl.col("flow").is_in(flows["flow"].to_list()))
    return found
