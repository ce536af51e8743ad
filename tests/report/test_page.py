"""The page as text: order, escaping, and that it asks nobody for anything."""

import errno
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from synthetic import write_folder

from weft.errors import OutputError, ResultsError
from weft.report import write_report


@pytest.fixture(scope="module")
def html(swept: Path) -> str:
    """Page of the sweep."""
    return write_report(swept, figures=False).read_text(encoding="utf-8")


def markup(html: str) -> str:
    """The page without its scripts."""
    return re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)


def test_failures_come_first_then_warnings_then_numbers(html: str):
    places = [
        html.index(text)
        for text in (
            "<h1>spray against ecmp</h1>",
            "1 of 15 planned runs are not here",
            "2 of 16 flows did not finish",
            "Look before you trust the numbers",
            'class="lede"',
            'id="results"',
            'id="figures"',
        )
    ]
    assert places == sorted(places)


def test_what_was_run_is_said_in_a_paragraph(html: str):
    assert "Fat tree, k = 4, with 16 hosts and 20 switches, 48 cables at 20 Mb/s." in html
    assert "3 cells (load_balance.kind: static, ecmp, spray) × 5 repeats = 15 runs." in html
    assert "Seeds 7, 8, 9, 10, 11, the same in every cell." in html
    assert "<code>weft run results/experiment.toml --out results-again</code>" in html


def test_text_of_an_experiment_is_not_markup(tmp_path: Path):
    name = "</script><script>alert(1)</script>"
    folder = write_folder(tmp_path / "x", balances=("<b>ecmp</b>", "a&b"), repeats=1, samples=False, name=name)
    html = write_report(folder, figures=False).read_text(encoding="utf-8")
    assert "<script>alert" not in html
    assert "<b>ecmp" not in html
    assert html.count("<script") == html.count("</script>") == 3


def test_the_page_names_no_other_resource(html: str):
    assert "default-src 'none'" in html
    assert not re.findall(r'(?:src|href)="(?!data:)[^"]+"', markup(html))
    assert "@import" not in html
    assert not re.findall(r"url\(\s*['\"]?http", markup(html))


def test_each_table_is_in_the_page_once(html: str):
    [text] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', html, flags=re.DOTALL)
    data = json.loads(text)
    assert set(data["config"]) == {"light", "dark"}
    assert data["tables"]["results"].startswith("cell,load_balance.kind,goodput_bps_mean")
    assert set(data["figures"]["fabric"]["tables"]) == {"links", "nodes"}
    for figure in data["figures"].values():
        assert "datasets" not in figure["spec"]


def test_a_small_report_is_small(html: str):
    scripts = re.findall(r"<script>(.*?)</script>", html, flags=re.DOTALL)
    assert len(html) - sum(map(len, scripts)) < 1_000_000
    assert len(html) < 3_000_000


def test_figures_are_written_beside_it(single: Path):
    page = write_report(single)
    files = {path.name for path in (page.parent / "figures").iterdir()}
    assert files == {
        f"{name}.{kind}" for name in ("ecdf-fct", "ecdf-slowdown", "rank-goodput", "fabric") for kind in ("svg", "png")
    }
    assert not list(page.parent.glob(".report*"))


@pytest.mark.parametrize("content", [(), ("plan.parquet",)])
def test_a_folder_without_runs_is_refused(tmp_path: Path, content: tuple[str, ...]):
    if content:
        whole = write_folder(tmp_path / "whole", repeats=1, samples=False, missing_runs=3)
        (whole / "plan.parquet").rename(tmp_path / "plan.parquet")
    with pytest.raises(ResultsError, match="give the folder that `weft run --out` wrote"):
        write_report(tmp_path)
    assert not (tmp_path / "report.html").exists()


def test_a_broken_manifest_is_named_with_the_way_out(tmp_path: Path):
    folder = write_folder(tmp_path / "x", balances=("ecmp",), repeats=1, samples=False)
    [manifest] = folder.glob("runs/*/manifest.json")
    manifest.write_text("{")
    with pytest.raises(ResultsError, match=r"manifest.json: not JSON .* delete .* and run again"):
        write_report(folder)


def test_loading_the_report_room_loads_no_drawing_library():
    code = (
        "import sys, weft.report, weft.report.figure; "
        "print(sorted({'altair', 'vl_convert', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_flows_that_did_not_finish_are_the_first_number(html: str):
    head = html.partition('<tr class="groups">')[2].partition("</tr>")[0]
    numbers = [text.partition("<")[0] for text in head.split('class="number">')[1:]]
    assert numbers[0].startswith("Finished")
    assert numbers[1].startswith("Goodput")


@pytest.mark.parametrize("full_at", [".report.html.part", ".results.csv.part", "svg.part"])
def test_a_full_disk_leaves_no_part_and_says_what_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full_at: str
):
    folder = write_folder(tmp_path / "x", balances=("ecmp", "spray"), repeats=2)
    plain = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if not path.name.endswith(full_at):
            return plain(path, content)
        plain(path, content[: len(content) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    said = (
        r"the disk is full; this file needs [\d.]+ ?[kM]?B and [\d.]+ .?B are free; make room, then: weft report .*x$"
    )
    with pytest.raises(OutputError, match=said):
        write_report(folder)
    assert not list(folder.rglob("*.part"))
    assert (folder / "report.html").exists() == (full_at != ".report.html.part")
