"""`weft export pcap`: what a port saw, and that tshark agrees."""

import collections
import functools
import hashlib
import hmac
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from captures import ACK, CWR, ECE, FIN, PSH, SYN, Frame, read

import weft
from weft.cli import status_of
from weft.errors import WeftError
from weft.export.pcap import export_pcap

FABRIC = {"kind": "dumbbell", "left": 2, "right": 2, "link": {"rate": "100 Mbps"}, "bottleneck": {"rate": "20 Mbps"}}
"""Two senders that share a bottleneck of a fifth of their links."""


def experiment(**sections: Any) -> dict[str, Any]:
    workload = {"kind": "pairs", "pairs": ["l0>r0", "l1>r1"], "size": "300 kB"}
    base = {"topology": FABRIC, "queue": {"capacity": "10 packets"}, "workload": [workload]}
    return base | sections


def mptcp(**keys: Any) -> dict[str, Any]:
    workload = {"kind": "pairs", "pairs": ["h000>h200"], "size": "2 MB"} | keys
    return {
        "topology": {"kind": "fat_tree", "link": {"rate": "100 Mbps"}},
        "queue": {"capacity": "20 packets"},
        "transport": {"kind": "mptcp", "subflows": 4},
        "workload": [workload],
    }


def fetch() -> dict[str, Any]:
    return experiment(workload=[{"kind": "incast", "receiver": "l0", "degree": 2, "fetch": True, "size": "100 kB"}])


def rpc() -> dict[str, Any]:
    workload = {"kind": "rpc", "value": {"kind": "uniform", "min": "100 B", "max": "9 kB"}, "gets": 0.5, "requests": 40}
    return experiment(workload=[workload])


def udp() -> dict[str, Any]:
    return experiment(transport={"kind": "udp", "rate": "15 Mbps"})


def dctcp() -> dict[str, Any]:
    return experiment(queue={"kind": "ecn_step", "threshold": "5 packets"}, congestion={"kind": "dctcp"})


CASES = {
    "tcp": experiment(),
    "rfc": experiment(transport={"kind": "tcp", "profile": "rfc", "timestamps": False}),
    "mptcp": mptcp(),
    "mptcp short": mptcp() | {"transport": {"kind": "mptcp", "subflows": 2, "data_sequence": "32 bits"}},
    "fetch": fetch(),
    "mptcp fetch": mptcp(kind="incast", receiver="h000", degree=2, fetch=True) | {},
    "rpc": rpc(),
    "rpc over mptcp": rpc() | {"transport": {"kind": "mptcp", "subflows": 3}},
    "udp": udp(),
    "dctcp": dctcp(),
    "spray": mptcp() | {"transport": {"kind": "tcp"}, "load_balance": {"kind": "spray"}},
    "cut": experiment(backend={"until": "100 ms"}),
}
CASES["mptcp fetch"]["workload"][0].pop("pairs")


@functools.cache
def everything(name: str) -> tuple[weft.Results, Path, list[Frame]]:
    """A case, run once: its results, and the whole frames of all links."""
    results = weft.run(CASES[name])
    file = results.directory / "all.pcapng"
    export_pcap(results.directory, file, ["*"], snaplen=0)
    return results, file, read(file)


def capture(table: dict[str, Any], file: Path, *links: str, snaplen: int = 96) -> tuple[weft.Results, list[Frame]]:
    results = weft.run(table)
    export_pcap(results.directory, file, links, snaplen=snaplen)
    return results, read(file)


@pytest.mark.parametrize("name", CASES)
def test_the_capture_holds_what_the_ports_counted(name: str) -> None:
    results, _, frames = everything(name)
    links = {
        link: (packets, size) for link, packets, size in results.links.select("link", "tx_packets", "tx_bytes").rows()
    }
    counts = collections.Counter(frame.interface for frame in frames)
    assert {link: counts.get(link, 0) for link in links} == {link: packets for link, (packets, _) in links.items()}
    # On the wire a packet has 38 bytes beside it, of which 14 are in the frame.
    sizes = collections.Counter[str]()
    for frame in frames:
        sizes[frame.interface] += frame.length - 14 + 38
    assert {link: sizes.get(link, 0) for link in links} == {link: size for link, (_, size) in links.items()}
    times = [frame.time_ns for frame in frames]
    assert times == sorted(times) and len(times) > 100
    # From node to node.
    macs = {
        node: f"02:00:{bytes(map(int, address.split('.'))).hex(':')}"
        for node, address in results.nodes.select("node", "address").rows()
    }
    assert all(frame.macs == tuple(macs[node] for node in frame.interface.split(">")) for frame in frames)


@pytest.mark.parametrize("name", [name for name in CASES if name != "udp"])
def test_connections_are_whole(name: str) -> None:
    results, _, frames = everything(name)
    check_whole(name, results, frames)


def test_messages_of_a_trace_are_whole(tmp_path: Path) -> None:
    rows = [f"get,r0,l0,{2_000 + 977 * i},{100_000 * i}" for i in range(20)]
    rows += [f"set,l1,r1,{500 + 2_111 * i},{100_000 * i}" for i in range(20)]
    (tmp_path / "trace.csv").write_text("\n".join(["kind,src,dst,size_bytes,start_ns", *rows]))
    table = experiment(workload=[{"kind": "trace", "file": str(tmp_path / "trace.csv")}])
    results, frames = capture(table, tmp_path / "trace.pcapng", "*")
    assert sum(frame.flags & PSH > 0 for frame in frames) > 100
    check_whole("rpc", results, frames)


def check_whole(name: str, results: weft.Results, frames: list[Frame]) -> None:
    """At the hosts' ports: SYN first, no byte left out, ACKs of what was sent, FIN where the flow is over."""
    hosts = set(results.nodes.filter(results.nodes["kind"] == "host")["node"])
    sent = [frame for frame in frames if frame.interface.partition(">")[0] in hosts]
    by_end: dict[Any, list[Frame]] = collections.defaultdict(list)
    for frame in sent:
        by_end[frame.ends].append(frame)
    for ends, own in by_end.items():
        first = own[0]
        assert first.flags & SYN and first.payload == 0
        base = first.seq
        reach = base
        for frame in own:
            if frame.flags & 4:
                continue
            offset = (frame.seq - base) & 0xFFFFFFFF
            assert offset <= (reach - base) & 0xFFFFFFFF, f"{name}: a gap before {frame}"
            if (frame.after - base) & 0xFFFFFFFF > (reach - base) & 0xFFFFFFFF:
                reach = frame.after
        other = by_end[ends[2], ends[3], ends[0], ends[1]]
        highest = max((frame.after - other[0].seq) & 0xFFFFFFFF for frame in other)
        acks = [(frame.ack - other[0].seq) & 0xFFFFFFFF for frame in own if frame.flags & ACK]
        assert max(acks) <= highest
        # SACK blocks lie above the ACK, but for the first, which may say what came twice.
        for frame in own:
            for body in frame.options.get(5, []):
                blocks = [int.from_bytes(body[at : at + 4], "big") for at in range(0, len(body), 4)]
                spans = list(zip(blocks[::2], blocks[1::2], strict=True))
                assert all((end - start) & 0xFFFFFFFF < 1 << 24 for start, end in spans)
                assert all((start - frame.ack) & 0xFFFFFFFF < 1 << 24 for start, _ in spans[1:])
    if "rpc" not in name and name != "cut":
        sizes = results.flows["delivered_bytes"].sum()
        data = collections.Counter[Any]()
        for ends, own in by_end.items():
            spans = {(frame.seq, frame.payload) for frame in own}
            data[ends] = sum(payload for _, payload in spans)
            # A subflow that still joins when everything has arrived is left alone.
            assert "mptcp" in name or any(frame.flags & FIN for frame in own), ends
        if "mptcp" not in name and "fetch" not in name:
            assert sum(data.values()) == sizes


def test_retransmissions_are_those_of_the_run(tmp_path: Path) -> None:
    results, frames = capture(CASES["tcp"], tmp_path / "first.pcapng", "l0>*")
    flow = results.flows.filter(results.flows["src"] == "l0")
    seen: collections.Counter[int] = collections.Counter(frame.seq for frame in frames if frame.payload)
    again = sum(count - 1 for count in seen.values())
    assert again > 0
    resent = sum(f.length + 24 for f in frames if f.payload) - sum(
        {f.seq: f.length + 24 for f in frames if f.payload}.values()
    )
    assert resent == flow["retransmitted_bytes"][0]


def test_datagrams_carry_the_payload(tmp_path: Path) -> None:
    results, frames = capture(CASES["udp"], tmp_path / "udp.pcapng", "l*>*")
    assert sum(frame.payload for frame in frames) == results.flows["size_bytes"].sum()


def test_marks_and_their_echo(tmp_path: Path) -> None:
    results, frames = capture(CASES["dctcp"], tmp_path / "ecn.pcapng", "sr>*", "r0>*")
    opening = [frame for frame in frames if frame.flags & SYN and not frame.flags & ACK]
    assert opening and all(frame.flags & ECE and frame.flags & CWR and frame.ecn == 0 for frame in opening)
    data = [frame for frame in frames if frame.payload]
    assert {frame.ecn for frame in data} == {2, 3}
    marked = sum(frame.ecn == 3 for frame in data)
    assert marked == results.flows["marked_packets"].sum() > 0
    assert any(frame.flags & ECE and not frame.payload and not frame.flags & SYN for frame in frames)


def test_mptcp_s_keys_tokens_and_codes_belong_together(tmp_path: Path) -> None:
    _, frames = capture(CASES["mptcp"], tmp_path / "mptcp.pcapng", "h000<>se00")
    capable = [frame.mptcp[0] for frame in frames if 0 in frame.mptcp]
    assert [len(body) + 2 for body in capable[:3]] == [4, 12, 20]
    assert all(body[0] == 1 and body[1] == 1 for body in capable), "version 1, HMAC-SHA256"
    key_b = capable[1][2:]
    key_a, again = capable[2][2:10], capable[2][10:]
    assert again == key_b
    token = hashlib.sha256(key_b).digest()[:4]
    idsn = int.from_bytes(hashlib.sha256(key_a).digest()[-8:], "big")
    joins = collections.defaultdict(list)
    for frame in frames:
        if 1 in frame.mptcp:
            joins[frame.src_port if frame.src == "10.0.0.2" else frame.dst_port].append(frame.mptcp[1])
    assert len(joins) == 3
    for syn, syn_ack, third in joins.values():
        assert [len(body) + 2 for body in (syn, syn_ack, third)] == [12, 16, 24]
        assert syn[2:6] == token
        nonce_a, nonce_b = syn[6:10], syn_ack[10:14]
        assert syn_ack[2:10] == hmac.digest(key_b + key_a, nonce_b + nonce_a, "sha256")[:8]
        assert third[2:] == hmac.digest(key_a + key_b, nonce_a + nonce_b, "sha256")[:20]
    # Mappings cover the data without a gap, and the last one ends it.
    spans = {}
    base: dict[Any, int] = {}
    for frame in frames:
        if frame.flags & SYN and frame.src == "10.0.0.2":
            base[frame.ends] = frame.seq
        if frame.payload:
            body = frame.mptcp[2]
            assert body[1] & 0b1111 == 0b1111
            data, subflow, length = (
                int.from_bytes(body[10:18], "big"),
                int.from_bytes(body[18:22], "big"),
                int.from_bytes(body[22:24], "big"),
            )
            assert length == frame.payload + bool(body[1] & 16)
            assert (base[frame.ends] + subflow) & 0xFFFFFFFF == frame.seq
            spans[(data - idsn - 1) % (1 << 64)] = length
    at = 0
    while at in spans:
        at += spans[at]
    assert at == 2_000_000 + 1
    acked = [int.from_bytes(f.mptcp[2][2:10], "big") for f in frames if 2 in f.mptcp and f.src != "10.0.0.2"]
    assert (max((ack - idsn - 1) % (1 << 64) for ack in acked)) == 2_000_001


def test_mappings_of_messages_cover_the_data_of_both_directions(tmp_path: Path) -> None:
    # Gets alone: the client asks, the server answers. Losses, so that data is sent again elsewhere.
    table = rpc() | {"transport": {"kind": "mptcp", "subflows": 3, "profile": "datacenter"}}
    table["workload"] = [rpc()["workload"][0] | {"gets": 1.0, "place": {"kind": "list", "hosts": ["l0", "r0"]}}]
    lossy = {"links": "s*>s*", "loss": {"kind": "random", "p": 0.05}}
    results, frames = capture(
        table | {"topology": FABRIC | {"overrides": [lossy]}}, tmp_path / "rpc.pcapng", "l0>*", "r0>*"
    )
    spans: dict[str, dict[int, int]] = {"l0": {}, "r0": {}}
    acks: dict[str, list[int]] = {"l0": [], "r0": []}
    for frame in frames:
        host = frame.interface.partition(">")[0]
        for body in [frame.mptcp[2]] if 2 in frame.mptcp else []:
            assert not body[1] & 16, "messages have no DATA_FIN"
            acks[host].append(int.from_bytes(body[2:10], "big"))
            if frame.payload:
                data, length = int.from_bytes(body[10:18], "big"), int.from_bytes(body[22:24], "big")
                assert length == frame.payload
                assert spans[host].setdefault(data, length) == length, "data has one length, wherever it is sent"
    for host, other, size in [("l0", "r0", results.flows["delivered_bytes"].sum()), ("r0", "l0", 40 * 100)]:
        first = min(spans[host])
        at = first
        while at in spans[host]:
            at += spans[host][at]
        assert at - first == size == sum(spans[host].values())
        assert max(acks[other]) <= at and min(acks[other]) >= first
    # The last answer is acknowledged, and the last request by it.
    assert max(acks["r0"]) - min(spans["l0"]) == results.flows["delivered_bytes"].sum()
    assert max(acks["l0"]) - min(spans["r0"]) == 40 * 100


def test_options_of_the_syn(tmp_path: Path) -> None:
    _, frames = capture(CASES["tcp"], tmp_path / "syn.pcapng", "l0<>sl")
    for frame in [frame for frame in frames if frame.flags & SYN]:
        assert frame.options[2] == [(1460).to_bytes(2, "big")]
        assert frame.options[4] == [b""] and len(frame.options[8][0]) == 8
        # 6 MiB >> 7 = 49152.
        assert frame.options[3] == [b"\x07"]
    assert any(frame.options.get(5) for frame in frames), "SACK blocks"
    assert any(frame.flags & PSH for frame in frames)


def test_a_tap_changes_nothing(tmp_path: Path) -> None:
    # Its own check of the fingerprint would refuse; here it is asked for links of every kind.
    for name in ("tcp", "mptcp", "spray"):
        overrides = [{"links": "*", "loss": {"kind": "random", "p": 0.01}}]
        lossy = CASES[name] | {"topology": {**CASES[name]["topology"], "overrides": overrides}}
        for number, table in enumerate((CASES[name], lossy)):
            results = weft.run(table)
            (manifest,) = results.manifests.values()
            captured = export_pcap(results.directory, tmp_path / f"{name}-{number}.pcapng", ["*"])
            assert (captured.run, len(captured.frames)) == (manifest["run"], results.links.height)


def test_the_whole_frame_is_kept_where_it_is_asked_for(tmp_path: Path) -> None:
    _, frames = capture(CASES["tcp"], tmp_path / "whole.pcapng", "l0>sl", snaplen=0)
    size = (tmp_path / "whole.pcapng").stat().st_size
    assert size > sum(frame.length for frame in frames)


def test_what_is_wrong_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = weft.run(CASES["udp"])
    where = str(results.directory)
    for arguments, message in [
        (["--link", "sl>sq"], '--link: no link is called "sl>sq"; did you mean "sl>sr"?'),
        (["--link", "sl>sr", "--set", "seed=2"], "is what was run already"),
        (["--link", "sl>sr", "--snaplen", "-1"], "--snaplen: -1 is no length of a frame"),
        (["--link", "sl>sr", "--run", "zz"], "no run begins so; choose:"),
    ]:
        assert status_of(["export", "pcap", where, "--out", str(tmp_path / "x.pcapng"), *arguments]) == 2
        assert message in capsys.readouterr().err
    (tmp_path / "x.pcapng").write_text("mine")
    assert status_of(["export", "pcap", where, "--out", str(tmp_path / "x.pcapng"), "--link", "sl>sr"]) == 2
    assert "is there already; give another --out" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["x.pcapng"]


def test_packets_of_infiniband_are_no_frames(tmp_path: Path) -> None:
    results = weft.run(experiment(transport={"kind": "infiniband"}, queue={}))
    with pytest.raises(WeftError, match="packets of credit are no Ethernet frames"):
        export_pcap(results.directory, tmp_path / "x.pcapng", ["sl>sr"])


def test_a_run_of_another_engine_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = weft.run(CASES["udp"])
    (manifest,) = (results.directory / "runs").glob("*/manifest.json")
    described = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(described | {"fingerprint": "0" * 16, "version": "0.0.1"}))
    out = tmp_path / "x.pcapng"
    assert status_of(["export", "pcap", str(results.directory), "--link", "sl>sr", "--out", str(out)]) == 1
    assert "was done by weft 0.0.1" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def tshark(file: Path, *arguments: str) -> list[str]:
    """What tshark prints, with every checksum looked at."""
    program = shutil.which("tshark")
    if program is None:
        pytest.skip("tshark is not installed (Debian: apt-get install tshark)")
    checks = [f"{protocol}.check_checksum:TRUE" for protocol in ("ip", "tcp", "udp")]
    command = [program, "-n", "-r", str(file), *(part for check in checks for part in ("-o", check)), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()


@pytest.mark.parametrize("name", CASES)
def test_tshark_finds_nothing_wrong(name: str) -> None:
    _, file, frames = everything(name)
    fields = (
        "ip.checksum.status",
        "tcp.checksum.status",
        "udp.checksum.status",
        "tcp.len",
        "udp.length",
        "_ws.malformed",
    )
    shown = tshark(file, "-T", "fields", *(part for field in fields for part in ("-e", field)))
    rows = [line.split("\t") for line in shown]
    # 1 is good, 0 bad, 2 not looked at.
    good = ["1", "", "1"] if name == "udp" else ["1", "1", ""]
    assert len(rows) == len(frames) and all(row[:3] == good and not row[5] for row in rows)
    assert [int(row[3]) if row[3] else int(row[4]) - 8 for row in rows] == [frame.payload for frame in frames]


def test_tshark_counts_the_run_s_retransmissions(tmp_path: Path) -> None:
    results, _ = capture(CASES["tcp"], tmp_path / "first.pcapng", "l0<>sl")
    found = tshark(tmp_path / "first.pcapng", "-Y", "tcp.analysis.retransmission", "-T", "fields", "-e", "frame.len")
    wire = results.flows.filter(results.flows["src"] == "l0")["retransmitted_bytes"][0]
    assert found and sum(int(length) + 24 for length in found) == wire


def test_tshark_reads_the_options_of_mptcp(tmp_path: Path) -> None:
    capture(CASES["mptcp"], tmp_path / "mptcp.pcapng", "h000<>se00")

    def count(condition: str) -> int:
        return len(tshark(tmp_path / "mptcp.pcapng", "-Y", condition))

    assert count("tcp.options.mptcp.subtype == 0") == 3
    assert count("tcp.options.mptcp.subtype == 1") == 9
    assert count("tcp.options.mptcp.rawdataseqno") == count("tcp.len > 0") > 0
    # Tokens lead all subflows to one connection; the first SYN names none.
    streams = tshark(tmp_path / "mptcp.pcapng", "-Y", "mptcp", "-T", "fields", "-e", "mptcp.stream")
    assert streams[0] == "" and set(streams[1:]) == {"0"}


def test_the_page_shows_what_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    page = (Path(__file__).parents[2] / "docs" / "exporting.md").read_text()
    section = page.partition("## What a port saw")[2]
    example, printed, shown = re.findall(r"```(?:toml)?\n(.*?)```", section, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    Path("mptcp.toml").write_text(example)
    assert status_of(["run", "mptcp.toml", "--out", "out", "--no-report"]) == 0
    capsys.readouterr()
    assert status_of(["export", "pcap", "out", "--link", "se00<>sa00", "--out", "port.pcapng"]) == 0
    assert capsys.readouterr().out == printed
    fields = ("frame.interface_name", "ip.src", "tcp.srcport", "tcp.dstport", "tcp.options.mptcp.subtype")
    command = ["-Y", "tcp.flags.syn == 1", "-T", "fields", *(part for field in fields for part in ("-e", field))]
    assert "\n".join(tshark(Path("port.pcapng"), *command)).expandtabs(12).splitlines() == shown.splitlines()
