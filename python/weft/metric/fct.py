"""Flow completion time (FCT): from the first packet sent to the last payload byte received.

Source: Dukkipati, McKeown, "Why flow-completion time is the right metric for congestion control", CCR 36(1), 2006.
Departure: counted from the handshake's first packet, as a client sees it.
"""

import polars as pl

from weft.errors import ResultsError
from weft.metric.definition import Tables, columns


def fct(tables: Tables) -> pl.Series:
    """Nanoseconds of each finished flow; unfinished flows (null) are left out: see the metric `completion`.

    Raises ResultsError if `flows.fct_ns` is absent or no flow finished.

    >>> fct({"flows": pl.DataFrame({"fct_ns": [2000, None, 3000]})}).to_list()
    [2000, 3000]
    """
    flows = columns(tables, "flows", "fct_ns")
    finished = flows["fct_ns"].drop_nulls()
    if finished.is_empty():
        raise ResultsError(f"fct: none of {flows.height} flows finished; give the flows a `size`, or raise `limit`")
    return finished
