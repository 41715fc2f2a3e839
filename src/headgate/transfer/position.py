"""The position where reading stopped, as text that a store keeps with the rows before it."""

import msgspec

from headgate.core.errors import BadSource


class Position(msgspec.Struct, frozen=True, omit_defaults=True):
    offset: int = 0
    line: int = 0
    row: int = 0
    columns: tuple[str, ...] = ()
    """Names seen until now, for formats without a header."""


def encode_position(position: Position) -> str:
    return msgspec.json.encode(position).decode()


def decode_position(text: str) -> Position:
    """The position in `text`; "" is the start."""
    if not text:
        return Position()
    try:
        return msgspec.json.decode(text, type=Position)
    except msgspec.MsgspecError as error:
        raise BadSource(f"the stored position {text!r} is damaged") from error
