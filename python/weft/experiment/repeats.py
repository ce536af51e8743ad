"""Repeats: a number, or until an interval is narrow enough.

repeats = 10
repeats = { until = "ci", metric = "goodput", half_width = "2 %" }
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from weft import units
from weft.errors import Fault
from weft.experiment.check import check_value
from weft.experiment.document import Document
from weft.experiment.metrics import metric_fault
from weft.experiment.path import Path
from weft.experiment.sections import SECTION
from weft.experiment.values import ValueFault, parse_scalar, said
from weft.kinds import Parameter, catalogue
from weft.metric import METRICS
from weft.sweep import Until

WHERE: Path = ("sweep", "repeats")


def read_repeats(document: Document, faults: list[Fault]) -> int | Until:
    """The repeats of a document; what is wrong with them goes into `faults`, and 1 stands in."""
    parameter = catalogue()[SECTION]["sweep"].parameters["repeats"]
    section = document.value.get("sweep", {})
    if not isinstance(section, Mapping):
        faults.append(document.fault(("sweep",), "is no section; write [sweep] above its keys"))
        return 1
    written = section.get("repeats", parameter.default)
    if isinstance(written, dict):
        return _until(document, parameter, written, faults) or 1
    try:
        return int(parse_scalar(parameter, parameter.value, written, document.directory))
    except ValueFault as fault:
        or_table = "" if isinstance(written, int) else ', or { until = "ci", metric = "goodput", half_width = "2 %" }'
        faults.append(document.fault(WHERE, f"{fault}{or_table}", value=written, expected=fault.expected))
        return 1


def _until(document: Document, parameter: Parameter, written: dict[str, Any], faults: list[Fault]) -> Until | None:
    half_width = written.get("half_width")
    # A bare number is the half width of a metric without a unit.
    bare = isinstance(half_width, int | float) and not isinstance(half_width, bool)
    table = written | ({"half_width": str(half_width)} if bare else {})
    value, found = check_value(document, parameter, {"type": "table", "record": "repeats"}, table, WHERE)
    before = len(faults)
    faults += found
    # What is wrong with one key hides nothing that is wrong with another.
    metric, least, most = (table.get(key) for key in ("metric", "least", "most"))
    unknown = metric_fault(document, (*WHERE, "metric"), metric) if isinstance(metric, str) else None
    if unknown:
        faults.append(unknown)
    if isinstance(least, int) and isinstance(most, int) and least > most:
        faults.append(document.fault((*WHERE, "least"), f"{least} is above most = {most}", value=least))
    width, relative = 0.0, True
    if isinstance(metric, str) and not unknown and isinstance(table.get("half_width"), str):
        try:
            width, relative = half_width_of(table["half_width"], METRICS[metric.partition(".")[0]].unit)
        except ValueError as error:
            faults.append(document.fault((*WHERE, "half_width"), str(error), value=half_width))
    if len(faults) > before:
        return None
    if value["least"] > value["most"]:
        faults.append(document.fault((*WHERE, "least"), f"{value['least']} is above most = {value['most']}"))
        return None
    return Until(value["metric"], width, relative, value["confidence"], value["least"], value["most"], dict(written))


def half_width_of(text: str, unit: str) -> tuple[float, bool]:
    """Half the width of an interval as a number, and whether it is a share of the mean.

    Per cent are of the mean; else it has the unit of the metric (bps, ns, packets, or none). Raises ValueError with a
    sentence.

    >>> half_width_of("2 %", "bps"), half_width_of("10 us", "ns"), half_width_of("0.01", "")
    ((0.02, True), (10000.0, False), (0.01, False))
    """
    like = {
        "bps": 'of a rate; expected "2 %" (of the mean) or "1 Mbps"',
        "ns": 'of a time; expected "2 %" (of the mean) or "10 us"',
        "packets": 'of a number of packets; expected "2 %" (of the mean) or "3 packets"',
    }
    expected = like.get(unit, 'of a number; expected "2 %" (of the mean) or 0.01')
    wrong = f"{said(text)} is no half width {expected}, above 0"
    number, percent, _ = text.strip().partition("%")
    try:
        if percent:
            value = float(Fraction(number.strip())) / 100
            relative = True
        else:
            relative = False
            match unit:
                case "bps":
                    value = float(units.parse_rate(text))
                case "ns":
                    value = units.parse_time(text) / 1000
                case "packets":
                    value = float(units.parse_capacity(text).get("packets", 0))
                case _:
                    value = float(text)
    except (ValueError, ZeroDivisionError):
        raise ValueError(wrong) from None
    if not 0 < value < float("inf") or (relative and value >= 1):
        raise ValueError(wrong)
    return value, relative
