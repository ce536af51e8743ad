"""`weft compare` on the command line: what is printed, the document, the exit status."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import weft
from weft.cli import status_of

Folder = Callable[..., Path]
TEN = [100.0, 104.0, 98.0, 101.0, 97.0, 103.0, 99.0, 102.0, 96.0, 100.0]
SLOWER = [value * 1.2 + 0.1 * (-1) ** place for place, value in enumerate(TEN)]


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def said(*arguments: object) -> int:
    return status_of(["compare", *map(str, arguments)])


def test_a_comparison_is_readable_on_80_columns(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    a = folder("a", {"x": TEN}, experiment={"congestion": {"kind": "reno"}}, warnings=("look here",))
    b = folder("b", {"x": SLOWER}, experiment={"congestion": {"kind": "cubic"}}, unfinished=1)
    assert said(a, b) == 0
    out, err = capsys.readouterr()
    assert max(map(len, out.splitlines())) <= 80
    text = " ".join(out.split())
    assert "differs in congestion.kind: reno -> cubic" in text
    assert "paired by seed: 10 repeats" in text
    assert "10 flows did not finish, in 10 of 10 runs" in text
    assert "+20.0 %" in text and "worse" in text
    assert "margin 5 %" in text and "Holm" in text
    assert "not compared: " in text and "loss" in text
    assert "look here" in err


def test_several_cells_have_one_line_per_metric(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = folder("a", {"x": TEN, "y": TEN}), folder("b", {"x": SLOWER, "y": TEN, "z": TEN})
    assert said(a, b, "--metric", "fct", "--margin", "fct=2 %") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "fct, ms: of 2 cells 1 worse, 1 equivalent; all together +10.0 % (" in text
    assert "not compared: queue.kind = z" in text
    assert "margin 2 %" in text


def keys_of(cell: str) -> dict[str, str]:
    kind, capacity = cell.split()
    return {"load_balance.kind": kind, "queue.capacity": f"{capacity} packets"}


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_no_verdict_and_no_heading_is_cut(
    folder: Folder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    # The repeats go either way by 20 %, so that nothing is shown of the second cell.
    noisy = [value * (1 + 0.2 * (-1) ** place) for place, value in enumerate(TEN)]
    cells = ("conga_with_flowlets 100", "ecmp 1000", "ecmp 2000")
    a = folder("a", dict.fromkeys(cells, TEN), keys=keys_of)
    b = folder("b", dict(zip(cells, (SLOWER, noisy, TEN), strict=True)), keys=keys_of)
    assert said(a, b, "--metric", "fct", "--metric", "fct.p99") == 0
    out, _ = capsys.readouterr()
    assert max(map(len, out.splitlines())) <= columns and "…" not in out
    below_each_other = ["undecided", "(more repeats)"] if columns < 110 else ["undecided (more repeats)"]
    lines = [line.strip() for line in out.splitlines()]
    for part in below_each_other:
        assert any(line.endswith(part) for line in lines)
    if columns == 80:
        # The keys and the numbers do not fit beside each other.
        assert "load_balance.kind = ecmp, queue.capacity = 1000 packets" in lines
        assert "d_z" in out
    if columns == 60:
        assert "d_z: no room in 60 columns; --json has it" in out
    if columns == 200:
        assert any(line.startswith("load_balance.") and "queue." in line for line in lines)


def test_a_comparison_in_python_prints_as_the_command_does(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = folder("a", {"x": TEN, "y": TEN}), folder("b", {"x": SLOWER, "y": TEN})
    found = weft.compare(a, b)
    assert said(a, b) == 0
    printed = [line.rstrip() for line in capsys.readouterr().out.rstrip().splitlines()]
    assert str(found).splitlines() == printed
    assert len(repr(found)) < 400
    assert "2 cells" in repr(found) and str(a) in repr(found)
    assert "fct worse" in repr(found.against[0].cells[0])


def test_the_document_holds_everything(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(folder("a", {"x": TEN, "y": SLOWER}), "--over", "queue.kind", "--reference", "y", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["reference"] == "y"
    (against,) = document["against"]
    assert against["other"] == "x"
    (cell,) = against["cells"]
    fct = next(row for row in cell["metrics"] if row["metric"] == "fct")
    assert fct["verdict"] == "better" and fct["unit"] == "ns" and fct["effect"] == "d_z"
    assert fct["relative"] == pytest.approx(1 / 1.2 - 1, abs=1e-3)
    assert cell["flows"]["ratios"][0]["column"] == "fct_ns"


def test_a_page_opens_offline_and_escapes_what_it_shows(
    folder: Folder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = folder("a", {"<b>x": TEN, "y": TEN}, warnings=("<script>",))
    b = folder("b", {"<b>x": SLOWER, "y": TEN}, unfinished=1)
    assert said(a, b, "--metric", "fct", "--metric", "goodput", "--report", tmp_path / "page.html") == 0
    assert capsys.readouterr().out.endswith(f"report: {tmp_path / 'page.html'}\n")
    page = (tmp_path / "page.html").read_text()
    assert "<script" not in page and "src=" not in page and "<b>x" not in page
    assert "&lt;script&gt;" in page and "20 flows did not finish" in page
    # A light and a dark drawing for each of the two metrics.
    assert page.count("<svg") == 4
    assert "queue.kind = y" in page and "all together" in page


def test_a_page_that_cannot_be_written_ends_with_2(
    folder: Folder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "nowhere" / "page.html"
    assert said(folder("a", {"x": TEN, "y": TEN}), "--over", "queue.kind", "--report", place) == 2
    assert f"{place}: cannot be written: No such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize("repeats", [1, 10])
def test_a_page_of_one_cell_has_one_drawing(folder: Folder, tmp_path: Path, repeats: int) -> None:
    a, b = folder("a", {"x": TEN[:repeats]}), folder("b", {"x": SLOWER[:repeats]})
    assert said(a, b, "--margin", "fct=1 ms", "--report", tmp_path / "page.html") == 0
    assert (tmp_path / "page.html").read_text().count("<svg") == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "one folder is nothing to compare"),
        (["--over", "queue.kind", "--margin", "much"], 'margin "much"'),
        (["--over", "queue.kind", "--metric", "ftc"], 'did you mean "fct"'),
        (["--over", "queue.kind", "--confidence", "1"], "confidence 1: expected above 0.5 and below 1"),
        (["nowhere"], "nowhere: there is no such folder"),
    ],
)
def test_bad_input_ends_with_2(
    folder: Folder, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert said(folder("a", {"x": TEN, "y": TEN}), *options) == 2
    out, err = capsys.readouterr()
    assert message in err and out == ""


def test_a_folder_without_runs_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(tmp_path, tmp_path) == 2
    assert "no finished run in it" in capsys.readouterr().err
