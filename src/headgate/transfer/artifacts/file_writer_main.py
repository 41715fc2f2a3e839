"""Process that writes small files: it reads orders from its socket and sends answers back.

It ends when the worker that started it closes the socket, dies, or sends nothing for a while.
Files that have arrived completely by then are stored; of the others, nothing remains.
"""

import select
import signal
import socket
import sys
from pathlib import Path

from headgate.ports.artifacts import StoredArtifact
from headgate.transfer.artifacts.committer import CommitOrder, Committer
from headgate.transfer.artifacts.disk import artifact_error
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
"""Bytes received before the next sync to disk."""
IDLE_S = 30.0
"""Seconds without an order after which the process ends: a worker may keep many folders open."""


class WriterReply:
    def __init__(self, number: int, given: list[WriteAnswer]) -> None:
        self._number = number
        self._given = given

    def set_result(self, stored: StoredArtifact, /) -> None:
        self._given.append(WriteAnswer(self._number, stored))

    def set_exception(self, trouble: BaseException, /) -> None:
        self._given.append(WriteAnswer(self._number, None, type(trouble).__name__, str(trouble)))


class OrderLoop:
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
        """Run until the socket is closed or idle."""
        while not self._over or self._committer.has_unconfirmed:
            self._committer.round(self._written(wait=not self._committer.has_unconfirmed))
            self._answer()
        self._committer.close()

    def _written(self, *, wait: bool) -> list[CommitOrder]:
        """Received files, at most about ROUND_BYTES; at least one if `wait` is set."""
        written: list[CommitOrder] = []
        size = 0
        while not self._over and size < ROUND_BYTES:
            data = self._received(wait=wait and not written)
            if data is None:
                break
            size += len(data)
            for message, content in self._frames.feed(data):
                self._write(orders.decode(message), content, written)
            if self._given:  # an order failed: report it at once
                break
        return written

    def _received(self, *, wait: bool) -> bytes | None:
        """Some bytes; None if there are none now, or if the socket is closed."""
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
            reply.set_exception(artifact_error(error, self._root))
            return
        delivery = CommitOrder(partial, order.sha256, order.name, reply)
        try:
            partial.clear()
            partial.append(content)
        except OSError as error:
            delivery.give_up(artifact_error(error, self._root))
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
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # the worker ends it by closing the socket
    root, aside, number = sys.argv[1:]
    with socket.socket(fileno=int(number)) as wire:
        OrderLoop(Path(root), Path(aside), wire).run()


if __name__ == "__main__":
    main()
