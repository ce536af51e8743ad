"""Explanations: which run is taken, that it is the same run again, what is said, drawn and refused."""

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from known_cases import adds_up, leaf_spine, meet, seed_where

import weft
from weft import _core
from weft.cli import status_of
from weft.errors import ResultsError
from weft.explaining.sharing import level


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two flows that collide under ECMP, and under spraying do not; two repeats."""
    place = tmp_path_factory.mktemp("explained") / "out"
    experiment = seed_where(leaf_spine(["h00>h10", "h01>h11"], "1 MB"), meet)
    weft.run(experiment | {"sweep": {"load_balance.kind": ["spray", "ecmp"], "repeats": 2}}, out=place)
    return place


@given(st.lists(st.floats(0.0, 20.0), max_size=8), st.floats(0.1, 20.0))
def test_the_level_of_a_link_is_max_min_with_demands(demands: list[float], capacity: float) -> None:
    # One more flow without a demand; each other has a link of its own as wide as it asks for.
    paths = [[0, n + 1] for n in range(len(demands))] + [[0]]
    expected = _core.max_min(paths, [capacity, *demands])[-1]
    found = level(capacity, np.array(demands).reshape(-1, 1))
    assert found[0] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_the_run_in_which_a_flow_was_slowest_is_explained(folder: Path) -> None:
    found = weft.explain(folder)
    slowest = weft.Results(folder).flows.with_columns(s=pl.col("fct_ns") / pl.col("ideal_fct_ns")).sort("s")[-1]
    assert found.run == slowest["run"].item()
    assert found.flows[0].flow.number == slowest["flow"].item()
    assert found.flows[0].slowdown == pytest.approx(slowest["s"].item())
    assert "the run of 4 in which a flow was slowest; --run names another" in str(found)


def test_a_run_is_named_by_what_tells_it_from_others(folder: Path) -> None:
    results = weft.Results(folder)
    wanted = next(
        name
        for name, manifest in results.manifests.items()
        if manifest["swept"] == {"load_balance.kind": "ecmp"} and manifest["repeat"] == 1
    )
    for name in (wanted, wanted[:9], "ecmp, repeat 1", 'load_balance.kind = "ecmp", repeat 1'):
        assert weft.explain(results, run=name, again=False).run == wanted
    assert weft.explain(results, run="ecmp", again=False).repeat == 0
    with pytest.raises(ResultsError, match="--run drill: is no run of this folder; there are "):
        weft.explain(results, run="drill")
    with pytest.raises(ResultsError, match="--run repeat 1: means several runs; there are "):
        weft.explain(results, run="repeat 1")


def test_the_run_is_simulated_once_and_kept(folder: Path) -> None:
    asked: list[int] = []

    def watch(now: int, end: int) -> bool:
        asked.append(now)
        return True

    first = weft.explain(folder, run="ecmp", watch=watch)
    assert "fingerprint" in first.source
    kept = folder / "explain" / first.run
    assert json.loads((kept / "manifest.json").read_text())["fingerprint"] in first.source
    asked.clear()
    again = weft.explain(folder, run="ecmp", watch=watch)
    assert not asked and str(again) == str(first)
    # The folder is still one that weft run goes on with, and holds the same runs.
    assert len(weft.Results(folder).manifests) == 4


def test_another_run_under_the_same_name_is_refused(tmp_path: Path) -> None:
    weft.run(leaf_spine(["h00>h10"], "100 kB"), out=tmp_path)
    (file,) = tmp_path.glob("runs/*/manifest.json")
    manifest = json.loads(file.read_text())
    file.write_text(json.dumps(manifest | {"fingerprint": "0123456789abcdef"}))
    with pytest.raises(ResultsError, match=r"has the fingerprint .* and not 0123456789abcdef \(made by weft 0"):
        weft.explain(tmp_path)
    assert not list(tmp_path.glob(".explain*")) and not list((tmp_path / "explain").glob("*"))
    file.write_text(json.dumps(manifest | {"seed": 99, "version": "0.0.9", "commit": "abc"}))
    with pytest.raises(
        ResultsError, match=r"made by weft 0\.0\.9 of commit abc, this is weft \d.* of commit \w+\); run"
    ):
        weft.explain(tmp_path)


def test_without_another_run_mean_rates_must_do(folder: Path) -> None:
    # What an earlier explanation left would do too.
    shutil.rmtree(folder / "explain", ignore_errors=True)
    found = weft.explain(folder, run="ecmp", flows=2, again=False)
    assert "mean rates" in found.source and adds_up(found)
    assert {e.cause for e in found.flows} == {"collision"}
    weft.explain(folder, run="ecmp", flows=2)
    kept = weft.explain(folder, run="ecmp", flows=2, again=False)
    assert kept.source == "the samples of the run" and adds_up(kept)


def test_samples_of_the_folder_are_taken_if_they_are_fine_enough(tmp_path: Path) -> None:
    weft.run(leaf_spine(["h00>h10"], "4 MB") | {"measure": {"every": "10 us", "metrics": ["goodput"]}}, out=tmp_path)
    found = weft.explain(tmp_path)
    assert found.source == "the samples of the run" and not (tmp_path / "explain").exists()


def test_what_cannot_be_explained_is_refused(folder: Path) -> None:
    with pytest.raises(ResultsError, match="flow 7: run .* has flows 0 to 1"):
        weft.explain(folder, 7)
    with pytest.raises(ResultsError, match="flows = 0; the least is 1"):
        weft.explain(folder, flows=0)
    with pytest.raises(ResultsError, match=r"why.pdf: a picture is written as .svg, .png, .html"):
        weft.explain(folder, again=False).write_picture("why.pdf")


def test_giving_up_leaves_nothing_behind(tmp_path: Path) -> None:
    weft.run(leaf_spine(["h00>h10"], "1 MB"), out=tmp_path)
    with pytest.raises(weft.Interrupted):
        weft.explain(tmp_path, watch=lambda now, end: False)
    assert not list(tmp_path.glob(".explain*")) and not (tmp_path / "explain").exists()


def test_the_document_and_the_frame_hold_the_numbers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of(["explain", str(folder), "--run", "ecmp", "--flow", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (flow,) = document["flows"]
    assert flow["number"] == 1 and flow["bottlenecks"][0]["is_collision"]
    assert document["totals"][0]["cause"] == "collision"
    frame = weft.explain(folder, 1, run="ecmp").frame
    assert frame["collision_ns"].item() == pytest.approx(flow["lost_ns"]["collision"])


@pytest.mark.parametrize("kind", ["svg", "html", "png"])
def test_pictures_name_flows_and_links(folder: Path, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "deep" / f"why.{kind}"
    assert status_of(["explain", str(folder), "--run", "ecmp", "--flow", "0", "--picture", str(file)]) == 0
    if kind == "png":
        assert file.read_bytes().startswith(b"\x89PNG")
        return
    text = file.read_text()
    for words in ("flow 0 h00", "h00&gt;l0", "flow 1 h01&gt;h11", "Time (", "Goodput (Gb/s)", "hash collision"):
        assert words in text, words


def test_datagrams_and_endless_flows_are_explained(tmp_path: Path) -> None:
    # 6 Gb/s of datagrams and a TCP flow on one link of 10 Gb/s.
    experiment = {
        "topology": {"kind": "dumbbell", "left": 2, "right": 2, "link": {"rate": "10 Gbps", "delay": "1 us"}},
        "backend": {"until": "10 ms"},
        "workload": [
            {"name": "tcp", "kind": "pairs", "pairs": ["l0>r0"]},
            {"name": "udp", "kind": "pairs", "pairs": ["l1>r1"], "transport": {"kind": "udp", "rate": "6 Gbps"}},
        ],
    }
    weft.run(experiment, out=tmp_path)
    found = weft.explain(tmp_path, [0, 1])
    tcp, udp = found.flows
    # Half of the line or what datagrams leave, if that is more. No other way leads there.
    assert tcp.lost_ns["fabric"] > 0 and tcp.lost_ns["collision"] == 0.0
    assert 0.95 * 5e9 * 1448 / 1538 < tcp.share_bps < 6e9 * 1448 / 1538
    assert udp.flow.goodput_bps <= 6e9 * 1472 / 1538 * 1.001 and udp.cause != "collision"
    assert "endless: sent for 10 ms" in str(found)
