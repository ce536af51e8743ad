"""Link speeds as InfiniBand names them: what signals on the wire, and what of it is data.

A rate of weft is that of data. A cable of 4 lanes at QDR signals at 4 x 10 Gb/s; 8b/10b coding leaves 8 of 10 bits,
32 Gb/s. Sources: InfiniBand Architecture Specification, volume 2, chapters 5 and 6 (lanes, SDR to QDR), and the IBTA's
roadmap for the later ones. From HDR on a lane codes 256 bits in 257 and adds forward error correction, RS(544, 514):
53.125 Gb/s x 256/257 x 514/544 = 50 Gb/s.
"""

import difflib
import re
from dataclasses import dataclass
from fractions import Fraction

LANES = (1, 2, 4, 8, 12)
"""Widths of a link."""

CODINGS = {
    "8b/10b": Fraction(8, 10),
    "64b/66b": Fraction(64, 66),
    "256b/257b": Fraction(256, 257) * Fraction(514, 544),
}
"""Share of the signal that is data; the last with its error correction."""


@dataclass(frozen=True)
class Speed:
    """What one lane signals, in bits per second, and how it is coded."""

    signalling: int
    coding: str

    def data_rate(self, lanes: int) -> int:
        """Bits per second of data over so many lanes; what is left of a bit per second is cut off.

        >>> SPEEDS["QDR"].data_rate(4), SPEEDS["FDR"].data_rate(4), SPEEDS["HDR"].data_rate(4)
        (32000000000, 54545454545, 200000000000)
        """
        return int(lanes * self.signalling * CODINGS[self.coding])


SPEEDS = {
    "SDR": Speed(2_500_000_000, "8b/10b"),
    "DDR": Speed(5_000_000_000, "8b/10b"),
    "QDR": Speed(10_000_000_000, "8b/10b"),
    "FDR10": Speed(10_312_500_000, "64b/66b"),
    "FDR": Speed(14_062_500_000, "64b/66b"),
    "EDR": Speed(25_781_250_000, "64b/66b"),
    "HDR": Speed(53_125_000_000, "256b/257b"),
    "NDR": Speed(106_250_000_000, "256b/257b"),
}
"""By name, slowest first."""

_SPEED = re.compile(r"(?:(\d+)\s*x\s*)?([A-Z]+DR\d*)", re.IGNORECASE | re.ASCII)
_LANES = re.compile(r"(\d+)\s*x\s*(\S*)", re.IGNORECASE | re.ASCII)
_CODED = re.compile(r"(.*\S)\s+(\d+b/\d+b)", re.ASCII)


PATTERN = rf"^\s*(({'|'.join(map(str, LANES))})\s*x\s*({'|'.join(SPEEDS)})|.*\S\s+({'|'.join(CODINGS)}))\s*$"
"""What a schema accepts beside plain rates."""


class SpeedError(ValueError):
    """A text that means a link speed, and is none; the message says what was expected."""


def named_rate(text: str) -> int | None:
    """Data rate of a text like "4x QDR", in bits per second; None for a text of another form. Raises SpeedError."""
    text = text.strip()
    found = _SPEED.fullmatch(text) or _LANES.fullmatch(text)
    if found is None:
        return None
    lanes, name = found[1], found[2].upper()
    if name not in SPEEDS:
        close = difflib.get_close_matches(name, SPEEDS, 1)
        way_out = f'did you mean "{lanes or 4}x {close[0]}"?' if close else f"there are {', '.join(SPEEDS)}"
        raise SpeedError(f'"{text}": unknown link speed "{found[2]}"; {way_out}')
    if lanes is None:
        raise SpeedError(f'"{text}" has no number of lanes; a link speed looks like "4x {name}"')
    if int(lanes) not in LANES:
        widths = ", ".join(f"{n}x" for n in LANES[:-1])
        raise SpeedError(f'"{text}": a link has no {lanes} lanes; expected {widths} or {LANES[-1]}x')
    return SPEEDS[name].data_rate(int(lanes))


def coded(text: str) -> tuple[str, Fraction] | None:
    """The signalling rate of a text like "40 Gbps 8b/10b", and the share that is data; None without a coding.

    Raises SpeedError.

    >>> coded("40 Gbps 8b/10b")
    ('40 Gbps', Fraction(4, 5))
    """
    found = _CODED.fullmatch(text.strip())
    if found is None:
        return None
    if found[2] not in CODINGS:
        raise SpeedError(f'"{text.strip()}": unknown coding "{found[2]}"; expected {", ".join(CODINGS)}')
    return found[1], CODINGS[found[2]]
