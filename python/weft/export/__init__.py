"""Export: what weft knows, in the forms that other tools read.

`EXPORTS` is the list: a line says what a kind is; the module of its name writes it, in its function `export_KIND`, and
the command is `cli/export_KIND.py`.
"""

EXPORTS: dict[str, str] = {
    "p4": "P4-16 programs, the entries of every switch, and how the fabric is wired.",
    "pcap": "What a port saw, as a capture.",
}
