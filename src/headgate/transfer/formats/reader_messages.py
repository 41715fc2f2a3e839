"""Messages from the reader process, each preceded by its length."""

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, cast

import msgspec

from headgate.transfer.limits import Limits

LENGTH = struct.Struct("<I")
FRAME_BYTES = 1024 * 1024
"""Approximate size of a message in bytes; it bounds the receiver's memory."""


class ReadOrder(msgspec.Struct, frozen=True):
    """The file to read, and the last line that an earlier reader delivered."""

    format: str
    path: str
    after_line: int = 0
    sheet: str | None = None
    limits: Limits = Limits()


class TableHead(msgspec.Struct, frozen=True, tag="head"):
    columns: tuple[str, ...]
    notes: tuple[str, ...] = ()
    sheets: tuple[str, ...] = ()
    sheet: str = ""


class RowsMessage(msgspec.Struct, frozen=True, tag="rows"):
    """Some rows: the line number of each, and their JSON texts separated by line breaks."""

    lines: Sequence[int]
    texts: str
    problems: Mapping[int, str] = {}


class ReadFailed(msgspec.Struct, frozen=True, tag="failed"):
    reason: str


class ReadEnded(msgspec.Struct, frozen=True, tag="ended"):
    """There are no more rows."""


Message = TableHead | RowsMessage | ReadFailed | ReadEnded

_rows_encoder = msgspec.json.Encoder()
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Message)


def send(file: BinaryIO, message: Message) -> None:
    data = _encoder.encode(message)
    file.write(LENGTH.pack(len(data)))
    file.write(data)
    file.flush()


def received(data: bytes) -> Message:
    return cast("Message", _decoder.decode(data))


def framed(
    lines: Sequence[int],
    values: Sequence[Mapping[str, Any]],
    problems: Mapping[int, str],
    max_record_bytes: int,
) -> Iterator[RowsMessage]:
    """Rows as messages of bounded size; a row that is too long is bad and loses its values."""
    whole = _rows_encoder.encode_lines(values)
    if not values:
        return
    if len(whole) <= min(FRAME_BYTES, max_record_bytes):
        yield RowsMessage(lines, whole[:-1].decode(), problems)
        return
    texts = whole.split(b"\n")[:-1]
    problems = dict(problems)
    if max(map(len, texts)) > max_record_bytes:
        for index, text in enumerate(texts):
            if len(text) > max_record_bytes:
                texts[index] = b"{}"
                problems[index] = f"the row is longer than {max_record_bytes:,} bytes"
    start, size = 0, 0
    for index, text in enumerate(texts):
        size += len(text)
        if size >= FRAME_BYTES or index == len(texts) - 1:
            stop = index + 1
            yield RowsMessage(
                lines[start:stop],
                b"\n".join(texts[start:stop]).decode(),
                {at - start: why for at, why in problems.items() if start <= at < stop},
            )
            start, size = stop, 0
