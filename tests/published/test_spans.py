"""Numbers of a span of time: from a time or the start of a workload until another."""

from pathlib import Path
from typing import Any

import pytest

import weft
from weft.errors import ExperimentError
from weft.published.beside import beside
from weft.published.shown import tables
from weft.report.folder import read_folder

# Two senders of 400 kb/s each; the second begins after two of four seconds.
BASE: dict[str, Any] = {
    "topology": {"kind": "star", "hosts": 4, "link": {"rate": "1 Mbps", "delay": "10 us", "overhead": 0}},
    "transport": {"kind": "udp", "rate": "400 kbps"},
    "backend": {"until": "4 s"},
    "workload": [
        {"name": "one", "kind": "pairs", "pairs": ["h0>h1"]},
        {"name": "two", "kind": "pairs", "pairs": ["h2>h1"], "start": "2 s"},
    ],
    "measure": {"every": "100 ms", "metrics": ["goodput"]},
}
PAYLOAD = 400e3 * 1472 / 1500


def written(tmp_path: Path, text: str, **more: Any) -> dict[str, Any]:
    file = tmp_path / "published.csv"
    file.write_text(text)
    return BASE | {"published": [{"file": str(file), **more}]}


def test_a_number_is_of_the_time_between_two_starts(tmp_path: Path) -> None:
    text = (
        "metric,workload,from,until,value\n"
        "goodput.sum,,,two,400 kbps\n"
        "goodput.sum,,two,,800 kbps\n"
        "goodput.sum,one; two,1 s,3 s,600 kbps\n"
        "goodput,two,,two,1 kbps\n"
        "fairness,,two,,1\n"
    )
    results = weft.run(written(tmp_path, text), tmp_path / "out")
    ours = results.published["ours"].to_list()
    # A sample of 100 ms holds 12.5 or so datagrams of 3.3 % each, over ten samples and more a third of a per cent.
    assert ours[:3] == [pytest.approx(PAYLOAD * times, rel=0.01) for times in (1, 2, 1.5)]
    assert ours[3] == 0 and ours[4] == pytest.approx(1, abs=0.001)
    (shown,) = tables(beside(read_folder(results.directory)))
    assert [row[0] for row in shown.rows][:3] == [
        "goodput.sum until two (kb/s)",
        "goodput.sum from two (kb/s)",
        "goodput.sum of one, two from 1 s until 3 s (kb/s)",
    ]


def test_a_document_in_bytes_per_second_is_shown_so_and_its_notes_stand_below(tmp_path: Path) -> None:
    text = "metric,workload,value\ngoodput,one,0.05 MB/s\n"
    results = weft.run(written(tmp_path, text, notes=["Table 1 says 60, its text 50."]), tmp_path / "out")
    (shown,) = tables(beside(read_folder(results.directory)))
    assert shown.rows[0][:2] == ("goodput of one (MB/s)", "0.05000")
    assert shown.notes[-1] == "Table 1 says 60, its text 50"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "metric,from,value\nfct,2 s,1 s\n",
            '2: from, until: "fct" is not known of a span of time; of one there are goodput',
        ),
        (
            "metric,from,value\ngoodput,twoo,1 kbps\n",
            '2: from: "twoo" is neither a time nor a workload; did you mean "two"?',
        ),
    ],
)
def test_what_no_span_has_is_said(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        weft.load(written(tmp_path, text))
    assert any(said in fault.message for fault in caught.value.faults), caught.value.faults


def test_without_samples_no_span_is_known(tmp_path: Path) -> None:
    asked = written(tmp_path, "metric,from,value\ngoodput,two,1 kbps\n") | {"measure": {}}
    with pytest.raises(ExperimentError, match="needs samples: write every = "):
        weft.load(asked)
