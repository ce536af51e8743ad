"""Why flows were slow: a section of the report, from `weft explain`.

Of one run, and only of one whose folder holds what that needs: samples of every flow's goodput, recorded
(`[measure] every`) or left by an earlier `weft explain`. Nothing is simulated, and the run is chosen by numbers that
the page has anyway, so that a report of many runs costs little more.
"""

import itertools
from base64 import b64encode
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from weft.errors import WeftError
from weft.report.folder import Folder, Run
from weft.words import count

if TYPE_CHECKING:
    from weft.explaining import Explanation

MOST_FLOWS = 5_000
MOST_BYTES = 60_000_000
"""Of the file of samples: more takes longer than the rest of the page."""
MOST_TRIED = 20
"""Runs whose samples are looked at."""
SHARP = 1.6
"""Pixels of the picture in one of the page."""
LEAST_SHARE = 0.05
"""A cause with less of what was lost is not named."""


def why(folder: Folder) -> "Explanation | None":
    """What held flows up in the slowest run that can be explained as the folder is; None if there is none."""
    slowdowns = folder.run_values.get("slowdown.mean", {})
    of_packets = [run for run in folder.done if run.manifest is not None and run.manifest.get("backend") == "packet"]
    known = [(value, run) for run in of_packets if isinstance(value := slowdowns.get(run.name), float)]
    order = [run for _, run in sorted(known, key=lambda pair: -pair[0])]
    sampled = (run for run in order if any(place.is_file() for place in _samples(folder, run)))
    for run in itertools.islice(sampled, MOST_TRIED):
        if _can_be_explained(folder, run):
            return _explained(folder, run)
    return None


def why_html(found: "Explanation") -> str:
    """The section: a few sentences and the picture of the slowest flow."""
    said = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences(found))
    flow = found.flows[0].flow
    again = f"weft explain {found.directory.resolve().name} --run {found.run} --flow {flow.number}"
    images = {scheme: f"data:image/png;base64,{_picture(found, scheme)}" for scheme in ("light", "dark")}
    return (
        f'<section id="why"><h2>Why flows were slow</h2>{said}<figure><picture>'
        f'<source media="(prefers-color-scheme: dark)" srcset="{images["dark"]}">'
        f'<img src="{images["light"]}" alt="Flow {flow.number} over time, and who was on the links of its way">'
        "</picture><figcaption>The slowest flow: its goodput against its fair share, and below who was on each link of "
        "its way. A bar under a link says when that was its bottleneck, in the colour of the cause. More, and other "
        f"flows: <code>{escape(again)}</code></figcaption></figure></section>"
    )


def sentences(found: "Explanation") -> Iterator[str]:
    """Which run, how many flows were slow, and what that cost."""
    from weft.explaining.words import cause

    evidence = found.evidence
    of = f"{found.cell}, repeat {found.repeat}" if found.cell else f"repeat {found.repeat}"
    which = f"Of run {found.run} ({of})" + (", the slowest on the mean" if found.of_runs > 1 else "")
    if not found.slow:
        yield f"{which}: no flow took a tenth longer than alone."
        return
    causes = [
        f"{cause(total.cause, evidence)} {total.share:.0%}"
        + (f" (first of {count(total.flows, 'flow')})" if total.flows else "")
        for total in found.totals
        if total.share >= LEAST_SHARE
    ]
    yield f"{which}: {found.slow} of {found.counted} flows took at least a tenth longer than alone."
    yield f"What held them up, by the payload that it cost: {', '.join(causes)}."


def _explained(folder: Folder, run: Run) -> "Explanation | None":
    from weft.explaining import explain

    folder.tell("why", 0, 1)
    try:
        found = explain(folder.directory, run=run.name, flows=1, again=False)
    except WeftError:
        # Another version of weft made the run, or nothing was sent: the page is whole without.
        return None
    return found


def _can_be_explained(folder: Folder, run: Run) -> bool:
    if not any(map(_is_sampled, _samples(folder, run))):
        return False
    flows = pl.scan_parquet(run.directory / "flows.parquet").select(pl.len()).collect().item()
    return bool(flows <= MOST_FLOWS)


def _samples(folder: Folder, run: Run) -> tuple[Path, Path]:
    """Where samples may be: those of the run, and those of an explanation."""
    return run.directory / "samples.parquet", folder.directory / "explain" / run.name / "samples.parquet"


def _is_sampled(samples: Path) -> bool:
    try:
        if samples.stat().st_size > MOST_BYTES:
            return False
        rows = pl.scan_parquet(samples).filter(pl.col("metric").cast(pl.String) == "goodput_bps")
        return rows.head(1).collect().height > 0
    except (OSError, pl.exceptions.PolarsError):
        return False


def _picture(found: "Explanation", scheme: str) -> str:
    """As pixels: in SVG, texts would have the widths of the fonts that a browser has."""
    import vl_convert

    from weft.explaining.picture import svg

    return b64encode(vl_convert.svg_to_png(svg(found, scheme, tree=False), scale=SHARP)).decode()
