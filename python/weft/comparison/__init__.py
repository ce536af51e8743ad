"""Comparison: what differs between results, by how much, and whether it matters. `weft compare`, as a Python call.

    comparison = weft.compare("out/reno", "out/cubic", metrics=["fct.p99"], margin="2 %")
    print(comparison)
    comparison.frame
    comparison.write_page("comparison.html")

sides.py finds what belongs together, margin.py what matters, verdict.py says a word, comparison.py does it for all
cells and metrics, flows.py looks at single flows, shown.py prints (rows.py fits rows into a terminal), page.py draws.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from weft.comparison.comparison import Comparison, compare_sides
from weft.comparison.margin import DEFAULT_MARGIN, Margins, read_measures
from weft.comparison.sides import of_folders, of_levels
from weft.errors import ResultsError
from weft.experiment.values import suggestion
from weft.results import Results
from weft.statistics.multiple_comparison import ADJUSTMENTS


def compare(
    *results: str | Path | Results,
    over: str | None = None,
    reference: str | None = None,
    metrics: Iterable[str] = (),
    margin: str | Iterable[str] | Mapping[str, str] = DEFAULT_MARGIN,
    confidence: float = 0.95,
    adjust: str = "holm",
    common: bool = False,
) -> Comparison:
    """Compare results with the first of them; or with `over`, the values of a swept key of one folder.

    `reference` is the value of `over` that the others are compared with, its first if left out. `metrics` are names
    like "fct" or "fct.p99", all if none. `margin` is what does not matter: "5 %", ["5 %", "fct=1 ms"] or
    {"fct": "1 ms"}. `confidence` is between 0.5 and 1. `adjust` is "holm" or "bh" (Benjamini-Hochberg).
    `common` pairs the repeats that both have where their numbers differ. Raises ResultsError.
    """
    if not 0.5 < confidence < 1.0:
        raise ResultsError(f"confidence {confidence:g}: expected above 0.5 and below 1, like 0.95")
    if adjust not in ADJUSTMENTS:
        raise ResultsError(f'adjust "{adjust}": unknown; {suggestion(adjust, ADJUSTMENTS, "known")[0]}')
    if over is None and reference is not None:
        raise ResultsError(f'reference "{reference}": is a value of a swept key; name the key with over')
    if over is None and len(results) < 2:
        raise ResultsError(
            "one folder is nothing to compare; give a second one, or the swept key whose values are compared: "
            "--over load_balance.kind"
        )
    if over is not None and len(results) != 1:
        raise ResultsError(f"over compares the values of a key inside one folder; got {len(results)} folders")
    folders: dict[str, Results] = {}
    for place, each in enumerate(results, 1):
        opened = each if isinstance(each, Results) else Results(each)
        label = f"results {place}" if isinstance(each, Results) else str(each).rstrip("/")
        while label in folders:
            label += " (again)"
        folders[label] = opened
    measures = read_measures(metrics)
    margins = Margins(margin)
    margins.refuse_strangers(measures)
    sides = of_folders(folders) if over is None else of_levels(next(iter(folders.values())), over, reference)
    return compare_sides(sides, measures, margins, confidence, adjust, common)


__all__ = ["Comparison", "compare"]
