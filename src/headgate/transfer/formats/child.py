"""A process that reads a file for us: what it can break, eat or hang on is only itself."""

import os
import select
import signal
import subprocess
import sys

import msgspec

from headgate.core.errors import BadSource
from headgate.transfer.formats.frames import LENGTH, Failed, Message, Order, received
from headgate.transfer.formats.pipe import widened

MODULE = "headgate.transfer.formats.child_main"
_OUT_OF_MEMORY = (signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS)


class ChildReader:
    """One reading process, and what it says."""

    def __init__(self, order: Order) -> None:
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
            with widened(self._process.stdin) as told:
                told.write(msgspec.json.encode(order))
        except BrokenPipeError as error:
            raise self._died() from error

    def receive(self) -> Message:
        """The next message; BadSource with advice if the process failed, died or hangs."""
        (size,) = LENGTH.unpack(self._exactly(LENGTH.size))
        message = received(self._exactly(size))
        if isinstance(message, Failed):
            self.close()
            raise BadSource(message.reason)
        return message

    def close(self) -> None:
        """End the process."""
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
        return BadSource(f"{path} cannot be read: it is damaged, or no {self._order.format} file")
