"""The pages of metrics and figures."""

import importlib
import inspect

from weft.metric import METRICS, SUMMARIES
from weft.reference.markdown import table
from weft.report.figure import FIGURES

UNITS = {"": "ratio", "share": "share, 0 to 1", "bps": "bit/s", "ns": "ns", "packets": "packets"}


def metrics() -> str:
    """Every metric: its unit, what it is a value of, and the doc comments of its file and function."""
    lines = ["# Metrics", "", "A metric is computed from the [tables](tables.md) of one run: a value per flow, link,"]
    lines += [
        "queue, host or core switch, and one number for the run by its usual summary; `NAME.SUMMARY` takes another"
    ]
    lines += [f"one ({', '.join(f'`{name}`' for name in SUMMARIES)}). Intervals are over the repeats.", ""]
    head = ("metric", "unit", "a value per", "of the run", "better", "source")
    rows = [
        (f"[{m.name}](#{m.name})", UNITS[m.unit], m.entity, m.summary, m.better, m.source) for m in METRICS.values()
    ]
    lines += table(head, rows)
    for metric in METRICS.values():
        module = importlib.import_module(f"weft.metric.{metric.name}")
        function = _prose(getattr(module, metric.name))
        lines += ["", f"## {metric.name}", "", inspect.cleandoc(module.__doc__ or ""), "", function]
    return "\n".join(lines) + "\n"


def figures() -> str:
    """Every figure: what it draws, what `[[report]]` must and may say."""
    of = {
        "values": "the values of a metric or a column",
        "runs": "one number per run",
        "samples": "samples over time",
        "links": "links",
        "published": "published numbers",
    }
    lines = ["# Figures", "", "What `[[report]] figure = ...` may name; see [report](section/report.md).", ""]
    head = ("figure", "draws", "of", "needs", "takes")
    rows = [(f.name, f.doc, of[f.of], ", ".join(f.needs), ", ".join(f.takes)) for f in FIGURES.values()]
    return "\n".join([*lines, *table(head, rows)]) + "\n"


def _prose(function: object) -> str:
    """A docstring without its examples."""
    return (inspect.getdoc(function) or "").partition("\n>>>")[0].rstrip()
