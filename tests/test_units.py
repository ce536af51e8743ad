"""Units: what people write, exactly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft import units
from weft.units import RATE, SIZE, TIME, UnitError


@pytest.mark.parametrize(
    ("family", "text", "value"),
    [
        (TIME, "10 us", 10_000_000),
        (TIME, "1us", 1_000_000),
        (TIME, "0.5 ms", 500_000_000),
        (TIME, "1 ps", 1),
        (TIME, "2 min", 120 * 10**12),
        (TIME, "1e3 ns", 1_000_000),
        (TIME, "0 s", 0),
        (RATE, "100 Gbps", 100 * 10**9),
        (RATE, "1.5kbps", 1_500),
        (RATE, "0.4 Tbps", 400 * 10**9),
        (SIZE, "64 KiB", 65_536),
        (SIZE, "64 kB", 64_000),
        (SIZE, "25 MiB", 26_214_400),
        (SIZE, "1.5 GiB", 1_610_612_736),
    ],
)
def test_a_text_is_its_base_units(family: units.Family, text: str, value: int) -> None:
    assert family.parse(text) == value


@pytest.mark.parametrize(
    ("family", "text", "message"),
    [
        (RATE, 10, '10 has no unit; a rate looks like "100 Gbps"'),
        (TIME, "10", '10 has no unit; a time looks like "10 us"'),
        (RATE, "10 us", '"10 us" is a time; expected a rate, like "100 Gbps"'),
        (TIME, "10 Gbps", '"10 Gbps" is a rate; expected a time, like "10 us"'),
        (SIZE, "100 packets", '"100 packets" counts packets; expected a size, like "64 KiB"'),
        (RATE, "10 gbps", '"10 gbps": unknown unit "gbps"; did you mean "Gbps"?'),
        (RATE, "10 Gbit/s", '"10 Gbit/s": unknown unit "Gbit/s"; did you mean "Gbps"?'),
        (SIZE, "25 Mib", '"25 Mib": unknown unit "Mib"; did you mean "MiB"?'),
        (TIME, "5 parsecs", '"5 parsecs": unknown unit "parsecs"; a time looks like "10 us"'),
        (TIME, "0.0001 ns", '"0.0001 ns" is finer than 1 ps, the finest time there is'),
        (SIZE, "0.5 B", '"0.5 B" is finer than 1 B, the finest size there is'),
        (TIME, "-1 s", '"-1 s" is negative; a time looks like "10 us"'),
        (TIME, "1e30 s", '"1e30 s" is larger than 8640000 s, the largest time there is'),
        (TIME, "1e99999999999 s", '"1e99999999999 s" is beyond any time there is'),
        (TIME, "soon", '"soon" is no time; a time looks like "10 us"'),
    ],
)
def test_what_is_no_quantity_says_what_was_expected(family: units.Family, text: object, message: str) -> None:
    with pytest.raises(UnitError) as caught:
        family.parse(text)
    assert str(caught.value) == message


def test_a_capacity_counts_packets_or_bytes() -> None:
    assert units.parse_capacity("100 packets") == {"packets": 100}
    assert units.parse_capacity("1 packet") == {"packets": 1}
    assert units.parse_capacity("150 kB") == {"bytes": 150_000}
    with pytest.raises(UnitError, match=r'100 has no unit; a capacity looks like "100 packets" or "150 kB"'):
        units.parse_capacity(100)
    with pytest.raises(UnitError, match=r'"1.5 packets" is no whole number of packets'):
        units.parse_capacity("1.5 packets")


@given(st.sampled_from([TIME, RATE, SIZE]), st.data())
def test_what_is_formatted_parses_to_the_same(family: units.Family, data: st.DataObject) -> None:
    value = data.draw(st.integers(0, family.largest))
    assert family.parse(family.format(value)) == value


@given(st.sampled_from(["packets", "bytes"]), st.integers(0, 2**60))
def test_a_capacity_formats_to_the_same(unit: str, count: int) -> None:
    assert units.parse_capacity(units.format_capacity({unit: count})) == {unit: count}


@given(st.text())
def test_no_text_fails_otherwise_than_by_a_unit_error(text: str) -> None:
    for parse in (TIME.parse, RATE.parse, SIZE.parse, units.parse_capacity):
        try:
            parse(text)
        except UnitError as error:
            assert str(error)
