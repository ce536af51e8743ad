"""networkx: an undirected graph as a custom topology.

A node is a host if its attribute `kind` says so; where no node has the attribute, a node of degree 1 is one. An edge is
a cable; its attributes are the keys of a cable, with units as in an experiment file: `rate="10 Gbps"`, `delay="1 us"`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from weft.errors import ExperimentError, Fault, WeftError
from weft.experiment.values import said, suggestion
from weft.kinds import RECORD, catalogue

if TYPE_CHECKING:
    import networkx

PLACE = "networkx graph"
"""In the place of a file in faults."""

NODE_KINDS = ("host", "switch")


def from_networkx(
    graph: "networkx.Graph[Any]",
    *,
    link: Mapping[str, Any] | None = None,
    overrides: Iterable[Mapping[str, Any]] = (),
    ignore: Iterable[str] = (),
) -> dict[str, Any]:
    """Return the `[topology]` table (kind "custom") of an undirected graph.

    `link` has what edges leave out, and `overrides` links that differ, as in an experiment file. An edge attribute that
    no cable has is a fault, unless `ignore` names it (`weight`, a drawing's `color`). Raises ExperimentError with all
    faults: a directed graph, a multigraph, a self-loop, names that are one as text, attributes that are not understood.
    Values are checked when the experiment is loaded.

    >>> import networkx
    >>> graph = networkx.star_graph(["s", "a", "b"])
    >>> graph.edges["s", "b"]["rate"] = "1 Gbps"
    >>> topology = from_networkx(graph, link={"rate": "10 Gbps", "delay": "1 us"})
    >>> topology["links"]
    [{'a': 's', 'b': 'a'}, {'a': 's', 'b': 'b', 'rate': '1 Gbps'}]
    >>> import weft
    >>> workload = {"kind": "permutation", "size": "100 kB"}
    >>> weft.run({"topology": topology, "workload": [workload]}).flows.height
    2
    """
    _require_graph(graph)
    names = {node: str(node) for node in graph.nodes}
    ignored = set(ignore)
    faults = [*_faults_of_kind(graph), *_faults_of_names(names), *_faults_of_edges(graph, names, ignored)]
    hosts, wrong = _hosts(graph, names)
    if faults or wrong:
        raise ExperimentError([*faults, *wrong])
    table: dict[str, Any] = {"kind": "custom"}
    if hosts is not None:
        table["hosts"] = hosts
    if link is not None:
        table["link"] = dict(link)
    if listed := [dict(override) for override in overrides]:
        table["overrides"] = listed
    table["links"] = [
        {"a": names[a], "b": names[b], **{key: value for key, value in attributes.items() if key not in ignored}}
        for a, b, attributes in graph.edges(data=True)
    ]
    return table


def _require_graph(graph: object) -> None:
    try:
        import networkx
    except ImportError:
        raise WeftError("networkx is missing; install it: pip install weft[networkx]") from None
    if not isinstance(graph, networkx.Graph):
        message = f"is a {type(graph).__name__}; expected a networkx.Graph"
        raise ExperimentError([Fault(PLACE, None, "", message)])


def _faults_of_kind(graph: "networkx.Graph[Any]") -> Iterator[Fault]:
    if graph.is_multigraph():
        message = (
            "is a multigraph; a custom topology has one cable between two nodes: networkx.Graph(graph) keeps one of "
            "several edges; to keep them all, put a switch into each"
        )
        yield Fault(PLACE, None, "", message)
    if graph.is_directed():
        message = (
            "is directed; a cable carries both directions: graph.to_undirected(), and links that differ by direction "
            'as overrides=[{"links": "a>b", "rate": "1 Gbps"}]'
        )
        yield Fault(PLACE, None, "", message)
    if graph.number_of_edges() == 0:
        yield Fault(PLACE, None, "", "has no edge; a network needs at least one cable")
    if alone := [node for node, degree in graph.degree() if degree == 0]:
        message = f"has no edge; connect it, or leave it out: graph.remove_nodes_from({alone[:3]!r})"
        yield Fault(PLACE, None, f"node {alone[0]}", message)


def _faults_of_names(names: Mapping[Any, str]) -> Iterator[Fault]:
    seen: dict[str, Any] = {}
    for node, name in names.items():
        if not name or any(letter.isspace() or letter in ">*" for letter in name):
            message = f"{said(name)} cannot be a name: no space, no > and no * in one; networkx.relabel_nodes renames"
            yield Fault(PLACE, None, f"node {name}", message, value=name)
        if name in seen:
            message = f"{seen[name]!r} and {node!r} are both called {said(name)}; networkx.relabel_nodes renames"
            yield Fault(PLACE, None, f"node {name}", message, value=name)
        seen[name] = node


def _faults_of_edges(graph: "networkx.Graph[Any]", names: Mapping[Any, str], ignored: set[str]) -> Iterator[Fault]:
    keys = [key for key in catalogue()[RECORD]["cable"].parameters if key not in ("a", "b")]
    unknown: dict[str, str] = {}
    for a, b, attributes in graph.edges(data=True):
        where = f"edge {names[a]}-{names[b]}"
        if a == b:
            message = "joins a node with itself; leave it out: graph.remove_edges_from(networkx.selfloop_edges(graph))"
            yield Fault(PLACE, None, where, message)
        for key in attributes:
            if key not in keys and key not in ignored:
                unknown.setdefault(str(key), where)
    for key, where in unknown.items():
        way_out, nearest = suggestion(key, keys, "a cable has")
        message = f'unknown attribute "{key}"; {way_out} (or ignore=["{key}"])'
        yield Fault(PLACE, None, where, message, value=key, nearest=nearest)


def _hosts(graph: "networkx.Graph[Any]", names: Mapping[Any, str]) -> tuple[list[str] | None, list[Fault]]:
    """Names of the hosts in the order of the graph, None where no node says what it is; and what is wrong."""
    kinds = {node: kind for node, kind in graph.nodes(data="kind") if kind is not None}
    if not kinds:
        return None, []
    faults = []
    for node, kind in kinds.items():
        if kind not in NODE_KINDS:
            way_out, nearest = suggestion(str(kind), NODE_KINDS, "known")
            message = f"unknown kind {said(kind)}; {way_out}"
            faults.append(Fault(PLACE, None, f"node {names[node]}", message, value=kind, nearest=nearest))
    # A node that does not say what it is, beside others that do, is what its degree says.
    hosts = [names[node] for node, degree in graph.degree() if kinds.get(node, "host" if degree == 1 else "") == "host"]
    if not hosts and not faults:
        faults.append(Fault(PLACE, None, "", 'has no host; give nodes the attribute kind="host"'))
    return hosts, faults
