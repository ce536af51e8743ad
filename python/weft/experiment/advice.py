"""Advice: what an experiment asks for that can have no effect, so that the reader looks before trusting the number.

A piece of advice is a function from a cell to the sentences that it has to say. It is no fault: the run is what the
file says, and perhaps meant; the sentences are warnings of the run. A new one is one function in `ADVICE`.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from weft import units


@dataclass(frozen=True)
class Asked:
    """What one cell asks for: its spec, the sections that the file writes, and the swept keys."""

    spec: Mapping[str, Any]
    written: Collection[str] = ()
    swept: Collection[str] = ()

    @property
    def pairs(self) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
        """Transport and congestion control of each workload."""
        return [
            (workload.get("transport", self.spec["transport"]), workload.get("congestion", self.spec["congestion"]))
            for workload in self.spec["workload"]
        ]

    @property
    def tcp(self) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
        """Those that run over TCP."""
        return [(transport, control) for transport, control in self.pairs if transport.get("kind") in ("tcp", "mptcp")]

    @property
    def roce(self) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
        """Those that run over RoCE."""
        return [(transport, control) for transport, control in self.pairs if transport.get("kind") == "rocev2"]

    @property
    def transports(self) -> set[str]:
        """The kinds of transport of all workloads."""
        return {str(w.get("transport", self.spec["transport"]).get("kind")) for w in self.spec["workload"]}

    @property
    def is_lossless(self) -> bool:
        """Whether links hold packets back in place of queues that drop them."""
        return bool(self.spec.get("flow_control", {}).get("kind", "none") != "none")

    @property
    def has_capable_sender(self) -> bool:
        """Whether some packets may be marked."""
        return any(transport.get("ecn") or control.get("kind") == "dctcp" for transport, control in self.tcp)

    @property
    def why_no_marks(self) -> str:
        """Why the queues never mark; empty if they do."""
        queue = self.spec["queue"]
        if queue.get("kind") == "drop_tail":
            return "queue.kind drop_tail never marks"
        if not queue.get("ecn", True):
            return f"queue.ecn = false, so {queue.get('kind')} only drops"
        threshold, capacity = queue.get("threshold", {}), queue.get("capacity", {})
        if threshold and any(threshold[unit] >= capacity[unit] for unit in threshold.keys() & capacity.keys()):
            of, whole = units.format_capacity(threshold), units.format_capacity(capacity)
            return f"queue.threshold {of} is not below queue.capacity {whole}"
        return ""


Found = Iterator[str]

COUPLED = ("lia", "olia", "balia")

PACKET_BY_PACKET = ("spray", "drill")
"""Load balancing under which packets of one flow overtake each other; flowlets are meant not to."""


def congestion_control_acts_on_tcp(asked: Asked) -> Found:
    """UDP sends by the clock, whatever `[congestion]` says."""
    of_workloads = any("congestion" in workload for workload in asked.spec["workload"])
    if ("congestion" in asked.written or of_workloads) and asked.transports == {"udp"}:
        yield "congestion control has no effect: every flow is UDP"


def receive_side_acts_on_tcp(asked: Asked) -> Found:
    """Datagrams pass the receive side at once, whatever `[receive]` says."""
    kinds = {workload.get("receive", asked.spec.get("receive", {})).get("kind") for workload in asked.spec["workload"]}
    if "juggler" in kinds and not asked.tcp:
        what = "every flow is UDP" if asked.transports == {"udp"} else "no flow is TCP"
        yield f"receive.kind juggler has no effect: {what}"


def lossless_ports_have_no_discipline(asked: Asked) -> Found:
    """What waits in the buffers of a lossless port is there because it must not be dropped."""
    kind = asked.spec.get("flow_control", {}).get("kind")
    if kind == "credit" and "queue" in asked.written:
        yield "[queue] has no effect: with flow_control credit packets wait in the input buffers of switches"


def coupling_needs_subflows(asked: Asked) -> Found:
    """A coupled control couples the subflows of one connection; TCP has one."""
    coupled = {str(c["kind"]) for t, c in asked.tcp if c.get("kind") in COUPLED and t.get("kind") != "mptcp"}
    is_compared = any(key.startswith("transport") for key in asked.swept)
    for kind in sorted(coupled) if not is_compared else ():
        yield f'{kind} has nothing to couple over plain TCP, where it is Reno; transport.kind = "mptcp" has subflows'


def dctcp_needs_marks(asked: Asked) -> Found:
    """DCTCP over a queue that never marks reacts to losses alone, as Reno does."""
    if asked.why_no_marks and any(control.get("kind") == "dctcp" for _, control in asked.tcp):
        yield f"dctcp sees no marks: {asked.why_no_marks}"


def dcqcn_needs_marks(asked: Asked) -> Found:
    """DCQCN hears of congestion by marks alone; without them every card sends at the rate of its link.

    In a lossless class what a discipline would drop is marked, whatever its keys say; drop tail never is.
    """
    lossless = asked.spec.get("flow_control", {}).get("lossless")
    is_drop_tail = asked.spec["queue"].get("kind") == "drop_tail"
    deaf = any(
        control.get("kind") == "dcqcn"
        and (is_drop_tail or (lossless is not None and transport.get("priority", 0) not in lossless))
        for transport, control in asked.roce
    )
    if deaf and asked.why_no_marks:
        way_out = 'queue.kind = "ecn_ramp" marks'
        yield f"dcqcn has no effect, since it sees no marks: {asked.why_no_marks} ({way_out})"


def going_back_needs_order(asked: Asked) -> Found:
    """A go-back-N receiver throws away what comes before its turn, and paths of different lengths bring that about."""
    balance = asked.spec.get("load_balance", {}).get("kind")
    goes_back = any(transport.get("retransmission", "go_back_n") == "go_back_n" for transport, _ in asked.roce)
    is_compared = any("retransmission" in key for key in asked.swept)
    if balance in PACKET_BY_PACKET and goes_back and not is_compared:
        yield (
            f"load_balance.kind {balance} reorders packets, and rocev2 sends again from the first gap on (go_back_n), "
            'so that most of what is sent may be repeats; transport.retransmission = "selective" repairs gaps alone, '
            "and transport.reordering is by how many packets a later one may be ahead"
        )


def reps_needs_marks(asked: Asked) -> Found:
    """REPS without marks recycles every entropy that was acknowledged, those of long queues too."""
    if asked.spec.get("load_balance", {}).get("kind") != "reps":
        return
    if asked.transports == {"rocev2"}:
        yield "load_balance.kind reps only hashes, as ecmp does: queue pairs keep one entropy each"
    elif not asked.tcp:
        yield "load_balance.kind reps only sprays: every flow is UDP, which has no acknowledgments"
    elif asked.why_no_marks or not asked.has_capable_sender:
        why = asked.why_no_marks or 'no sender is ECN-capable (congestion.kind = "dctcp" is)'
        yield f"reps sees no marks, so that it leaves a path only when packets are lost: {why}"


def ecn_needs_marks(asked: Asked) -> Found:
    """`transport.ecn` over a queue that never marks."""
    if asked.why_no_marks and any(t.get("ecn") and control.get("kind") != "dctcp" for t, control in asked.tcp):
        yield f"transport.ecn has no effect: {asked.why_no_marks}"


def marks_need_a_capable_sender(asked: Asked) -> Found:
    """A queue that marks who asks for it, and nobody asks; not where a sweep compares who asks."""
    is_compared = any("congestion" in key or key.startswith("transport") for key in asked.swept)
    if asked.why_no_marks or asked.has_capable_sender or is_compared or asked.is_lossless:
        return
    kind = asked.spec["queue"].get("kind")
    effect = "drops where it would mark" if kind == "red" else "never marks"
    way_out = 'congestion.kind = "dctcp" and transport.ecn = true are'
    yield f"queue.kind {kind} {effect}: no sender is ECN-capable ({way_out})"


def load_fits_the_links(asked: Asked) -> Found:
    """Above the rate of the hosts' links queues grow as long as flows arrive."""
    for workload in asked.spec["workload"]:
        if isinstance(load := workload.get("load"), float) and load > 1:
            yield (
                f"{workload['name']}: load {load:g} is more than the hosts' links carry, so that completion times grow "
                "with the length of the run"
            )


def a_queue_holds_a_packet(asked: Asked) -> Found:
    """A queue in bytes that has no room for one full packet drops all of them."""
    link = asked.spec.get("topology", {}).get("link") or {}
    most = (asked.spec.get("queue", {}).get("capacity") or {}).get("bytes")
    full = link.get("mtu", 1500) + link.get("overhead", 38)
    if isinstance(most, int) and most < full and not asked.is_lossless:
        yield f"queue.capacity {most} B holds no full packet ({full} B on the wire): all of them are dropped"


def blocking_is_of_lossless_links(asked: Asked) -> Found:
    """Links that drop never wait for room behind them."""
    wanted = [name for name in ("paused", "buffer") if name in asked.spec.get("measure", {}).get("metrics", ())]
    if wanted and not asked.is_lossless:
        yield f"measure.metrics {', '.join(wanted)}: nothing is sampled, since without [flow_control] links never wait"


def sharing_is_of_fluids(asked: Asked) -> Found:
    """Packets share links by arriving there."""
    if "sharing" in asked.written and "backend.kind" not in asked.swept:
        yield '[sharing] has no effect: backend packet shares links packet by packet (backend.kind = "flow" reads it)'


def a_fluid_has_no_packets(asked: Asked) -> Found:
    """What only packets have, and the file asks for."""
    unread = [f"[{name}]" for name in ("queue", "receive") if name in asked.written]
    if unread and "backend.kind" not in asked.swept:
        yield f"{' and '.join(unread)} {'have' if len(unread) > 1 else 'has'} no effect: backend flow has no packets"


TRUSTED_LOAD = 0.8
TRUSTED_SIZE = 1_000_000
"""Up to which load, and from which size in bytes on, flow and packet level agree: `weft validate --all --agreement`."""


def fluids_agree_with_packets(asked: Asked) -> Found:
    """Short flows wait in queues, and so does everybody at high load."""
    for workload in asked.spec["workload"]:
        name, load, size = workload["name"], workload.get("load"), workload.get("size")
        if isinstance(load, float) and TRUSTED_LOAD < load <= 1:
            yield (
                f"{name}: load {load:g} is above {TRUSTED_LOAD:g}, up to which the flow level agrees with the "
                "packet level (weft validate --agreement)"
            )
        least = size.get("bytes", 0) if isinstance(size, dict) else size
        if isinstance(least, int) and least < TRUSTED_SIZE:
            which = "its flows are shorter than 1 MB, and" if least else "flows shorter than 1 MB"
            yield (
                f"{name}: {which} come out too fast at the flow level, which has no queues that they would wait in "
                "(weft validate --agreement)"
            )


ADVICE: tuple[Callable[[Asked], Found], ...] = (
    congestion_control_acts_on_tcp,
    receive_side_acts_on_tcp,
    lossless_ports_have_no_discipline,
    blocking_is_of_lossless_links,
    coupling_needs_subflows,
    dctcp_needs_marks,
    dcqcn_needs_marks,
    going_back_needs_order,
    reps_needs_marks,
    ecn_needs_marks,
    marks_need_a_capable_sender,
    load_fits_the_links,
    a_queue_holds_a_packet,
    sharing_is_of_fluids,
)
OF_FLUIDS: tuple[Callable[[Asked], Found], ...] = (
    a_fluid_has_no_packets,
    coupling_needs_subflows,
    load_fits_the_links,
    fluids_agree_with_packets,
)
"""What there is to say about a cell of backend flow."""


def advice(asked: Asked) -> list[str]:
    """All that there is to say about a cell.

    >>> udp = {"transport": {"kind": "udp"}, "congestion": {"kind": "reno"}, "queue": {"kind": "drop_tail"}}
    >>> advice(Asked(udp | {"workload": [{"kind": "permutation"}]}, written={"congestion"}))
    ['congestion control has no effect: every flow is UDP']
    """
    pieces = OF_FLUIDS if asked.spec.get("backend", {}).get("kind") == "flow" else ADVICE
    return [sentence for piece in pieces for sentence in piece(asked)]
