"""Traces: what a run writes down, another does again."""

import json
from pathlib import Path

import pytest

from weft.cli import status_of

FABRIC = """\
seed = 3
[topology]
kind = "fat_tree"
[measure]
trace = true
"""

APPLICATIONS = """
[[workload]]
kind = "rpc"
place = { kind = "list", hosts = ["h000", "h111", "h200"] }
value = "5 kB"
think = "20 us"
requests = 30

[[workload]]
kind = "fetch"
clients = 2
servers = 3
size = "20 kB"
"""


def run(file: Path, text: str, out: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, Path]:
    """Runs one experiment: its fingerprint and the trace."""
    file.write_text(text)
    assert status_of(["run", str(file), "--out", str(out)]) == 0, capsys.readouterr().err
    [folder] = (out / "runs").iterdir()
    return json.loads((folder / "manifest.json").read_text())["fingerprint"], folder / "trace.csv"


@pytest.mark.parametrize("transport", ['kind = "tcp"', 'kind = "mptcp"\nsubflows = 3'])
@pytest.mark.parametrize("timing", ["recorded", "closed_loop"])
def test_a_trace_done_again_on_the_same_fabric_is_the_same_run(
    tmp_path: Path, timing: str, transport: str, capsys: pytest.CaptureFixture[str]
) -> None:
    fabric = FABRIC + f"[transport]\n{transport}\n"
    first, trace = run(tmp_path / "first.toml", fabric + APPLICATIONS, tmp_path / "first", capsys)
    header, *rows = trace.read_text().splitlines()
    assert header == "kind,src,dst,size_bytes,start_ps,flow,query,think_ps,request_bytes,src_port,dst_port"
    # Two clients with 30 queries each, and two that fetch from three servers.
    kinds = [row.split(",")[0] for row in rows]
    assert (kinds.count("get") + kinds.count("set"), kinds.count("fetch")) == (60, 6)
    again = fabric + f'[[workload]]\nkind = "trace"\nfile = "{trace}"\ntiming = "{timing}"\n'
    second, copy = run(tmp_path / "second.toml", again, tmp_path / "second", capsys)
    assert second == first
    if timing == "closed_loop":
        assert copy.read_text() == trace.read_text()
