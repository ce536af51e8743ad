"""k shortest paths against networkx: the same lengths, each a simple path, none twice."""

import itertools

import networkx
import pytest

import weft


def offered(graph: "networkx.Graph[int]", k: int, seed: int) -> dict[tuple[str, str], list[tuple[str, ...]]]:
    """Per pair of hosts the paths that k connections take in turn, as names of nodes; a host `h<n>` at every node."""
    with_hosts = networkx.Graph(graph)
    with_hosts.add_edges_from((f"h{node}", node) for node in list(graph.nodes))
    pairs = [(f"h{a}", f"h{b}") for a, b in itertools.permutations(graph.nodes, 2)]
    scenario = weft.load(
        {
            "seed": seed,
            "topology": weft.from_networkx(with_hosts),
            "routing": {"kind": "k_shortest", "k": k, "share": "round_robin"},
            "load_balance": {"kind": "ecmp"},
            "workload": [{"kind": "pairs", "pairs": [f"{a}>{b}" for a, b in pairs for _ in range(k)], "size": "1 kB"}],
        }
    ).scenario()
    links = scenario.links()
    found: dict[tuple[str, str], list[tuple[str, ...]]] = {pair: [] for pair in pairs}
    flows = scenario.flows()
    for src, dst, path in zip(flows["src"], flows["dst"], flows["path"], strict=True):
        found[src, dst].append((src, *(links["dst"][link] for link in path)))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_the_k_shortest_are_those_of_networkx(seed: int) -> None:
    graph = networkx.gnp_random_graph(7, 0.45, seed=seed)
    graph = networkx.Graph(graph.subgraph(max(networkx.connected_components(graph), key=len)))
    for (src, dst), paths in offered(graph, 5, seed).items():
        a, b = int(src[1:]), int(dst[1:])
        reference = list(itertools.islice(networkx.shortest_simple_paths(graph, a, b), 5))
        # Fewer than five: connections take what there is in turn.
        distinct = set(paths)
        assert sorted(len(path) - 2 for path in distinct) == [len(path) for path in reference]
        for path in distinct:
            assert networkx.is_simple_path(graph, [int(node) for node in path[1:-1]])


def test_a_random_regular_graph_is_one() -> None:
    experiment = weft.load(
        {
            "topology": {"kind": "random_regular", "switches": 30, "degree": 5},
            "workload": [{"kind": "permutation", "size": "1 kB"}],
        }
    )
    links = experiment.scenario().links()
    graph = networkx.Graph(
        [(a, b) for a, b in zip(links["src"], links["dst"], strict=True) if a[0] == "s" and b[0] == "s"]
    )
    assert set(dict(graph.degree()).values()) == {5} and networkx.is_connected(graph)
