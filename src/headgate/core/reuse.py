"""When an earlier result may be reused: the same handler, the same input, not too old."""

import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import msgspec

UNITS = {"s": 1, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_SPAN = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*")
_canonical = msgspec.json.Encoder(order="deterministic").encode
LONGEST_S = 100 * 366 * UNITS["d"]


def parse_span(text: str) -> float:
    """Seconds in a span of time as users write it: `90s`, `15min`, `12h`, `30d`, `2w`."""
    match = _SPAN.fullmatch(text.lower())
    unit = match and UNITS.get(match[2])
    if match is None or unit is None:
        raise ValueError(
            f"{text.strip()!r} is not a span of time: write 90s, 15min, 12h, 30d or 2w"
        )
    seconds = float(match[1]) * unit
    if not 0 < seconds <= LONGEST_S:
        raise ValueError(
            f"{text.strip()!r} is not a span of time: it must be above 0 and at most 100 years"
        )
    return seconds


def digest_of(handler: str, version: str, data: str | Mapping[str, Any]) -> str:
    """A digest that is equal for two items if the result of one is valid for the other.

    `data` is the normalized input where there is one, else the input; as JSON text or as a value,
    with its members in any order.
    """
    value = msgspec.json.decode(data) if isinstance(data, str) else data
    return blake2b(_canonical([handler, version, value]), digest_size=16).hexdigest()
