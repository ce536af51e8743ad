"""pcap: the packets that left a port, in a file that tshark, Wireshark and tcpdump read.

The run is simulated again with a tap on the port: it is the same run, and its fingerprint proves it. Frames are whole
(crates/packetsim/src/frame.rs and segment_header.rs say what they hold); a link is one direction of a cable, and an
interface of the file.
"""

import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from weft.errors import OutputError, RunError, WeftError

HEADERS = 96
"""Bytes of a frame that hold all headers: 14 of Ethernet, 20 of IPv4, 60 of TCP."""

LARGEST = 262_144
"""What readers of pcap files take at most."""

SLICE_SECONDS = 0.2
"""Time between two looks at the progress and at Ctrl-C."""


@dataclass(frozen=True)
class Captured:
    """A capture that was written. `frames` by the name of the link; `notes` say what to know of them."""

    file: Path
    run: str
    frames: dict[str, int]
    notes: tuple[str, ...] = ()


def export_pcap(
    place: str | Path,
    out: str | Path,
    links: Sequence[str],
    run: str | None = None,
    set: Iterable[str] = (),
    snaplen: int = HEADERS,
) -> Captured:
    """Simulate a run of a folder (or of an experiment file) again and write what left the ports of `links`.

    `links` are names (`se00>sa00`) or patterns as in `topology.overrides`; `a<>b` is both directions. So many bytes of
    each frame are kept as `snaplen` says, 0 for all. Raises WeftError for a link that is not there, OutputError if the
    file is there, and RunError if the run is not the one that the folder holds: another version of weft did that.
    """
    from weft import _core
    from weft.export.chosen import choose
    from weft.progress import telling

    if not 0 <= snaplen <= LARGEST:
        raise WeftError(f"--snaplen: {snaplen} is no length of a frame; it is 0 (all of it) to {LARGEST}")
    chosen = choose(Path(place), run, set)
    kind = chosen.spec["backend"]["kind"]
    if kind != "packet":
        raise WeftError(f"backend.kind: {kind} has no packets of its own to show; take --set backend.kind=packet")
    control = chosen.spec["flow_control"]["kind"]
    if control == "credit":
        raise WeftError(f"flow_control.kind: packets of {control} are no Ethernet frames; there is nothing to capture")
    file = Path(out)
    if file.exists():
        raise OutputError(f"{file}: is there already; give another --out, or delete it")
    scenario = chosen.scenario()
    names = scenario.links()["name"]
    numbers = select(names, links)
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with TemporaryDirectory() as directory, telling("pcap") as tell:
            simulation = _core.PacketSimulation(scenario.core, json.dumps(chosen.spec), directory)
            simulation.capture(unfinished, numbers, snaplen, f"run {chosen.name}")
            while not (state := json.loads(simulation.advance(SLICE_SECONDS)))["finished"]:
                tell("flows done", state["flows_done"], state["flows_total"])
            frames = simulation.captured_frames()
            summary = json.loads(simulation.finish())
        notes = []
        if chosen.manifest is not None and chosen.manifest["fingerprint"] != summary["fingerprint"]:
            by = f"weft {chosen.manifest['version']} ({chosen.manifest['commit']})"
            here = f"weft {_core.version()} ({_core.commit()})"
            raise RunError(
                f"{place}: run {chosen.name} was done by {by}, and {here} does not repeat it: the fingerprints differ "
                f"({chosen.manifest['fingerprint']}, {summary['fingerprint']}); run it again, or use that version"
            )
        if not any(frames):
            notes.append("no packet left these ports")
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)
    counts = {names[number]: count for number, count in zip(numbers, frames, strict=True)}
    return Captured(file, chosen.name, counts, tuple([*summary["warnings"], *notes]))


def select(names: Sequence[str], patterns: Iterable[str]) -> list[int]:
    """The numbers of the links that the patterns mean, in their order. Raises WeftError for one that means none.

    >>> select(["a>b", "b>a", "b>c"], ["b>*"])
    [1, 2]
    >>> select(["a>b", "b>a", "b>c"], ["a<>b"])
    [0, 1]
    """
    from weft.experiment.values import suggestion

    found: dict[int, None] = {}
    for pattern in patterns:
        first, both, second = pattern.partition("<>")
        wanted = [f"{first}>{second}", f"{second}>{first}"] if both else [pattern]
        if not both and ">" not in pattern:
            wanted = [f"{pattern}>*", f"*>{pattern}"]
        as_expressions = [".*".join(re.escape(part) for part in each.split("*")) for each in wanted]
        matching = [
            number
            for number, name in enumerate(names)
            if any(re.fullmatch(expression, name) for expression in as_expressions)
        ]
        if not matching:
            way_out = suggestion(pattern.replace("<>", ">"), names, "links")[0]
            if len(names) > 12 and not way_out.startswith("did"):
                way_out = f"links are called like {names[0]}"
            raise WeftError(f'--link: no link is called "{pattern}"; {way_out}')
        found |= dict.fromkeys(matching)
    if not found:
        raise WeftError("--link: name a port by its link, like --link 'se00>sa00'")
    return sorted(found)
