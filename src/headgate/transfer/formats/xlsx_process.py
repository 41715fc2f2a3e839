"""A workbook that is written from a stream of pages: its sheets, and the process for it.

A process, because the library pulls rows while an export pushes pages, and because two
threads that share an interpreter take longer than two processes.
"""

import contextlib
import fcntl
import gc
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
"""Pipe size in bytes: the most that Linux allows an unprivileged user; the default is 64 kB."""


def widened(pipe: IO[bytes] | None) -> IO[bytes]:
    """The pipe, with the largest buffer that the system allows."""
    if pipe is None:
        raise RuntimeError("the process was started without pipes")
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with contextlib.suppress(OSError):  # the user's limit for pipe buffers is reached
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, HELD_BYTES)
    return pipe


LENGTH = struct.Struct("<I")

_decoder = msgspec.json.Decoder(list[Any])


class WorkbookOrder(msgspec.Struct, frozen=True):
    path: str
    columns: tuple[str, ...]
    sheets: int
    sheet_rows: int
    """Rows of a sheet, without the header."""


class WorkbookProcess:
    def __init__(self, order: WorkbookOrder) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "headgate.transfer.formats.xlsx_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self._pipe = widened(self._process.stdin)
        self._send(msgspec.json.encode(order))

    def push(self, lines: bytes) -> None:
        self._send(lines)

    def finish(self) -> None:
        self._send(b"")
        self._end()

    def abandon(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _send(self, data: bytes) -> None:
        try:
            self._pipe.write(LENGTH.pack(len(data)) + data)
        except BrokenPipeError:
            self._end()

    def _end(self) -> None:
        try:
            _, stderr = self._process.communicate()
        except BrokenPipeError:
            _, stderr = self._process.communicate()
        if self._process.returncode:
            words = stderr.decode("utf-8", "replace").strip().splitlines() or [
                "no reason was given"
            ]
            raise OSError(f"the workbook cannot be written: {words[-1]}")


def pages(file: IO[bytes]) -> Iterator[bytes]:
    """The pages until the empty one; EOFError if the sender ends before."""
    while True:
        (size,) = LENGTH.unpack(_exactly(file, LENGTH.size))
        if not size:
            return
        yield _exactly(file, size)


Rows = list[dict[str, Any]] | Iterable[dict[str, Any]] | Any
"""Types that the library accepts."""


class WorkbookWriter(NamedTuple):
    sheets: list[tuple[str, Rows]]
    days: frozenset[str]
    """Columns whose dates are days without a time."""


def workbook_writer(order: WorkbookOrder, sent: Iterator[bytes]) -> WorkbookWriter:
    """The sheets to write. The first page decides which columns are days without a time."""
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
            "the job got more rows than its last sheet can hold; export it again when all of its "
            "source has been read"
        )


def _exactly(file: IO[bytes], size: int) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise EOFError
    return data


def main() -> None:
    """Write the workbook from the pages on standard input; standard error says what failed."""
    import rustpy_xlsxwriter as library  # noqa: PLC0415  only this process needs it

    gc.disable()  # millions of rows, and no cycles to collect
    sent = pages(sys.stdin.buffer)
    order = msgspec.json.decode(next(sent), type=WorkbookOrder)
    try:
        book = workbook_writer(order, sent)
        day = library.Format().set_num_format("yyyy-mm-dd")
        formats: dict[str, dict[str, library.Format] | list[library.Format]] = {
            name: dict.fromkeys(book.days, day) for name, _ in book.sheets
        }
        library.write_worksheets(
            book.sheets,
            order.path,
            datetime_format="yyyy-mm-dd hh:mm:ss",
            column_formats=formats if book.days else None,
        )
    except (RuntimeError, OSError, UsageError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
