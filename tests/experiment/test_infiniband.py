"""An InfiniBand experiment: what is taken when the file does not say it, and what is said of what has no effect."""

from typing import Any

import weft

HEAD = 'topology = { kind = "star", hosts = 3 }\nbackend = { until = "1 ms" }\n'
TAIL = '[[workload]]\nkind = "pairs"\npairs = ["h0>h1"]\n'


def experiment(text: str) -> weft.Experiment:
    return weft.load(HEAD + text + TAIL)


def spec(text: str) -> dict[str, Any]:
    loaded = experiment(text)
    return dict(loaded.spec(next(iter(loaded.cells()))))


def test_the_transport_chooses_flow_control_and_no_congestion_control() -> None:
    asked = spec('[transport]\nkind = "infiniband"\n')
    assert (asked["flow_control"]["kind"], asked["congestion"]["kind"]) == ("credit", "none")
    assert asked["flow_control"]["input_buffer"] == 96
    plain = spec("")
    assert (plain["flow_control"]["kind"], plain["congestion"]["kind"]) == ("none", "cubic")


def test_each_cell_takes_what_its_own_transport_chooses() -> None:
    swept = experiment('[sweep]\n"transport.kind" = ["tcp", "infiniband", "mptcp"]\n')
    kinds = [swept.spec(cell)["congestion"]["kind"] for cell in swept.cells()]
    assert kinds == ["cubic", "none", "cubic"]


def test_the_standard_profile_adds_nothing_to_the_standard() -> None:
    asked = spec('[transport]\nkind = "infiniband"\n[congestion]\nkind = "infiniband"\nprofile = "standard"\n')
    control = asked["congestion"]
    assert (control["burst_packets"], control["hysteresis"], control["reset_zone"]) == (1, 0, False)
    assert control["packet_size_unit"] == "credits"


def test_a_queue_discipline_has_no_effect_on_lossless_ports() -> None:
    asked = experiment('[transport]\nkind = "infiniband"\n[queue]\nkind = "red"\n')
    (sentence,) = asked.advice(next(iter(asked.cells())))
    assert sentence.startswith("[queue] has no effect: with flow_control credit")


def test_a_run_says_that_no_packet_is_large_enough_to_be_marked() -> None:
    results = weft.run(
        experiment('[transport]\nkind = "infiniband"\n[congestion]\nkind = "infiniband"\npacket_size = 2200\n')
    )
    (manifest,) = results.manifests.values()
    assert any("no packet is as large as congestion.packet_size, 2200 B" in said for said in manifest["warnings"])
