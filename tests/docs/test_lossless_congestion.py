"""docs/lossless-congestion.md: its commands make its pictures, and its numbers are those of the runs."""

import re
import shlex
from pathlib import Path

import pytest

import weft
from weft.cli import status_of

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "lossless-congestion.md").read_text(encoding="utf-8")
COMMANDS = [line.strip() for line in PAGE.splitlines() if re.match(r"    (weft|cp) ", line)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the commands of the page have been run; weft check prints, and is run by a test of its own."""
    place = tmp_path_factory.mktemp("page")
    (place / "docs" / "images").mkdir(parents=True)
    (place / "experiments").symlink_to(ROOT / "experiments")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for command in COMMANDS:
            program, *arguments = shlex.split(command)
            if program == "cp":
                Path(arguments[1]).write_bytes(Path(arguments[0]).read_bytes())
            elif arguments[0] != "check":
                # A run that ends in a deadlock would end with 1; none here does.
                assert status_of(arguments) == 0, command
    return place


NUMBER = r"(?<![\w#.])-?\d+(?:\.\d+)?(?:e-?\d+)?"


def drawn(svg: Path) -> tuple[list[str], list[float]]:
    """What is drawn, words and colours, and where: all numbers that are not part of a word, px."""
    text = svg.read_text(encoding="utf-8")
    # Clips and gradients are numbered through the life of the program that drew them.
    text = re.sub(r"(clip|gradient_)\d+", r"\1", text)
    return re.split(NUMBER, text), [float(number) for number in re.findall(NUMBER, text)]


def test_the_commands_make_the_pictures_of_the_page(made: Path) -> None:
    shown = re.findall(r"\]\((images/\S+\.svg)\)", PAGE)
    assert len(shown) == 4
    for picture in shown:
        again, kept = made / "docs" / picture, ROOT / "docs" / picture
        (what, where), (kept_what, kept_where) = drawn(again), drawn(kept)
        assert what == kept_what, picture
        # Fonts of another machine may move a word by less than a pixel.
        assert where == pytest.approx(kept_where, abs=1), picture


def test_the_rates_of_the_page_are_those_of_its_runs(made: Path) -> None:
    flows = weft.Results(made / "out" / "lossless").flows
    rates = {src: round(bps / 8e6) for src, bps in flows.select("src", "goodput_bps").rows()}
    # The measured window is from 70 to 80 ms, when all four send.
    assert rates == {"H1": 500, "H2": 1000, "H3": 500, "H5": 500}
    control = weft.Results(made / "out" / "infiniband").flows.filter(weft_kind("infiniband"))
    rates = {src: bps / 8e6 for src, bps in control.select("src", "goodput_bps").rows()}
    assert rates["H5"] > 3 * 500 and rates["H1"] + rates["H2"] + rates["H3"] > 0.97 * 2000


def weft_kind(kind: str):  # type: ignore[no-untyped-def]
    import polars as pl

    return pl.col("congestion.kind") == kind


def test_the_ring_is_named_before_the_run_and_when_it_closes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = str(ROOT / "experiments/examples/deadlock.toml")
    assert status_of(["check", file]) == 0
    before, during = (block.strip() for block in re.findall(r"```\n(.*?)\n```", PAGE, re.DOTALL))
    assert before in capsys.readouterr().out.splitlines()
    assert status_of(["run", file, "--out", str(tmp_path / "out"), "--no-report", "--jobs", "1"]) == 1
    assert during in capsys.readouterr().err.splitlines()


def test_a_lane_of_its_own_frees_the_victim() -> None:
    lanes = ["sweep={}", "flow_control.lanes=2", 'workload.H5.transport={ kind = "infiniband", service_level = 1 }']
    flows = weft.run(weft.load(ROOT / "experiments/examples/infiniband.toml", lanes)).flows
    assert flows.filter(flows["src"] == "H5")["goodput_bps"].item() / 8e6 == pytest.approx(1635, rel=0.01)
