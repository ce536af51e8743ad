"""The example of docs/comparing.md prints what the page says."""

import re
from pathlib import Path

import pytest

import weft
from weft.cli import status_of
from weft.comparison.verdict import VERDICTS

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "comparing.md").read_text()


def test_the_example_prints_what_the_page_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    weft.run(ROOT / "experiments/examples/spray_vs_ecmp.toml", out=tmp_path / "spray")
    (command,) = re.findall(r"^    weft (compare out/spray .+--reference.+)$", PAGE, re.MULTILINE)
    assert status_of(command.replace("out/spray", str(tmp_path / "spray")).split()) == 0
    printed = "\n".join(line.rstrip() for line in capsys.readouterr().out.splitlines())
    shown = PAGE.split("```")[1].strip()
    assert printed.endswith(shown)


def test_every_verdict_is_explained() -> None:
    for verdict in VERDICTS:
        # The table has "worse, ..." for the twin of "better, perhaps within the margin".
        assert f"`{verdict}`" in PAGE or verdict.startswith("worse, perhaps")
