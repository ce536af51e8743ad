"""An explanation in words: what cost how much in the whole run, then each flow: its way, its time, its bottlenecks."""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from weft.explaining.bottleneck import Alternative, Other, Span, Subflow
from weft.explaining.cause import CAUSES
from weft.explaining.evidence import Evidence
from weft.explaining.explanation import SLOW, Explained, Explanation
from weft.explaining.tree_words import line_of_flow, lines_of_run
from weft.report.quantity import quantity, rounded

if TYPE_CHECKING:
    from rich.console import Console

MOST_SPANS = 4
MOST_OTHERS = 5
LEAST_SHARE = 0.01
"""A cause that cost less than this part of what was lost is not named."""

COLLISIONS = {"ecmp": "hash collision", "static": "collision (next hops fixed by destination)"}
"""What a collision is called by the kind of load balance; packet by packet it is an uneven spread."""

CALLED = {
    "receiver": "incast at the receiver",
    "sender": "sender's link",
    "head_of_line": "head-of-line blocking",
    "slow_receiver": "slow receiver",
    "pace": "its adapter's pace",
    "control": "congestion control",
}


def rate(bps: float) -> str:
    """Three digits in the unit that suits.

    >>> rate(2.345e9), rate(0.0)
    ('2.35 Gb/s', '0 b/s')
    """
    shown = quantity("rate_bps", bps)
    return f"{rounded(bps * shown.factor, 3)} {shown.unit}"


def time(ns: float) -> str:
    """Three digits in the unit that suits.

    >>> time(12_345_678)
    '12.3 ms'
    """
    shown = quantity("time_ns", abs(ns))
    return f"{rounded(ns * shown.factor, 3)} {shown.unit}"


def size(count: float) -> str:
    """Three digits in the unit that suits."""
    shown = quantity("size_bytes", count)
    return f"{rounded(count * shown.factor, 3)} {shown.unit}"


def cause(name: str, evidence: Evidence) -> str:
    """The name of a cause in this run."""
    if name == "collision":
        return COLLISIONS.get(evidence.balance, "uneven spread")
    return CALLED.get(name, name)


def headline(e: Explained, evidence: Evidence) -> str:
    """One sentence: how slow, and why."""
    flow = e.flow
    what = f"{size(flow.size_bytes)}" if flow.size_bytes is not None else "endless"
    took = f"took {time(flow.life_ns)}" if flow.fct_ns is not None else f"not finished after {time(flow.life_ns)}"
    if flow.size_bytes is None:
        took = f"sent for {time(flow.life_ns)}"
    alone = f", alone {time(e.alone_ns)}" if flow.fct_ns is not None else ""
    times = f" ({rounded(e.slowdown, 3)} times as long)" if flow.fct_ns is not None else ""
    got = f"{rate(flow.goodput_bps)} of {rate(e.alone_bps)}"
    return f"{what}: {took}{alone}{times}; goodput {got}"


def verdict(e: Explained, evidence: Evidence) -> str:
    """The causes that matter, most first; or that there are none."""
    whole = sum(e.lost_ns.values())
    if e.cause is None:
        return f"nothing to explain: {rounded(100 * (e.slowdown - 1), 2)} % longer than alone"
    order = sorted(e.lost_ns, key=lambda name: -e.lost_ns[name])
    parts = [
        f"{cause(name, evidence)} {time(e.lost_ns[name])}" for name in order if e.lost_ns[name] > LEAST_SHARE * whole
    ]
    gained = -min(0.0, e.lost_ns["unfairness"])
    more = f"; gained {time(gained)} by having more than its share" if gained > LEAST_SHARE * whole else ""
    return f"lost {time(whole)}: {', '.join(parts)}{more}"


def print_explanation(console: "Console", explanation: Explanation) -> None:
    """Print all of it, for a person."""
    evidence = explanation.evidence
    of = f"run {explanation.run}"
    of += f" ({explanation.cell}, repeat {explanation.repeat})" if explanation.cell else ""
    console.print(Text(of, style="bold"))
    if explanation.why_this_run:
        console.print(Text(explanation.why_this_run, style="dim"))
    console.print(Text(f"rates over time: {explanation.source}", style="dim"))
    for warning in explanation.warnings:
        console.print(Text(f"look before you trust: {warning}", style="yellow"))
    console.print()
    _print_totals(console, explanation)
    for place, (line, style) in enumerate(lines_of_run(evidence)):
        if place == 0:
            console.print()
        indent = len(line) - len(line.lstrip())
        console.print(Padding(Text(line.lstrip(), style=style), (0, 0, 0, indent)))
    for e in explanation.flows:
        console.print()
        flow = e.flow
        title = Text(f"flow {flow.number} {flow.src}>{flow.dst}", style="bold")
        console.print(title.append(f", {headline(e, evidence)}", style="not bold"))
        for line, style in _lines(e, evidence):
            indent = 2 + len(line) - len(line.lstrip())
            console.print(Padding(Text(line.lstrip(), style=style), (0, 0, 0, indent)))


def text(explanation: Explanation, width: int = 100) -> str:
    """The same as plain text."""
    from rich.console import Console

    out = io.StringIO()
    print_explanation(Console(file=out, width=width, no_color=True, highlight=False), explanation)
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().split("\n"))


def _print_totals(console: "Console", explanation: Explanation) -> None:
    from rich import box
    from rich.table import Table

    count, slow = explanation.counted, explanation.slow
    all_of = len(explanation.evidence.flows)
    which = f"{count} flow{'s' if count != 1 else ''}" if count == all_of else f"the slowest {count} of {all_of} flows"
    shown = [total for total in explanation.totals if total.share > LEAST_SHARE]
    if not slow or not shown:
        console.print(Text(f"{which}: none took more than {SLOW:g} times as long as alone"))
        return
    console.print(Text(f"{which}, {slow} slower than alone by a tenth or more; what that cost, in payload:"))
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name, justify in (
        ("cause", "left"),
        ("share", "right"),
        ("lost", "right"),
        ("first of", "right"),
        ("", "left"),
    ):
        table.add_column(name, justify=justify, no_wrap=name != "")  # type: ignore[arg-type]
    for total in shown:
        flows = f"{total.flows} flow{'s' if total.flows != 1 else ''}"
        name = cause(total.cause, explanation.evidence).partition(" (")[0]
        table.add_row(name, f"{100 * total.share:.0f} %", size(total.lost_bytes), flows, CAUSES[total.cause].about)
    console.print(table)


def _lines(e: Explained, evidence: Evidence) -> list[tuple[str, str]]:
    lines = []
    if len(e.subflows) > 1:
        lines.append((f"{len(e.subflows)} subflows", "dim"))
    elif e.path:
        lines.append((f"path {_path(e.path)}", "dim"))
    else:
        lines.append((f"packets balanced one by one ({evidence.balance}) over {_spread_over(e, evidence)}", "dim"))
    lines.append((verdict(e, evidence), "bold"))
    if held := line_of_flow(evidence, e.flow.number):
        lines.append((held, ""))
    if e.cause is not None:
        lines.append(
            (
                f"its fair share on its way was {rate(e.share_bps)} in the mean, {rate(e.spread_bps)} with all flows "
                "spread perfectly",
                "",
            )
        )
        notable = [span for span in e.spans if span.lost_ns > LEAST_SHARE * sum(e.lost_ns.values())]
        for span in notable[:MOST_SPANS]:
            lines += [(line, "") for line in _span(span, e, evidence)]
        if len(notable) > MOST_SPANS:
            lines.append((f"and {_count(len(notable) - MOST_SPANS, 'smaller bottleneck')}", "dim"))
    lines += [(line, "") for line in _subflows(e)]
    lines += [(line, "") for line in _trouble(e)]
    return lines


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' if number != 1 else ''}"


def _path(links: Sequence[str]) -> str:
    """The nodes in order.

    >>> _path(["h0>s1", "s1>h2"])
    'h0>s1>h2'
    """
    return ">".join([links[0].partition(">")[0], *(link.rpartition(">")[2] for link in links)])


def _spread_over(e: Explained, evidence: Evidence) -> str:
    (way,) = e.view.ways
    inside = [part for link, part in way.strand.shares.items() if not evidence.links[link].side]
    if not inside:
        return "one way"
    return f"{len(inside)} links of the fabric, at most {100 * max(inside):.0f} % on one"


def _span(span: Span, e: Explained, evidence: Evidence) -> list[str]:
    start = e.flow.start_ns
    whole = span.begin_ns <= start and span.end_ns >= e.flow.end_ns
    shown = quantity("time_ns", span.end_ns)
    times = f"{rounded(span.begin_ns * shown.factor, 3)}-{rounded(span.end_ns * shown.factor, 3)} {shown.unit}"
    when = "all the time" if whole else times
    flows = len(span.others) + 1
    line = (
        f"{when}: {span.link} was the bottleneck, {flows} flow{'s' if flows != 1 else ''}: share {rate(span.share_bps)}"
    )
    line += f", got {rate(span.goodput_bps)}"
    lines = [
        line + (f"; its queue dropped {span.dropped_packets:,} packets in the run" if span.dropped_packets else "")
    ]
    if span.others:
        lines.append(f"  beside it: {_others(span.others)}")
    if span.side == "in":
        lines.append("  the last link to the receiver: no other way leads there")
    elif span.side == "out":
        lines.append("  the host's own link: its flows share it whatever the fabric does")
    elif span.is_collision:
        name = cause("collision", evidence)
        lines.append(f"  {name}: with a perfect spread {rate(span.spread_bps)}; {_alternatives(span.alternatives)}")
    elif span.alternatives:
        lines.append(f"  no collision: {_alternatives(span.alternatives)}")
    elif evidence.is_per_flow:
        lines.append("  no other way leads there")
    return lines


def _others(others: Sequence[Other]) -> str:
    named = ", ".join(f"flow {o.flow} {o.src}>{o.dst} {rate(o.rate_bps)}" for o in others[:MOST_OTHERS])
    if len(others) <= MOST_OTHERS:
        return named
    rest = others[MOST_OTHERS:]
    return f"{named} and {len(rest)} more with {rate(sum(o.rate_bps for o in rest))}"


def _alternatives(found: Sequence[Alternative]) -> str:
    """What the equal ways carried, the emptiest first."""
    if not found:
        return "its packets were not divided evenly over the equal ways"
    by_flows: dict[int, list[Alternative]] = {}
    for each in found:
        by_flows.setdefault(each.flows, []).append(each)
    parts = []
    for count, ways in by_flows.items():
        names = ", ".join(each.link for each in ways[:MOST_OTHERS])
        more = f" and {len(ways) - MOST_OTHERS} more" if len(ways) > MOST_OTHERS else ""
        flows = "no flow" if count == 0 else f"{count} flow{'s' if count > 1 else ''}"
        full = f" ({100 * sum(each.utilization for each in ways) / len(ways):.0f} % full)" if count else ""
        parts.append(f"{flows} on {names}{more}{full}")
    return f"in its place {'; '.join(parts)}"


def _subflows(e: Explained) -> list[str]:
    """The subflows, those on one path together."""
    by_path: dict[tuple[str, ...], list[Subflow]] = {}
    for each in e.subflows:
        by_path.setdefault(tuple(each.path), []).append(each)
    lines = []
    for path, same in by_path.items():
        numbers = ", ".join(str(each.number) for each in same)
        together = " together" if len(same) > 1 else ""
        got, share = sum(each.goodput_bps for each in same), sum(each.share_bps for each in same)
        line = f"subflow{'s' if together else ''} {numbers} {_path(path)}:{together} {rate(got)}, share {rate(share)}"
        if same[0].link is not None and same[0].others:
            line += f"; {same[0].link} with {_others(same[0].others)}"
        lines.append(line)
    return lines


def _trouble(e: Explained) -> list[str]:
    """Losses, timeouts, what was sent again, reordering."""
    flow, parts = e.flow, []
    if flow.marked_packets and flow.is_controlled:
        parts.append(f"{_count(flow.marked_packets, 'packet')} marked")
    if flow.lost_packets:
        parts.append(f"{_count(flow.lost_packets, 'packet')} lost")
    if flow.timeouts:
        parts.append(f"{_count(flow.timeouts, 'timeout')} after {time(flow.timeout_wait_ns)} of silence in all")
    if flow.retransmitted_bytes:
        again = f"{size(flow.retransmitted_bytes)} sent again"
        vain = f", in vain {_count(flow.spurious_retransmits, 'segment')}" if flow.spurious_retransmits else ""
        parts.append(again + vain)
    if flow.reordered_packets:
        parts.append(f"{_count(flow.reordered_packets, 'packet')} out of order")
    if flow.fct_ns is None and e.view.is_silent[-1]:
        heard = e.view.edges[:-1][~e.view.is_silent]
        last = float(heard[-1]) if len(heard) else float(flow.start_ns)
        parts.append(f"silent for the last {time(flow.end_ns - last)}")
    if flow.reason:
        parts.append(flow.reason)
    return ["; ".join(parts)] if parts else []
