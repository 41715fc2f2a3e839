"""Reads a file in a child process, so that a malicious file can only harm that process."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from headgate.core.errors import BadSource
from headgate.ports.source import RowBatch
from headgate.transfer.formats.reader_messages import (
    LENGTH,
    Message,
    ReadEnded,
    ReadFailed,
    ReadOrder,
    RowsMessage,
    TableHead,
    received,
)
from headgate.transfer.formats.xlsx_process import widened
from headgate.transfer.position import Position, decode_position, encode_position

MODULE = "headgate.transfer.formats.reader_process_main"
_OUT_OF_MEMORY = (signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS)


class ReaderProcess:
    def __init__(self, order: ReadOrder) -> None:
        self._order = order
        self._process = subprocess.Popen(  # noqa: S603 (this interpreter, a module of ours)
            [sys.executable, "-P", "-m", MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        self._pipe = widened(self._process.stdout)
        try:
            with widened(self._process.stdin) as stdin:
                stdin.write(msgspec.json.encode(order))
        except BrokenPipeError as error:
            raise self._died() from error

    def receive(self) -> Message:
        """The next message; BadSource with advice if the process failed, died or hangs."""
        (size,) = LENGTH.unpack(self._exactly(LENGTH.size))
        message = received(self._exactly(size))
        if isinstance(message, ReadFailed):
            self.close()
            raise BadSource(message.reason)
        return message

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._pipe.close()

    def _exactly(self, size: int) -> bytes:
        file = self._pipe.fileno()
        parts = []
        while size > 0:
            if not select.select([file], [], [], self._order.limits.max_silence_s)[0]:
                self.close()
                limit = self._order.limits.max_silence_s
                raise BadSource(
                    f"{self._order.path} took longer than {limit:g} s to read: save it as CSV"
                )
            part = os.read(file, min(size, 1 << 20))
            if not part:
                raise self._died()
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _died(self) -> BadSource:
        code = self._process.wait()
        self.close()
        path = self._order.path
        if -code in _OUT_OF_MEMORY:
            most = self._order.limits.max_memory_bytes / 1024**2
            return BadSource(
                f"{path} cannot be read in {most:,.0f} MiB of memory: save it as CSV, or in parts"
            )
        return BadSource(f"{path} cannot be read: it is damaged or not a {self._order.format} file")


_decode = msgspec.json.Decoder(dict[str, Any]).decode


def open_table(
    order: ReadOrder, position: str, check: Callable[[], None] = lambda: None
) -> "TableReader":
    at = decode_position(position)
    child = ReaderProcess(msgspec.structs.replace(order, after_line=at.line))
    try:
        check()
        return TableReader(child, Path(order.path), at)
    except BaseException:
        child.close()
        raise


class TableReader:
    def __init__(self, child: ReaderProcess, path: Path, at: Position) -> None:
        head = child.receive()
        if not isinstance(head, TableHead):
            raise BadSource(
                f"{path} cannot be read: the reader process sent its messages in the wrong order"
            )
        self.columns = head.columns
        self.notes = head.notes
        self.sheets = head.sheets
        self.sheet = head.sheet
        self._child = child
        self._row = at.row
        self._line = at.line
        self._frame = RowsMessage((), "")
        self._texts: list[str] = []
        self._used = 0
        self._ended = False

    def close(self) -> None:
        self._child.close()

    def take(self, rows: int, max_bytes: int) -> RowBatch:
        lines: list[int] = []
        texts: list[str] = []
        problems: dict[int, str] = {}
        size = 0
        while len(texts) < rows and size < max_bytes and self._more():
            start, stop = self._used, min(len(self._texts), self._used + rows - len(texts))
            problems |= {
                len(texts) + at - start: why
                for at, why in self._frame.problems.items()
                if start <= at < stop
            }
            lines += self._frame.lines[start:stop]
            texts += self._texts[start:stop]
            size += sum(map(len, self._texts[start:stop]))
            self._used = stop
        first = self._row + 1
        self._row += len(texts)
        self._line = lines[-1] if lines else self._line
        return RowBatch(
            first_row=first,
            lines=lines,
            values=list(map(_decode, texts)),
            texts=texts,
            problems=problems,
            position=encode_position(Position(line=self._line, row=self._row)),
            size=size,
        )

    def _more(self) -> bool:
        while self._used == len(self._texts) and not self._ended:
            message = self._child.receive()
            if isinstance(message, RowsMessage):
                self._frame, self._used = message, 0
                self._texts = message.texts.split("\n")
            else:
                self._ended = isinstance(message, ReadEnded)
        return self._used < len(self._texts)
