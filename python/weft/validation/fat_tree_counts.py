"""Fat tree: sizes, paths and cuts of a k-ary fat tree.

Source: Al-Fares, Loukissas, Vahdat, SIGCOMM 2008, section 2.2. With k ports per switch: k pods of (k/2)^2 hosts and k
switches, (k/2)^2 cores.

    hosts k^3/4; switches k^2 + k^2/4 = 5k^2/4; cables: k^3/4 at each of three layers = 3k^3/4
    shortest paths between pods: one per core, k^2/4
    bisection between two halves of the pods: limited by the hosts, k^3/8 links
    a host's others: k/2 - 1 at 2 hops, k^2/4 - k/2 at 4, the rest at 6, of k^3/4 - 1

Paths and cuts are counted on the list of links by breadth-first search and maximum flow, which know nothing of fat
trees; the routes must use as many paths as there are.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weft.validation.oracle import Oracle, Row, near

if TYPE_CHECKING:
    from weft.scenario import Scenario


def rows(is_full: bool) -> Iterator[Row]:
    """Trees of 4 and 14 ports."""
    for k in (4, 14):
        yield from _tree(k)


def _tree(k: int) -> Iterator[Row]:
    hosts = k**3 // 4
    # One pair of hosts in different pods, often: each flow has ports of its own, so that hashing finds every path.
    pair = "h0_0_0>h1_0_0" if k > 10 else "h000>h100"
    scenario = _scenario(k, [pair] * 40 * (k // 2) ** 2)
    summary, setup = scenario.summary(), f"k = {k}"
    yield near("hosts", setup, summary["hosts"], hosts)
    yield near("switches", setup, summary["switches"], 5 * k**2 // 4)
    yield near("cables", setup, summary["links"] // 2, 3 * k**3 // 4)
    distances, paths = _search(scenario)
    nodes = scenario.nodes()
    pods = dict(zip(nodes["name"], nodes["pod"], strict=True))
    between = {paths[0][n] for n in range(hosts) if nodes["pod"][n] != pods[nodes["name"][0]]}
    yield near(
        "shortest paths", f"{setup}, between pods: in the graph", between.pop() if len(between) == 1 else -1, k**2 // 4
    )
    used = {tuple(path) for path in scenario.flows()["path"]}
    yield near("shortest paths", f"{setup}, between pods: used by routes", len(used), k**2 // 4)
    yield near("bisection", f"{setup}, links between halves of the pods", _cut(scenario, k), k**3 // 8)
    at = {2: k // 2 - 1, 4: k**2 // 4 - k // 2}
    at[6] = hosts - 1 - at[2] - at[4]
    pairs = hosts * (hosts - 1)
    for hops, count in at.items():
        found = sum(row[:hosts].count(hops) for row in distances)
        yield near(f"pairs at {hops} hops", setup, 100 * found / pairs, 100 * count * hosts / pairs, unit="%")


def _scenario(k: int, pairs: list[str]) -> "Scenario":
    import weft

    return weft.load(
        {
            "backend": {"until": "1 ms"},
            "topology": {"kind": "fat_tree", "k": k},
            "workload": [{"kind": "pairs", "pairs": pairs}],
        }
    ).scenario()


def _search(scenario: "Scenario") -> tuple[list[list[int]], list[list[int]]]:
    """Hops, and number of shortest paths, from every host to every node, by breadth-first search."""
    names = {name: n for n, name in enumerate(scenario.nodes()["name"])}
    links = scenario.links()
    neighbours: list[list[int]] = [[] for _ in names]
    for src, dst in zip(links["src"], links["dst"], strict=True):
        neighbours[names[src]].append(names[dst])
    distances, counts = [], []
    for host in range(scenario.summary()["hosts"]):
        hops, paths, layer = [-1] * len(names), [0] * len(names), [host]
        hops[host], paths[host] = 0, 1
        while layer:
            further = []
            for node in layer:
                for other in neighbours[node]:
                    if hops[other] < 0:
                        hops[other] = hops[node] + 1
                        further.append(other)
                    if hops[other] == hops[node] + 1:
                        paths[other] += paths[node]
            layer = further
        distances.append(hops)
        counts.append(paths)
    return distances, counts


def _cut(scenario: "Scenario", k: int) -> int:
    """Largest flow from the hosts of the first half of the pods to those of the other, every link carrying one."""
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    nodes, links = scenario.nodes(), scenario.links()
    names = {name: n for n, name in enumerate(nodes["name"])}
    source, sink = len(names), len(names) + 1
    edges = [(names[a], names[b], 1) for a, b in zip(links["src"], links["dst"], strict=True)]
    for host in range(scenario.summary()["hosts"]):
        edges.append((source, host, k**3) if nodes["pod"][host] < k // 2 else (host, sink, k**3))
    tails, heads, capacities = (np.array(column, dtype=np.int32) for column in zip(*edges, strict=True))
    graph = csr_array((capacities, (tails, heads)), shape=(sink + 1, sink + 1))
    return int(maximum_flow(graph, source, sink).flow_value)


ORACLE = Oracle(5, "fat tree counts", "Al-Fares et al., SIGCOMM 2008", "A", rows)
