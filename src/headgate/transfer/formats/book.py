"""A workbook on its way out of a stream of pages: its sheets, and the process that writes it.

A process of its own, because the library pulls rows while an export pushes pages, and because two
threads that fight over one interpreter take longer than two processes.
"""

import struct
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from typing import IO, Any

import msgspec

from headgate.core.errors import UsageError
from headgate.transfer.formats.pipe import widened
from headgate.transfer.formats.xlsx_cells import xlsx_cells

MODULE = "headgate.transfer.formats.book_main"
LENGTH = struct.Struct("<I")

_decoder = msgspec.json.Decoder(list[Any])


class BookOrder(msgspec.Struct, frozen=True):
    """Which workbook to write."""

    path: str
    columns: tuple[str, ...]
    sheets: int
    sheet_rows: int
    """Without the header."""


class BookProcess:
    """A process that writes a workbook from the pages that it is sent."""

    def __init__(self, order: BookOrder) -> None:
        self._process = subprocess.Popen(  # noqa: S603 (this interpreter, a module of ours)
            [sys.executable, "-m", MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self._pipe = widened(self._process.stdin)
        self._send(msgspec.json.encode(order))

    def push(self, lines: bytes) -> None:
        """Send rows: in each line the JSON array of the values of one."""
        self._send(lines)

    def finish(self) -> None:
        """Wait until the workbook is complete."""
        self._send(b"")
        self._end()

    def abandon(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def _send(self, data: bytes) -> None:
        try:
            self._pipe.write(LENGTH.pack(len(data)) + data)
        except BrokenPipeError:
            self._end()

    def _end(self) -> None:
        try:
            _, said = self._process.communicate()
        except BrokenPipeError:
            _, said = self._process.communicate()
        if self._process.returncode:
            words = said.decode("utf-8", "replace").strip().splitlines() or ["no reason was given"]
            raise OSError(f"the workbook cannot be written: {words[-1]}")


def pages(file: IO[bytes]) -> Iterator[bytes]:
    """What was sent, up to the empty page; EOFError if the sender is gone before."""
    while True:
        (size,) = LENGTH.unpack(_exactly(file, LENGTH.size))
        if not size:
            return
        yield _exactly(file, size)


def sheets(order: BookOrder, sent: Iterator[bytes]) -> list[tuple[str, Iterator[dict[str, Any]]]]:
    """The sheets of a workbook, each with the rows that it takes from what was sent."""
    rows = _rows(order, sent)
    return [
        (f"Sheet{number}", _sheet(order, rows, last=number == order.sheets))
        for number in range(1, order.sheets + 1)
    ]


def _rows(order: BookOrder, sent: Iterator[bytes]) -> Iterator[dict[str, Any]]:
    for page in sent:
        yield from xlsx_cells(_decoder.decode_lines(page), order.columns)


def _sheet(
    order: BookOrder, rows: Iterator[dict[str, Any]], *, last: bool
) -> Iterator[dict[str, Any]]:
    # The library takes the header from the first row, so there must be one.
    yield next(rows, dict.fromkeys(order.columns))
    yield from islice(rows, order.sheet_rows - 1)
    if last and next(rows, None) is not None:
        raise UsageError(
            "the job grew by more rows than its last sheet holds; export it again when it has been "
            "read to its end"
        )


def _exactly(file: IO[bytes], size: int) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise EOFError
    return data
