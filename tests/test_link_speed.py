"""Link speeds: data rates by hand from signalling, lanes and coding, and what is refused."""

import re

import pytest

from weft.link_speed import PATTERN
from weft.units import UnitError, parse_rate


@pytest.mark.parametrize(
    ("text", "gbps"),
    [
        # 8b/10b: 8 of 10 bits of 2.5, 5 and 10 Gb/s a lane.
        ("1x SDR", 2.0),
        ("4x SDR", 8.0),
        ("4x DDR", 16.0),
        ("4x QDR", 32.0),
        ("12x QDR", 96.0),
        # 64b/66b: FDR10 and EDR are made to give whole numbers, FDR is not: 4 x 14.0625 x 64 / 66.
        ("4x FDR10", 40.0),
        ("4x FDR", 54.545454545),
        ("4x EDR", 100.0),
        # 53.125 and 106.25 Gb/s a lane, 256 of 257 bits, 514 of 544 symbols.
        ("1x HDR", 50.0),
        ("4x hdr", 200.0),
        ("4x NDR", 400.0),
        ("8 x NDR", 800.0),
        ("20 Gbps 8b/10b", 16.0),
        ("25.78125 Gbps 64b/66b", 25.0),
    ],
)
def test_a_link_speed_is_a_rate_of_data(text: str, gbps: float) -> None:
    assert parse_rate(text) == round(gbps * 1e9)
    assert parse_rate(f"  {text} ") == parse_rate(text)


def test_an_editor_knows_them() -> None:
    assert re.search(PATTERN, "4x QDR") and re.search(PATTERN, "40 Gbps 8b/10b")
    assert not re.search(PATTERN, "3x QDR") and not re.search(PATTERN, "40 Gbps")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3x QDR", '"3x QDR": a link has no 3 lanes; expected 1x, 2x, 4x, 8x or 12x'),
        ("4x QRD", '"4x QRD": unknown link speed "QRD"; did you mean "4x QDR"?'),
        ("4x XDR", '"4x XDR": unknown link speed "XDR"; did you mean '),
        ("QDR", '"QDR" has no number of lanes; a link speed looks like "4x QDR"'),
        ("20 Gbps 4b/5b", '"20 Gbps 4b/5b": unknown coding "4b/5b"; expected 8b/10b, 64b/66b, 256b/257b'),
        ("20 us 8b/10b", '"20 us" is a time; expected a rate'),
    ],
)
def test_what_is_no_link_speed_says_what_was_expected(text: str, message: str) -> None:
    with pytest.raises(UnitError, match=re.escape(message)):
        parse_rate(text)
