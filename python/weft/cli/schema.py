"""`weft schema`."""

import json


def command() -> None:
    """Print the JSON Schema of the experiment file, for editors' completion."""
    from weft.schema import schema

    print(json.dumps(schema(), indent=1, ensure_ascii=False))
