"""Margins: how large a difference must be to matter, and the metrics that are asked for.

A margin is a share of the reference's mean ("5 %"), or a size in the metric's unit ("fct=1 ms", "goodput=100 Mbps",
"drops=10 packets", "fairness=0.01"; of a share, like loss, "loss=0.001" is a tenth of a percentage point).
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from weft import units
from weft.errors import ResultsError
from weft.experiment.values import suggestion
from weft.metric import METRICS, SUMMARIES, Metric

DEFAULT_MARGIN = "5 %"
_NUMBER = r"(\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_RELATIVE = re.compile(rf"\s*({_NUMBER})\s*%\s*")
_PLAIN = re.compile(rf"\s*({_NUMBER})\s*(packets?)?\s*")


@dataclass(frozen=True)
class Measure:
    """A metric and how it is summarized over the flows, links or queues of a run."""

    metric: Metric
    summary: str

    @property
    def name(self) -> str:
        """As it is asked for: the usual summary needs no word.

        >>> Measure(METRICS["fct"], "mean").name, Measure(METRICS["fct"], "p99").name
        ('fct', 'fct.p99')
        """
        usual = self.summary == self.metric.summary
        return self.metric.name if usual else f"{self.metric.name}.{self.summary}"


@dataclass(frozen=True)
class Margin:
    """The largest difference that does not matter: a share of the reference's mean, or in the metric's base unit."""

    size: float
    is_relative: bool
    text: str


def read_measures(asked: Iterable[str]) -> list[Measure]:
    """The measures of names like "fct" and "fct.p99"; all metrics if none is asked for.

    Raises ResultsError for an unknown metric or summary.

    >>> [measure.name for measure in read_measures(["goodput", "fct.p99"])]
    ['goodput', 'fct.p99']
    """
    measures = []
    for text in asked or METRICS:
        name, dot, summary = text.partition(".")
        if name not in METRICS:
            raise ResultsError(f'"{name}": no such metric; {suggestion(name, METRICS, "metrics")[0]}')
        if dot and summary not in SUMMARIES:
            raise ResultsError(f'"{text}": no such summary; {suggestion(summary, SUMMARIES, "summaries")[0]}')
        measures.append(Measure(METRICS[name], summary or METRICS[name].summary))
    return list(dict.fromkeys(measures))


class Margins:
    """A margin for every measure: its own, that of its metric, or the one for all."""

    def __init__(self, asked: str | Iterable[str] | Mapping[str, str] = ()) -> None:
        """From "5 %", from ["5 %", "fct=1 ms"], or from {"fct": "1 ms"}. Raises ResultsError."""
        if isinstance(asked, str):
            asked = [asked]
        texts = [f"{name}={text}" for name, text in asked.items()] if isinstance(asked, Mapping) else list(asked)
        self._all = read_margin(DEFAULT_MARGIN, None)
        self._own: dict[str, Margin] = {}
        for text in texts:
            name, equals, value = text.partition("=")
            if equals:
                (measure,) = read_measures([name.strip()])
                self._own[name.strip()] = read_margin(value.strip(), measure.metric)
            else:
                self._all = read_margin(text, None)

    def of(self, measure: Measure) -> Margin:
        """The margin of a measure."""
        metric = measure.metric.name
        return self._own.get(f"{metric}.{measure.summary}") or self._own.get(metric) or self._all

    def refuse_strangers(self, measures: Iterable[Measure]) -> None:
        """Raises ResultsError for a margin of a metric that is not compared: nobody would read it."""
        names = {name for each in measures for name in (each.metric.name, f"{each.metric.name}.{each.summary}")}
        for name in self._own:
            if name not in names:
                raise ResultsError(f"margin {name}={self._own[name].text}: {name} is not compared; add --metric {name}")


def read_margin(text: str, metric: Metric | None) -> Margin:
    """A margin as a person writes it; without `metric` it is for all of them, so it has to be a share.

    Raises ResultsError.

    >>> read_margin("5 %", None).size, read_margin("1 ms", METRICS["fct"]).size
    (0.05, 1000000.0)
    """
    if match := _RELATIVE.fullmatch(text):
        share = float(match[1]) / 100.0
        if share >= 1.0:
            raise ResultsError(f'margin "{text}": as large as the mean itself; expected below 100 %, like "5 %"')
        return Margin(share, True, f"{float(match[1]):g} %")
    if metric is None:
        raise ResultsError(
            f'margin "{text}": expected a share like "5 %"; a margin with a unit needs its metric: "fct=1 ms"'
        )
    size = _absolute(text, metric)
    if not math.isfinite(size):
        raise ResultsError(f'margin "{text}" of {metric.name} is not finite')
    return Margin(size, False, text)


def _absolute(text: str, metric: Metric) -> float:
    plain = _PLAIN.fullmatch(text)
    if metric.unit in ("", "share", "packets") and plain and (metric.unit == "packets" or not plain[3]):
        return float(plain[1])
    example = {"": "0.01", "share": "0.01", "packets": "10 packets"}.get(metric.unit)
    if metric.unit in ("ns", "bps"):
        family = units.TIME if metric.unit == "ns" else units.RATE
        example = family.example
        try:
            return family.parse(text) / (1000 if metric.unit == "ns" else 1)
        except units.UnitError as error:
            raise ResultsError(f'margin of {metric.name}: {error}; or a share of the mean, like "5 %"') from None
    raise ResultsError(f'margin "{text}" of {metric.name}: expected a share like "5 %", or a size like "{example}"')
