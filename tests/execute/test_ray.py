"""A Ray cluster on loopback: one head without cores and two nodes with one each."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sweeps import assert_whole, environment, stamps, start, sweep

import weft
from weft.experiment.readable import toml

pytestmark = pytest.mark.skipif(shutil.which("ray", path=str(Path(sys.executable).parent)) is None, reason="needs Ray")

LOOPBACK = "127.0.0.2"
"""Ray takes 127.0.0.1 for the address of the network card."""


@dataclass
class Cluster:
    """A head and nodes, each a group of processes."""

    port: int
    client_port: int
    directory: Path
    nodes: list["subprocess.Popen[str]"] = field(default_factory=list)

    @property
    def gcs(self) -> str:
        """For drivers on the nodes."""
        return f"{LOOPBACK}:{self.port}"

    @property
    def client(self) -> str:
        """For drivers anywhere."""
        return f"ray://{LOOPBACK}:{self.client_port}"

    def start(self, *options: str) -> "subprocess.Popen[str]":
        """Starts a node and waits until it says that it runs."""
        ray = Path(sys.executable).with_name("ray")
        command = [str(ray), "start", *options, "--node-ip-address", LOOPBACK, "--disable-usage-stats", "--block"]
        node = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment(),
            start_new_session=True,
        )
        assert node.stdout is not None
        said = []
        for line in node.stdout:
            said.append(line)
            if "Ray runtime started" in line:
                self.nodes.append(node)
                return node
        raise AssertionError("".join(said))

    def add_node(self) -> "subprocess.Popen[str]":
        """A node with one core."""
        return self.start("--address", self.gcs, "--num-cpus", "1")

    def kill(self, node: "subprocess.Popen[str]") -> None:
        """SIGKILL of the node with all its workers."""
        for pid in _group(node.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        node.communicate(timeout=30)


def _group(session: int) -> list[int]:
    """Every process of a session."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session:
                found.append(int(entry.name))
    return found


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind((LOOPBACK, 0))
        return int(listener.getsockname()[1])


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    # Ray's sockets lie in it, so that its path must be short.
    directory = Path(tempfile.mkdtemp(prefix="weft-ray-"))
    cluster = Cluster(_free_port(), _free_port(), directory)
    try:
        cluster.start(
            "--head",
            *("--port", str(cluster.port), "--ray-client-server-port", str(cluster.client_port)),
            *("--num-cpus", "0", "--include-dashboard", "false", "--temp-dir", str(directory)),
        )
        cluster.add_node()
        cluster.add_node()
        yield cluster
    finally:
        for node in cluster.nodes:
            cluster.kill(node)
        shutil.rmtree(directory, ignore_errors=True)


def run(file: Path, out: Path, *options: str, **more: str) -> str:
    """`weft run` to its end, which must be a good one."""
    process = start(file, out, *options, **more)
    said, _ = process.communicate(timeout=180)
    assert process.returncode == 0, said
    return said


def write(tmp_path: Path, **parts: Any) -> Path:
    file = tmp_path / "sweep.toml"
    file.write_text(toml(sweep(**parts)))
    return file


def fingerprints(experiment: "weft.Experiment") -> dict[str, str]:
    manifests = weft.run(experiment, jobs=1).manifests
    return {name: manifest["fingerprint"] for name, manifest in manifests.items()}


def test_the_files_are_those_of_a_local_run(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "sizes.txt").write_text("1000 50\n20000 100\n")
    parts = sweep(cells=4, repeats=2)
    # A file that the nodes do not have at this place.
    parts["workload"] = [
        {"kind": "poisson", "load": 0.3, "flows": 20, "size": {"kind": "empirical", "file": "sizes.txt"}}
    ]
    file = tmp_path / "sweep.toml"
    file.write_text(toml(parts))
    experiment = weft.load(file)
    client = start(file, tmp_path / "client", "--on", cluster.client)
    said, _ = client.communicate(timeout=240)
    names = ["client", "direct", "local"]
    if "Starting Ray client server failed" in said:
        # On a busy machine Ray gives its own server too little time; what is ours is still compared.
        print(said)
        names.remove("client")
    else:
        assert client.returncode == 0, said
    run(file, tmp_path / "direct", "--on", "ray", RAY_ADDRESS=cluster.gcs)
    run(file, tmp_path / "local")
    expected = fingerprints(experiment)
    for name in names:
        assert_whole(tmp_path / name, experiment, expected)
    tables = ("flows", "links", "queues", "nodes", "paths", "samples")
    for manifest in (tmp_path / "local/runs").glob("*/manifest.json"):
        for table in tables:
            here, there = manifest.with_name(f"{table}.parquet"), tmp_path / names[0] / "runs" / manifest.parent.name
            assert here.is_file() == (there / f"{table}.parquet").is_file()
            assert not here.is_file() or here.read_bytes() == (there / f"{table}.parquet").read_bytes()


def test_a_killed_driver_and_a_killed_node_lose_nothing(cluster: Cluster, tmp_path: Path) -> None:
    file, out = write(tmp_path, cells=40, repeats=2, size="3 MB"), tmp_path / "o"
    experiment = weft.load(file)

    def wait_for(runs: int, process: "subprocess.Popen[str]") -> None:
        while len(stamps(out)) < runs:
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)

    driver = start(file, out, "--on", "ray", RAY_ADDRESS=cluster.gcs)
    wait_for(5, driver)
    driver.kill()
    driver.communicate(timeout=30)
    before = stamps(out)
    assert len(before) < 80
    driver = start(file, out, "--on", "ray", RAY_ADDRESS=cluster.gcs)
    wait_for(len(before) + 5, driver)
    cluster.kill(cluster.nodes.pop())
    cluster.add_node()
    said, _ = driver.communicate(timeout=180)
    assert driver.returncode == 0, said
    # What was there is not done again, and what died with the node is.
    assert before.items() <= stamps(out).items()
    assert_whole(out, experiment, fingerprints(experiment))


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (f"ray://{LOOPBACK}:9", "nothing answers there (Connection refused); a cluster is started with `ray start"),
        ("ray://nowhere", 'expected "local", "ray", or the address of a cluster, like ray://10.0.0.1:10001'),
        ("slurm", 'expected "local", "ray", or the address of a cluster, like ray://10.0.0.1:10001'),
    ],
)
def test_an_address_that_does_not_answer_is_told(tmp_path: Path, address: str, message: str) -> None:
    file = write(tmp_path, cells=2)
    for options, more, named in (
        (("--on", address), {}, f"--on {address}: "),
        (("--on", "ray"), {"RAY_ADDRESS": address}, f"RAY_ADDRESS={address}: "),
    ):
        process = start(file, tmp_path / "o", *options, **more)
        said, _ = process.communicate(timeout=60)
        assert process.returncode == 2
        assert said.startswith(named) and message in said
        assert not (tmp_path / "o").exists()
