"""Topologies from networkx graphs."""

import subprocess
import sys

import networkx
import pytest

import weft

WORKLOAD = [{"kind": "permutation", "size": "20 kB"}]


def test_a_graph_runs_like_any_topology() -> None:
    graph = networkx.Graph()
    graph.add_edge("left", "right", rate="1 Gbps", delay="10 us")
    for host, switch in (("a", "left"), ("b", "left"), ("c", "right"), ("d", "right")):
        graph.add_edge(host, switch)
    topology = weft.from_networkx(graph, link={"rate": "10 Gbps", "delay": "1 us"})
    results = weft.run({"topology": topology, "workload": WORKLOAD})
    assert sorted(results.nodes.filter(results.nodes["kind"] == "host")["node"]) == ["a", "b", "c", "d"]
    rates = dict(results.links.select("link", "rate_bps").iter_rows())
    assert (rates["left>right"], rates["right>left"], rates["a>left"]) == (10**9, 10**9, 10**10)
    assert results.flows["fct_ns"].null_count() == 0


def test_nodes_may_say_what_they_are() -> None:
    ring = networkx.cycle_graph(4)
    networkx.set_node_attributes(ring, {0: "host", 1: "switch", 2: "host", 3: "switch"}, "kind")
    topology = weft.from_networkx(ring)
    assert topology["hosts"] == ["0", "2"]
    scenario = weft.load({"topology": topology, "workload": WORKLOAD}).scenario()
    assert scenario.summary()["hosts"] == 2


def test_a_node_without_a_kind_beside_others_is_what_its_degree_says() -> None:
    path = networkx.path_graph(4)
    path.nodes[1]["kind"] = "host"
    assert weft.from_networkx(path)["hosts"] == ["0", "1", "3"]


def test_overrides_and_ignored_attributes() -> None:
    graph = networkx.star_graph(2)
    networkx.set_edge_attributes(graph, 1.0, "weight")
    topology = weft.from_networkx(graph, overrides=[{"links": "1>0", "rate": "1 Gbps"}], ignore=["weight"])
    assert topology["links"] == [{"a": "0", "b": "1"}, {"a": "0", "b": "2"}]
    links = weft.load({"topology": topology, "workload": WORKLOAD}).scenario().links()
    assert dict(zip(links["name"], links["rate_bps"], strict=True))["1>0"] == 10**9


def star(**attributes: object) -> networkx.Graph:
    graph = networkx.star_graph(2)
    graph.edges[0, 1].update(attributes)
    return graph


LOOP = networkx.Graph([(0, 1), (1, 1), (1, 2)])
WRONG_KIND = networkx.star_graph(2)
WRONG_KIND.nodes[1]["kind"] = "hots"


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (networkx.DiGraph([(0, 1)]), "networkx graph: is directed; a cable carries both directions: graph.to_undirect"),
        (networkx.MultiGraph([(0, 1), (0, 1)]), "networkx graph: is a multigraph; a custom topology has one cable"),
        (
            LOOP,
            "networkx graph: edge 1-1: joins a node with itself; leave it out: "
            "graph.remove_edges_from(networkx.selfloop_edges(graph))",
        ),
        (networkx.empty_graph(0), "networkx graph: has no edge; a network needs at least one cable"),
        (networkx.disjoint_union(star(), networkx.empty_graph(1)), "networkx graph: node 3: has no edge; connect it, "),
        (networkx.Graph([("a b", "s"), ("c", "s")]), 'networkx graph: node a b: "a b" cannot be a name: no space'),
        (networkx.Graph([(1, "s"), ("1", "s")]), "networkx graph: node 1: 1 and '1' are both called \"1\""),
        (
            star(delya="1 us"),
            'networkx graph: edge 0-1: unknown attribute "delya"; did you mean "delay"? (or ignore=["delya"])',
        ),
        (WRONG_KIND, 'networkx graph: node 1: unknown kind "hots"; did you mean "host"?'),
        (["a", "b"], "networkx graph: is a list; expected a networkx.Graph"),
    ],
)
def test_what_is_no_fabric_is_a_fault_with_the_way_out(graph: networkx.Graph, said: str) -> None:
    with pytest.raises(weft.ExperimentError) as caught:
        weft.from_networkx(graph)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (star(rate=10), 'experiment: topology.links[0].rate: 10 has no unit; a rate looks like "100 Gbps"'),
        (
            networkx.disjoint_union(star(), star()),
            "experiment: topology.links: the network falls into 2 parts: 1, 0, 2 | 4, 3, 5",
        ),
    ],
)
def test_values_are_checked_when_the_experiment_is_loaded(graph: networkx.Graph, said: str) -> None:
    with pytest.raises(weft.ExperimentError) as caught:
        weft.load({"topology": weft.from_networkx(graph), "workload": WORKLOAD})
    assert str(caught.value) == said


def test_without_networkx_the_sentence_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['networkx'] = None\n"
        "import weft\n"
        "try: weft.from_networkx(None)\n"
        "except weft.WeftError as error: assert str(error) == "
        "'networkx is missing; install it: pip install weft[networkx]', error\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_networkx_is_loaded_only_when_it_is_asked_for() -> None:
    code = "import sys, weft.cli, weft.interop; weft.from_networkx; assert 'networkx' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
