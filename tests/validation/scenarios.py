"""Random small scenarios: any fabric, balancing, queue, transport, congestion control and workload together."""

from typing import Any

from hypothesis import strategies as st

RATES = ["100 Mbps", "1 Gbps", "9999999937 bps", "10 Gbps", "40 Gbps"]


def links() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "rate": st.sampled_from(RATES),
            "delay": st.sampled_from(["0 us", "1 ns", "1 us", "77 us"]),
            "mtu": st.sampled_from([256, 1500, 9000]),
            "overhead": st.sampled_from([0, 14, 38]),
        },
        optional={
            "loss": st.fixed_dictionaries(
                {"kind": st.sampled_from(["periodic", "random"]), "p": st.sampled_from([0.0, 0.01, 0.1])}
            ),
            "switch_latency": st.just("500 ns"),
        },
    )


def topologies(links: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(
        st.fixed_dictionaries({"kind": st.just("star"), "hosts": st.integers(2, 5), "link": links}),
        st.fixed_dictionaries(
            {"kind": st.just("dumbbell"), "left": st.integers(1, 3), "right": st.integers(1, 3), "link": links},
            optional={"bottleneck": links},
        ),
        st.fixed_dictionaries(
            {
                "kind": st.just("leaf_spine"),
                "leaves": st.integers(2, 3),
                "spines": st.integers(1, 3),
                "hosts_per_leaf": st.integers(1, 3),
                "link": links,
            }
        ),
        st.fixed_dictionaries({"kind": st.just("binary_tree"), "link": links}),
        st.fixed_dictionaries({"kind": st.just("fat_tree"), "k": st.sampled_from([2, 4]), "link": links}),
    )


QUEUES = st.one_of(
    st.fixed_dictionaries(
        {"kind": st.just("drop_tail"), "capacity": st.sampled_from(["1 packets", "7 packets", "100 packets", "30 kB"])}
    ),
    st.fixed_dictionaries(
        {
            "kind": st.just("ecn_step"),
            "capacity": st.sampled_from(["20 packets", "100 kB"]),
            "threshold": st.sampled_from(["2 packets", "8 packets"]),
        }
    ),
    st.just({"kind": "red", "capacity": "50 packets", "min_threshold": 3.0, "max_threshold": 10.0}),
)

BALANCES = st.sampled_from(
    [
        {"kind": "static"},
        {"kind": "ecmp"},
        {"kind": "ecmp", "seeds": "shared"},
        {"kind": "ecmp", "hash": "crc16", "buckets": 8},
        {"kind": "spray"},
        {"kind": "spray", "order": "round_robin"},
    ]
)

TCP = st.fixed_dictionaries(
    {"kind": st.just("tcp"), "profile": st.sampled_from(["linux", "rfc", "datacenter"])},
    optional={
        "rack": st.booleans(),
        "tlp": st.booleans(),
        "ecn": st.booleans(),
        "timestamps": st.booleans(),
        "limited_transmit": st.booleans(),
        "ack_every": st.integers(1, 3),
        "initial_window": st.integers(1, 20),
        "receive_window": st.sampled_from(["0 B", "300 B", "3 kB", "64 KiB"]),
    },
)

UDP = st.fixed_dictionaries(
    {
        "kind": st.just("udp"),
        "rate": st.sampled_from(["50 Mbps", "3 Gbps", "100 Gbps"]),
        "arrivals": st.sampled_from(["constant", "poisson"]),
        "packet_size": st.sampled_from(["fixed", "exponential"]),
    }
)

CONGESTION = st.sampled_from([{"kind": "reno"}, {"kind": "cubic"}, {"kind": "dctcp"}])
SIZES = st.sampled_from(["1 B", "1448 B", "10 kB", "150 kB"])

WORKLOADS = st.one_of(
    st.fixed_dictionaries({"kind": st.sampled_from(["permutation", "all_to_all", "stride"]), "size": SIZES}),
    st.fixed_dictionaries(
        {"kind": st.just("incast"), "degree": st.just(1), "size": SIZES}, optional={"fetch": st.booleans()}
    ),
    st.fixed_dictionaries({"kind": st.just("silent"), "size": SIZES}),
    st.just({"kind": "poisson", "load": 0.5, "size": {"kind": "websearch"}, "flows": 5}),
)


@st.composite
def scenarios(draw: st.DrawFn) -> dict[str, Any]:
    """An experiment that ends when its flows are done, or after 20 simulated seconds."""
    workload = draw(WORKLOADS)
    # Fetches need a transport that answers.
    transport = draw(TCP if workload["kind"] == "silent" or workload.get("fetch") else st.one_of(TCP, UDP))
    return {
        "seed": draw(st.integers(0, 2**32)),
        "backend": {"limit": "20 s"},
        "topology": draw(topologies(links())),
        "load_balance": draw(BALANCES),
        "queue": draw(QUEUES),
        "transport": transport,
        "congestion": draw(CONGESTION),
        "workload": [workload],
    }
