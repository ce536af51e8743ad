"""Tables in a terminal: what has no room is said or told otherwise, never cut."""

from io import StringIO
from pathlib import Path

from rich.console import Console

import weft
from weft.terminal import print_cells

WIDE = {
    "topology": {"kind": "star", "hosts": 4},
    "workload": [{"kind": "permutation", "size": "20 kB"}],
    "sweep": {
        "topology.link.rate": ["1 Gbps", "10 Gbps"],
        "queue.capacity": ["100 packets", "200 packets"],
        "congestion.kind": ["reno", "cubic"],
        "transport.receive_window": ["1 MiB", "2 MiB"],
        "load_balance.kind": ["ecmp", "spray"],
        "workload[0].start": ["0 s", "1 us"],
    },
}


def test_keys_that_fill_the_line_stand_in_one_column(tmp_path: Path) -> None:
    results = weft.run(WIDE, out=tmp_path / "o")
    text = StringIO()
    print_cells(Console(file=text, width=80), results)
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    heading = " ".join(lines[:2])
    assert all(word in heading for word in ("cell", "goodput", "fct", "slowdown"))
    assert lines[3].startswith("rate 1 Gbps")


def test_keys_that_fit_have_a_column_each(tmp_path: Path) -> None:
    few = WIDE | {"sweep": {"congestion.kind": ["reno", "cubic"], "queue.capacity": ["100 packets", "200 packets"]}}
    text = StringIO()
    print_cells(Console(file=text, width=80), weft.run(few, out=tmp_path / "o"))
    assert "capacity" in text.getvalue()
    assert "100 packets" in text.getvalue()
