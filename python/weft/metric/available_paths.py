"""Available paths: how many the routing offers from one host to another, and what each flow sent over them.

Between hosts of different pods of a k-ary fat tree there are (k/2)^2 (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008).
"""

import polars as pl

from weft.metric.definition import Tables, known


def shortest_path_counts(links: pl.DataFrame, pairs: list[tuple[str, str]]) -> list[int]:
    """Shortest paths for each (source, destination), 0 if there is none. `links` has columns src and dst.

    >>> square = pl.DataFrame({"src": ["a", "a", "b", "c"], "dst": ["b", "c", "d", "d"]})
    >>> shortest_path_counts(square, [("a", "d"), ("a", "b"), ("d", "a")])
    [2, 1, 0]
    """
    into: dict[str, list[str]] = {}
    for src, dst in links.select("src", "dst").iter_rows():
        into.setdefault(dst, []).append(src)
    sources_of: dict[str, set[str]] = {}
    for src, dst in pairs:
        sources_of.setdefault(dst, set()).add(src)
    counts: dict[tuple[str, str], int] = {}
    for destination, sources in sources_of.items():
        reached = {destination: 1}
        front = {destination: 1}
        # Breadth first: the counts of one distance are complete before the next is begun.
        while front and not sources <= reached.keys():
            beyond: dict[str, int] = {}
            for node, ways in front.items():
                for neighbour in into.get(node, ()):
                    if neighbour not in reached:
                        beyond[neighbour] = beyond.get(neighbour, 0) + ways
            reached |= beyond
            front = beyond
        counts |= {(source, destination): reached.get(source, 0) for source in sources}
    return [counts[pair] for pair in pairs]


def path_use(tables: Tables) -> pl.DataFrame:
    """Per flow: `flow`, `available` paths, `used` of them, and `least_bytes` and `total_bytes` over the available.

    A path is the list of its links. Available are those that the routing offers at the start (`available_paths` of
    `flows`; of results without that column the shortest); a flow that used more, because routes changed, counts those.
    """
    flows = known(tables, "flows", "flow", "src", "dst")
    # Without a path recorded for any of its packets a flow has no row: it used none.
    carried = (
        known(tables, "paths", "flow", "path", "tx_bytes")
        .group_by("flow", "path")
        .agg(pl.col("tx_bytes").sum())
        .filter(pl.col("tx_bytes") > 0)
        .group_by("flow")
        .agg(
            pl.len().cast(pl.Int64).alias("used"),
            pl.col("tx_bytes").min().alias("smallest_bytes"),
            pl.col("tx_bytes").sum().alias("total_bytes"),
        )
    )
    if "available_paths" in tables["flows"].columns:
        offered = flows.with_columns(tables["flows"]["available_paths"].alias("available"))
    else:
        links = known(tables, "links", "src", "dst")
        distinct = flows.select("src", "dst").unique(maintain_order=True)
        available = shortest_path_counts(links, list(distinct.iter_rows()))
        offered = flows.join(distinct.with_columns(pl.Series("available", available)), on=["src", "dst"], how="left")
    return (
        offered.join(carried, on="flow", how="left")
        .with_columns(pl.col("used", "smallest_bytes", "total_bytes").fill_null(0))
        .with_columns(pl.max_horizontal("available", "used"))
        .with_columns(
            pl.when(pl.col("used") < pl.col("available")).then(0).otherwise("smallest_bytes").alias("least_bytes")
        )
        .select("flow", "available", "used", "least_bytes", "total_bytes")
        .sort("flow")
    )
