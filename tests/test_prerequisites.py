""".ci/prerequisites: what is missing is named, with the way to get it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "prerequisites"


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder that is the whole PATH: what the script itself needs, and everything it looks for."""
    for name in ("sed", "dirname"):
        (tmp_path / name).symlink_to(shutil.which(name) or pytest.skip(f"no {name}"))
    fake(tmp_path, "python3", 'case "$2" in *version*) echo 3.13 ;; esac')
    fake(tmp_path, "cargo", "echo 'cargo 1.99.0 (abc 2026-01-01)'")
    fake(tmp_path, "cc", "")
    return tmp_path


def fake(tools: Path, name: str, body: str) -> None:
    file = tools / name
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)


def check(tools: Path) -> tuple[int, list[str]]:
    environment = {name: text for name, text in os.environ.items() if name not in ("CC", "PYTHON")}
    done = subprocess.run(["/bin/sh", SCRIPT], env=environment | {"PATH": str(tools)}, capture_output=True, text=True)
    assert not done.stdout
    return done.returncode, done.stderr.splitlines()


def test_a_complete_machine_hears_nothing(tools: Path) -> None:
    assert check(tools) == (0, [])


@pytest.mark.parametrize(
    ("tool", "way"), [("python3", "apt install python3"), ("cargo", "rustup"), ("cc", "apt install")]
)
def test_what_is_missing_is_one_sentence_with_the_way_to_get_it(tools: Path, tool: str, way: str) -> None:
    (tools / tool).unlink()
    status, (sentence,) = check(tools)
    assert status == 2
    assert tool in sentence and "missing" in sentence and way in sentence


def test_everything_that_is_missing_is_said_at_once(tools: Path) -> None:
    for tool in ("python3", "cargo", "cc"):
        (tools / tool).unlink()
    status, sentences = check(tools)
    assert (status, len(sentences)) == (2, 3)


def test_an_old_python_and_an_old_cargo_are_refused(tools: Path) -> None:
    fake(tools, "python3", "echo 3.9")
    fake(tools, "cargo", "echo cargo 1.63.0")
    status, (python, cargo) = check(tools)
    assert status == 2
    assert "Python 3.9" in python and "3.11" in python
    assert "1.63.0" in cargo and "rustup" in cargo


def test_python_without_venv_is_refused(tools: Path) -> None:
    fake(tools, "python3", 'case "$2" in *version*) echo 3.11 ;; *) exit 1 ;; esac')
    status, (sentence,) = check(tools)
    assert status == 2
    assert "python3-venv" in sentence
