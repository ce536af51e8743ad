"""The page of a kind, and the index of a room."""

from collections.abc import Iterator, Mapping

from weft.experiment.sections import OF_BACKEND, SECTION, SECTIONS
from weft.experiment.values import expected, format_scalar
from weft.kinds import RECORD, Kind, Parameter, catalogue
from weft.reference.markdown import table
from weft.terminal import default_of, range_of
from weft.units import FAMILIES

WRITTEN: Mapping[tuple[str, str, str], str] = {
    ("topology", "custom", "links"): '[{ a = "h0", b = "s" }, { a = "h1", b = "s" }]',
    ("topology", "mesh", "dimensions"): "[4, 4]",
    ("topology", "torus", "dimensions"): "[4, 4, 4]",
    ("routing", "static_table", "file"): '"table.txt"',
    ("routing", "linear_table", "file"): '"tables.fdbs"',
    ("routing", "dimension_order", "dimensions"): "[4, 4]",
    ("workload", "pairs", "pairs"): '["h0>h1", "h1>h2"]',
    ("workload", "poisson", "load"): "0.5",
    ("workload", "poisson", "size"): '{ kind = "websearch" }',
    ("workload", "poisson", "flows"): "1000",
    ("workload", "incast", "degree"): "8",
    ("workload", "flows_file", "file"): '"flows.csv"',
    ("workload", "trace", "file"): '"trace.csv"',
    ("workload", "rpc", "value"): '"1 kB"',
    ("workload", "rpc", "requests"): "1000",
    ("placement", "list", "hosts"): '["h000", "h311"]',
    ("placement", "pods", "pods"): "[0, 1]",
    ("placement", "share", "applications"): "2",
    ("placement", "share", "application"): "0",
    ("flow_size", "uniform", "max"): '"1 MB"',
    ("flow_size", "pareto", "max"): '"1 MB"',
    ("flow_size", "empirical", "file"): '"sizes.csv"',
    (RECORD, "loss", "kind"): '"random"',
    (RECORD, "loss", "p"): "0.001",
    (RECORD, "override", "links"): '"h0>*"',
    (RECORD, "override", "rate"): '"1 Gbps"',
    (RECORD, "cable", "a"): '"h0"',
    (RECORD, "cable", "b"): '"s"',
    (RECORD, "lane_weight", "vl"): "0",
    (RECORD, "credit_port", "links"): '"h0>*"',
    (RECORD, "credit_port", "input_buffer"): "192",
    (RECORD, "lane_map", "from"): '"h0>*"',
    (RECORD, "lane_map", "links"): '"*>h1"',
    (RECORD, "lane_map", "sl_to_vl"): "[0]",
    (RECORD, "storm", "host"): '"h0"',
    (RECORD, "workload", "name"): '"bulk"',
    (RECORD, "workload", "start"): '"1 ms"',
    (SECTION, "experiment", "name"): '"my experiment"',
    (SECTION, "failure", "what"): '"h0<>s"',
    (SECTION, "failure", "when"): '"1 ms"',
    (SECTION, "failure", "until"): '"5 ms"',
    (SECTION, "measure", "every"): '"10 us"',
    (SECTION, "measure", "metrics"): '["goodput", "queue"]',
    (SECTION, "report", "figure"): '"ecdf"',
    (SECTION, "objective", "metric"): '"goodput"',
    (SECTION, "objective", "constraints"): '[{ metric = "fct.p99", at_most = "10 ms" }]',
    (RECORD, "objective", "metric"): '"drops"',
    (RECORD, "constraint", "metric"): '"goodput"',
    (RECORD, "constraint", "workload"): '"permutation"',
    (RECORD, "constraint", "at_least"): '"95 %"',
    (RECORD, "constraint", "of"): '"alone"',
    (SECTION, "report", "y"): '"fct"',
    (SECTION, "published", "file"): '"published.csv"',
    (SECTION, "published", "source"): '"the document"',
    (SECTION, "analysis", "kind"): '"manova"',
    (SECTION, "analysis", "metrics"): '["goodput", "fct.p99"]',
    (SECTION, "analysis", "factors"): '["load_balance.kind", "congestion.kind"]',
    (RECORD, "repeats", "until"): '"ci"',
    (RECORD, "repeats", "metric"): '"goodput"',
    (RECORD, "repeats", "half_width"): '"2 %"',
}
"""What an example gives a key whose default shows nothing, or that has none."""

SWEPT = ('"load_balance.kind" = ["ecmp", "spray"]', '"congestion.kind" = ["reno", "cubic"]')
"""Two axes."""

SAMPLE: Mapping[str, str] = {name: f'"{family.example}"' for name, family in FAMILIES.items()}
"""The same by the type of the value."""


def kind_page(kind: Kind) -> str:
    """The page of a kind, under the same headings for all.

    >>> from weft.kinds import catalogue
    >>> kind_page(catalogue()["queue"]["drop_tail"]).splitlines()[0]
    '# queue: drop_tail'
    """
    lines = [f"# {kind.room}: {kind.name}", "", kind.doc, "", "## Source", "", kind.source or "weft's own.", ""]
    lines += ["## Parameters", "", *_parameters(kind), ""]
    lines += ["## Example", "", "```toml", *example(kind), "```", ""]
    lines += ["## See also", "", *_neighbours(kind)]
    return "\n".join(lines) + "\n"


def room_page(room: str, said: str, kinds: Mapping[str, Kind]) -> str:
    """The index of a room: its kinds, and which one is taken when the file names none."""
    lines = [f"# {room}", ""]
    if said:
        lines += [said, ""]
    lines += [*table(("kind", ""), [(f"[{kind.name}]({kind.name}.md)", kind.summary) for kind in kinds.values()])]
    if room in SECTIONS and SECTIONS[room].kind:
        lines += ["", f"Left out: `{SECTIONS[room].kind}`."]
    return "\n".join(lines) + "\n"


def example(kind: Kind) -> Iterator[str]:
    """Lines of an experiment file that use the kind. A test loads each of them."""
    inside = ", ".join(_assignments(kind))
    match kind.room, kind.name:
        case "flow_size", name:
            yield f"size = {{ {', '.join([_quoted_kind(name), *_assignments(kind)])} }}"
        case "placement", name:
            yield f"place = {{ {', '.join([_quoted_kind(name), *_assignments(kind)])} }}"
        case "record", "link":
            yield f"link = {{ {inside} }}"
        case "record", "loss":
            yield f"link = {{ loss = {{ {inside} }} }}"
        case "record", "override":
            yield f"overrides = [{{ {inside} }}]"
        case "record", "cable":
            yield f'links = [{{ {inside} }}, {{ a = "h1", b = "s" }}]'
        case "record", "lane_weight":
            yield from ("[flow_control]", 'kind = "credit"', f"vl_low = [{{ {inside} }}]")
        case "record", "credit_port":
            yield from ("[flow_control]", 'kind = "credit"', f"ports = [{{ {inside} }}]")
        case "record", "lane_map":
            yield from ("[flow_control]", 'kind = "credit"', f"lane_maps = [{{ {inside} }}]")
        case "record", "storm":
            yield from ("[flow_control]", 'kind = "pfc"', f"storms = [{{ {inside} }}]")
        case "record", "workload":
            yield from ("[[workload]]", 'kind = "permutation"', 'size = "1 MB"', *_assignments(kind))
        case "record", "constraint":
            yield from ("[objective]", 'metric = "fct"', f"constraints = [{{ {inside} }}]")
        case "record", "objective":
            yield from ("[objective]", 'metric = "goodput"', f"also = {{ {inside} }}")
        case "record", "repeats":
            yield from ("[sweep]", f"repeats = {{ {inside} }}")
        case "record", "exclude":
            yield from ("[sweep]", *SWEPT, 'exclude = [{ "load_balance.kind" = "spray", "congestion.kind" = "cubic" }]')
        case "section", "analysis":
            yield from ("[[analysis]]", *_assignments(kind), "", "[sweep]", *SWEPT, "repeats = 10")
        case "section", "space":
            capacity = '{ from = "10 packets", to = "500 packets", scale = "log" }'
            yield from ("[space]", '"congestion.kind" = ["reno", "cubic"]', f'"queue.capacity" = {capacity}')
        case "section", "experiment":
            yield from _assignments(kind)
        case "section", "sweep":
            capacity = '{ from = "10 packets", to = "1000 packets", steps = 3, scale = "log" }'
            yield from ("[sweep]", *SWEPT, f'"queue.capacity" = {capacity}', "repeats = 10")
        case "section", name:
            yield from (f"[[{name}]]" if SECTIONS[name].is_list else f"[{name}]", *_assignments(kind))
        case room, name:
            if room in OF_BACKEND:
                yield from ("[backend]", _quoted_kind(OF_BACKEND[room][0]), "")
            is_list = room in SECTIONS and SECTIONS[room].is_list
            yield from (f"[[{room}]]" if is_list else f"[{room}]", _quoted_kind(name), *_assignments(kind))


def _quoted_kind(name: str) -> str:
    return f'kind = "{name}"'


def _assignments(kind: Kind) -> list[str]:
    # With profiles, the profile stands for all other keys.
    names = ["profile"] if kind.profiles else list(kind.parameters)
    written = ((name, _written(kind, kind.parameters[name])) for name in names)
    return [f"{name} = {value}" for name, value in written if value is not None]


def _written(kind: Kind, parameter: Parameter) -> str | None:
    if (kind.room, kind.name, parameter.name) in WRITTEN:
        return WRITTEN[kind.room, kind.name, parameter.name]
    if parameter.value["type"] in ("list", "table", "room"):
        return None
    if parameter.default is not None:
        return default_of(parameter)
    if parameter.required or (kind.room == "workload" and parameter.name == "size"):
        return SAMPLE[parameter.value["type"]]
    return None


def _parameters(kind: Kind) -> Iterator[str]:
    if not kind.parameters:
        yield "None."
        return
    profiles = [name for name, values in kind.profiles.items() if values]
    head = ("key", "is", "default", *(f"in `{name}`" for name in profiles), "range", "meaning")
    yield from table(head, [_row(kind, parameter, profiles) for parameter in kind.parameters.values()])


def _row(kind: Kind, parameter: Parameter, profiles: list[str]) -> tuple[str, ...]:
    changed = (kind.profiles[name].get(parameter.name) for name in profiles)
    default = "required" if parameter.required else "none" if parameter.optional else default_of(parameter)
    if default == "(its own)":
        default = "of the kinds' own"
    return (
        f"`{parameter.name}`",
        _type(parameter.value),
        default if default in ("required", "none", "of the kinds' own") else f"`{default}`",
        *("" if value is None else f"`{_said(parameter, value)}`" for value in changed),
        range_of(parameter),
        parameter.doc,
    )


def _said(parameter: Parameter, value: object) -> str:
    said = format_scalar(parameter.value, value)
    return str(said).lower() if isinstance(said, bool) else f'"{said}"' if isinstance(said, str) else str(said)


def _type(value: Mapping[str, object]) -> str:
    match value:
        case {"type": "table", "record": str(record)}:
            return f"a table: [{record}](../{RECORD}/{record}.md)"
        case {"type": "room", "room": str(room)} if room in catalogue():
            return f"a table with a kind: [{room}](../{room}/README.md)"
        case {"type": "list", "of": {"type": "table", "record": str(record)}}:
            return f"a list of tables: [{record}](../{RECORD}/{record}.md)"
        case _:
            return expected(value)


def _neighbours(kind: Kind) -> Iterator[str]:
    yield f"- [{kind.room}](README.md): all of this room"
    records = dict.fromkeys(_rooms(kind))
    for room, name in records:
        yield f"- [{room}: {name}](../{room}/{name}.md)" if name else f"- [{room}](../{room}/README.md)"
    if kind.room == "workload":
        yield f"- [keys of every workload](../{RECORD}/workload.md)"
    if kind.room == SECTION and kind.name == "report":
        yield "- [figures](../figures.md), [metrics](../metrics.md), [tables](../tables.md)"
    if kind.room == SECTION and kind.name == "published":
        yield "- [published numbers](../../published-numbers.md): the file, and where its numbers are shown"
    if kind.room == SECTION and kind.name in ("objective", "space", "search"):
        yield "- [metrics](../metrics.md), [searching](../../searching.md): how a search is described and read"
    if kind.room == SECTION and kind.name == "measure":
        yield "- [tables](../tables.md): what is written, and which numbers the measured window holds"
    if kind.room in ("backend", "transport", "congestion", "queue"):
        yield "- [the model](../../model.md): what the simulator does and leaves out"


def _rooms(kind: Kind) -> Iterator[tuple[str, str]]:
    for parameter in kind.parameters.values():
        value = parameter.value["of"] if parameter.value["type"] == "list" else parameter.value
        if value["type"] == "table":
            yield RECORD, value["record"]
        elif value["type"] == "room" and value["room"] in catalogue():
            yield value["room"], ""
