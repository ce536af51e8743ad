"""What `weft check` says of lossless fabrics before they run."""

import json
from pathlib import Path

import pytest

from weft.cli import status_of

RING = """
[topology]
kind = "ring"
switches = 6
link = {{ rate = "{rate}", delay = "5 ns" }}

[routing]
kind = "dimension_order"
dimensions = [6]

[transport]
kind = "{transport}"

[[workload]]
kind = "stride"
stride = 3
size = "2 MB"
"""
"""Every host sends half way round: in one direction, so that a ring of links waits for itself."""

STAR = """
[topology]
kind = "star"
hosts = 9

[flow_control]
kind = "pfc"
{control}

[transport]
kind = "rocev2"

[[workload]]
kind = "incast"
degree = 8
size = "1 MB"
"""


def checked(folder: Path, text: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    file = folder / "asked.toml"
    file.write_text(text)
    assert status_of(["check", str(file), "--json"]) == 0
    document: dict[str, object] = json.loads(capsys.readouterr().out)
    return document


@pytest.mark.parametrize(("transport", "rate"), [("infiniband", "4x DDR"), ("rocev2", "100 Gbps")])
def test_a_ring_that_can_deadlock_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], transport: str, rate: str
) -> None:
    text = RING.format(transport=transport, rate=rate)
    warnings = checked(tmp_path, text, capsys)["warnings"]
    assert isinstance(warnings, list)
    ring = "s0>s1 waits for s1>s2 waits for s2>s3 waits for s3>s4 waits for s4>s5 waits for s5>s0 waits for s0>s1"
    assert [ring in warning for warning in warnings] == [True], warnings
    safe = text.replace('"dimension_order"\ndimensions = [6]', '"up_down"')
    assert checked(tmp_path, safe, capsys)["warnings"] == []


def test_too_little_headroom_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(tmp_path, STAR.format(control=""), capsys)["warnings"] == []
    warnings = checked(tmp_path, STAR.format(control='headroom = "2 kB"'), capsys)["warnings"]
    assert isinstance(warnings, list)
    assert "headroom of 2000 B is less than what may come after a pause at 9 links: h0>s needs" in warnings[0]


def test_the_memory_of_a_lossless_switch_is_that_of_its_buffer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def memory(control: str) -> int:
        prediction = checked(tmp_path, STAR.format(control=control), capsys)["prediction"]
        assert isinstance(prediction, dict)
        return int(prediction["memory_bytes"])

    # 52 bytes for each packet of 1500 B that waits.
    assert memory('buffer = "63 MB"') - memory('buffer = "3 MB"') == 60_000_000 // 1500 * 52
