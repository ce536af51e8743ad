"""Credit flow control without congestion control: round robin over inputs decides, and a victim suffers.

Source: the switch SW4 serves two inputs in turn, SW2's with H2 alone and SW3's with H1 and H3: H2 gets half of H4's
link and the others a quarter each. H5 has nothing to do with H4, but its packets share the input buffer of SW3 with
those of H1, which pass one by one as H1's do: it gets a quarter, too, of a link that would carry all of it.

Where H4's adapter is the bottleneck instead (links of 40 Gb/s), it drains a packet of 34 credits in 34 x 16.8 ns x
1.125 = 642.6 ns: 2176 B / 642.6 ns = 3386 MB/s, shared in the same way. A flow alone sends a packet every 34 x 32 +
243 = 1331 ns at 20 Gb/s, every 34 x 16.8 + 243 = 814.2 ns at 40: 1635 and 2673 MB/s.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from weft.validation.infiniband_fabric import SENDERS, into_h4, stages
from weft.validation.oracle import Oracle, Row, near

LONE = {20: 2176 / 1.331, 40: 2176 / 0.8142}
"""MB/s of a flow alone."""

BOTTLENECK = {20: 2000.0, 40: 2176 / 0.6426}
"""MB/s that H4 takes."""

SHARES = (1 / 4, 1 / 2, 1 / 4, 1 / 4)


def rows(is_full: bool) -> Iterator[Row]:
    """Shares of H4's link with all senders, and the stages before, at both speeds."""
    stage_ms = 1000 if is_full else 20
    with TemporaryDirectory() as folder:
        for gbps in (20, 40):
            rates = stages({"kind": "none"}, Path(folder), stage_ms, gbps=gbps)
            most, setup = BOTTLENECK[gbps], f"{gbps} Gb/s, {stage_ms} ms a stage"
            yield near("H1 alone", setup, rates[0][0], LONE[gbps], relative=0.02, unit="MB/s")
            for flow in (0, 1):
                yield near(f"{SENDERS[flow][0]} of two", setup, rates[1][flow], most / 2, relative=0.02, unit="MB/s")
            for flow, share in enumerate(SHARES):
                name = "victim H5" if flow == 3 else f"{SENDERS[flow][0]} of three"
                yield near(f"share of {name}", setup, rates[3][flow] / most, share, relative=0.02)
            yield near("into H4", setup, into_h4(rates[3]), most, relative=0.02, unit="MB/s")


ORACLE = Oracle(22, "shares of a lossless fabric", "round robin; the InfiniBand congestion control thesis", "A", rows)
"""CC off."""
