"""Text from outside: what no store can keep is refused in one place."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from headgate.app.api.problems import Refusal

NUL = "\x00"
WRITTEN = b"\\u0000"
"""How NUL is written in JSON; it cannot stand there as a byte."""
REFUSED = "text must not hold the character NUL (U+0000)"


def demand_text(body: bytes | bytearray) -> None:
    """Refuse JSON that holds NUL in a text. What is not JSON is left to whoever parses it."""
    if WRITTEN not in body:
        return
    with suppress(ValueError, RecursionError):
        if holds_nul(json.loads(body)):
            raise Refusal(422, REFUSED)


def holds_nul(value: Any) -> bool:
    """Whether there is NUL in a text, at any depth."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            if NUL in one:
                return True
        elif isinstance(one, Mapping):
            waiting += [*one, *one.values()]
        elif isinstance(one, list):
            waiting += one
    return False
