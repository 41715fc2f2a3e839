"""A workbook on its way out of a stream of pages: its sheets, and the process that writes it.

A process of its own, because the library pulls rows while an export pushes pages, and because two
threads that fight over one interpreter take longer than two processes.
"""

import contextlib
import fcntl
import struct
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import IO, Any, NamedTuple

import msgspec

from headgate.core.errors import UsageError
from headgate.transfer.formats.xlsx_cells import day_columns, xlsx_cells

HELD_BYTES = 1024 * 1024
"""As much as Linux gives an ordinary account; 64 kB of it are there unasked."""


def widened(pipe: IO[bytes] | None) -> IO[bytes]:
    """The pipe of a process that was started with one, as wide as the system allows."""
    if pipe is None:
        raise RuntimeError("the process was started without pipes")
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with contextlib.suppress(OSError):  # the account has used up what it may hold in pipes
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, HELD_BYTES)
    return pipe


MODULE = "headgate.transfer.formats.xlsx_process_main"
LENGTH = struct.Struct("<I")

_decoder = msgspec.json.Decoder(list[Any])


class WorkbookOrder(msgspec.Struct, frozen=True):
    """Which workbook to write."""

    path: str
    columns: tuple[str, ...]
    sheets: int
    sheet_rows: int
    """Without the header."""


class WorkbookProcess:
    """A process that writes a workbook from the pages that it is sent."""

    def __init__(self, order: WorkbookOrder) -> None:
        self._process = subprocess.Popen(  # noqa: S603 (this interpreter, a module of ours)
            [sys.executable, "-P", "-m", MODULE],
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


Rows = list[dict[str, Any]] | Iterable[dict[str, Any]] | Any
"""As the library takes them."""


class WorkbookWriter(NamedTuple):
    """The sheets of a workbook, each with the rows that it takes from what was sent."""

    sheets: list[tuple[str, Rows]]
    days: frozenset[str]
    """Columns whose dates are plain days."""


def workbook_writer(order: WorkbookOrder, sent: Iterator[bytes]) -> WorkbookWriter:
    """What to write. The first page decides which columns hold plain days."""
    first = _decoder.decode_lines(next(sent, b""))
    days = day_columns(first, order.columns)
    rows = _rows(order, chain([first], map(_decoder.decode_lines, sent)), days)
    sheets: list[tuple[str, Rows]] = [
        (f"Sheet{number}", _sheet(order, rows, last=number == order.sheets))
        for number in range(1, order.sheets + 1)
    ]
    return WorkbookWriter(sheets, days)


def _rows(
    order: WorkbookOrder, pages: Iterable[Sequence[Any]], days: frozenset[str]
) -> Iterator[dict[str, Any]]:
    for page in pages:
        yield from xlsx_cells(page, order.columns, days) if page else ()


def _sheet(
    order: WorkbookOrder, rows: Iterator[dict[str, Any]], *, last: bool
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
