"""Calls methods of Looker's own client: a program for the Python that has it installed.

Each line of its input is a call as JSON, and each line of its output what came of it.
"""

import json
import sys
from typing import Any

import looker_sdk  # type: ignore[import-not-found]
from looker_sdk.error import SDKError  # type: ignore[import-not-found]


def called(client: Any, call: dict[str, Any]) -> dict[str, Any]:
    """What a method gave, with the name of its type, or the message of its error."""
    try:
        given = getattr(client, call["method"])(**call["arguments"])
    except SDKError as error:
        return {"error": error.message}
    first = given[0] if isinstance(given, list) and given else given
    value = json.loads(client.serialize(api_model=given)) if given else given
    fields = getattr(first, "__dict__", {})
    times = [name for name, each in fields.items() if hasattr(each, "isoformat")]
    return {"type": type(first).__name__, "times": sorted(times), "value": value}


def main() -> None:
    client = looker_sdk.init40()
    for line in sys.stdin:
        print(json.dumps(called(client, json.loads(line))), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
