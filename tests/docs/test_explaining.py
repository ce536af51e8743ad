"""The example of docs/explaining.md prints what the page says, and the page knows every cause."""

import re
from pathlib import Path

import pytest

import weft
from weft.cli import status_of
from weft.explaining.cause import CAUSES

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "explaining.md").read_text()

CALLED = {"sender": "sender's link", "receiver": "incast at the receiver", "collision": "hash collision"}


def test_the_example_prints_what_the_page_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    weft.run(ROOT / "experiments/examples/first.toml", out=tmp_path / "first")
    (command,) = re.findall(r"^    weft (explain out/first.*)$", PAGE, re.MULTILINE)
    assert status_of(command.replace("out/first", str(tmp_path / "first")).split()) == 0
    printed = "\n".join(line.rstrip() for line in capsys.readouterr().out.splitlines())
    assert _unnamed(printed.strip()) == _unnamed(PAGE.split("```")[1].strip())


def _unnamed(text: str) -> str:
    """Without the run's name, which stands for all keys that there are."""
    return re.sub(r"^run [0-9a-f]{16}", "run", text)


def test_every_cause_is_in_the_table() -> None:
    for name in CAUSES:
        assert f"| {CALLED.get(name, name)}" in PAGE, name
