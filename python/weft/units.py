"""Units: times, rates, sizes and capacities, as people write them and as exact whole numbers.

Base units are those of the simulators: picoseconds, bits per second, bytes. Rates and kB, MB, GB are decimal; KiB, MiB
and GiB are binary. Nothing is rounded: a value finer than the base unit is an error, but for rates behind a coding
(link_speed.py), which are cut to whole bits per second.
"""

import difflib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from weft import link_speed

Capacity = dict[str, int]
"""`{"packets": n}` or `{"bytes": n}`."""

_NUMBER = r"[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*([^\d\s.+-]\S*)?\s*", re.ASCII)
_LARGEST_EXPONENT = 40


class UnitError(ValueError):
    """A text that is no quantity of the family asked for.

    The message ends with what was expected; `expected` and `nearest` repeat parts of it.
    """

    def __init__(self, message: str, expected: str, nearest: str | None = None) -> None:
        super().__init__(message)
        self.expected = expected
        self.nearest = nearest


@dataclass(frozen=True)
class Family:
    """Units that measure the same thing, each in base units."""

    noun: str
    example: str
    units: dict[str, int]
    base: str
    largest: int
    written: tuple[str, ...]
    """Units that `format` uses, largest first."""

    def parse(self, text: object) -> int:
        """Exact base units of a text like "10 us"; the space is optional.

        Raises UnitError for anything else: a bare number, another family's unit, a fraction of the base unit, a
        negative value, or one beyond the largest that the simulators hold.
        """
        number, unit = _split(text, self.noun, self.example)
        if unit not in self.units:
            raise self._foreign(str(text).strip(), unit)
        value = Fraction(number) * self.units[unit]
        if value < 0:
            raise UnitError(f'"{str(text).strip()}" is negative; {self._hint()}', self.noun)
        if value.denominator != 1:
            raise UnitError(
                f'"{str(text).strip()}" is finer than 1 {self.base}, the finest {self.noun} there is', self.noun
            )
        if value > self.largest:
            raise UnitError(
                f'"{str(text).strip()}" is larger than {self.format(self.largest)}, the largest {self.noun} there is',
                self.noun,
            )
        return int(value)

    def format(self, value: int) -> str:
        """The unit with the smallest whole number: `parse(format(x)) == x`.

        >>> TIME.format(1_500_000), SIZE.format(26_214_400), RATE.format(20_000_000), SIZE.format(0)
        ('1500 ns', '25 MiB', '20 Mbps', '0 B')
        """
        if value == 0:
            # No time at all is 0 s to a person, and nothing to send is 0 B.
            return f"0 {self.written[0] if self is TIME else self.base}"
        best = (value, self.base)
        for unit in self.written:
            count, rest = divmod(value, self.units[unit])
            if not rest and count < best[0]:
                best = (count, unit)
        return f"{best[0]} {best[1]}"

    def _hint(self) -> str:
        return f'{_article(self.noun)} looks like "{self.example}"'

    def _foreign(self, text: str, unit: str) -> UnitError:
        for family in FAMILIES.values():
            if unit in family.units:
                return UnitError(
                    f'"{text}" is {_article(family.noun)}; expected {_article(self.noun)}, like "{self.example}"',
                    self.noun,
                )
        if unit in _PACKETS:
            return UnitError(
                f'"{text}" counts packets; expected {_article(self.noun)}, like "{self.example}"', self.noun
            )
        nearest = _nearest_unit(unit, self.units)
        if nearest:
            return UnitError(f'"{text}": unknown unit "{unit}"; did you mean "{nearest}"?', self.noun, nearest)
        return UnitError(f'"{text}": unknown unit "{unit}"; {self._hint()}', self.noun)


TIME = Family(
    noun="time",
    example="10 us",
    units={
        "ps": 1,
        "ns": 10**3,
        "us": 10**6,
        "µs": 10**6,
        "μs": 10**6,
        "ms": 10**9,
        "s": 10**12,
        "min": 60 * 10**12,
        "h": 3600 * 10**12,
    },
    base="ps",
    largest=8_640_000 * 10**12,  # 100 days
    written=("s", "ms", "us", "ns"),
)
RATE = Family(
    noun="rate",
    example="100 Gbps",
    units={"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12, "MB/s": 8 * 10**6, "GB/s": 8 * 10**9},
    base="bps",
    largest=10**15,
    written=("Tbps", "Gbps", "Mbps", "kbps"),
)
SIZE = Family(
    noun="size",
    example="64 KiB",
    units={
        "B": 1,
        "kB": 10**3,
        "MB": 10**6,
        "GB": 10**9,
        "TB": 10**12,
        "KiB": 2**10,
        "MiB": 2**20,
        "GiB": 2**30,
        "TiB": 2**40,
    },
    base="B",
    largest=2**60,
    written=("TiB", "TB", "GiB", "GB", "MiB", "MB", "KiB", "kB"),
)
FAMILIES = {"time": TIME, "rate": RATE, "size": SIZE}
_PACKETS = ("packets", "packet")
_CAPACITY_NOUN = "capacity"
_CAPACITY_EXAMPLE = '"100 packets" or "150 kB"'


def parse_time(text: object) -> int:
    """Picoseconds.

    Raises UnitError.

    >>> parse_time("10 us"), parse_time("0.5ms")
    (10000000, 500000000)
    """
    return TIME.parse(text)


def parse_rate(text: object) -> int:
    """Bits per second, of data: also by the name of a link speed, or as a signalling rate with its coding.

    Raises UnitError.

    >>> parse_rate("2.5 Gbps"), parse_rate("4x QDR"), parse_rate("40 Gbps 8b/10b")
    (2500000000, 32000000000, 32000000000)
    """
    if not isinstance(text, str):
        return RATE.parse(text)
    try:
        if (rate := link_speed.named_rate(text)) is not None:
            return rate
        if (signal := link_speed.coded(text)) is not None:
            return int(RATE.parse(signal[0]) * signal[1])
    except link_speed.SpeedError as error:
        raise UnitError(str(error), RATE.noun) from None
    return RATE.parse(text)


def parse_size(text: object) -> int:
    """Bytes.

    Raises UnitError.

    >>> parse_size("64 KiB"), parse_size("64 kB")
    (65536, 64000)
    """
    return SIZE.parse(text)


def parse_capacity(text: object) -> Capacity:
    """A number of packets or of bytes.

    Raises UnitError.

    >>> parse_capacity("100 packets"), parse_capacity("150 kB")
    ({'packets': 100}, {'bytes': 150000})
    """
    number, unit = _split(text, _CAPACITY_NOUN, _CAPACITY_EXAMPLE)
    said = f'"{str(text).strip()}"'
    if unit in SIZE.units:
        return {"bytes": SIZE.parse(text)}
    if unit not in _PACKETS:
        for family in (TIME, RATE):
            if unit in family.units:
                raise UnitError(
                    f"{said} is {_article(family.noun)}; expected a capacity, like {_CAPACITY_EXAMPLE}", _CAPACITY_NOUN
                )
        nearest = _nearest_unit(unit, [*_PACKETS, *SIZE.units])
        way_out = f'did you mean "{nearest}"?' if nearest else f"a capacity looks like {_CAPACITY_EXAMPLE}"
        raise UnitError(f'{said}: unknown unit "{unit}"; {way_out}', _CAPACITY_NOUN, nearest)
    if number < 0:
        raise UnitError(f"{said} is negative; a capacity looks like {_CAPACITY_EXAMPLE}", _CAPACITY_NOUN)
    if number != number.to_integral_value():
        raise UnitError(f"{said} is no whole number of packets", _CAPACITY_NOUN)
    if number > 2**63 - 1:
        raise UnitError(f"{said} is larger than {2**63 - 1} packets, the largest capacity there is", _CAPACITY_NOUN)
    return {"packets": int(number)}


def format_capacity(value: Capacity) -> str:
    """As `parse_capacity` reads it.

    >>> format_capacity({"packets": 1}), format_capacity({"bytes": 150_000})
    ('1 packets', '150 kB')
    """
    return f"{value['packets']} packets" if "packets" in value else SIZE.format(value["bytes"])


PARSERS: dict[str, Callable[[object], int]] = {"time": parse_time, "rate": parse_rate, "size": parse_size}
"""By the value types of the declarations."""


def _split(text: object, noun: str, example: str) -> tuple[Decimal, str]:
    quoted = example if example.startswith('"') else f'"{example}"'
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise UnitError(f"expected {_article(noun)}, like {quoted}", noun)
    match = _QUANTITY.fullmatch(text) if isinstance(text, str) else None
    if not isinstance(text, str) or (match and match[2] is None):
        raise UnitError(f"{str(text).strip()} has no unit; {_article(noun)} looks like {quoted}", noun)
    if match is None:
        raise UnitError(f'"{text}" is no {noun}; {_article(noun)} looks like {quoted}', noun)
    digits = match[1].replace("_", "")
    number = _decimal(digits) if len(digits) <= 2 * _LARGEST_EXPONENT else None
    if number is None or (number and abs(number.adjusted()) > _LARGEST_EXPONENT):
        raise UnitError(f'"{text.strip()}" is beyond any {noun} there is', noun)
    return number, match[2]


def _decimal(digits: str) -> Decimal | None:
    mantissa, _, exponent = digits.lower().partition("e")
    return Decimal(digits) if abs(int(exponent or 0)) <= 4 * _LARGEST_EXPONENT and mantissa else None


def _nearest_unit(unit: str, units: Iterable[str]) -> str | None:
    names = {name.lower(): name for name in units if name.isascii()}
    said = unit.lower().replace("bit/s", "bps").replace("b/s", "bps")
    if said in names:
        return names[said]
    if any(said == name.lower() for family in FAMILIES.values() for name in family.units):
        return None
    close = difflib.get_close_matches(said, names, 1, cutoff=0.7)
    return names[close[0]] if close else None


def _article(noun: str) -> str:
    return f"a {noun}"
