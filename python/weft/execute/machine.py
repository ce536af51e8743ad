"""The machine: what a manifest says of it, and how much memory a run may take."""

import functools
import os
import platform
from pathlib import Path
from typing import Any


@functools.cache
def describe() -> dict[str, Any]:
    """Processor, cores, memory and system: enough to judge a figure of speed."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count() or 1,
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "architecture": platform.machine(),
        "system": f"{platform.system()} {platform.release()}",
    }


def tools() -> dict[str, str]:
    """Versions of what a run depends on beside weft."""
    return {"python": platform.python_version()}


def available_memory(proc: Path = Path("/proc"), cgroup: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Bytes that a new process could use: MemAvailable, or what the control group leaves; None where unknown."""
    limits = [_mem_available(proc / "meminfo"), *_cgroup_left(proc / "self" / "cgroup", cgroup)]
    known = [limit for limit in limits if limit is not None]
    return min(known) if known else None


def _mem_available(meminfo: Path) -> int | None:
    for line in _lines(meminfo):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _cgroup_left(own: Path, root: Path) -> list[int]:
    """What every control group above this process leaves, version 2 and version 1."""
    left = []
    for line in _lines(own):
        controllers, path = line.split(":", 2)[1:]
        if controllers == "":
            groups, most, now, cache = root, "memory.max", "memory.current", "inactive_file"
        elif "memory" in controllers.split(","):
            groups = root / "memory"
            most, now, cache = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
        else:
            continue
        group = groups / path.strip("/")
        for place in (group, *group.parents):
            limit, used = _number(place / most), _number(place / now)
            if limit is not None and used is not None:
                # Cached file pages count as used but are given back on demand.
                statistics = dict(line.split(maxsplit=1) for line in _lines(place / "memory.stat"))
                reclaimable = int(statistics.get(cache, 0))
                left.append(max(0, limit - used + reclaimable))
            if place == groups:
                break
    return left


def _number(file: Path) -> int | None:
    text = "".join(_lines(file)).strip()
    return int(text) if text.isdigit() else None


def _cpu_model() -> str:
    for line in _lines(Path("/proc/cpuinfo")):
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
