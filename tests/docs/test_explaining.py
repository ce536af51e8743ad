"""The examples of docs/explaining.md print what the page says, and the page knows every cause."""

import re
from pathlib import Path

import pytest

import weft
from weft.cli import status_of
from weft.explaining.cause import CAUSES
from weft.explaining.words import CALLED

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "explaining.md").read_text()


def printed(command: str, out: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What a command of the page prints about a folder."""
    assert status_of(command.replace(out, str(folder)).split()) == 0
    return "\n".join(line.rstrip() for line in capsys.readouterr().out.splitlines()).strip()


def test_the_example_prints_what_the_page_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    weft.run(ROOT / "experiments/examples/first.toml", out=tmp_path / "first")
    (command,) = re.findall(r"^    weft (explain out/first.*)$", PAGE, re.MULTILINE)
    text = printed(command, "out/first", tmp_path / "first", capsys)
    assert _unnamed(text) == _unnamed(PAGE.split("```")[1].strip())


def test_the_congestion_tree_is_the_one_of_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    weft.run(ROOT / "experiments/examples/infiniband.toml", out=tmp_path / "infiniband")
    (command,) = re.findall(r"^    weft (explain out/infiniband .*) --picture", PAGE, re.MULTILINE)
    lines = printed(command, "out/infiniband", tmp_path / "infiniband", capsys).splitlines()
    for line in PAGE.split("```")[3].strip().splitlines():
        assert line in lines, line


def _unnamed(text: str) -> str:
    """Without the run's name, which stands for all keys that there are."""
    return re.sub(r"^run [0-9a-f]{16}", "run", text)


def test_every_cause_is_in_the_table() -> None:
    for name in CAUSES:
        assert f"| {CALLED.get(name, 'hash collision' if name == 'collision' else name)}" in PAGE, name
