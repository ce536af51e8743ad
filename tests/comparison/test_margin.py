"""Margins and metrics as people write them."""

import pytest

from weft.comparison.margin import Margins, read_margin, read_measures
from weft.errors import ResultsError
from weft.metric import METRICS


@pytest.mark.parametrize(
    ("text", "metric", "size", "is_relative"),
    [
        ("5 %", None, 0.05, True),
        ("2%", "fct", 0.02, True),
        ("0 %", None, 0.0, True),
        ("1 ms", "fct", 1e6, False),
        ("100 Mbps", "goodput", 1e8, False),
        ("10 packets", "drops", 10.0, False),
        ("10", "drops", 10.0, False),
        ("0.001", "loss", 0.001, False),
        ("0.01", "fairness", 0.01, False),
    ],
)
def test_margins_are_shares_or_sizes(text: str, metric: str | None, size: float, is_relative: bool):
    margin = read_margin(text, METRICS[metric] if metric else None)
    assert (margin.size, margin.is_relative) == (pytest.approx(size), is_relative)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["5"], 'margin "5": expected a share like "5 %"'),
        (["1 ms"], 'a margin with a unit needs its metric: "fct=1 ms"'),
        (["-5 %"], 'margin "-5 %"'),
        (["100 %"], "expected below 100 %"),
        (["fct=1 Mbps"], 'margin of fct: "1 Mbps" is a rate; expected a time'),
        (["fct=5"], "margin of fct"),
        (["fairness=1 ms"], 'margin "1 ms" of fairness: expected a share like "5 %", or a size like "0.01"'),
        (["loss=3 packets"], "of loss"),
        (["ftc=5 %"], 'did you mean "fct"'),
        (["fct.p98=5 %"], 'did you mean "p99"'),
    ],
)
def test_what_is_no_margin_is_refused(texts: list[str], message: str):
    with pytest.raises(ResultsError) as caught:
        Margins(texts)
    assert message in str(caught.value)


def test_the_most_specific_margin_counts():
    margins = Margins(["2 %", "fct=3 %", "fct.p99=4 %"])
    sizes = [margins.of(measure).size for measure in read_measures(["goodput", "fct", "fct.p99"])]
    assert sizes == pytest.approx([0.02, 0.03, 0.04])
    assert Margins({"fct": "1 ms"}).of(read_measures(["fct"])[0]).size == 1e6


def test_a_margin_that_nobody_reads_is_refused():
    with pytest.raises(ResultsError, match="loss is not compared; add --metric loss"):
        Margins(["loss=1 %"]).refuse_strangers(read_measures(["fct"]))


def test_metrics_are_found_by_name_and_summary():
    assert [measure.name for measure in read_measures([])] == list(METRICS)
    assert [measure.name for measure in read_measures(["fct.mean", "fct", "fct.p99"])] == ["fct", "fct.p99"]
    with pytest.raises(ResultsError, match='"godput": no such metric; did you mean "goodput"'):
        read_measures(["godput"])
    with pytest.raises(ResultsError, match='"fct.p98": no such summary; did you mean "p99"'):
        read_measures(["fct.p98"])
