"""`weft export p4`: bmv2 with the exported files sends every packet where the simulator sends it."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from switches import Packet, Switch, crc16

import weft
from weft.cli import status_of
from weft.errors import WeftError
from weft.export.p4 import export_p4
from weft.export.p4.prefixes import prefixes

GOLDEN = Path(__file__).with_name("golden")
PUBLISHED = {"kind": "ecmp", "hash": "crc16", "seeds": "shared", "buckets": 8}
"""The switches of the path diversity study."""

BALANCES = [
    {"kind": "static"},
    PUBLISHED,
    PUBLISHED | {"bucket_map": "random"},
    {"kind": "ecmp"},
    {"kind": "ecmp", "seeds": "shared"},
    {"kind": "ecmp", "hash": "crc16", "seeds": "shared"},
    {"kind": "ecmp", "hash": "crc16", "buckets": 16},
    {"kind": "ecmp", "buckets": 64},
]
FABRICS = [
    {"kind": "fat_tree"},
    {"kind": "fat_tree", "k": 6},
    {"kind": "fat_tree", "cores": "two"},
    {"kind": "fat_tree", "overrides": [{"links": "sa00>sc01", "failed": True}]},
    {"kind": "leaf_spine", "leaves": 3, "spines": 3, "hosts_per_leaf": 4},
    {"kind": "jellyfish", "switches": 12, "ports": 5, "hosts": 12},
    {"kind": "binary_tree"},
]


def experiment(topology: Any = FABRICS[0], balance: Any = PUBLISHED, **sections: Any) -> dict[str, Any]:
    workload = {"kind": "permutation", "size": "20 kB"}
    return {"seed": 3, "topology": topology, "load_balance": balance, "workload": [workload]} | sections


def write(tmp_path: Path, table: dict[str, Any]) -> Path:
    from weft.experiment.readable import toml

    file = tmp_path / "experiment.toml"
    file.write_text(toml(table))
    return file


class Fabric:
    """The exported files, and the way of a packet through them."""

    def __init__(self, directory: Path) -> None:
        (program,) = directory.glob("*.p4")
        self.program = program.read_text()
        self.topology = json.loads((directory / "topology.json").read_text())
        self.switches = {
            name: Switch.read(self.program, directory / switch["cli_input"])
            for name, switch in self.topology["switches"].items()
        }
        self.host_of = {host["ip"].removesuffix("/32"): name for name, host in self.topology["hosts"].items()}
        self.switch_of = {}
        for first, second, _, _ in self.topology["links"]:
            for end, other in ((first, second), (second, first)):
                if end in self.topology["hosts"]:
                    self.switch_of[end] = other.partition("-p")[0]

    def path(self, packet: Packet) -> list[str]:
        """The names of the links from host to host; the last is the one at which it is dropped, if it is."""
        node = self.host_of[packet.src]
        path = [f"{node}>{self.switch_of[node]}"]
        node = self.switch_of[node]
        while node in self.switches:
            port = self.switches[node].port(packet)
            if port is None:
                return path
            after = self.topology["switches"][node]["interfaces"][f"eth{port}"]
            path.append(f"{node}>{after}")
            node = after
        assert node == self.host_of[packet.dst]
        return path


@pytest.mark.parametrize("balance", BALANCES, ids=lambda balance: "-".join(map(str, balance.values())))
@pytest.mark.parametrize("topology", FABRICS, ids=lambda topology: "-".join(map(str, topology.values()))[:24])
def test_every_flow_takes_the_simulator_s_path(tmp_path: Path, topology: Any, balance: Any) -> None:
    table = experiment(topology, balance)
    export_p4(write(tmp_path, table), tmp_path / "p4")
    fabric = Fabric(tmp_path / "p4")
    scenario = weft.load(table).scenario()
    nodes, links, flows = scenario.nodes(), scenario.links(), scenario.flows()
    address = dict(zip(nodes["name"], nodes["address"], strict=True))
    assert len(flows["src"]) >= 12
    for src, dst, src_port, dst_port, path in zip(
        *(flows[name] for name in ("src", "dst", "src_port", "dst_port", "path")), strict=True
    ):
        packet = Packet(address[src], address[dst], src_port, dst_port)
        assert fabric.path(packet) == [links["name"][link] for link in path]


def test_subflows_take_the_paths_that_their_packets_took(tmp_path: Path) -> None:
    # What the run itself counted, subflow by subflow.
    table = experiment({"kind": "fat_tree"}, PUBLISHED, transport={"kind": "mptcp", "subflows": 4})
    table["workload"] = [{"kind": "permutation", "size": "500 kB"}]
    results = weft.run(table)
    export_p4(results.directory, tmp_path / "p4")
    fabric = Fabric(tmp_path / "p4")
    address = dict(results.nodes.select("node", "address").iter_rows())
    ends = {flow: (address[src], address[dst]) for flow, src, dst in results.flows.select("flow", "src", "dst").rows()}
    paths = results.paths.select("flow", "src_port", "dst_port", "path").rows()
    assert len(paths) >= 60
    for flow, src_port, dst_port, path in paths:
        assert fabric.path(Packet(*ends[flow], src_port, dst_port)) == list(path)


def test_turns_begin_where_the_simulator_begins(tmp_path: Path) -> None:
    # One packet of one flow alone: its first choices at every switch are the simulator's.
    table = experiment(balance={"kind": "spray", "order": "round_robin"})
    table["workload"] = [
        {"kind": "pairs", "pairs": ["h000>h311"], "size": "1 B", "transport": {"kind": "udp", "rate": "1 Mbps"}}
    ]
    table["measure"] = {"paths": True}
    results = weft.run(table)
    export_p4(results.directory, tmp_path / "p4")
    used = results.links.filter(results.links["tx_packets"] > 0)["link"].to_list()
    assert sorted(Fabric(tmp_path / "p4").path(Packet("10.0.0.2", "10.3.1.3", 1, 2, 17))) == sorted(used)


def test_a_fat_tree_has_the_prefixes_of_its_levels(tmp_path: Path) -> None:
    export_p4(write(tmp_path, experiment()), tmp_path / "p4")
    lengths = {}
    for name, switch in Fabric(tmp_path / "p4").switches.items():
        lengths.setdefault(name[:2], set()).update(prefix.prefixlen for prefix in switch.routes)
        assert (switch.default is None) == name.startswith("sc")
    assert lengths == {"se": {32}, "sa": {24}, "sc": {16}}


def test_a_packet_to_nobody_is_dropped(tmp_path: Path) -> None:
    export_p4(write(tmp_path, experiment()), tmp_path / "p4")
    assert len(Fabric(tmp_path / "p4").path(Packet("10.0.0.2", "10.77.0.2", 1, 2))) == 3


def test_control_ports_count_from_10000_edge_first(tmp_path: Path) -> None:
    export_p4(write(tmp_path, experiment()), tmp_path / "p4")
    topology = json.loads((tmp_path / "p4" / "topology.json").read_text())
    switches = topology["switches"]
    assert [(name, switch["thrift_port"]) for name, switch in switches.items()] == list(
        zip(
            [f"{kind}{pod}{i}" for kind in ("se", "sa") for pod in range(4) for i in range(2)]
            + ["sc00", "sc01", "sc10", "sc11"],
            range(10000, 10020),
            strict=True,
        )
    )
    assert switches["se00"]["interfaces"] == {"eth1": "h000", "eth2": "h001", "eth3": "sa00", "eth4": "sa01"}
    assert switches["sa10"]["interfaces"] == {"eth1": "se10", "eth2": "se11", "eth3": "sc00", "eth4": "sc01"}
    assert switches["sc01"]["interfaces"] == {f"eth{pod + 1}": f"sa{pod}0" for pod in range(4)}
    assert topology["links"][0] == ["h000", "se00-p1", "0.001ms", 10000.0]


@pytest.mark.parametrize(
    "balance",
    [*BALANCES[:4], BALANCES[5], {"kind": "spray"}, {"kind": "spray", "order": "round_robin"}, {"kind": "flowlet"}],
    ids=lambda balance: "-".join(map(str, balance.values())),
)
def test_programs_and_entries_go_together(tmp_path: Path, balance: Any) -> None:
    """Every table, action and register of the entries is in the program, with so many parameters."""
    exported = export_p4(write(tmp_path, experiment(balance=balance)), tmp_path / "p4")
    program = exported.program.read_text()
    assert "@" not in program
    for opening, closing in ("()", "{}", "[]"):
        assert program.count(opening) == program.count(closing)
    tables = dict(re.findall(r"table (\w+) \{\n(.*?)\n    \}\n", program, re.DOTALL))
    actions = {
        name: [parameter for parameter in parameters.split(",") if parameter.strip()]
        for name, parameters in re.findall(r"action (\w+)\((.*?)\)", program)
    }
    for file in exported.entries:
        for line in file.read_text().splitlines():
            word, name, *rest = line.replace("FabricIngress.", "").split()
            if word == "register_write":
                assert re.search(rf"> {name};", re.sub(r"\(\w+\)", "", program))
                continue
            assert rest[0] in re.findall(r"\b(\w+);", tables[name]), line
            keys = len(re.findall(r": (?:lpm|exact);", tables[name])) if word == "table_add" else 0
            assert len([part for part in rest[1:] if part != "=>"]) == keys + len(actions[rest[0]]), line
            assert len(file.read_text().splitlines()) <= 3 * int(re.search(r"size = (\d+)", tables["route"])[1])  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "balance"),
    [
        ("static", {"kind": "static"}),
        ("ecmp", PUBLISHED),
        ("ecmp_seeded", {"kind": "ecmp"}),
        ("spray", {"kind": "spray"}),
        ("spray_in_turn", {"kind": "spray", "order": "round_robin"}),
        ("flowlet", {"kind": "flowlet"}),
    ],
)
def test_the_files_are_those_that_were_looked_at(tmp_path: Path, name: str, balance: Any) -> None:
    exported = export_p4(write(tmp_path, experiment(balance=balance)), tmp_path / "p4")
    entries = {file.stem: file.read_text() for file in exported.entries if file.stem in ("se00", "sa10", "sc01")}
    text = exported.program.read_text() + "".join(f"\n# {key}\n{entries[key]}" for key in ("se00", "sa10", "sc01"))
    golden = GOLDEN / f"{name}.txt"
    assert text == golden.read_text(), f"if the change is meant, write the new text to {golden}"


@pytest.mark.parametrize("balance", [*BALANCES, {"kind": "spray"}, {"kind": "flowlet"}], ids=str)
def test_p4c_compiles_the_program(tmp_path: Path, balance: Any) -> None:
    compiler = shutil.which("p4c") or shutil.which("p4c-bm2-ss")
    if compiler is None:
        pytest.skip("no p4c on this machine")
    exported = export_p4(write(tmp_path, experiment(balance=balance)), tmp_path / "p4")
    arguments = ["--target", "bmv2", "--arch", "v1model"] if compiler.endswith("p4c") else []
    done = subprocess.run([compiler, *arguments, exported.program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_prefixes_are_the_fewest_that_tell_hosts_apart() -> None:
    assert prefixes({"10.0.0.2": "a", "10.0.1.2": "a", "10.1.0.2": "b", "10.1.0.3": "c", "10.1.1.9": "b"}) == [
        ("10.0.0.0/16", "a"),
        ("10.1.0.2/32", "b"),
        ("10.1.0.3/32", "c"),
        ("10.1.1.0/24", "b"),
    ]
    # Nothing covers a host that cannot be reached.
    assert prefixes({"10.0.0.2": "a", "10.0.0.3": None}) == [("10.0.0.2/32", "a")]


def test_the_checksum_of_the_pipeline_is_crc_16_arc() -> None:
    assert crc16(b"123456789") == 0xBB3D


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"load_balance": {"kind": "drill"}}, "drill cannot be exported to P4: it compares the queues"),
        ({"load_balance": {"kind": "reps"}}, "reps cannot be exported to P4: its senders"),
        ({"load_balance": PUBLISHED | {"hash": "as_published"}}, "as_published is for studies alone"),
        ({"transport": {"kind": "infiniband"}, "load_balance": {"kind": "static"}}, "credit cannot be exported to P4"),
        ({"routing": {"kind": "k_shortest"}}, "k_shortest gives whole paths"),
        ({"load_balance": {"kind": "flowlet", "gap": "1500 ns"}}, "1500 ns is no whole number of microseconds"),
    ],
)
def test_what_v1model_cannot_do_is_refused_by_name(tmp_path: Path, sections: Any, message: str) -> None:
    with pytest.raises(WeftError, match=message):
        export_p4(write(tmp_path, experiment() | sections), tmp_path / "p4")
    assert not (tmp_path / "p4").exists()


def test_a_sweep_asks_which_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = experiment(sweep={"load_balance.kind": ["static", "spray"]})
    del table["load_balance"]
    file = write(tmp_path, table)
    assert status_of(["export", "p4", str(file), "--out", str(tmp_path / "p4")]) == 2
    message = capsys.readouterr().err
    assert "has 2 runs, and an export is of one; choose:" in message
    name = re.search(r'--run (\w+)  load_balance.kind = "spray", repeat 0', message)
    assert name
    assert status_of(["export", "p4", str(file), "--run", name[1][:6], "--out", str(tmp_path / "p4")]) == 0
    assert (tmp_path / "p4" / "spray.p4").is_file()


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p4").mkdir()
    (tmp_path / "p4" / "mine").write_text("1")
    assert status_of(["export", "p4", str(write(tmp_path, experiment())), "--out", str(tmp_path / "p4")]) == 2
    assert "is there already; give another --out, or delete it" in capsys.readouterr().err


def test_the_page_shows_what_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    page = (Path(__file__).parents[2] / "docs" / "exporting.md").read_text()
    section = page.partition("## P4")[2].partition("\n## ")[0]
    example, printed, core = re.findall(r"```(?:toml)?\n(.*?)```", section, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    Path("path.toml").write_text(example)
    assert status_of(["export", "p4", "path.toml", "--out", "p4"]) == 0
    assert capsys.readouterr().out == printed
    assert Path("p4/entries/sc00.txt").read_text() == core
