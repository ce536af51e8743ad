"""The worked example of docs/adding-a-congestion-control.md, applied literally to a copy of the sources."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "adding-a-congestion-control.md"
COPY = ROOT / "target" / "worked-example"
"""A fixed place, so that only what changed is compiled again."""

LIST = Path("crates/packetsim/src/congestion.rs")


def blocks() -> dict[str, str]:
    """The Rust of the page by the file named in the heading above it."""
    found = re.findall(
        r"^## The (?:file|line): `(.+?)`\n\n```rust\n(.+?)```", PAGE.read_text(), re.MULTILINE | re.DOTALL
    )
    return dict(found)


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def test_the_page_shows_the_list_as_it_is() -> None:
    there = (ROOT / LIST).read_text().splitlines()
    added = [line for line in lines(blocks()[str(LIST)]) if line not in there]
    assert added == ["pub mod scalable;", "        Scalable(scalable::Scalable => scalable::State),"]


@pytest.mark.slow
def test_one_file_and_one_line_are_enough() -> None:
    """The crate with the new kind is formatted, clippy is content, and its tests pass, that on the page included."""
    for name in ("Cargo.toml", "Cargo.lock", "clippy.toml", "rustfmt.toml"):
        COPY.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, COPY)
    shutil.rmtree(COPY / "crates", ignore_errors=True)
    shutil.copytree(ROOT / "crates", COPY / "crates")
    (file,) = (name for name in blocks() if name != str(LIST))
    (COPY / file).write_text(blocks()[file])
    text = (ROOT / LIST).read_text().replace("pub mod reno;\n", "pub mod reno;\npub mod scalable;\n")
    before = text[: text.index("controls! {\n    ///")]
    (COPY / LIST).write_text(before + blocks()[str(LIST)].partition("\n\n")[2])
    for command in (
        "cargo fmt --check --package weft-packetsim",
        "cargo clippy --locked --package weft-packetsim -- -D warnings",
        "cargo test --locked --package weft-packetsim --lib congestion",
    ):
        environment = os.environ | {"CARGO_TARGET_DIR": str(COPY / "target")}
        done = subprocess.run(command.split(), cwd=COPY, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "congestion::scalable::tests::a_loss_costs_an_eighth ... ok" in done.stdout
