"""Payload share: how much of what a host's interfaces received was payload that its applications got.

It compares two measurements of the same traffic, at the application (as iperf does) and at the interfaces (as bwm-ng
does): they agree if nothing but headers, acknowledgments, retransmissions and handshakes lies between them. Over
Ethernet with timestamps a packet of 1500 bytes gives TCP 1448/1538 = 0.9415 at most; a host that also sends gets
acknowledgments besides. Source: RFC 2647, section 3.17 (goodput) over RFC 5136, section 2.3 (use of a link).
"""

import polars as pl

from weft.metric.definition import Tables, columns, known


def payload_share(tables: Tables) -> pl.Series:
    """Goodput of the flows to each host over the bits per second that came over its links, both in the measured window.

    Hosts that received nothing are left out. Raises ResultsError if `flows.goodput_bps`, `links.utilization` or
    `links.rate_bps` is absent or null.

    >>> links = pl.DataFrame({"dst": ["h", "s"], "rate_bps": [100, 100], "utilization": [0.5, 0.1]})
    >>> flows = pl.DataFrame({"dst": ["h"], "goodput_bps": [47.0]})
    >>> payload_share({"links": links, "flows": flows}).to_list()
    [0.94]
    """
    carried = known(tables, "links", "dst", "rate_bps", "utilization")
    into = carried.group_by("dst").agg((pl.col("rate_bps") * pl.col("utilization")).sum().alias("carried"))
    # Null is the goodput of a flow that never started.
    flows = columns(tables, "flows", "dst", "goodput_bps").drop_nulls()
    received = flows.group_by("dst", maintain_order=True).agg(pl.col("goodput_bps").sum().alias("payload"))
    hosts = received.join(into, on="dst", how="left", maintain_order="left")
    hosts = hosts.filter((pl.col("payload") > 0) & (pl.col("carried") > 0))
    return hosts.select((pl.col("payload") / pl.col("carried")).alias("payload_share"))["payload_share"]
