"""Figures of a report: what `[[report]] figure = ...` may name.

`FIGURES` is the list: a line says what a kind is; `draw` in the file of its name draws it. The file is loaded when the
figure is drawn, so that an experiment can be checked against the list without the data stack. Kinds that take a `facet`
are also drawn as small multiples, one small chart per value of it.
"""

from weft.report.figure.kind import Ask, Kind, ask

FIGURES: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("box", "Boxes of y over flows, one per x, coloured per by.", ("y",), ("x", "by", "facet"), "values"),
        Kind(
            "bar",
            "Mean of y per run with interval, one bar per x, coloured per by.",
            ("y",),
            ("x", "by", "facet"),
            "runs",
        ),
        Kind(
            "line",
            "Mean of y per run over a swept x, with interval band, a line per by.",
            ("x", "y"),
            ("by", "facet"),
            "runs",
        ),
        Kind("ecdf", "Distribution of y over flows, a curve per by.", ("y",), ("by", "facet"), "values"),
        Kind(
            "rank",
            "y by rank of flow, mean over repeats with interval, a curve per by.",
            ("y",),
            ("by", "facet"),
            "values",
        ),
        Kind("heat", "Mean of y per run as colour over the swept keys x and by.", ("x", "y", "by"), ("facet",), "runs"),
        Kind("reach", "Share of the other hosts within so many hops, a curve per by.", (), ("by",), "links"),
        Kind("fabric", "Link utilization as colour over the drawn fabric, a panel per cell.", (), (), "links"),
        Kind(
            "series",
            "Samples of y over time: mean over flows, or a handful of flows or queues; by src, dst or workload the sum "
            "over the flows of each.",
            ("y",),
            ("by",),
            "samples",
        ),
        Kind("applications", "Links that each workload uses, in its colour over the drawn fabric.", (), (), "links"),
        Kind("published", "Ours as a share of each [[published]] number, with interval.", (), (), "published"),
    )
}

__all__ = ["FIGURES", "Ask", "Kind", "ask"]
