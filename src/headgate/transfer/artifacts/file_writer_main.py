"""The process that writes small files: orders come in at its socket, answers go out there.

It ends when the worker that started it closes the socket, dies, or wants nothing for a while. What
has come whole by then is put into the folder; what has not leaves nothing.
"""

import select
import signal
import socket
import sys
from pathlib import Path

from headgate.ports.artifacts import StoredArtifact
from headgate.transfer.artifacts.committer import CommitOrder, Committer
from headgate.transfer.artifacts.errors import said
from headgate.transfer.artifacts.file_writer_messages import (
    Frames,
    WriteAnswer,
    WriteOrder,
    encoder,
    framed,
    orders,
)
from headgate.transfer.artifacts.partial import Partial

RECEIVED_BYTES = 1024 * 1024
ROUND_BYTES = 8 * 1024 * 1024
"""So much is taken before the disk is waited for, however much more there may be."""
IDLE_S = 30.0
"""A worker keeps many folders open; only those that files come into need a process."""


class WriterReply:
    """The answer to one order."""

    def __init__(self, number: int, given: list[WriteAnswer]) -> None:
        self._number = number
        self._given = given

    def set_result(self, stored: StoredArtifact, /) -> None:
        """The file is safe."""
        self._given.append(WriteAnswer(self._number, stored))

    def set_exception(self, trouble: BaseException, /) -> None:
        """There is none."""
        self._given.append(WriteAnswer(self._number, None, type(trouble).__name__, str(trouble)))


class OrderLoop:
    """Writes what it is told to write."""

    def __init__(
        self, root: Path, aside: Path, wire: socket.socket, idle_s: float = IDLE_S
    ) -> None:
        self._root = root
        self._aside = aside
        self._wire = wire
        self._idle_s = idle_s
        self._frames = Frames()
        self._committer = Committer(root)
        self._given: list[WriteAnswer] = []
        self._over = False

    def run(self) -> None:
        """Until nobody wants anything more."""
        while not self._over or self._committer.is_waited_for:
            self._committer.round(self._written(wait=not self._committer.is_waited_for))
            self._answer()
        self._committer.close()

    def _written(self, *, wait: bool) -> list[CommitOrder]:
        """All that have come, or enough of them; if nobody else is waited for, at least one."""
        written: list[CommitOrder] = []
        size = 0
        while not self._over and size < ROUND_BYTES:
            data = self._received(wait=wait and not written)
            if data is None:
                break
            size += len(data)
            for message, content in self._frames.feed(data):
                self._write(orders.decode(message), content, written)
            if self._given:  # it could not be written: that is said at once
                break
        return written

    def _received(self, *, wait: bool) -> bytes | None:
        """Some bytes; None if there are none now, or never again."""
        ready, _, _ = select.select([self._wire], [], [], self._idle_s if wait else 0.0)
        if not ready and not wait:
            return None
        try:
            data = self._wire.recv(RECEIVED_BYTES) if ready else b""
        except ConnectionError:
            data = b""
        self._over = not data
        return data or None

    def _write(self, order: WriteOrder, content: bytes, written: list[CommitOrder]) -> None:
        reply = WriterReply(order.number, self._given)
        try:
            partial = Partial(self._aside, order.item.decode(errors="surrogatepass"))
        except OSError as error:
            reply.set_exception(said(error, self._root))
            return
        delivery = CommitOrder(partial, order.sha256, order.name, reply)
        try:
            partial.clear()
            partial.append(content)
        except OSError as error:
            delivery.give_up(said(error, self._root))
        else:
            written.append(delivery)

    def _answer(self) -> None:
        if self._given:
            data = framed(encoder.encode(self._given))
            self._given.clear()
            try:
                self._wire.sendall(data)
            except ConnectionError:
                self._over = True


def main() -> None:
    """Work for whoever holds the other end."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # it ends with its worker, after what that one wants
    root, aside, number = sys.argv[1:]
    with socket.socket(fileno=int(number)) as wire:
        OrderLoop(Path(root), Path(aside), wire).run()


if __name__ == "__main__":
    main()
