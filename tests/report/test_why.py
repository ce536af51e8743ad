"""The section of the page that says why flows were slow, and when there is none."""

import re
from pathlib import Path
from typing import Any

import pytest

import weft
from weft.explaining.cause import CAUSES, colours
from weft.report import theme, write_report
from weft.report.folder import read_folder
from weft.report.table import collect
from weft.report.why import sentences, why

INCAST: dict[str, Any] = {
    "topology": {"kind": "star", "hosts": 5, "link": {"rate": "1 Gbps"}},
    "queue": {"capacity": "4000 packets"},
    "workload": [{"kind": "incast", "degree": 4, "receiver": "h0", "size": "1 MB"}],
}
SAMPLED = {"measure": {"every": "1 ms", "metrics": ["goodput"]}}


def section(directory: Path) -> str:
    text = write_report(directory, figures=False).read_text()
    found = re.search(r'<section id="why">.*?</section>', text, re.DOTALL)
    return found.group() if found else ""


def test_a_sampled_run_says_what_held_its_flows_up(tmp_path: Path) -> None:
    weft.run(INCAST | SAMPLED, tmp_path)
    text = section(tmp_path)
    # Four senders share one link: each gets a quarter, and the receiver's link is nearly all of it.
    assert "4 of 4 flows took at least a tenth longer than alone" in text
    share = re.search(r"incast at the receiver (\d+)%", text)
    assert share and int(share[1]) > 80
    # One picture for a light page, one for a dark one, both in the page itself.
    assert text.count("data:image/png;base64,") == 2 and "prefers-color-scheme: dark" in text


def test_without_samples_there_is_no_section_until_somebody_asks(tmp_path: Path) -> None:
    results = weft.run(INCAST, tmp_path)
    assert section(tmp_path) == ""
    weft.explain(results)
    assert "incast at the receiver" in section(tmp_path)


def test_other_samples_do(tmp_path: Path) -> None:
    weft.run(INCAST | {"measure": {"every": "1 ms", "metrics": ["queue"]}}, tmp_path)
    assert section(tmp_path) == ""


def test_of_several_runs_the_slowest_is_explained(tmp_path: Path) -> None:
    sweep = {"sweep": {"workload.incast.degree": [1, 4, 2]}}
    results = weft.run(INCAST | SAMPLED | sweep, tmp_path)
    folder = read_folder(tmp_path)
    collect(folder)
    found = why(folder)
    assert found is not None and results.manifests[found.run]["swept"] == {"workload.incast.degree": 4}
    assert next(iter(sentences(found))).startswith(
        f"Of run {found.run} (workload.incast.degree = 4, repeat 0), the slow"
    )


def test_flows_that_are_as_fast_as_alone_need_no_causes(tmp_path: Path) -> None:
    alone = {"transport": {"kind": "udp", "rate": "500 Mbps"}}
    alone |= {"workload": [{"kind": "pairs", "pairs": ["h1>h0"], "size": "10 MB"}]}
    weft.run(INCAST | SAMPLED | alone, tmp_path)
    assert "no flow took a tenth longer than alone" in section(tmp_path)


def test_a_run_of_too_many_flows_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weft.run(INCAST | SAMPLED, tmp_path)
    monkeypatch.setattr("weft.report.why.MOST_FLOWS", 3)
    assert section(tmp_path) == ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_cause_has_a_colour_that_nothing_else_has(scheme: str) -> None:
    own = list(colours(scheme).values())
    assert list(colours(scheme)) == list(CAUSES)
    others = [*theme.SLATE[scheme], theme.CATEGORIES[scheme][0], *theme.INK[scheme].values()]
    assert len({*own, *others}) == len(own) + len(others)
