"""The reference in docs/: pages made from what the code says of itself.

`python -m weft.reference docs/reference` writes them (`make docs`); a test fails when they are stale.
"""

from weft.kinds import RECORD, catalogue
from weft.reference.commands import command_line
from weft.reference.kind_page import kind_page, room_page
from weft.reference.lists import figures, metrics
from weft.reference.python import python
from weft.reference.tables import tables

ROOMS = {
    "section": "Sections with fixed keys: the top level of the file, `[measure]`, `[sweep]`, `[objective]`, `[space]`, "
    "`[search]`, `[[report]]`.",
    "backend": "`[backend]`: what runs the experiment, and until when.",
    "topology": "`[topology]`: hosts, switches and links.",
    "routing": "`[routing]`: which next hops lead to a destination.",
    "load_balance": "`[load_balance]`: which of the equal next hops a packet takes.",
    "transport": "`[transport]`: what carries the flows; a `[[workload]]` may have its own.",
    "workload": "`[[workload]]`: who sends what to whom, and when. Keys that all of them have: "
    "[workload](../record/workload.md).",
    "flow_size": "`size = { kind = ... }`: distributions of flow sizes. A plain size means `fixed`.",
    RECORD: "Tables inside other sections, like `link = { rate = ... }`.",
    "queue": "`[queue]`: what every switch port does with a packet that arrives while others wait.",
    "congestion": "`[congestion]`: how large the window of a TCP sender is; a `[[workload]]` may have its own.",
}
"""What the index of each room says. A room without a line here has only its list of kinds."""


def pages() -> dict[str, str]:
    """All pages by their path below docs/reference."""
    out = {}
    index = ["# Reference", "", "Made from the code's own comments by `make docs`.", ""]
    for room, kinds in catalogue().items():
        said = ROOMS.get(room, "")
        out[f"{room}/README.md"] = room_page(room, said, kinds)
        for kind in kinds.values():
            out[f"{room}/{kind.name}.md"] = kind_page(kind)
        index += [f"- [{room}]({room}/README.md): " + ", ".join(f"[{name}]({room}/{name}.md)" for name in kinds)]
    out |= {"tables.md": tables(), "metrics.md": metrics(), "figures.md": figures(), "command-line.md": command_line()}
    out["python.md"] = python()
    index += [
        "- [Tables](tables.md): what a run writes, column by column",
        "- [Metrics](metrics.md): what is computed from the tables",
        "- [Figures](figures.md): what `[[report]]` draws",
        "- [Command line](command-line.md): every command with its options",
        "- [Python](python.md): every call, with the errors that it raises",
    ]
    out["README.md"] = "\n".join(index) + "\n"
    return out
