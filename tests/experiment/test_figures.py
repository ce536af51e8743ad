"""What `[[report]]` asks for is checked when the experiment is loaded, with line and nearest name."""

import importlib

import polars as pl
import pytest

import weft
from weft.columns import NUMBERS
from weft.experiment.sections import SAMPLED
from weft.report.figure import FIGURES

BASE = """\
[topology]
kind = "star"
hosts = 4
[[workload]]
kind = "permutation"
size = "20 kB"
[measure]
every = "1 us"
metrics = ["queue"]
[sweep]
"congestion.kind" = ["reno", "cubic"]
transport = [{ kind = "tcp" }, { kind = "tcp", profile = "rfc" }]
[[report]]
"""


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('figure = "pie"', 'experiment:14: report[0].figure: unknown "pie"; known: box, bar, line, ecdf, rank'),
        ('figure = "boxx"\ny = "fct"', 'experiment:14: report[0].figure: unknown "boxx"; did you mean "box"?'),
        ('figure = "box"', 'experiment:13: report[0].y: is required by the figure box: a metric, like "goodput"'),
        (
            'figure = "heat"\ny = "fct"\nby = "congestion.kind"',
            'experiment:13: report[0].x: is required by the figure heat: a swept key, like "congestion.kind"',
        ),
        (
            'figure = "fabric"\ny = "fct"',
            'experiment:15: report[0].y: the figure fabric has no "y"; its keys: figure, title',
        ),
        (
            'figure = "rank"\ny = "fct"\nx = "congestion.kind"',
            'experiment:16: report[0].x: the figure rank has no "x"; its keys: figure, y, by, facet, title',
        ),
        ('figure = "box"\ny = "gooput"', 'experiment:15: report[0].y: unknown "gooput"; did you mean "goodput"?'),
        (
            'figure = "box"\ny = "lost_packet"',
            'experiment:15: report[0].y: unknown "lost_packet"; did you mean "lost_packets"?',
        ),
        (
            'figure = "box"\ny = "queues.max_byte"',
            'experiment:15: report[0].y: the table queues has no number "max_byte"; did you mean "max_bytes"?',
        ),
        (
            'figure = "box"\ny = "flows.src"',
            'experiment:15: report[0].y: the table flows has no number "src"; its numbers are: flow, size_bytes',
        ),
        (
            'figure = "bar"\ny = "fct.p98"',
            'experiment:15: report[0].y: fct has no summary "p98"; did you mean "p99"?',
        ),
        (
            'figure = "box"\ny = "fct.p99"',
            'experiment:15: report[0].y: the figure box draws every value, no summary of them; write "fct"',
        ),
        (
            'figure = "series"\ny = "queues"',
            'experiment:15: report[0].y: unknown sample "queues"; did you mean "queue"?',
        ),
        (
            'figure = "series"\ny = "cwnd"',
            'experiment:15: report[0].y: "cwnd" is not sampled; add it to measure.metrics',
        ),
        (
            'figure = "bar"\ny = "fct"\nx = "congestion.knd"',
            'experiment:16: report[0].x: "congestion.knd" is no key of the experiment; did you mean "congestion.kind"?',
        ),
        (
            'figure = "bar"\ny = "fct"\nby = "Q"',
            'experiment:16: report[0].by: "Q" is no key of the experiment; swept: congestion.kind, transport.kind, '
            "transport.profile",
        ),
        ('figure = "bar"\ny = 3', "experiment:15: report[0].y: 3 is a whole number; expected text"),
        (
            'figure = "bar"\ny = "fct"\nz = 1',
            'experiment:16: report[0].z: [[report]] has no key "z"; its keys: figure',
        ),
    ],
)
def test_what_cannot_be_drawn_is_a_fault(entry: str, said: str) -> None:
    with pytest.raises(weft.ExperimentError) as caught:
        weft.load(BASE + entry)
    assert str(caught.value).splitlines()[0].startswith(said)


@pytest.mark.parametrize(
    "entry",
    [
        'figure = "box"\ny = "goodput"',
        'figure = "box"\ny = "goodput_bps"\nx = "transport.profile"\nby = "congestion.kind"',
        'figure = "bar"\ny = "fct.p99"\nx = "cell"',
        'figure = "bar"\ny = "queues.max_bytes"\nx = "queue.capacity"\nby = "topology.hosts"',
        'figure = "line"\ny = "fct"\nx = "workload[0].size"',
        'figure = "series"\ny = "queue"\ntitle = "Q"',
        'figure = "fabric"',
    ],
)
def test_what_can_be_drawn_is_none(entry: str) -> None:
    weft.load(BASE + entry)


def test_a_figure_at_fault_hides_no_other_fault() -> None:
    with pytest.raises(weft.ExperimentError) as caught:
        weft.load(BASE.replace('kind = "star"\nhosts = 4', 'kind = "fat_tree"\nk = 5') + 'figure = "pie"')
    assert [fault.key for fault in caught.value.faults] == ["topology.k", "report[0].figure"]


def test_samples_that_nobody_takes_cannot_be_drawn() -> None:
    text = BASE.replace('[measure]\nevery = "1 us"\nmetrics = ["queue"]\n', "") + 'figure = "series"\ny = "queue"'
    with pytest.raises(weft.ExperimentError, match=r'"queue" is not sampled; write every = "10 ms" under \[measure\]'):
        weft.load(text)


def test_every_figure_has_a_file_that_draws_it() -> None:
    for name in FIGURES:
        assert importlib.import_module(f"weft.report.figure.{name}").draw.__doc__
    assert set(SAMPLED) <= set(importlib.import_module("weft.report.figure.series").SAMPLED)


def test_the_numbers_that_may_be_drawn_are_those_that_a_run_writes() -> None:
    results = weft.run(BASE.partition("[sweep]")[0], set=["measure.paths=true"])
    (run,) = results.manifests
    for table, names in NUMBERS.items():
        frame: pl.DataFrame = results.tables(run)[table]
        assert tuple(name for name, kind in frame.schema.items() if kind.is_numeric()) == names
