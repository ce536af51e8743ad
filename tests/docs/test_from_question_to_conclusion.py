"""docs/from-question-to-conclusion.md: what it says was printed is what is printed."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/from-question-to-conclusion.md").read_text()


def weft(command: str, cwd: Path, *more: str) -> str:
    """What a command of the page prints, without folding."""
    words = [str(ROOT / word) if word.startswith("experiments/") else word for word in shlex.split(command)]
    assert words[0] == "weft"
    done = subprocess.run(
        [sys.executable, "-m", "weft.cli", *words[1:], *more],
        cwd=cwd,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "python"), "COLUMNS": "200"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def squeezed(text: str) -> list[str]:
    return [re.sub(r"\s+", " ", line).strip() for line in text.splitlines()]


def commands() -> list[str]:
    joined = PAGE.replace("\\\n", " ")
    return re.findall(r"^    (weft (?:run|check|show|compare) .+)$", joined, re.MULTILINE)


@pytest.mark.slow
def test_the_page_shows_what_its_commands_print(tmp_path: Path) -> None:
    check, run, compare, *_ = commands()
    printed = squeezed(weft(check, tmp_path) + weft(run, tmp_path, "--no-report"))
    printed += squeezed(weft(compare, tmp_path))
    blocks = [text for language, text in re.findall(r"```(\w*)\n(.+?)```", PAGE, re.DOTALL) if not language]
    assert len(blocks) == 4
    for block in blocks:
        for line in squeezed(block):
            if "─" not in line and not line.startswith("load_balance."):
                assert line in printed, line


def test_the_other_commands_are_right(tmp_path: Path) -> None:
    # Smaller and fewer: the page's figures of these were taken once.
    few = ("--set", "workload.search.flows=20", "--no-report")
    for command in commands()[3:]:
        if "narrow" in command:
            command = command.replace('"3 %"', '"3 %", least = 3, most = 3')
        weft(command, tmp_path, *few)


def test_the_python_of_the_page_prints_what_its_comment_says(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.+?)```", PAGE, re.DOTALL)
    exec(compile(code, "page", "exec"), {})
    (comment,) = re.findall(r"# (left out .+)$", code, re.MULTILINE)
    assert capsys.readouterr().out.strip() == comment
