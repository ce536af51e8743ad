"""What the factors do: an analysis of variance per number, with its assumptions beside it."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from synthetic import write_large

from weft.report import write_report
from weft.report.factors import MOST_LEVELS, effects, effects_html
from weft.report.folder import read_folder
from weft.report.table import collect
from weft.statistics.anova import anova

AXES = {"queue.kind": ["red", "drop_tail", "codel"], "topology.k": [4, 8]}


def test_the_rows_are_those_of_the_analysis_of_the_runs(tmp_path: Path) -> None:
    directory = write_large(tmp_path / "x", AXES, 4)
    html = write_report(directory, figures=False).read_text()
    section = html.partition('<details id="factors">')[2].partition('<details id="commands">')[0]
    assert "Repeats are blocks: they share a seed over all cells." in section
    assert "queue.kind × topology.k" in section
    assert "Assumptions:" in section
    folder = read_folder(directory)
    numbers = collect(folder)
    keys = pl.DataFrame(
        [(cell.label, *map(str, cell.keys.values())) for cell in folder.cells], schema=["cell", *AXES], orient="row"
    )
    frame = numbers.runs.join(keys, on="cell").with_columns(pl.col("repeat").cast(pl.String))
    expected = anova(frame, "goodput.mean", list(AXES), block="repeat").row("queue.kind")
    written = pl.read_csv(directory / "tables" / "factors.csv")
    row = written.filter((pl.col("number") == "goodput.mean") & (pl.col("source") == "queue.kind")).to_dicts()[0]
    assert row["f"] == pytest.approx(expected.f)
    assert row["p"] == pytest.approx(expected.p_value)


@pytest.mark.parametrize(("axes", "repeats"), [({"topology.k": [4, 8, 16]}, 5), (AXES, 1), ({}, 5)])
def test_one_factor_or_one_repeat_is_not_analysed(tmp_path: Path, axes: dict[str, list[object]], repeats: int) -> None:
    folder = read_folder(write_large(tmp_path / "x", axes, repeats))
    assert effects(folder, collect(folder)) is None


def test_unequal_repeats_are_no_blocks(tmp_path: Path) -> None:
    folder = read_folder(write_large(tmp_path / "x", AXES, 3, until=True))
    found = effects(folder, collect(folder))
    assert found is not None
    assert not found.is_blocked
    assert found.tables is not None
    assert not found.tables["goodput.mean"][0].is_balanced


def test_empty_cells_are_said_and_not_analysed(tmp_path: Path) -> None:
    folder = read_folder(write_large(tmp_path / "x", AXES, 3, lacking=lambda cell, repeat: cell == 2))
    found = effects(folder, collect(folder))
    assert found is not None
    assert "cell" in found.refused
    assert "Not analysed: " in effects_html(found, "")


def test_an_axis_of_many_values_is_no_factor(tmp_path: Path) -> None:
    many = {"topology.link.rate": [f"{rate} Gbps" for rate in range(1, MOST_LEVELS + 2)]}
    folder = read_folder(write_large(tmp_path / "three", AXES | many, 2))
    found = effects(folder, collect(folder))
    assert found is not None
    assert found.factors == tuple(AXES)
    assert found.tables is not None
    assert found.tables["goodput.mean"][0].runs == 6 * (MOST_LEVELS + 1) * 2
    assert "so no factor: topology.link.rate (13 values); what it does counts as error." in effects_html(found, "")
    folder = read_folder(write_large(tmp_path / "two", many | {"topology.k": [4, 8]}, 2))
    found = effects(folder, collect(folder))
    assert found is not None
    assert "leaves 1: topology.link.rate (13 values) is better read from the figures" in found.refused


def test_all_numbers_share_the_linear_algebra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = read_folder(write_large(tmp_path / "x", AXES, 4))
    numbers = collect(folder)
    of_design = 0
    plain = np.linalg.qr

    def counted(columns: np.ndarray) -> object:
        nonlocal of_design
        of_design += 1
        return plain(columns)

    monkeypatch.setattr(np.linalg, "qr", counted)
    found = effects(folder, numbers)
    assert found is not None
    assert found.tables is not None
    assert len(found.tables) > 3
    # The whole model, and of two factors, their interaction and the block: what is given to the others, and the own.
    assert of_design == 1 + 4 * 2
