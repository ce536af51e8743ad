"""What cannot be, or does not end well, where paths are many: each said with its place and the way out."""

from pathlib import Path

import pytest

from weft.cli import status_of

WORKLOAD = """
[[workload]]
kind = "permutation"
size = "100 kB"
"""


def said(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str], *command: str) -> tuple[int, str]:
    """Exit status and what was printed as an error, on one line."""
    file = tmp_path / "bad.toml"
    file.write_text(text)
    status = status_of([*(command or ("check",)), str(file), *(("--out", str(tmp_path / "out")) if command else ())])
    return status, " ".join(capsys.readouterr().err.split())


def test_an_impossible_degree_sequence_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # 20 switches of 4 ports: with 80 hosts none is left to join two switches, with 100 there is no room for all.
    for hosts, message in [
        (80, "topology.ports: switch 0 has no port left for another switch; take hosts = 42 or fewer, or more ports"),
        (
            100,
            "topology.ports: switch 0 has 4 ports, which is not enough for 5 hosts; "
            "take hosts = 42 or fewer, or more ports",
        ),
    ]:
        text = f'[topology]\nkind = "jellyfish"\nhosts = {hosts}\n{WORKLOAD}'
        status, error = said(tmp_path, text, capsys)
        assert status == 2 and message in error, error


def test_fewer_paths_than_k_are_used_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f'[topology]\nkind = "ring"\nswitches = 5\n[routing]\nkind = "k_shortest"\nk = 4\n{WORKLOAD}'
    status, error = said(tmp_path, text, capsys, "run")
    assert status == 0
    assert (
        "routing.k = 4: 20 of 20 pairs of switches have fewer loopless paths (the least 2); all that exist are used"
        in error
    )


def test_a_failure_that_cuts_hosts_off_ends_the_run_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """
[topology]
kind = "ring"
switches = 4
link = { rate = "10 Mbps" }

[backend]
limit = "20 s"

[[failure]]
what = "s2"
when = "10 ms"

[[workload]]
kind = "pairs"
pairs = ["h0_0>h2_0", "h0_0>h1_0"]
size = "200 kB"
"""
    status, error = said(tmp_path, text, capsys, "run")
    assert status == 1 and "1 x path down: a failure left no route to the destination" in error, error
    assert len(list(tmp_path.glob("out/runs/*/flows.parquet"))) == 1


def test_more_subflows_than_ports_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"""
[topology]
kind = "star"
hosts = 2
[transport]
kind = "mptcp"
subflows = 30000
{WORKLOAD}"""
    status, error = said(tmp_path, text, capsys)
    assert status == 2 and "more subflows than ports: h0 has 28232 ports" in error, error


def test_a_trace_of_unknown_hosts_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text(
        "kind,src,dst,size_bytes,start\nflow,h0,h1,1,0 s\nget,h0,h11,1,0 s\nset,x,h1,1,0 s\n"
    )
    text = '[topology]\nkind = "star"\n\n[[workload]]\nkind = "trace"\nfile = "t.csv"\n'
    status, error = said(tmp_path, text, capsys)
    assert status == 2, error
    assert "bad.toml:6: workload[0].file: " in error
    assert 't.csv, line 3: there is no host "h11"; did you mean "h1"?' in error, error
    assert 't.csv, line 4: there is no host "x"; hosts are called h0, h1, ' in error, error
