"""Memory that a run may take: the machine's, or what its control group leaves."""

from pathlib import Path

from weft.execute.machine import available_memory, describe


def files(root: Path, contents: dict[str, str]) -> None:
    """Writes files below `root`."""
    for name, text in contents.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def test_the_machine_without_control_groups(tmp_path: Path) -> None:
    files(tmp_path, {"proc/meminfo": "MemTotal: 9 kB\nMemAvailable:   1000 kB\n"})
    assert available_memory(tmp_path / "proc", tmp_path / "cgroup") == 1_024_000


def test_a_control_group_leaves_less(tmp_path: Path) -> None:
    files(
        tmp_path,
        {
            "proc/meminfo": "MemAvailable:   1000 kB\n",
            "proc/self/cgroup": "0::/a/b\n",
            "cgroup/a/b/memory.max": "max\n",
            "cgroup/a/b/memory.current": "5\n",
            # 100,000 - 70,000 used, of which 20,000 are cached files.
            "cgroup/a/memory.max": "100000\n",
            "cgroup/a/memory.current": "70000\n",
            "cgroup/a/memory.stat": "anon 50000\ninactive_file 20000\n",
        },
    )
    assert available_memory(tmp_path / "proc", tmp_path / "cgroup") == 50_000


def test_version_1(tmp_path: Path) -> None:
    files(
        tmp_path,
        {
            "proc/meminfo": "MemAvailable:   1000 kB\n",
            "proc/self/cgroup": "4:cpu,cpuacct:/x\n3:memory:/x\n",
            "cgroup/memory/x/memory.limit_in_bytes": "6000\n",
            "cgroup/memory/x/memory.usage_in_bytes": "5000\n",
        },
    )
    assert available_memory(tmp_path / "proc", tmp_path / "cgroup") == 1_000


def test_nothing_known_is_none(tmp_path: Path) -> None:
    assert available_memory(tmp_path, tmp_path) is None


def test_a_machine_has_cores_and_memory() -> None:
    machine = describe()
    assert machine["cores"] >= 1
    assert machine["memory_bytes"] > 0
