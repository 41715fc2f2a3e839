"""Keyset cursors: the end of a page, bound to the query that it belongs to."""

import base64
import binascii
import hashlib
from enum import StrEnum
from typing import Annotated

import msgspec

from headgate.core.errors import BadCursor


class SortOrder(StrEnum):
    """The two orders that have an index: input order, and least recently changed first."""

    INPUT = "input"
    UPDATED = "updated"


Stored = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class Cursor(msgspec.Struct, frozen=True, array_like=True):
    order: SortOrder
    filter_hash: str
    updated_at: Stored
    id: Stored


def filter_hash(*parts: object) -> str:
    """A short digest of a filter, so that a cursor cannot be used with another one."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]


def encode_cursor(cursor: Cursor) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(cursor)).decode().rstrip("=")


def decode_cursor(text: str, order: SortOrder, expected_hash: str) -> Cursor:
    """The cursor in `text`, or BadCursor if it is damaged or from another query."""
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        cursor = msgspec.json.decode(
            base64.b64decode(padded, altchars=b"-_", validate=True), type=Cursor
        )
    except (binascii.Error, ValueError) as error:
        raise BadCursor from error
    if cursor.order is not order or cursor.filter_hash != expected_hash:
        raise BadCursor("this cursor belongs to another query; start again without it")
    return cursor
