"""The name of a metric in an experiment file: `goodput`, or with a summary, `fct.p99`."""

from weft.errors import Fault
from weft.experiment.document import Document
from weft.experiment.path import Path
from weft.experiment.values import said, suggestion
from weft.metric import METRICS, SUMMARIES


def metric_fault(document: Document, path: Path, name: object) -> Fault | None:
    """What is wrong with the name of a metric that is written at `path`."""
    text = str(name)
    metric, dot, summary = text.partition(".")
    if metric in METRICS and (not dot or summary in SUMMARIES):
        return None
    if metric in METRICS:
        way_out, nearest = suggestion(text, [f"{metric}.{each}" for each in SUMMARIES], "summaries")
    else:
        way_out, nearest = suggestion(text, METRICS, "metrics")
    return document.fault(path, f"unknown metric {said(name)}; {way_out}", value=name, nearest=nearest)
