"""The flow-level backend: one experiment file on either backend, the same tables, and null where only packets know."""

from pathlib import Path
from typing import Any

import pytest

import weft
from weft.backend import BACKENDS
from weft.errors import ExperimentError, ResultsError
from weft.metric import METRICS
from weft.report import describe
from weft.report.folder import read_folder
from weft.report.why import why

BULK = {
    "topology": {"kind": "dumbbell", "left": 2, "right": 2, "link": {"rate": "1 Gbps", "delay": "10 us"}},
    "workload": [{"kind": "pairs", "pairs": ["l0>r0", "l1>r1"], "size": "25 MiB"}],
}


def run(experiment: dict[str, Any], backend: str) -> weft.Results:
    return weft.run(experiment | {"backend": {"kind": backend, **experiment.get("backend", {})}})


def test_the_same_experiment_has_the_same_tables_on_both_backends() -> None:
    packets, fluid = (run(BULK, kind) for kind in ("packet", "flow"))
    for table in ("flows", "links", "queues", "paths", "nodes"):
        ours, theirs = getattr(fluid, table), getattr(packets, table)
        assert ours.columns == theirs.columns, table
        assert ours.height == theirs.height, table
    assert fluid.flows.select("src", "dst", "size_bytes", "ideal_fct_ns").equals(
        packets.flows.select("src", "dst", "size_bytes", "ideal_fct_ns")
    )


def test_two_long_flows_share_a_link_as_their_packets_do() -> None:
    # 50 MiB cross 1 Gb/s, of which 1448 of 1538 bytes are payload: 445.5 ms. Packets that were lost are sent twice.
    expected = 2 * 25 * 2**20 * 1538 / 1448 * 8
    assert run(BULK, "flow").flows["fct_ns"].max() == pytest.approx(expected, rel=0.001)
    assert run(BULK, "packet").flows["fct_ns"].max() == pytest.approx(expected, rel=0.05)


def test_what_only_packets_know_is_null_and_said_so() -> None:
    results = run(BULK, "flow")
    (manifest,) = results.manifests.values()
    assert manifest["backend"] == "flow"
    assert "packet_hops" not in manifest or manifest["packet_hops"] is None
    for name in manifest["null_columns"]:
        table, column = name.split(".")
        if table in ("flows", "links", "queues"):
            assert getattr(results, table)[column].is_null().all(), name
    (run_name,) = results.manifests
    with pytest.raises(ResultsError, match=r"dropped_packets.*packet backend"):
        METRICS["drops"].value(results.tables(run_name))


def test_sharing_is_a_section_of_fluids() -> None:
    asked = BULK | {"sharing": {"kind": "alpha_fair", "alpha": 2.0}}
    fluid = weft.load(asked | {"backend": {"kind": "flow"}})
    assert fluid.spec(next(fluid.cells()))["sharing"]["kind"] == "alpha_fair"
    packets = weft.load(asked)
    cell = next(packets.cells())
    assert "sharing" not in packets.spec(cell)
    assert packets.advice(cell) == [
        '[sharing] has no effect: backend packet shares links packet by packet (backend.kind = "flow" reads it)'
    ]
    queued = weft.load(BULK | {"backend": {"kind": "flow"}, "queue": {"kind": "red"}})
    assert queued.advice(next(queued.cells())) == ["[queue] has no effect: backend flow has no packets"]


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"workload": [{"kind": "rpc", "value": "1 kB", "requests": 3}]}, "workload[0].kind"),
        ({"failure": [{"what": "l0<>sl", "when": "1 ms"}]}, "failure"),
        ({"transport": {"kind": "rocev2"}}, "workload[0].transport"),
    ],
)
def test_what_a_fluid_cannot_do_is_refused_by_name(change: dict[str, Any], where: str) -> None:
    with pytest.raises(ExperimentError, match="take backend packet|done by backend packet") as told:
        run(BULK | change, "flow")
    assert where in str(told.value)


def test_every_backend_describes_itself() -> None:
    for name, backend in BACKENDS.items():
        assert backend.KIND["name"] == name
        assert {entry["name"] for entry in backend.KIND["parameters"]} >= {"until", "limit"}


def test_a_report_names_what_a_fluid_reads() -> None:
    results = run(BULK, "flow")
    words = dict(describe.rows(read_folder(results.directory)))
    assert words["Sharing"] == "max_min"
    assert "Queue" not in words and "Flow control" not in words


@pytest.mark.parametrize(
    ("workload", "told"),
    [
        ({"kind": "permutation", "size": "25 MiB"}, []),
        ({"kind": "permutation", "size": "10 kB"}, ["permutation: its flows are shorter than 1 MB, and come out"]),
        (
            {"kind": "poisson", "load": 0.9, "size": {"kind": "websearch"}, "flows": 10},
            ["poisson: load 0.9 is above 0.8", "poisson: flows shorter than 1 MB come out too fast"],
        ),
    ],
)
def test_what_leaves_the_range_in_which_both_levels_agree_is_said(workload: dict[str, Any], told: list[str]) -> None:
    fluid = weft.load(BULK | {"backend": {"kind": "flow"}, "workload": [workload]})
    found = fluid.advice(next(fluid.cells()))
    assert len(found) == len(told)
    assert all(text.startswith(start) for text, start in zip(found, told, strict=True))


def test_there_is_nothing_to_explain_of_fluids(tmp_path: Path) -> None:
    results = weft.run(BULK | {"backend": {"kind": "flow"}, "measure": {"every": "10 ms"}}, out=tmp_path)
    with pytest.raises(ResultsError, match="is of backend flow.*--backend packet"):
        weft.explain(results)
    assert why(read_folder(tmp_path)) is None
