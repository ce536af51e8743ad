"""An InfiniBand experiment: what is taken when the file does not say it, and what is said of what has no effect."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import weft
from weft.cli import status_of
from weft.errors import ExperimentError

EXAMPLES = Path(__file__).parent.parent.parent / "experiments" / "examples"

HEAD = 'topology = { kind = "star", hosts = 3 }\nbackend = { until = "1 ms" }\n'
TAIL = '[[workload]]\nkind = "pairs"\npairs = ["h0>h1"]\n'


def experiment(text: str) -> weft.Experiment:
    return weft.load(HEAD + text + TAIL)


def spec(text: str) -> dict[str, Any]:
    loaded = experiment(text)
    return dict(loaded.spec(next(iter(loaded.cells()))))


def test_the_transport_chooses_flow_control_and_no_congestion_control() -> None:
    asked = spec('[transport]\nkind = "infiniband"\n')
    assert (asked["flow_control"]["kind"], asked["congestion"]["kind"]) == ("credit", "none")
    assert asked["flow_control"]["input_buffer"] == 96
    plain = spec("")
    assert (plain["flow_control"]["kind"], plain["congestion"]["kind"]) == ("none", "cubic")


def test_each_cell_takes_what_its_own_transport_chooses() -> None:
    swept = experiment('[sweep]\n"transport.kind" = ["tcp", "infiniband", "mptcp"]\n')
    kinds = [swept.spec(cell)["congestion"]["kind"] for cell in swept.cells()]
    assert kinds == ["cubic", "none", "cubic"]


def test_the_standard_profile_adds_nothing_to_the_standard() -> None:
    asked = spec('[transport]\nkind = "infiniband"\n[congestion]\nkind = "infiniband"\nprofile = "standard"\n')
    control = asked["congestion"]
    assert (control["burst_packets"], control["hysteresis"], control["reset_zone"]) == (1, 0, False)
    assert control["packet_size_unit"] == "credits"


def test_a_queue_discipline_has_no_effect_on_lossless_ports() -> None:
    asked = experiment('[transport]\nkind = "infiniband"\n[queue]\nkind = "red"\n')
    (sentence,) = asked.advice(next(iter(asked.cells())))
    assert sentence.startswith("[queue] has no effect: with flow_control credit")


def test_a_run_says_that_no_packet_is_large_enough_to_be_marked() -> None:
    results = weft.run(
        experiment('[transport]\nkind = "infiniband"\n[congestion]\nkind = "infiniband"\npacket_size = 2200\n')
    )
    (manifest,) = results.manifests.values()
    assert any("no packet is as large as congestion.packet_size, 2200 B" in said for said in manifest["warnings"])


def checked(capsys: pytest.CaptureFixture[str], file: Path, *settings: str) -> list[str]:
    """The warnings that `weft check` prints, which stand above the experiment."""
    arguments = ["check", str(file), *(part for each in settings for part in ("--set", each))]
    assert status_of(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    said = [line for line in lines if line.startswith("# warning: ")]
    assert lines[: len(said)] == said
    return [line.removeprefix("# warning: ") for line in said]


CONTROL = ("sweep={}", "congestion.kind=infiniband")


def test_check_says_what_has_no_effect_before_anything_runs(capsys: pytest.CaptureFixture[str]) -> None:
    example = EXAMPLES / "infiniband.toml"
    assert checked(capsys, example) == []
    (trap,) = checked(capsys, example, *CONTROL, "congestion.packet_size=2200")
    assert trap.startswith("congestion control has no effect: no packet is as large as congestion.packet_size, 2200 B")
    # In credits a packet has 34.
    (trap,) = checked(capsys, example, *CONTROL, "congestion.packet_size=35", "congestion.packet_size_unit=credits")
    assert "2240 B (the largest has 2176 B)" in trap
    assert not checked(capsys, example, *CONTROL, "congestion.packet_size=34", "congestion.packet_size_unit=credits")
    (never,) = checked(capsys, example, *CONTROL, "congestion.threshold=0")
    assert never == "congestion control has no effect: congestion.threshold 0 never marks"


def test_check_says_that_the_reset_threshold_lies_above_the_threshold(capsys: pytest.CaptureFixture[str]) -> None:
    # Weight 3 is 96 x 13/16 = 78 credits, weight 8 is 48: the thesis left it so.
    (said,) = checked(capsys, EXAMPLES / "infiniband.toml", *CONTROL, "congestion.threshold=8")
    assert said.startswith(
        "congestion.reset_threshold 3 (78 credits) lies above threshold 8 (48): in congestion, marks"
    )
    assert not checked(capsys, EXAMPLES / "infiniband.toml", *CONTROL, "congestion.threshold=2")


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("congestion.threshold=16", "congestion.threshold: 16 is outside 0 to 15"),
        ("congestion.threshold=-1", "congestion.threshold: -1 is outside 0 to 15"),
        ("congestion.reset_threshold=16", "congestion.reset_threshold: 16 is outside 0 to 15"),
        ('congestion.victim_mask=["SW9>*"]', 'victim_mask[0]: "SW9>*" matches no link; a link is called SW1>SW3'),
    ],
)
def test_what_the_standard_does_not_have_is_refused(setting: str, said: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        weft.run(weft.load(EXAMPLES / "infiniband.toml", [*CONTROL, setting]))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("3: 255 0 0 2 255 0", "H1 to H4: SW4 has no entry (255, or a row that is too short)"),
        ("3: 255 0 0 2", "H1 to H4: SW4 has no entry (255, or a row that is too short)"),
        ("3: 255 0 0 2 0 0", "H1 to H4 leads round in a circle: SW4 > SW2 > SW4"),
        ("3: 255 0 0 2 7 0", "row 3 (SW4) sends LID 4 to port 7; its ports are 0 to 2"),
        ("4: 255 0 0 2 1 0", "there is no row 3, which is that of SW4"),
        ("3: 255 x 0 2 1 0", 'line 5: "3: 255 x 0 2 1 0" is no row like'),
    ],
)
def test_a_forwarding_table_with_a_hole_or_a_loop_is_refused(tmp_path: Path, row: str, said: str) -> None:
    lines = (EXAMPLES / "infiniband.fdbs").read_text().splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("3:"))
    (tmp_path / "infiniband.fdbs").write_text("\n".join([*lines[:place], row, *lines[place + 1 :]]) + "\n")
    shutil.copy(EXAMPLES / "infiniband.toml", tmp_path)
    with pytest.raises(ExperimentError) as caught:
        weft.run(weft.load(tmp_path / "infiniband.toml", ["sweep={}"]))
    assert said in str(caught.value)
