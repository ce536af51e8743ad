"""Doctor: what this machine can do, and for what it lacks, the command that installs it."""

import importlib.util
import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from weft.execute import machine


@dataclass(frozen=True)
class Finding:
    """One thing that is there or not: what it is for, and how to have it (empty if nothing is to be done)."""

    name: str
    is_there: bool
    value: str
    purpose: str
    way_out: str = ""
    is_required: bool = False


@dataclass(frozen=True)
class Tool:
    """A program that some part of weft starts."""

    name: str
    programs: tuple[str, ...]
    purpose: str
    package: str


TOOLS = (
    Tool("chromium", ("chromium", "chromium-browser", "google-chrome"), "tests of the report in a browser", "chromium"),
    Tool("iperf3", ("iperf3",), "flows of the emulation and of live measurement", "iperf3"),
    Tool("memcached", ("memcached",), "request and response workloads of the emulation", "memcached"),
    Tool("ip", ("ip",), "network namespaces of the emulation", "iproute2"),
    Tool("tc", ("tc",), "link rates and delays of the emulation", "iproute2"),
    Tool("perf", ("perf",), "profiles of the engine", "linux-perf"),
    Tool("tshark", ("tshark",), "reading the captures of weft export pcap, and their test", "tshark"),
    Tool("cargo", ("cargo",), "building weft from source", "cargo"),
)
"""A tool is one line here."""

LIBRARIES = (
    ("polars", "results as frames", "polars"),
    ("altair", "figures of the report", "altair"),
    ("vl_convert", "figures as SVG and PNG", "vl-convert-python"),
    ("optuna", "weft search", "optuna"),
    ("ray", "weft run --on ray: a sweep on a cluster", "'weft[ray]'"),
)
"""A library is one line here: what is imported, what for, and how it is installed."""


def examine() -> list[Finding]:
    """Everything that doctor looks at. Changes nothing."""
    return [*_weft(), *_machine(), *_libraries(), *(_tool(tool) for tool in TOOLS), _namespaces()]


def as_json(findings: list[Finding]) -> list[dict[str, Any]]:
    """The findings as plain values."""
    return [asdict(finding) for finding in findings]


def _weft() -> list[Finding]:
    from weft import _core

    version = f"{_core.version()} ({_core.commit()})"
    return [
        Finding("weft", True, version, "this program", is_required=True),
        Finding("python", True, platform.python_version(), "the front", is_required=True),
    ]


def _machine() -> list[Finding]:
    available = machine.available_memory()
    memory = f"{available / 1e9:.1f} GB available" if available is not None else "unknown"
    return [
        Finding("cores", True, str(os.cpu_count() or 1), "runs at the same time"),
        Finding("memory", True, memory, "size of a fabric: about 200 MB for 8192 hosts"),
    ]


def _libraries() -> list[Finding]:
    return [
        Finding(
            name,
            found := importlib.util.find_spec(name) is not None,
            "found" if found else "missing",
            purpose,
            "" if found else f"pip install {package}",
        )
        for name, purpose, package in LIBRARIES
    ]


def _tool(tool: Tool) -> Finding:
    for program in tool.programs:
        if path := shutil.which(program):
            return Finding(tool.name, True, path, tool.purpose)
    return Finding(tool.name, False, "missing", tool.purpose, f"{_installer()} {tool.package}")


def _namespaces(attempt: Callable[[], bool] | None = None) -> Finding:
    purpose = "the emulation, where every host is a network namespace"
    if (attempt or _can_unshare)():
        how = "as root" if os.geteuid() == 0 else "unprivileged"
        return Finding("namespaces", True, f"possible ({how})", purpose)
    return Finding(
        "namespaces", False, "not possible", purpose, "sudo sysctl kernel.unprivileged_userns_clone=1, or run as root"
    )


def _can_unshare() -> bool:
    program = shutil.which("unshare")
    if program is None:
        return False
    # A namespace that ends with the command: nothing is left behind.
    flags = ["--net"] if os.geteuid() == 0 else ["--user", "--map-root-user", "--net"]
    try:
        return subprocess.run([program, *flags, "true"], capture_output=True, timeout=10, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _installer() -> str:
    for program, command in (
        ("apt-get", "sudo apt-get install"),
        ("dnf", "sudo dnf install"),
        ("pacman", "sudo pacman -S"),
    ):
        if Path("/usr/bin", program).exists():
            return command
    return "install the package"
