"""Retransmissions: bytes of packets sent again, headers included, as a share of payload delivered.

Source: RFC 4898 (`tcpEStatsPerfOctetsRetrans` over delivered octets). Needless retransmissions count too.
"""

import polars as pl

from weft.metric.definition import Tables, known


def retransmissions(tables: Tables) -> pl.Series:
    """Retransmitted bytes on the wire over delivered payload of the run, at least 0, as a series of one value.

    The series is empty if nothing was delivered. Raises ResultsError if a column is absent or null.

    >>> flows = pl.DataFrame({"retransmitted_bytes": [10, 0], "delivered_bytes": [100, 100]})
    >>> retransmissions({"flows": flows}).to_list()
    [0.05]
    """
    flows = known(tables, "flows", "retransmitted_bytes", "delivered_bytes")
    delivered = int(flows["delivered_bytes"].sum())
    again = int(flows["retransmitted_bytes"].sum())
    return pl.Series("retransmissions", [again / delivered] if delivered else [], dtype=pl.Float64)
