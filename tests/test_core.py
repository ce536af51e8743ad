"""weft._core as Python sees it: documents, faults, and tables that polars reads back."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft import _core
from weft.experiment import path as dotted


def lines(text: str) -> dict[str, int]:
    found: dict[str, int] = json.loads(_core.parse_toml(text))["lines"]
    return found


def value(text: str) -> Any:
    return json.loads(_core.parse_toml(text))["value"]


def toml_fault(text: str) -> dict[str, Any]:
    with pytest.raises(_core.TomlError) as raised:
        _core.parse_toml(text)
    fault: dict[str, Any] = json.loads(raised.value.args[0])
    return fault


def spec(**sections: Any) -> dict[str, Any]:
    """A permutation of 100 kB on a small fat tree: 16 hosts, 20 switches, 48 cables."""
    return {
        "seed": 7,
        "topology": {"kind": "fat_tree", "k": 4},
        "load_balance": {"kind": "ecmp"},
        "backend": {"kind": "packet", "limit": 10**13},
        "workload": [{"name": "bulk", "kind": "permutation", "size": 100_000}],
    } | sections


def simulate(directory: Path, document: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(document)
    simulation = _core.PacketSimulation(_core.Scenario(text), text, directory)
    while not json.loads(simulation.advance(0.05))["finished"]:
        pass
    summary: dict[str, Any] = json.loads(simulation.finish())
    simulation.write()
    return summary


class TestToml:
    def test_every_key_header_and_element_has_its_line(self) -> None:
        text = 'seed = 7\n\n[topology]\nk = 4\nlink = { rate = "1 Gbps",\n  mtu = 1500 }\n[[workload]]\nsize = 1\n'
        text += '[[workload]]\nsize = [\n 1,\n 2]\n[sweep]\n"queue.kind" = ["red"]\n'
        assert lines(text) == {
            "seed": 1,
            "topology": 3,
            "topology.k": 4,
            "topology.link": 5,
            "topology.link.rate": 5,
            "topology.link.mtu": 6,
            "workload": 7,
            "workload[0]": 7,
            "workload[0].size": 8,
            "workload[1]": 9,
            "workload[1].size": 10,
            "workload[1].size[0]": 11,
            "workload[1].size[1]": 12,
            "sweep": 13,
            'sweep."queue.kind"': 14,
            'sweep."queue.kind"[0]': 14,
        }

    def test_tables_keep_the_order_of_the_file(self) -> None:
        assert list(value("b = 1\na = 2\n[d]\nz = 1\ny = 2\n[c]")) == ["b", "a", "d", "c"]
        assert list(value("[d]\nz = 1\ny = 2")["d"]) == ["z", "y"]

    def test_integers_and_reals_keep_their_type(self) -> None:
        assert value("a = 1\nb = 1.0\nc = 0xff") == {"a": 1, "b": 1.0, "c": 255}
        assert type(value("a = 1")["a"]) is int and type(value("a = 1.0")["a"]) is float
        assert value("a = -9223372036854775808")["a"] == -(2**63)

    @pytest.mark.parametrize(
        ("text", "line", "column", "message"),
        [
            ("a = 1\nb =\n", 2, 4, ""),
            ("a = 1\n\na = 2\n", 3, 1, "duplicate key"),
            ("[a]\n[a]\n", 2, 2, "duplicate key"),
            ("when = 2026-01-02\n", 1, 8, "2026-01-02 is a date"),
            ("µ = 1", 1, 1, ""),
            ('"µ" = nan', 1, 7, "nan is not a finite number"),
            ("a = [1, 1e999]", 1, 9, ""),
            ("a = 9223372036854775808", 1, 5, "does not fit into 64 bits"),
        ],
    )
    def test_a_fault_has_its_place(self, text: str, line: int, column: int, message: str) -> None:
        fault = toml_fault(text)
        assert (fault["line"], fault["column"]) == (line, column), fault
        assert message in fault["message"]

    @given(st.lists(st.text(st.characters(exclude_categories=["C"]), max_size=5), min_size=1, max_size=3))
    def test_paths_are_those_of_the_front(self, keys: list[str]) -> None:
        quoted = [json.dumps(key, ensure_ascii=False) for key in keys]
        assert dotted.write(tuple(keys)) in lines(".".join(quoted) + " = 1")

    @given(st.text())
    def test_any_text_is_a_document_or_a_fault(self, text: str) -> None:
        try:
            _core.parse_toml(text)
        except _core.TomlError as error:
            fault = json.loads(error.args[0])
            assert 1 <= fault["line"] <= text.count("\n") + 1
            assert fault["column"] >= 1

    def test_deep_nesting_is_a_fault_and_no_crash(self) -> None:
        assert toml_fault("a = " + "[" * 100_000)["line"] == 1


class TestScenario:
    def test_columns_describe_the_fabric(self) -> None:
        scenario = _core.Scenario(json.dumps(spec()))
        assert json.loads(scenario.summary()) == {"hosts": 16, "switches": 20, "links": 96, "flows": 16, "seed": 7}
        nodes, links, flows = scenario.nodes(), scenario.links(), scenario.flows()
        assert nodes["kind"] == ["host"] * 16 + ["switch"] * 20
        assert {len(column) for column in links.values()} == {96}
        assert set(links["src"]) == set(nodes["name"])
        assert {len(column) for column in flows.values()} == {16}
        for src, dst, path in zip(flows["src"], flows["dst"], flows["path"], strict=True):
            assert (links["src"][path[0]], links["dst"][path[-1]]) == (src, dst)

    def test_the_prediction_is_what_is_built(self) -> None:
        predicted = json.loads(_core.predict(json.dumps(spec())))
        summary = json.loads(_core.Scenario(json.dumps(spec())).summary())
        assert {name: predicted[name] for name in ("hosts", "switches", "links", "flows")} == {
            name: summary[name] for name in ("hosts", "switches", "links", "flows")
        }
        assert predicted["memory_bytes"] > 0

    def test_faults_come_as_a_list(self) -> None:
        with pytest.raises(_core.FaultError) as raised:
            _core.Scenario(json.dumps(spec(topology={"kind": "fat_tree", "k": 5})))
        (fault,) = json.loads(raised.value.args[0])
        assert fault["key"] == "topology.k"
        assert "5" in fault["message"]

    def test_a_spec_that_is_no_object_is_refused(self) -> None:
        with pytest.raises(ValueError, match="no JSON object"):
            _core.Scenario("[]")


class TestPacketSimulation:
    def test_tables_read_back_as_the_run_says(self, tmp_path: Path) -> None:
        summary = simulate(tmp_path, spec(measure={"every": 10**7}))
        tables = {file.stem: pl.read_parquet(file) for file in tmp_path.iterdir()}
        assert set(tables) == {"flows", "links", "queues", "paths", "samples", "nodes"}
        assert summary["finished"] and summary["unfinished"] == 0
        flows, links, paths = tables["flows"], tables["links"], tables["paths"]
        assert flows["size_bytes"].to_list() == [100_000] * 16
        assert flows["fct_ns"].null_count() == 0
        assert flows["workload"].to_list() == ["bulk"] * 16
        assert flows["reason"].null_count() == 16
        assert links["tx_packets"].sum() == summary["packet_hops"]
        assert flows.schema["flow"] == pl.Int64 and flows.schema["goodput_bps"] == pl.Float64
        assert flows.schema["src"] == pl.String and paths.schema["path"] == pl.List(pl.String)
        for src, dst, path in zip(flows["src"], flows["dst"], paths["path"], strict=True):
            assert path[0].startswith(f"{src}>") and path[-1].endswith(f">{dst}")
        samples = tables["samples"]
        assert samples.columns == ["time_ns", "metric", "entity", "value", "error"]
        assert samples["error"].null_count() == samples.height > 0

    def test_unknown_values_are_null(self, tmp_path: Path) -> None:
        simulate(tmp_path, spec(backend={"kind": "packet", "until": 10**8}, load_balance={"kind": "spray"}))
        flows = pl.read_parquet(tmp_path / "flows.parquet")
        links = pl.read_parquet(tmp_path / "links.parquet")
        assert flows["fct_ns"].null_count() == 16
        assert flows["reason"].null_count() == 0
        assert links["flows"].null_count() == links.height == 96
        assert not (tmp_path / "samples.parquet").exists()

    def test_samples_stream_in_row_groups(self, tmp_path: Path) -> None:
        # 16 flows and 96 links, seen every 100 ns of some 250 us or more: beyond the 250 000 rows of one group.
        document = spec(measure={"every": 10**5})
        text = json.dumps(document)
        simulation = _core.PacketSimulation(_core.Scenario(text), text, tmp_path)
        while not json.loads(simulation.advance(0.01))["finished"]:
            pass
        assert (tmp_path / "samples.parquet").stat().st_size > 0
        simulation.finish()
        simulation.write()
        samples = pl.scan_parquet(tmp_path / "samples.parquet")
        height = samples.select(pl.len()).collect().item()
        assert height > 250_000
        assert samples.select(pl.col("time_ns").is_sorted()).collect().item()

    def test_the_same_run_has_the_same_fingerprint(self, tmp_path: Path) -> None:
        folders = [tmp_path / name for name in "ab"]
        prints = []
        for folder in folders:
            folder.mkdir()
            prints.append(simulate(folder, spec())["fingerprint"])
        assert prints[0] == prints[1]
        for table in ("flows", "links", "queues", "paths", "nodes"):
            first, second = ((folder / f"{table}.parquet").read_bytes() for folder in folders)
            assert first == second, table

    def test_a_full_disk_is_an_os_error_with_the_path(self, tmp_path: Path) -> None:
        (tmp_path / "flows.parquet").symlink_to("/dev/full")
        with pytest.raises(OSError, match="No space left on device") as raised:
            simulate(tmp_path, spec())
        assert raised.value.filename == str(tmp_path / "flows.parquet")

    def test_a_missing_folder_is_an_os_error_with_the_path(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError) as raised:
            simulate(tmp_path / "nowhere", spec())
        assert raised.value.filename == str(tmp_path / "nowhere" / "flows.parquet")

    def test_steps_come_in_their_order(self, tmp_path: Path) -> None:
        text = json.dumps(spec())
        simulation = _core.PacketSimulation(_core.Scenario(text), text, tmp_path)
        with pytest.raises(RuntimeError, match="after finish"):
            simulation.write()

    @pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
    def test_a_slice_is_a_length_of_time(self, tmp_path: Path, seconds: float) -> None:
        text = json.dumps(spec())
        with pytest.raises(ValueError, match="no length of time"):
            _core.PacketSimulation(_core.Scenario(text), text, tmp_path).advance(seconds)


class TestModule:
    def test_kinds_name_their_rooms(self) -> None:
        rooms = {kind["room"] for kind in json.loads(_core.kinds())}
        assert rooms >= {"topology", "routing", "load_balance", "transport", "workload", "queue", "congestion"}

    def test_version_and_commit_have_their_form(self) -> None:
        assert re.fullmatch(r"\d+\.\d+\.\d+", _core.version())
        assert re.fullmatch(r"[0-9a-f]{12}(-modified)?|unknown", _core.commit())

    def test_memory_is_that_of_this_process_alone(self) -> None:
        # ru_maxrss of a child on Linux begins at the memory of its parent; ours must not.
        ballast = os.urandom(1 << 20) * 300
        code = "from weft import _core; print(_core.peak_rss_bytes())"
        child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        own = _core.peak_rss_bytes()
        assert own is not None and own > len(ballast)
        assert int(child.stdout) < 100 << 20
