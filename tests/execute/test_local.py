"""Local execution: what becomes of runs that fail, and of folders that were left half done."""

from pathlib import Path
from typing import Any

import pytest

import weft
from weft.backend import packet
from weft.execute import execute
from weft.progress import Silent

SWEPT = {
    "topology": {"kind": "star", "hosts": 3},
    "workload": [{"kind": "permutation", "size": "2 kB"}],
    "sweep": {"congestion.kind": ["reno", "cubic", "dctcp"]},
}


class PanicException(BaseException):
    """As PyO3 raises it when an invariant of the engine is broken."""


@pytest.mark.parametrize("error", [ValueError("no such thing"), PanicException("sent 3, delivered 2")])
def test_a_run_that_fails_is_told_and_does_not_end_the_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    simulate = packet.run

    def run(spec: dict[str, Any], directory: Path, watch: Any) -> Any:
        if spec["congestion"]["kind"] == "cubic":
            (directory / "flows.parquet").write_text("half")
            raise error
        return simulate(spec, directory, watch)

    monkeypatch.setattr(packet, "run", run)
    outcome = execute(weft.load(SWEPT), tmp_path / "o", Silent(), jobs=1)
    ((failed, said),) = outcome.failed
    assert failed.cell.swept == {"congestion.kind": "cubic"}
    assert said == f"failed: {error}"
    assert len(list((tmp_path / "o/runs").iterdir())) == 2
    monkeypatch.undo()
    # The same call does what is lacking.
    again = execute(weft.load(SWEPT), tmp_path / "o", Silent())
    assert (again.resumed, again.failed, again.is_whole) == (2, [], True)


def test_what_a_killed_process_left_is_replaced(tmp_path: Path) -> None:
    experiment = weft.load(SWEPT)
    run = next(experiment.plan())
    left = tmp_path / "o" / "runs" / f".{run.name}.4711.partial"
    execute(experiment, tmp_path / "o", Silent())
    (tmp_path / "o/runs" / run.name).rename(left)
    (left / "manifest.json").write_text("{ half")
    outcome = execute(experiment, tmp_path / "o", Silent())
    assert (outcome.resumed, outcome.is_whole) == (2, True)
    assert not left.exists()


def test_two_processes_do_not_write_to_one_folder(tmp_path: Path) -> None:
    from weft.execute.folder import opened

    experiment = weft.load(SWEPT)
    with (
        opened(tmp_path / "o", experiment),
        pytest.raises(weft.OutputError, match="another weft run is writing to it"),
    ):
        execute(experiment, tmp_path / "o", Silent())


def test_a_fault_of_any_cell_shows_before_anything_is_written(tmp_path: Path) -> None:
    text = {
        "topology": {"kind": "star", "hosts": 3},
        "workload": [{"kind": "pairs", "pairs": ["h0>nobody"], "size": "2 kB"}],
    }
    with pytest.raises(weft.ExperimentError, match="nobody"):
        execute(weft.load(text), tmp_path / "o", Silent())
    assert not (tmp_path / "o").exists()
