"""When an earlier result may be reused: the same handler, the same input, not too old."""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import msgspec

_canonical = msgspec.json.Encoder(order="deterministic").encode


def digest_of(handler: str, version: str, data: str | Mapping[str, Any]) -> str:
    """A digest that is equal for two items if the result of one is valid for the other.

    `data` is the normalized input where there is one, else the input; as JSON text or as a value,
    with its members in any order.
    """
    value = msgspec.json.decode(data) if isinstance(data, str) else data
    return blake2b(_canonical([handler, version, value]), digest_size=16).hexdigest()
