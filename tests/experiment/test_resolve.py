"""What a file resolves to: defaults, profiles, settings, and the way back to a file."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft
from weft.experiment.experiment import Experiment

EXAMPLES = sorted(Path("experiments/examples").glob("*.toml"))

FIRST = {"topology": {"kind": "fat_tree"}, "workload": [{"kind": "permutation", "size": "1 MiB"}]}


def only(experiment: Experiment) -> dict[str, object]:
    """The spec of the only cell."""
    (cell,) = experiment.cells()
    return experiment.spec(cell)


def test_defaults_are_written_out_in_base_units() -> None:
    spec = only(weft.load(FIRST))
    assert spec["backend"] == {"kind": "packet", "until": "flows done", "limit": 60 * 10**12}
    assert spec["queue"] == {"kind": "drop_tail", "capacity": {"packets": 100}}
    assert spec["workload"] == [{"kind": "permutation", "name": "permutation", "start": 0, "size": 2**20}]
    assert (spec["name"], spec["seed"]) == ("experiment", 1)


def test_a_profile_sets_defaults_and_keys_win_over_it() -> None:
    spec = only(weft.load(FIRST | {"transport": {"profile": "rfc", "rack": True}}))
    transport = spec["transport"]
    assert isinstance(transport, dict)
    assert (transport["rto_min"], transport["rack"], transport["tlp"], transport["ack_every"]) == (
        10**12,
        True,
        False,
        1,
    )


def test_a_workload_may_have_its_own_protocols() -> None:
    own = {
        "kind": "permutation",
        "size": "1 kB",
        "transport": {"kind": "udp", "rate": "1 Gbps"},
        "congestion": {"kind": "reno"},
    }
    spec = only(weft.load(FIRST | {"workload": [own]}))
    (workload,) = spec["workload"]  # type: ignore[misc]
    assert workload["transport"]["rate"] == 10**9
    assert workload["congestion"]["kind"] == "reno"


def test_a_plain_size_is_a_fixed_distribution() -> None:
    poisson = {"kind": "poisson", "load": 0.5, "flows": 10}
    plain = only(weft.load(FIRST | {"workload": [poisson | {"size": "25 MiB"}]}))
    table = only(weft.load(FIRST | {"workload": [poisson | {"size": {"kind": "fixed", "bytes": "25 MiB"}}]}))
    assert plain == table


def test_a_timed_run_has_no_limit() -> None:
    assert "limit" not in only(weft.load(FIRST | {"backend": {"until": "100 s"}}))["backend"]  # type: ignore[operator]


def test_settings_take_toml_or_plain_text_and_make_sections() -> None:
    settings = ["topology.k=8", "congestion.kind=dctcp", 'queue.capacity="50 packets"', "topology.link.rate=1Gbps"]
    spec = only(weft.load(FIRST, settings))
    assert spec["topology"]["k"] == 8  # type: ignore[index]
    assert spec["topology"]["link"]["rate"] == 10**9  # type: ignore[index]
    assert spec["congestion"]["kind"] == "dctcp"  # type: ignore[index]
    assert spec["queue"]["capacity"] == {"packets": 50}  # type: ignore[index]


def test_settings_name_workloads_by_index_or_name() -> None:
    for key in ("workload[0].size", "workload.permutation.size"):
        assert only(weft.load(FIRST, {key: "2 MiB"}))["workload"][0]["size"] == 2**21  # type: ignore[index]


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_what_is_resolved_is_a_file_with_the_same_runs(file: Path) -> None:
    experiment = weft.load(file)
    again = weft.load(experiment.toml)
    assert [run.name for run in again.plan()] == [run.name for run in experiment.plan()]
    for cell in experiment.cells():
        alone = weft.load(experiment.resolved_cell(cell))
        assert only(alone) == experiment.spec(cell)


TIMES = st.integers(1, 10**15)


@settings(max_examples=50, deadline=None)
@given(
    k=st.sampled_from([2, 4, 6]),
    rate=st.integers(1, 10**12),
    delay=st.integers(0, 10**12),
    size=st.integers(1, 2**40),
    packets=st.integers(1, 10**6),
    beta=st.floats(0.2, 0.9),
    seed=st.integers(0, 2**53),
)
def test_any_values_survive_the_way_through_a_file(
    k: int, rate: int, delay: int, size: int, packets: int, beta: float, seed: int
) -> None:
    experiment = weft.load(
        {
            "seed": seed,
            "topology": {"kind": "fat_tree", "k": k, "link": {"rate": f"{rate} bps", "delay": f"{delay} ps"}},
            "queue": {"capacity": f"{packets} packets"},
            "congestion": {"kind": "cubic", "beta": beta},
            "workload": [{"name": 'a "b"\t\\ü\x7f', "kind": "permutation", "size": f"{size} B"}],
        }
    )
    again = weft.load(experiment.toml)
    assert only(again) == only(experiment)
    spec = only(again)
    assert spec["topology"]["link"]["rate"] == rate  # type: ignore[index]
    assert spec["topology"]["link"]["delay"] == delay  # type: ignore[index]
    assert spec["workload"][0]["size"] == size  # type: ignore[index]
    assert spec["congestion"]["beta"] == beta  # type: ignore[index]


def test_the_schema_accepts_the_examples_and_refuses_an_unknown_key() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    import tomllib

    from weft.schema import schema

    validator = jsonschema.Draft202012Validator(schema())
    validator.check_schema(schema())
    for file in EXAMPLES:
        tables = tomllib.loads(file.read_text())
        assert not list(validator.iter_errors(tables)), file
        assert not list(validator.iter_errors(weft.load(file).resolved)), file
    assert list(validator.iter_errors(FIRST | {"queue": {"capcity": "10 packets"}}))
    assert list(validator.iter_errors(FIRST | {"queue": {"capacity": 10}}))
    assert list(validator.iter_errors(FIRST | {"congestion": {"kind": "dctpc"}}))


def test_loading_an_experiment_loads_no_data_stack() -> None:
    import subprocess
    import sys

    code = (
        "import sys, weft, weft.cli, weft.execute\n"
        f"weft.load({str(EXAMPLES[0])!r}).toml\n"
        "heavy = {'polars', 'altair', 'scipy', 'numpy', 'pandas'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_cells_that_share_sections_do_not_share_what_is_done_to_them() -> None:
    # `limit` is left out where a run ends by the clock, and the kinds of the second workload have other keys.
    base = {"topology": {"kind": "star", "hosts": 4}, "workload": [{"kind": "permutation", "size": "20 kB"}]}
    swept = weft.load(
        base
        | {
            "sweep": {
                "backend.until": ["1 ms", "2 ms"],
                "congestion": [{"kind": "dctcp"}, {"kind": "reno"}],
                "queue.capacity": ["10 packets", "20 packets"],
            }
        }
    )
    told: list[tuple[int, int]] = []
    weft.load(swept.document.value, told=lambda checked, cells: told.append((checked, cells)))
    assert told == [(checked, 8) for checked in range(8)]
    for cell in swept.cells():
        assert swept.spec(cell) == only(weft.load(base, set=dict(cell.chosen)))
