"""Faults of an experiment file: every one, with its line, in words that help."""

from pathlib import Path

import pytest

import weft

GOOD = """\
[topology]
kind = "fat_tree"
k = 4

[[workload]]
kind = "permutation"
size = "1 MiB"
"""


def faults(tmp_path: Path, text: str, *settings: str) -> list[str]:
    """The lines of the error for `text`, without the folder's name."""
    file = tmp_path / "incast.toml"
    file.write_text(text)
    with pytest.raises(weft.ExperimentError) as caught:
        weft.load(file, settings)
    return str(caught.value).replace(f"{tmp_path}/", "").splitlines()


@pytest.mark.parametrize(
    ("change", "to", "message"),
    [
        ("k = 4", "q = 4", 'incast.toml:3: topology.q: fat_tree has no key "q"; its keys: k, cores, link, overrides'),
        ("k = 4", 'lnk = "x"', 'incast.toml:3: topology.lnk: fat_tree has no key "lnk"; did you mean "link"?'),
        ("k = 4", "k = 5", "incast.toml:3: topology.k: 5 is odd; a fat tree needs an even number of ports: 4 or 6"),
        ("k = 4", "k = 1", "incast.toml:3: topology.k: 1 is outside 2 to 128"),
        ("k = 4", "k = 4.0", "incast.toml:3: topology.k: 4.0 is a number; expected a whole number"),
        ("k = 4", 'k = "four"', 'incast.toml:3: topology.k: "four" is text; expected a whole number'),
        ("k = 4", "k = true", "incast.toml:3: topology.k: true is a flag; expected a whole number"),
        (
            "k = 4",
            "link = { rate = 10 }",
            'incast.toml:3: topology.link.rate: 10 has no unit; a rate looks like "100 Gbps"',
        ),
        (
            "k = 4",
            'link = { rate = "10 us" }',
            'incast.toml:3: topology.link.rate: "10 us" is a time; expected a rate, like "100 Gbps"',
        ),
        (
            "k = 4",
            'link = { rate = "0 Gbps" }',
            'incast.toml:3: topology.link.rate: "0 Gbps" is below 1 bps, the smallest allowed',
        ),
        (
            "k = 4",
            'link = { rate = "-1 Gbps" }',
            'incast.toml:3: topology.link.rate: "-1 Gbps" is negative; a rate looks like "100 Gbps"',
        ),
        (
            "k = 4",
            'link = { loss = { kind = "random" } }',
            "incast.toml:3: topology.link.loss.p: is required: a number",
        ),
        (
            'kind = "fat_tree"',
            'kind = "fat_trees"',
            'incast.toml:2: topology.kind: unknown "fat_trees"; did you mean "fat_tree"?',
        ),
        (
            'size = "1 MiB"',
            "",
            "incast.toml:5: workload[0].size: is left out, so its flows are endless and never done; give a size, "
            'like "25 MiB", or end the run with backend.until = "5 s"',
        ),
        (
            'size = "1 MiB"',
            'size = "1 MiB"\n[[workload]]\nkind = "permutation"\nsize = "1 MiB"',
            'incast.toml:8: workload[1].name: two workloads are called "permutation" (the other is workload[0]); '
            "give each its own name",
        ),
        (
            'size = "1 MiB"',
            'size = "1 MiB"\n[congestion]\nkind = "dctpc"',
            'incast.toml:9: congestion.kind: unknown "dctpc"; did you mean "dctcp"?',
        ),
        (
            'size = "1 MiB"',
            'size = "1 MiB"\n[quue]\nkind = "red"',
            'incast.toml:8: quue: unknown section or key; did you mean "queue"?',
        ),
        (
            'size = "1 MiB"',
            'size = "1 MiB"\n[queue]\ncapacity = 100',
            'incast.toml:9: queue.capacity: 100 has no unit; a capacity looks like "100 packets" or "150 kB"',
        ),
        (
            'size = "1 MiB"',
            'size = "1 MiB"\n[queue]\nkind = "red"\nmin_threshold = 100',
            "incast.toml:8: queue.max_threshold: 90 is not above min_threshold, 100",
        ),
        (
            'size = "1 MiB"',
            'size = "1 MiB"\n[backend]\nkind = "fluid"',
            'incast.toml:9: backend.kind: unknown "fluid"; known: packet, flow',
        ),
        (
            'size = "1 MiB"',
            'size = "1 MiB"\n[backend]\nuntil = "5 s"\nlimit = "1 s"',
            "incast.toml:10: backend.limit: 1 s is before the end of the run, until = 5 s",
        ),
        (
            'size = "1 MiB"',
            'size = "1 MiB"\n[measure]\ncooldown = "1 s"',
            'incast.toml:9: measure.cooldown: needs a run that ends at a known time; write backend.until = "5 s" '
            'in place of "flows done"',
        ),
        (
            'size = "1 MiB"',
            'size = "1 MiB"\n[transport]\nrto_min = "1 s"\nrto_max = "900 ms"\nrto_initial = "1 ms"',
            "incast.toml:9: transport.rto_min: 1 s is above rto_max = 900 ms, so it would never be used",
        ),
        (
            'size = "1 MiB"',
            'size = "1 MiB"\n[backend]\nuntil = "1 s"\n[measure]\nwarmup = "900 ms"\ncooldown = "100 ms"',
            "incast.toml:11: measure.warmup: warmup and cooldown take 1 s; the run ends at 1 s, so nothing is measured",
        ),
        (
            'size = "1 MiB"',
            'size = "1 MiB"\n[measure]\nmetrics = ["cwnd"]',
            'incast.toml:9: measure.metrics: is sampled at an interval; add every = "10 ms"',
        ),
        (
            'size = "1 MiB"',
            'size = "1 MiB"\n[measure]\nevery = "1 ms"\nmetrics = ["cwmd"]',
            'incast.toml:10: measure.metrics[0]: unknown "cwmd"; did you mean "cwnd"?',
        ),
        (
            'size = "1 MiB"',
            'size = "1 MiB"\n[sweep]\n"queue.capcity" = ["10 packets"]',
            'incast.toml:9: queue.capcity: drop_tail has no key "capcity"; did you mean "capacity"?',
        ),
        (
            'size = "1 MiB"',
            'size = "1 MiB"\n[sweep]\nrepeats = 0',
            "incast.toml:9: sweep.repeats: 0 is outside 1 to 1000000",
        ),
        (
            'size = "1 MiB"',
            'size = "1 MiB"\n[sweep]\n"topology.k" = []',
            'incast.toml:9: sweep."topology.k": is an empty list; an axis has at least one value',
        ),
        (
            'size = "1 MiB"',
            'size = "1 MiB"\n[sweep]\n"topology.k" = 4',
            'incast.toml:9: sweep."topology.k": 4 is no list; an axis lists its values, like [4], '
            'or is a range, like { from = "1 Gbps", to = "100 Gbps", steps = 5, scale = "log" }',
        ),
        (
            'size = "1 MiB"',
            'size = "1 MiB"\n[sweep]\n"load_balance.kind" = ["ecmp", "sprey"]',
            'incast.toml:9: load_balance.kind: unknown "sprey"; did you mean "spray"?',
        ),
    ],
)
def test_a_fault_says_where_what_and_the_way_out(tmp_path: Path, change: str, to: str, message: str) -> None:
    assert change in GOOD
    assert faults(tmp_path, GOOD.replace(change, to, 1)) == [message]


def test_all_faults_come_together(tmp_path: Path) -> None:
    text = """\
sed = 3
[topology]
kind = "fat_tree"
k = 5
link = { rate = "10 us", delay = 5 }
[congestion]
kind = "dctpc"
[[workload]]
kind = "permutation"
size = "1 MB"
[measure]
cooldown = "1 s"
[sweep]
repeats = "ten"
"""
    assert faults(tmp_path, text, "queue.capacity=0 packets", "nonsense") == [
        'incast.toml:1: sed: unknown section or key; did you mean "seed"?',
        "incast.toml:4: topology.k: 5 is odd; a fat tree needs an even number of ports: 4 or 6",
        'incast.toml:5: topology.link.rate: "10 us" is a time; expected a rate, like "100 Gbps"',
        'incast.toml:5: topology.link.delay: 5 has no unit; a time looks like "10 us"',
        'incast.toml:7: congestion.kind: unknown "dctpc"; did you mean "dctcp"?',
        'incast.toml:12: measure.cooldown: needs a run that ends at a known time; write backend.until = "5 s" '
        'in place of "flows done"',
        'incast.toml:14: sweep.repeats: "ten" is text; expected a whole number'
        ', or { until = "ci", metric = "goodput", half_width = "2 %" }',
        '--set: "nonsense" is no setting; expected key=value, like topology.k=8 or queue.capacity="50 packets"',
        '--set: queue.capacity: "0 packets" is below 1, the smallest allowed',
    ]


def test_an_empty_file_lacks_a_topology_and_a_workload(tmp_path: Path) -> None:
    lacking = faults(tmp_path, "")
    assert [line.partition(";")[0] for line in lacking] == [
        "incast.toml: topology: is missing",
        "incast.toml: workload: is missing",
    ]


def test_a_setting_is_checked_like_the_file(tmp_path: Path) -> None:
    assert faults(tmp_path, GOOD, "congestion.kind=dctpc") == [
        '--set: congestion.kind: unknown "dctpc"; did you mean "dctcp"?'
    ]
    assert faults(tmp_path, GOOD, "workload[3].size=1 MiB") == [
        "--set: workload[3].size: there is no element 3; the list has 1"
    ]


def test_a_fault_of_some_cells_names_one(tmp_path: Path) -> None:
    text = GOOD + '[congestion]\nkind = "cubic"\nbeta = 0.7\n[sweep]\n"congestion.kind" = ["cubic", "reno"]\n'
    assert faults(tmp_path, text) == [
        'incast.toml:10: congestion.beta: reno has no key "beta"; its keys: decrease, increase '
        '(in the cell congestion.kind = "reno")'
    ]


def test_what_is_no_toml_has_a_line(tmp_path: Path) -> None:
    (line,) = faults(tmp_path, GOOD + "kind = = 3\n")
    assert line.startswith("incast.toml:8: no valid TOML (column ")


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(weft.ExperimentError, match=r"nowhere.toml: cannot be read: No such file or directory$"):
        weft.load(tmp_path / "nowhere.toml")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(weft.ExperimentError, match=r"a.toml: is not UTF-8 text \(byte 0\)"):
        weft.load(file)


def test_a_disconnected_custom_topology_is_refused(tmp_path: Path) -> None:
    from weft.execute.checks import refuse_what_cannot_run

    text = """\
[topology]
kind = "custom"
links = [{ a = "h0", b = "s0" }, { a = "h1", b = "s0" }, { a = "h2", b = "s1" }, { a = "h3", b = "s1" }]
[[workload]]
kind = "permutation"
size = "1 MiB"
"""
    file = tmp_path / "incast.toml"
    file.write_text(text)
    with pytest.raises(weft.ExperimentError, match=r"incast.toml:\d: (topology|routing)"):
        refuse_what_cannot_run(weft.load(file))


def test_more_than_the_memory_is_refused_with_the_prediction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from weft.execute import checks

    file = tmp_path / "incast.toml"
    file.write_text(GOOD)
    experiment = weft.load(file)
    needed = experiment.predict().memory_bytes
    monkeypatch.setattr(checks.machine, "available_memory", lambda: needed - 1)
    with pytest.raises(weft.ExperimentError) as caught:
        checks.refuse_what_cannot_run(experiment)
    assert "incast.toml:1: topology: 16 hosts and 16 flows need about" in str(caught.value)
    monkeypatch.setattr(checks.machine, "available_memory", lambda: needed)
    checks.refuse_what_cannot_run(experiment)
